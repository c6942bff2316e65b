# The unwinder against libunwind as its oracle. Not under a sanitizer, whose own frames and signal handling stand
# in between; cfi, expression and stack_reader are pure enough to be tested there too.
if(NOT HEAPPROF_SANITIZE)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(LIBUNWIND REQUIRED IMPORTED_TARGET libunwind)
  hp_unit_test(unwinder SOURCES unit/test_unwinder.c ROOMS hp_unwind hp_base)
  target_link_libraries(unit_unwinder PRIVATE PkgConfig::LIBUNWIND ${CMAKE_DL_LIBS})
  # Its inline assembly pushes flags, which its own unwind tables, based on sp, would not know of.
  target_compile_options(unit_unwinder PRIVATE -fno-omit-frame-pointer)
endif()
