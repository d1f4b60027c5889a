# cmake -DWEB=... -DFOLDER=... -P web_step.cmake -- fetch|bundle
# Fetches the packages of WEB/package-lock.json into FOLDER, or bundles WEB/src from them. What fails is said in one
# line, and the bundle is empty.
math(EXPR last "${CMAKE_ARGC} - 1")
set(step "${CMAKE_ARGV${last}}")
file(MAKE_DIRECTORY "${FOLDER}")

function(leave_out why)
    message(NOTICE "charts: left out of the pages (${why}); to try again: rm -r ${FOLDER}, then build")
    file(WRITE "${FOLDER}/charts.js" "")
    file(WRITE "${FOLDER}/charts.sha256" "")
endfunction()

if(step STREQUAL "fetch")
    file(COPY "${WEB}/package.json" "${WEB}/package-lock.json" DESTINATION "${FOLDER}")
    find_program(npm npm)
    set(result "npm is not installed")
    if(npm)
        execute_process(
            COMMAND "${npm}" ci --ignore-scripts --no-audit --no-fund --update-notifier=false
                --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-timeout=30000
            WORKING_DIRECTORY "${FOLDER}" TIMEOUT 300
            RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE said)
        file(WRITE "${FOLDER}/npm.log" "${said}")
        if(NOT result STREQUAL "0")
            set(result "npm could not fetch them: see ${FOLDER}/npm.log")
        else()
            execute_process(COMMAND "${FOLDER}/node_modules/.bin/esbuild" --version TIMEOUT 60
                RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
            if(NOT result STREQUAL "0")
                set(result "esbuild does not run here")
            endif()
        endif()
    endif()
    file(WRITE "${FOLDER}/packages.stamp" "${result}")
    return()
endif()

file(READ "${FOLDER}/packages.stamp" fetched)
if(NOT fetched STREQUAL "0")
    leave_out("${fetched}")
    return()
endif()
find_program(node NAMES node nodejs)
execute_process(
    COMMAND "${node}" "${WEB}/bundle.mjs" "${WEB}" "${FOLDER}" TIMEOUT 120
    RESULT_VARIABLE result ERROR_VARIABLE said)
if(NOT result STREQUAL "0")
    message(FATAL_ERROR "charts: cannot be bundled: ${said}")   # our own drawing code is wrong
endif()
