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
