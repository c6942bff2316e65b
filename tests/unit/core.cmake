# Unit tests of the library's rooms, but for the guard's; hp_unit_test() is defined by the folder above.

add_library(hp_test_helpers OBJECT unit/child.c unit/scratch.c)
target_link_libraries(hp_test_helpers PRIVATE hp_warnings)

# hp_core_test(MODULE ROOMS…): the module's file, over the rooms it needs.
function(hp_core_test module)
  hp_unit_test(${module} SOURCES unit/test_${module}.c ROOMS hp_test_helpers ${ARGN})
endfunction()

foreach(module arena json lock log parse procfs rng weight writer)
  hp_core_test(${module} hp_base)
endforeach()

# What checks the order of locks is left out of what is shipped, and of its objects; here it is in, whatever this build is.
hp_unit_test(lock_ranks SOURCES unit/test_lock.c unit/child.c ../heapprof/base/lock.c ../heapprof/base/sys.c
             ../heapprof/base/writer.c)
target_compile_options(unit_lock_ranks PRIVATE -UNDEBUG)

hp_core_test(options hp_options hp_base)
hp_core_test(loader_view hp_unwind hp_base)
hp_core_test(sampler hp_sampler)
hp_core_test(thread_state hp_sampler)
foreach(module frame_table live_set module_table snapshot stack_table)
  hp_core_test(${module} hp_bookkeeping hp_base)
endforeach()

# What the file written is compared with is read by zlib and protobuf-c, not by ours.
find_package(ZLIB REQUIRED)
find_library(TEST_PROTOBUF_C protobuf-c REQUIRED)
add_library(hp_test_profile OBJECT unit/read_profile.c)
target_link_libraries(hp_test_profile PRIVATE hp_warnings hp_profile_proto)
set(hp_profile_rooms hp_pprof hp_profile_proto hp_bookkeeping hp_base hp_test_profile ZLIB::ZLIB ${TEST_PROTOBUF_C})

hp_core_test(gzip_stream ${hp_profile_rooms})
hp_core_test(profile_writer ${hp_profile_rooms})

add_library(hp_test_identity OBJECT unit/faked_identity.c)
target_link_libraries(hp_test_identity PRIVATE hp_warnings INTERFACE -Wl,--wrap=clock_gettime,--wrap=uname,--wrap=getpid)

set(hp_capture_rooms hp_capture ${hp_profile_rooms})
hp_core_test(dump_name hp_test_identity ${hp_capture_rooms})
hp_core_test(rotation ${hp_capture_rooms})
hp_core_test(sink ${hp_capture_rooms})
hp_core_test(capture hp_test_identity ${hp_capture_rooms})
target_link_options(unit_capture PRIVATE -Wl,--wrap=hp_sys_fsync)
