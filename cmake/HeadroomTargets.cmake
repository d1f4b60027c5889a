# Libraries of this project's sources, one a room.

# headroom_room(NAME FOLDER SOURCE...): the static library NAME of these sources below FOLDER, where their own headers are too.
function(headroom_room name folder)
    add_library(${name} STATIC ${ARGN})
    target_link_libraries(${name} PRIVATE headroom_flags)
    target_include_directories(${name} PRIVATE "${folder}")
    set_property(GLOBAL APPEND PROPERTY HEADROOM_ROOMS ${name})
endfunction()

# The headers below include/ of the calling folder, for those who build here and for those who have installed them.
macro(headroom_public_headers name)
    target_include_directories(${name} PUBLIC "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:include>")
    set_property(GLOBAL APPEND PROPERTY HEADROOM_INSTALLED_ROOMS ${name})
    set_property(GLOBAL APPEND PROPERTY HEADROOM_INSTALLED_HEADERS "${CMAKE_CURRENT_SOURCE_DIR}/include/")
endmacro()

# headroom_rooms(ALL COUNT [NAME PATTERN]...): a static library NAME of every source below src/ of the calling folder whose path
# there matches PATTERN and none of the patterns before; up to COUNT of its sources are compiled as one (headroom_join).
# include/ holds the public headers of all. ALL stands for all of them together. A source that no pattern matches is an error.
function(headroom_rooms all count)
    set(folder "${CMAKE_CURRENT_SOURCE_DIR}/src")
    file(GLOB_RECURSE sources RELATIVE "${folder}" CONFIGURE_DEPENDS "${folder}/*.cpp")
    add_library(${all} INTERFACE)
    while(ARGN)
        list(POP_FRONT ARGN name pattern)
        set(room ${sources})
        list(FILTER room INCLUDE REGEX "${pattern}")
        list(FILTER sources EXCLUDE REGEX "${pattern}")
        list(TRANSFORM room PREPEND "${folder}/")
        headroom_room(${name} "${folder}" ${room})
        headroom_public_headers(${name})
        headroom_join(${name} ${count})
        target_link_libraries(${all} INTERFACE ${name})
    endwhile()
    if(sources)
        message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt: no room takes ${sources}")
    endif()
endfunction()

# headroom_library(NAME): the static library of every source of the calling folder, for what is one room.
macro(headroom_library name)
    file(GLOB_RECURSE headroom_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/*.cpp")
    headroom_room(${name} "${CMAKE_CURRENT_SOURCE_DIR}/src" ${headroom_sources})
    headroom_public_headers(${name})
    set(headroom_scope PUBLIC)
endmacro()

# headroom_join(TARGET COUNT [SOURCE...]): where HEADROOM_JOIN is on, up to COUNT sources are compiled as one, because
# reading the headers takes longer than compiling most of our sources. scripts/join_sources.py says which: those that keep
# different things under one name do not meet. It is asked again whenever a source changes. The sources named here are
# compiled alone. Call it after the target got its warnings: those that a neighbour's names raise are for builds of single
# files (`make dev`, `make lint`).
add_library(headroom_joined_flags INTERFACE)
target_compile_options(headroom_joined_flags INTERFACE -Wno-shadow
    # GCC 12 sees an uninitialised value in every variant that is moved and dropped, and a joined source as somebody's header
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-subobject-linkage>")
# headroom_units(VARIABLE COUNT SOURCE...): the sources that are compiled as one, parted by colons, for each unit.
function(headroom_units variable count)
    set(script "${PROJECT_SOURCE_DIR}/scripts/join_sources.py")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${script}" ${ARGN})
    execute_process(COMMAND /usr/bin/python3 "${script}" ${count} ${ARGN} OUTPUT_VARIABLE units COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "[^\n]+" units "${units}")
    set(${variable} ${units} PARENT_SCOPE)
endfunction()
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
    headroom_units(units ${count} ${sources})
    set(unit 0)
    foreach(line IN LISTS units)
        string(REPLACE ":" ";" joined "${line}")
        set_source_files_properties(${joined} PROPERTIES UNITY_GROUP ${unit})
        math(EXPR unit "${unit} + 1")
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    target_link_libraries(${target} PRIVATE headroom_joined_flags)
endfunction()
