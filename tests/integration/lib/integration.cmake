# What the themes share; each includes this first.
include_guard(GLOBAL)

add_executable(dump_stacks ${CMAKE_CURRENT_LIST_DIR}/dump_stacks.c)
target_link_libraries(dump_stacks PRIVATE hp_warnings)
set_target_properties(dump_stacks PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/integration)

# integration_program(NAME SOURCES… [MODES plain shared static] [OPTIONS compiler-options…] [LIBRARIES libraries…])
# A program of the tests: NAME without heapprof (to be preloaded), NAME_shared and NAME_static linked to it.
# Tail calls are off: they leave out of a stack what the test expects in it.
function(integration_program name)
  find_package(Threads REQUIRED) # for the folder that calls
  cmake_parse_arguments(arg "" "" "MODES;OPTIONS;LIBRARIES" ${ARGN})
  foreach(mode IN LISTS arg_MODES)
    set(target ${name}_${mode})
    if(mode STREQUAL plain)
      set(target ${name})
    endif()
    add_executable(${target} ${arg_UNPARSED_ARGUMENTS})
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_compile_options(${target} PRIVATE -O2 -g -fno-optimize-sibling-calls -fno-builtin ${arg_OPTIONS})
    target_link_libraries(${target} PRIVATE hp_warnings ${arg_LIBRARIES} Threads::Threads m)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    if(NOT mode STREQUAL plain)
      target_link_libraries(${target} PRIVATE heapprof_${mode})
    endif()
  endforeach()
endfunction()

# integration_plugin(NAME SOURCES… [LIBRARIES…]): a shared object for dlopen or LD_PRELOAD, without heapprof.
function(integration_plugin name)
  find_package(Threads REQUIRED)
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  add_library(${name} MODULE ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  target_compile_options(${name} PRIVATE -O2 -g -fno-optimize-sibling-calls -fno-builtin)
  target_link_options(${name} PRIVATE -Wl,--build-id=sha1)
  target_link_libraries(${name} PRIVATE hp_warnings ${arg_LIBRARIES} Threads::Threads)
  set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

# integration_test(NAME SCRIPT [ARGUMENTS…] [TIMEOUT seconds] [SOAK]): a script of the theme's folder, run as
# integration.THEME.NAME.
function(integration_test name script)
  cmake_parse_arguments(arg "SOAK" "TIMEOUT" "" ${ARGN})
  get_filename_component(theme ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(test integration.${theme}.${name})
  add_test(NAME ${test} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${arg_UNPARSED_ARGUMENTS})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  set(label integration)
  if(arg_SOAK)
    set(label soak)
  endif()
  set_tests_properties(${test} PROPERTIES LABELS ${label} TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77 ENVIRONMENT
    "HP_LIBRARY=$<TARGET_FILE:heapprof_shared>;HP_COMMAND=$<TARGET_FILE:heapprof_command>;\
HP_BUILD=${CMAKE_CURRENT_BINARY_DIR};HP_TOOLS=${CMAKE_BINARY_DIR}/integration")
endfunction()
