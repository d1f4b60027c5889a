# headroom_embed(OUT): a source file that holds every catalog record and published-runs table, so that the
# program needs nothing beside it at run time. OUT receives the path of the generated .cpp.
function(headroom_embed out)
    file(GLOB_RECURSE files RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS
        "${PROJECT_SOURCE_DIR}/catalog/*.toml" "${PROJECT_SOURCE_DIR}/validation/*.csv")
    list(SORT files)
    set(inputs "")
    set(listing "")
    foreach(file IN LISTS files)
        list(APPEND inputs "${PROJECT_SOURCE_DIR}/${file}")
        string(APPEND listing "${file}\n")
    endforeach()

    set(list_file "${CMAKE_CURRENT_BINARY_DIR}/embedded_files.txt")
    file(CONFIGURE OUTPUT "${list_file}" CONTENT "${listing}" @ONLY)   # written only when it changes

    set(source "${CMAKE_CURRENT_BINARY_DIR}/embedded_files.cpp")
    add_executable(headroom_embed "${PROJECT_SOURCE_DIR}/tools/embed.cpp")
    target_link_libraries(headroom_embed PRIVATE headroom_flags)
    add_custom_command(
        OUTPUT "${source}"
        COMMAND headroom_embed "${PROJECT_SOURCE_DIR}" "${list_file}" "${source}"
        DEPENDS headroom_embed "${list_file}" ${inputs}
        COMMENT "Embedding the catalog"
        VERBATIM)
    set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "-w")   # very long literals
    set(${out} "${source}" PARENT_SCOPE)
endfunction()
