# Install: the shared library, the public headers, find_package(leasehold), pkg-config, the tool with its
# man pages and completions. The installation may be moved: no installed file contains its own path.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/leasehold)

install(TARGETS leasehold EXPORT leasehold-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/leasehold DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
if(LEASEHOLD_TOOL)
  install(TARGETS leasehold_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT leasehold-targets NAMESPACE leasehold:: DESTINATION ${package_folder})
configure_package_config_file(cmake/leasehold-config.cmake.in leasehold-config.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(leasehold-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/leasehold-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/leasehold-config-version.cmake
  DESTINATION ${package_folder})

set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH from_pkgconfig_to_prefix /prefix/${pkgconfig_folder} /prefix)
string(REGEX REPLACE "/$" "" from_pkgconfig_to_prefix "${from_pkgconfig_to_prefix}")
configure_file(cmake/leasehold.pc.in leasehold.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/leasehold.pc DESTINATION ${pkgconfig_folder})
