# The guard's unit tests; hp_unit_test() is defined by the folder above.
hp_unit_test(guard_cgroup SOURCES unit/test_guard_cgroup.c ROOMS hp_guard hp_options hp_base)
hp_unit_test(guard_limit SOURCES unit/test_guard_limit.c unit/guard_tree.c ROOMS hp_guard hp_options hp_base)
hp_unit_test(guard_decide SOURCES unit/test_guard_decide.c ROOMS hp_guard hp_options hp_base)
hp_unit_test(guard_pace SOURCES unit/test_guard_pace.c ROOMS hp_guard hp_options hp_base)
hp_unit_test(guard_loop SOURCES unit/test_guard_loop.c unit/guard_tree.c ROOMS hp_guard hp_options hp_base)
hp_unit_test(guard_thread SOURCES unit/test_guard_thread.c ROOMS hp_guard hp_options hp_base)
