# headroom_library(NAME): a static library of every src/**/*.cpp below the calling folder, with
# include/ as its public headers. While a folder has no sources yet, a header-only library stands in.
# `headroom_scope` is set to PUBLIC or INTERFACE for the caller's target_link_libraries.
macro(headroom_library name)
    file(GLOB_RECURSE headroom_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/*.cpp")
    list(APPEND headroom_sources ${ARGN})
    if(headroom_sources)
        add_library(${name} STATIC ${headroom_sources})
        target_link_libraries(${name} PRIVATE headroom_flags)
        target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src")
        set(headroom_scope PUBLIC)
    else()
        add_library(${name} INTERFACE)
        set(headroom_scope INTERFACE)
    endif()
    target_include_directories(${name} ${headroom_scope} "${CMAKE_CURRENT_SOURCE_DIR}/include")
endmacro()

# headroom_join(TARGET COUNT [SOURCE...]): where HEADROOM_JOIN is on, up to COUNT sources are compiled as one, because
# reading the headers takes longer than compiling most of our sources. scripts/join_sources.py says which: those that keep
# different things under one name do not meet. It is asked again whenever a source changes. The sources named here are
# compiled alone. Call it after the target got its warnings: those that a neighbour's names raise are for builds of single
# files (`make dev`, `make lint`).
add_library(headroom_joined_flags INTERFACE)
target_compile_options(headroom_joined_flags INTERFACE -Wno-shadow
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>) # GCC 12 sees one in every variant that is moved and dropped
function(headroom_join target count)
    if(NOT HEADROOM_JOIN)
        return()
    endif()
    get_target_property(all ${target} SOURCES)
    list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" OUTPUT_VARIABLE alone)
    set(sources "")
    foreach(source IN LISTS all)
        cmake_path(IS_PREFIX CMAKE_CURRENT_SOURCE_DIR "${source}" ours) # not what the build has written
        if(ours AND NOT source IN_LIST alone)
            list(APPEND sources "${source}")
        endif()
    endforeach()
    set(script "${PROJECT_SOURCE_DIR}/scripts/join_sources.py")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${script}" ${sources})
    execute_process(COMMAND /usr/bin/python3 "${script}" ${count} ${sources} OUTPUT_VARIABLE units COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "[^\n]+" units "${units}")
    set(unit 0)
    foreach(line IN LISTS units)
        string(REPLACE ":" ";" joined "${line}")
        set_source_files_properties(${joined} PROPERTIES UNITY_GROUP ${unit})
        math(EXPR unit "${unit} + 1")
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    target_link_libraries(${target} PRIVATE headroom_joined_flags)
endfunction()
