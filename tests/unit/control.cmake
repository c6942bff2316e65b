# Unit tests of the control room; hp_unit_test() is defined by the folder above.
hp_unit_test(protocol SOURCES unit/test_protocol.c ROOMS hp_protocol hp_base)
hp_unit_test(control_socket SOURCES unit/test_control_socket.c ROOMS hp_test_helpers hp_control hp_protocol hp_guard hp_options hp_base)
