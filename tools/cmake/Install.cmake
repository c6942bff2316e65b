# `cmake --install`: the libraries, the header, the CMake package heapprof (targets heapprof::heapprof and
# heapprof::static) and heapprof.pc. The command installs itself (tools/CMakeLists.txt). All paths inside are
# relative, so the tree may be installed under one prefix and moved to another.

include(CMakePackageConfigHelpers)

set_target_properties(heapprof_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 EXPORT_NAME heapprof)
set_target_properties(heapprof_static PROPERTIES EXPORT_NAME static)
install(TARGETS heapprof_shared heapprof_static EXPORT heapprof-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/heapprof/heapprof.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heapprof)
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/heapprof)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heapprof)
configure_package_config_file(tools/cmake/heapprof-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/heapprof-config.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break what the last one promised.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/heapprof-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heapprof-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/heapprof-config-version.cmake
        DESTINATION ${package_dir})
install(EXPORT heapprof-targets NAMESPACE heapprof:: DESTINATION ${package_dir})

# The prefix as seen from the folder of heapprof.pc; absolute install folders stay as they are.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(pc_libdir ${CMAKE_INSTALL_LIBDIR})
else()
  file(RELATIVE_PATH pc_up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" pc_up "${pc_up}")
  set(pc_prefix "\${pcfiledir}/${pc_up}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(pc_includedir ${CMAKE_INSTALL_INCLUDEDIR})
else()
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(tools/cmake/heapprof.pc.in ${CMAKE_CURRENT_BINARY_DIR}/heapprof.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heapprof.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
