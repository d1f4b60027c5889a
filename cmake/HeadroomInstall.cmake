# What `make install` and packages hold: the program with manual pages and completions, and the libraries by room for
# find_package(headroom) and pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# ---- the program ---------------------------------------------------------------------------------------------------
if(HEADROOM_CLI AND NOT SKBUILD)
    set(shell "${CMAKE_BINARY_DIR}/shell")
    add_custom_command(OUTPUT "${shell}/man1/headroom.1.gz"
        COMMAND /usr/bin/python3 "${PROJECT_SOURCE_DIR}/scripts/shell_files.py" $<$<BOOL:${HEADROOM_STATIC}>:--static> $<TARGET_FILE:headroom> "${shell}"
        DEPENDS headroom "${PROJECT_SOURCE_DIR}/scripts/shell_files.py" "${PROJECT_SOURCE_DIR}/scripts/components.py"
        COMMENT "Writing manual pages, completions and the bill of materials" COMMAND_EXPAND_LISTS VERBATIM)
    add_custom_target(headroom_shell_files DEPENDS "${shell}/man1/headroom.1.gz")
    install(TARGETS headroom RUNTIME COMPONENT program)
    install(FILES "${shell}/copyright" "${shell}/changelog.gz" "${shell}/headroom.cdx.json" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT program)
    install(DIRECTORY "${shell}/licences" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT program)
    install(FILES packaging/lintian-overrides DESTINATION "${CMAKE_INSTALL_DATADIR}/lintian/overrides" RENAME headroom COMPONENT program)
    install(DIRECTORY "${shell}/man1" DESTINATION "${CMAKE_INSTALL_MANDIR}" COMPONENT program)
    install(FILES "${shell}/bash/headroom" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT program)
    install(FILES "${shell}/zsh/_headroom" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions" COMPONENT program)
    install(FILES "${shell}/fish/headroom.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT program)
endif()

# ---- the libraries -------------------------------------------------------------------------------------------------
if(NOT SKBUILD AND NOT HEADROOM_SANITIZE)
    get_property(rooms GLOBAL PROPERTY HEADROOM_INSTALLED_ROOMS)
    list(APPEND rooms headroom_core headroom_io)
    get_property(headers GLOBAL PROPERTY HEADROOM_INSTALLED_HEADERS)
    list(REMOVE_DUPLICATES headers)
    foreach(room IN LISTS rooms)
        string(REGEX REPLACE "^headroom_" "" exported "${room}")
        set_target_properties(${room} PROPERTIES EXPORT_NAME "${exported}")
    endforeach()
    install(TARGETS ${rooms} headroom_fmt headroom_flags headroom_quick headroom_joined_flags EXPORT headroom
        ARCHIVE COMPONENT library)
    install(DIRECTORY ${headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT library FILES_MATCHING PATTERN "*.hpp")
    set(config "${CMAKE_INSTALL_LIBDIR}/cmake/headroom")
    install(EXPORT headroom NAMESPACE headroom:: DESTINATION "${config}" COMPONENT library)
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/headroom-config.cmake" @ONLY CONTENT [=[
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(nlohmann_json)
find_dependency(SQLite3)
find_dependency(Eigen3)
include("${CMAKE_CURRENT_LIST_DIR}/headroom.cmake")
]=])
    write_basic_package_version_file("${CMAKE_BINARY_DIR}/headroom-config-version.cmake" COMPATIBILITY SameMinorVersion)
    install(FILES "${CMAKE_BINARY_DIR}/headroom-config.cmake" "${CMAKE_BINARY_DIR}/headroom-config-version.cmake"
        DESTINATION "${config}" COMPONENT library)

    # what computes needs the standard library alone; pkg-config names those rooms
    set(libraries "")
    foreach(room serving validation trace measurement laws communication network_models training network base)
        string(APPEND libraries " -lheadroom_${room}")
    endforeach()
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/headroom.pc" @ONLY CONTENT [=[
prefix=@CMAKE_INSTALL_PREFIX@
Name: headroom
Description: step time, memory and cost of distributed training: the libraries that compute
Version: @PROJECT_VERSION@
Cflags: -I${prefix}/@CMAKE_INSTALL_INCLUDEDIR@ -std=c++20
Libs: -L${prefix}/@CMAKE_INSTALL_LIBDIR@ -Wl,--start-group@libraries@ -Wl,--end-group
]=])
    install(FILES "${CMAKE_BINARY_DIR}/headroom.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT library)
endif()

# ---- packages: cpack -G DEB, cpack -G TGZ ------------------------------------------------------------------------------
set(CPACK_PACKAGE_NAME headroom)
set(CPACK_PACKAGE_VENDOR "Headroom")
set(CPACK_PACKAGE_CONTACT "The authors of Headroom <headroom@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "tell before renting a machine whether more machines will help")
set(CPACK_PACKAGE_DESCRIPTION "Headroom predicts step time, memory, speedup and cost of distributed training\nfrom a model, a cluster and a plan, and reads traces, logs and benchmarks.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_COMPONENTS_ALL program)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_CHECKSUM SHA256)
if(HEADROOM_STATIC)
    set(CPACK_SYSTEM_NAME "Linux-static")
endif()
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_OUTPUT_FILE_PREFIX "${CMAKE_BINARY_DIR}/packages")
include(CPack)
