# One set of warnings for all of our code, in gcc and clang; a warning is an error.
# hp_room(NAME SOURCES…) makes the object library of a room with them.

add_library(hp_warnings INTERFACE)
target_compile_options(hp_warnings INTERFACE
  -Wall -Wextra -Werror -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wpointer-arith -Wundef
  -Wformat=2 -Wvla -Wwrite-strings -Wmissing-declarations
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
target_compile_definitions(hp_warnings INTERFACE _GNU_SOURCE)
target_include_directories(hp_warnings INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)

if(HEAPPROF_SANITIZE)
  add_compile_options(-fsanitize=${HEAPPROF_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEAPPROF_SANITIZE})
endif()

function(hp_room name)
  add_library(${name} OBJECT ${ARGN})
  target_link_libraries(${name} PRIVATE hp_warnings)
  # The unwinder walks through our own frames first.
  target_compile_options(${name} PRIVATE -fasynchronous-unwind-tables)
  set_target_properties(${name} PROPERTIES C_VISIBILITY_PRESET hidden)
endfunction()
