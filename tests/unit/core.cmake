# Unit tests of the library's rooms, but for the guard's; hp_unit_test() is defined by the folder above.

add_library(hp_test_helpers OBJECT unit/child.c unit/scratch.c)
target_link_libraries(hp_test_helpers PRIVATE hp_warnings)

# hp_core_test(MODULE ROOMS…): the module's file, over the rooms it needs.
function(hp_core_test module)
  hp_unit_test(${module} SOURCES unit/test_${module}.c ROOMS hp_test_helpers ${ARGN})
endfunction()

foreach(module arena lock log parse procfs rng weight writer)
  hp_core_test(${module} hp_base)
endforeach()

hp_core_test(sampler hp_sampler)
hp_core_test(thread_state hp_sampler)
foreach(module frame_table live_set module_table snapshot stack_table)
  hp_core_test(${module} hp_bookkeeping hp_base)
endforeach()
