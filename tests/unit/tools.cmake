# Unit tests of the command's rooms; hp_unit_test() is defined by the folder above.

foreach(module flame_formats flame_tree heap_v2 key_table memory_stream name_pattern profile_audit profile_filter profile_merge
    profile_reader profile_table text top_report)
  hp_unit_test(tools_${module} SOURCES unit/test_tools_${module}.c unit/test_tools_builder.c
    ROOMS hp_tools z)
endforeach()
hp_unit_test(tools_output_file SOURCES unit/test_tools_output_file.c unit/scratch.c ROOMS hp_tools)
hp_unit_test(tools_regular_file SOURCES unit/test_tools_regular_file.c unit/scratch.c ROOMS hp_tools)
hp_unit_test(tools_profile_writer SOURCES unit/test_tools_profile_writer.c unit/test_tools_builder.c
  unit/read_profile.c unit/scratch.c ROOMS hp_tools z)
hp_unit_test(tools_sampling_error SOURCES unit/test_tools_sampling_error.c ROOMS hp_tools)
hp_unit_test(tools_capture_delta SOURCES unit/test_tools_capture_delta.c unit/test_tools_builder.c ROOMS hp_tools z)
hp_unit_test(tools_capture_window SOURCES unit/test_tools_capture_window.c ROOMS hp_tools)

hp_unit_test(tools_process_state SOURCES unit/test_tools_process_state.c ROOMS hp_tools)
