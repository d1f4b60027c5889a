# Compiler settings that hold for every target, and the interface target `headroom_flags`
# that carries what only our own sources need (warnings).

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # the Python module holds the libraries
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")

find_program(HEADROOM_CCACHE ccache)
if(HEADROOM_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${HEADROOM_CCACHE}")
endif()

# Same binary, same input, same bits out: no fused multiply-add, no -march=native, no -ffast-math.
add_compile_options(-ffp-contract=off -fdiagnostics-color=auto)
# An index outside a text, list or optional ends the program, instead of a number that looks right.
add_compile_definitions(_GLIBCXX_ASSERTIONS)
# Position-independent code whose functions nobody replaces at run time: they may be inlined, as in a program alone.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-semantic-interposition>)
# g++ tidies its memory up less often: a tenth sooner, with 100 MB more.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1000000>)

if(HEADROOM_STATIC) # of archives alone: the distribution's, and those that scripts/static_libraries.sh builds
    set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
    list(PREPEND CMAKE_PREFIX_PATH "${HEADROOM_LIBRARIES}")
    add_link_options(-static)
endif()

if(HEADROOM_SANITIZE)
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        message(FATAL_ERROR "HEADROOM_SANITIZE needs clang (the fuzz targets do). Use the asan preset.")
    endif()
    set(sanitizers address,undefined)
    if(HEADROOM_SANITIZE STREQUAL "thread")
        set(sanitizers thread)
    endif()
    if(HEADROOM_FUZZ)
        string(APPEND sanitizers ",fuzzer-no-link")
    endif()
    add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${sanitizers})
    find_program(HEADROOM_LLD ld.lld) # links thirty programs of 50 MB in a quarter of the time
    if(HEADROOM_LLD)
        add_link_options(-fuse-ld=lld)
    endif()
endif()

add_library(headroom_flags INTERFACE)
target_compile_options(headroom_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-sign-conversion
    $<$<BOOL:${HEADROOM_WERROR}>:-Werror>)

# What reads, writes and puts answers together is compiled in three quarters of the time, and is as fast for people; its
# small functions are put in place at no cost. What computes in loops keeps the optimisation of the preset.
add_library(headroom_quick INTERFACE)
target_compile_options(headroom_quick INTERFACE "$<$<CONFIG:Release>:-O1;-finline-small-functions>")
