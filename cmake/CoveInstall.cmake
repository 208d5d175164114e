# Installing, and being found: find_package(cove) with cove::cove (and cove::capi where it is built),
# cove.pc and cove-capi.pc, from an installed prefix that may be moved, or from the build tree.
include(CMakePackageConfigHelpers)
option(COVE_INSTALL "Make install rules" ${PROJECT_IS_TOP_LEVEL})
if(NOT COVE_INSTALL)
  return()
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cove)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS cove EXPORT cove-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT dev)
install(DIRECTORY include/cove DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
        FILES_MATCHING PATTERN "*.hpp")
if(TARGET cove_capi)
  install(TARGETS cove_capi EXPORT cove-targets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
          NAMELINK_COMPONENT dev)
  install(FILES capi/include/cove.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
endif()
if(TARGET cove-command)
  install(TARGETS cove-command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
endif()

install(EXPORT cove-targets NAMESPACE cove:: DESTINATION ${package_dir} COMPONENT dev)
configure_package_config_file(cmake/cove-config.cmake.in cove-config.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0 every minor may change the interface.
set(compatibility SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
endif()
write_basic_package_version_file(cove-config-version.cmake COMPATIBILITY ${compatibility})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cove-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/cove-config-version.cmake
        DESTINATION ${package_dir} COMPONENT dev)

# The build tree can be used in place: -Dcove_DIR=<build directory>.
export(EXPORT cove-targets NAMESPACE cove:: FILE ${CMAKE_CURRENT_BINARY_DIR}/cove-targets.cmake)

# What libcove.a links, as pkg-config names it.
set(COVE_PC_REQUIRES "")
set(COVE_PC_LIBS "")
foreach(library IN LISTS COVE_LINKED_LIBRARIES)
  if(library STREQUAL "Threads::Threads")
    list(APPEND COVE_PC_LIBS -pthread)
  elseif(library STREQUAL "Boost::filesystem")
    list(APPEND COVE_PC_LIBS -lboost_filesystem)
  elseif(library STREQUAL "OpenSSL::Crypto")
    list(APPEND COVE_PC_REQUIRES libcrypto)
  elseif(library STREQUAL "SQLite::SQLite3")
    list(APPEND COVE_PC_REQUIRES sqlite3)
  elseif(library STREQUAL "PkgConfig::Archive")
    list(APPEND COVE_PC_REQUIRES libarchive)
  elseif(library STREQUAL "PkgConfig::Zstd")
    list(APPEND COVE_PC_REQUIRES libzstd)
  elseif(library STREQUAL "PkgConfig::Yaml")
    list(APPEND COVE_PC_REQUIRES yaml-0.1)
  elseif(library STREQUAL "PkgConfig::Seccomp")
    list(APPEND COVE_PC_REQUIRES libseccomp)
  else()
    message(FATAL_ERROR "cove.pc does not know how pkg-config names ${library}")
  endif()
endforeach()
list(JOIN COVE_PC_REQUIRES ", " COVE_PC_REQUIRES)
list(JOIN COVE_PC_LIBS " " COVE_PC_LIBS)
# From the file's own place, so that the prefix may be moved.
file(RELATIVE_PATH COVE_PC_PREFIX /${pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" COVE_PC_PREFIX ${COVE_PC_PREFIX})

foreach(name IN ITEMS cove cove-capi)
  if(name STREQUAL "cove-capi" AND NOT TARGET cove_capi)
    continue()
  endif()
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${pkgconfig_dir} COMPONENT dev)
endforeach()
