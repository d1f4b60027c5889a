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

# headroom_join(TARGET [SOURCE...]): where HEADROOM_JOIN is on, up to ten sources of one folder are compiled as one,
# because reading the headers takes longer than compiling most of our sources. The sources named here are compiled alone:
# what they keep to themselves has the name of something that a neighbour keeps to itself. Call it after the target got
# its warnings: those that a neighbour's names raise are for builds of single files (`make dev`, `make lint`).
add_library(headroom_joined_flags INTERFACE)
target_compile_options(headroom_joined_flags INTERFACE -Wno-shadow
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>) # GCC 12 sees one in every variant that is moved and dropped
function(headroom_join target)
    get_target_property(sources ${target} SOURCES)
    list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" OUTPUT_VARIABLE alone)
    list(SORT sources)
    set(folder "")
    foreach(source IN LISTS sources)
        cmake_path(IS_PREFIX CMAKE_CURRENT_SOURCE_DIR "${source}" ours)
        if(NOT ours OR source IN_LIST alone)
            continue()
        endif()
        cmake_path(GET source PARENT_PATH parent)
        if(NOT parent STREQUAL folder)
            set(folder "${parent}")
            set(count 0)
        endif()
        math(EXPR part "${count} / 10")
        math(EXPR count "${count} + 1")
        cmake_path(RELATIVE_PATH parent BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE group)
        string(REPLACE "/" "_" group "${group}_${part}")
        set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${HEADROOM_JOIN} UNITY_BUILD_MODE GROUP)
    if(HEADROOM_JOIN)
        target_link_libraries(${target} PRIVATE headroom_joined_flags)
    endif()
endfunction()
