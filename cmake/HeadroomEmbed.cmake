# What the programs hold inside, so that they need nothing beside them at run time.

add_executable(headroom_embed "${PROJECT_SOURCE_DIR}/tools/embed.cpp")
target_include_directories(headroom_embed PRIVATE "${PROJECT_SOURCE_DIR}/io/include")
target_link_libraries(headroom_embed PRIVATE headroom_flags)

# headroom_embed_files(OUT ROOT SPACE FUNCTION FILE...): a source file that holds these files, named relative to ROOT,
# as SPACE::FUNCTION(). OUT receives the path of the generated .cpp.
function(headroom_embed_files out root space function)
    set(inputs "")
    set(listing "")
    foreach(file IN LISTS ARGN)
        list(APPEND inputs "${root}/${file}")
        string(APPEND listing "${file}\n")
    endforeach()
    set(list_file "${CMAKE_CURRENT_BINARY_DIR}/${function}.txt")
    file(CONFIGURE OUTPUT "${list_file}" CONTENT "${listing}" @ONLY)   # written only when it changes
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp")
    add_custom_command(
        OUTPUT "${source}"
        COMMAND headroom_embed "${root}" "${list_file}" "${source}" "${space}" "${function}"
        DEPENDS headroom_embed "${list_file}" ${inputs}
        COMMENT "Embedding ${function}"
        VERBATIM)
    set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "-w")   # very long literals
    set(${out} "${source}" PARENT_SCOPE)
endfunction()

# headroom_embed(OUT): every catalog record and published-runs table.
function(headroom_embed out)
    file(GLOB_RECURSE files RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS
        "${PROJECT_SOURCE_DIR}/catalog/*.toml" "${PROJECT_SOURCE_DIR}/validation/*.csv")
    list(SORT files)
    headroom_embed_files(source "${PROJECT_SOURCE_DIR}" headroom::io embedded_files ${files})
    set(${out} "${source}" PARENT_SCOPE)
endfunction()
