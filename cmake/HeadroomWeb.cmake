# headroom_charts(OUT): a source file that holds the chart library of web/, bundled, as headroom::cli::page_files().
# Without npm or its registry the bundle is empty and pages carry tables; the build does not fail. Packages are fetched
# when package-lock.json changes, bundled when our drawing code does.
function(headroom_charts out)
    set(web "${PROJECT_SOURCE_DIR}/web")
    set(folder "${CMAKE_BINARY_DIR}/web")
    set(step "${CMAKE_COMMAND}" "-DWEB=${web}" "-DFOLDER=${folder}" -P "${PROJECT_SOURCE_DIR}/cmake/web_step.cmake" --)
    file(GLOB sources CONFIGURE_DEPENDS "${web}/src/*.js")
    add_custom_command(
        OUTPUT "${folder}/packages.stamp"
        COMMAND ${step} fetch
        DEPENDS "${web}/package.json" "${web}/package-lock.json" "${PROJECT_SOURCE_DIR}/cmake/web_step.cmake"
        COMMENT "Fetching the chart library"
        VERBATIM)
    add_custom_command(
        OUTPUT "${folder}/charts.js" "${folder}/charts.sha256"
        COMMAND ${step} bundle
        DEPENDS "${folder}/packages.stamp" "${web}/bundle.mjs" ${sources}
        COMMENT "Bundling the chart library"
        VERBATIM)
    headroom_embed_files(source "${folder}" headroom::cli page_files charts.js charts.sha256)
    set(${out} "${source}" PARENT_SCOPE)
endfunction()
