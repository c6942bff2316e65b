# Unit tests of the control room; hp_unit_test() is defined by the folder above.
hp_unit_test(protocol SOURCES unit/test_protocol.c ROOMS hp_protocol hp_base)
