# libheapprof.so and libheapprof.a, both of one object.
#
# The rooms, jemalloc under its prefix, and the parts of zlib and protobuf-c that a dump uses are linked into
# one relocatable object in which only the names of exports.map stay global. So nothing of jemalloc, zlib or
# protobuf-c can clash with, or be replaced by, the application's own; a static link takes all or nothing; and
# no call of ours goes through the PLT.

set(exports_map ${PROJECT_SOURCE_DIR}/heapprof/exports.map)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${exports_map})
file(STRINGS ${exports_map} export_lines REGEX "^    [A-Za-z_0-9]+;$")
list(TRANSFORM export_lines REPLACE "^    (.*);$" "\\1")
list(JOIN export_lines "\n" export_text)
file(WRITE ${CMAKE_BINARY_DIR}/exports.txt "${export_text}\n")

find_library(JEMALLOC_PIC NAMES libjemalloc_pic.a REQUIRED)
find_library(PROTOBUF_C_STATIC NAMES libprotobuf-c.a REQUIRED)
find_library(ZLIB_STATIC NAMES libz.a REQUIRED)

# jemalloc's public functions get the prefix je_, which none of its private names has twice. malloc_conf and
# malloc_message keep their names: applications set them.
set(jemalloc_public
  malloc calloc realloc free posix_memalign aligned_alloc memalign valloc malloc_usable_size mallocx rallocx
  xallocx sallocx dallocx sdallocx nallocx mallctl mallctlnametomib mallctlbymib malloc_stats_print)
set(redefine "")
foreach(name IN LISTS jemalloc_public)
  string(APPEND redefine "${name} je_${name}\n")
endforeach()
string(APPEND redefine "mmap hp_os_mmap\n") # intake/os_memory.c notices what the kernel refuses
file(WRITE ${CMAKE_BINARY_DIR}/jemalloc-prefix.txt "${redefine}")
set(jemalloc ${CMAKE_BINARY_DIR}/libjemalloc-prefixed.a)
add_custom_command(
  OUTPUT ${jemalloc}
  COMMAND ${CMAKE_OBJCOPY} --redefine-syms=${CMAKE_BINARY_DIR}/jemalloc-prefix.txt ${JEMALLOC_PIC} ${jemalloc}
  COMMAND ${CMAKE_AR} d ${jemalloc} jemalloc_cpp.pic.o # its operator new; ours is interpose_cxx.c
  DEPENDS ${JEMALLOC_PIC} ${CMAKE_BINARY_DIR}/jemalloc-prefix.txt VERBATIM)
add_custom_target(jemalloc_prefixed DEPENDS ${jemalloc})

set(library_rooms hp_base hp_options hp_intake hp_sampler hp_unwind hp_bookkeeping hp_pprof hp_profile_proto hp_capture hp_protocol hp_control hp_guard
                  hp_core)

# hp_library(NAME ROOMS…): the targets NAME_shared and NAME_static, libNAME.so and libNAME.a.
function(hp_library name)
  set(whole ${CMAKE_CURRENT_BINARY_DIR}/${name}-whole.o)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  set(static_object ${CMAKE_CURRENT_BINARY_DIR}/${name}-static.o)
  # An archive between the rooms and the linker: make knows no rule for another folder's objects.
  set(objects "")
  foreach(room IN LISTS ARGN)
    list(APPEND objects $<TARGET_OBJECTS:${room}>)
  endforeach()
  add_library(${name}_rooms STATIC ${objects})
  set_target_properties(${name}_rooms PROPERTIES LINKER_LANGUAGE C)
  add_custom_command(
    OUTPUT ${object} ${static_object}
    COMMAND ${CMAKE_LINKER} -r -o ${whole} --whole-archive $<TARGET_FILE:${name}_rooms> --no-whole-archive ${jemalloc}
            ${ZLIB_STATIC} ${PROTOBUF_C_STATIC}
    COMMAND ${CMAKE_OBJCOPY} --keep-global-symbols=${CMAKE_BINARY_DIR}/exports.txt ${whole} ${object}
    # init.c: first in an executable, too, which has a place for that. A shared library may not have it.
    COMMAND ${CMAKE_OBJCOPY} --rename-section .init_array.00101=.preinit_array # gcc's name …
            --rename-section .rela.init_array.00101=.rela.preinit_array
            --rename-section .init_array.101=.preinit_array # … and clang's
            --rename-section .rela.init_array.101=.rela.preinit_array ${object} ${static_object}
    DEPENDS ${name}_rooms jemalloc_prefixed ${jemalloc} ${CMAKE_BINARY_DIR}/exports.txt VERBATIM)
  add_custom_target(${name}_object DEPENDS ${object} ${static_object}) # one rule for both libraries, also in parallel
  set_source_files_properties(${object} ${static_object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)

  add_library(${name}_shared SHARED ${object})
  target_link_options(${name}_shared PRIVATE -Wl,--version-script=${exports_map} -Wl,-z,now -Wl,-z,relro -Wl,-z,defs
                                      -Wl,-z,nodelete -Wl,-z,initfirst)
  set_target_properties(${name}_shared PROPERTIES LINK_DEPENDS ${exports_map} LINKER_LANGUAGE C OUTPUT_NAME ${name}
                                           LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  add_library(${name}_static STATIC ${static_object})
  set_target_properties(${name}_static PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME ${name}
                                                  ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  target_link_libraries(${name}_shared PRIVATE m)
  target_link_libraries(${name}_static INTERFACE m gcc_s)
  # A program that names nothing of heapprof, nor malloc, gets it all the same. The archive is one object, taken
  # whole or not at all: asking for malloc takes it.
  target_link_options(${name}_shared INTERFACE LINKER:--no-as-needed)
  target_link_options(${name}_static INTERFACE LINKER:--undefined=malloc)
  foreach(target ${name}_shared ${name}_static)
    add_dependencies(${target} ${name}_object)
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                   $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  endforeach()
endfunction()

hp_library(heapprof ${library_rooms})
add_library(heapprof::heapprof ALIAS heapprof_shared)
add_library(heapprof::static ALIAS heapprof_static)
