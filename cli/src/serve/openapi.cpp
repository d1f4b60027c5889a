#include "serve/openapi.hpp"

#include "output.hpp"
#include "serve/request_words.hpp"

#include "headroom/document/fields.hpp"

#include <string>

namespace headroom::cli::serve {

using namespace headroom::document;

namespace {

Json text_schema() {
    Json schema = Json::object();
    schema.set("type", "string");
    return schema;
}

Json parameter(std::string const& name, std::string const& help, bool many) {
    Json schema = text_schema();
    if (many) {
        Json list = Json::object();
        list.set("type", "array").set("items", std::move(schema));
        schema = std::move(list);
    }
    Json row = Json::object();
    row.set("name", name).set("in", "query").set("description", help).set("schema", std::move(schema));
    return row;
}

Json response(std::string const& words, Json schema) {
    Json media = Json::object(), content = Json::object(), one = Json::object();
    media.set("schema", std::move(schema));
    content.set("application/json", std::move(media));
    one.set("description", words).set("content", std::move(content));
    return one;
}

/// {"error": {"where", "problem", "why", "hint", "exit"}}.
Json error_schema() {
    Json parts = Json::object();
    for (char const* const part : {"where", "problem", "why", "hint"}) { parts.set(part, text_schema()); }
    Json exit = Json::object();
    exit.set("type", "integer");
    parts.set("exit", std::move(exit));
    Json error = Json::object(), whole = Json::object(), members = Json::object();
    error.set("type", "object").set("properties", std::move(parts));
    members.set("error", std::move(error));
    whole.set("type", "object").set("properties", std::move(members));
    return whole;
}

Json answer_schema(Verb const& verb) {
    static constexpr ResultHead const* head = nullptr;
    static constexpr ResultTail const* tail = nullptr;
    if (verb.answers.empty()) { return Json::object(); }
    return json_schema("Result of headroom " + std::string{verb.name}, verb.answers, field_table_of(head),
                       field_table_of(tail));
}

Json path_of(Verb const& verb) {
    Json parameters = Json::array();
    for (Positional const& one : verb.positionals) { parameters.push(parameter(field_of(one), one.help, one.many)); }
    for (auto const options : verb.options) {
        for (Option const& option : options) {
            if (is_taken(option)) {
                parameters.push(parameter(option.name + 2, option.help, option.takes == Takes::values));
            }
        }
    }
    Json responses = Json::object();
    responses.set("200",
                  response("the answer; the header X-Headroom-Exit has the verb's exit code", answer_schema(verb)));
    responses.set("400", response("a field that was not understood", error_schema()));
    responses.set("422", response("a question without an answer", error_schema()));
    Json get = Json::object(), path = Json::object();
    get.set("summary", verb.summary).set("parameters", std::move(parameters)).set("responses", std::move(responses));
    path.set("get", std::move(get));
    return path;
}

} // namespace

Json openapi() {
    Json info = Json::object(), paths = Json::object(), whole = Json::object();
    info.set("title", "Headroom").set("version", HEADROOM_VERSION);
    for (Verb const& verb : answered_verbs()) { paths.set("/api/" + std::string{verb.name}, path_of(verb)); }
    whole.set("openapi", "3.1.0").set("info", std::move(info)).set("paths", std::move(paths));
    return whole;
}

} // namespace headroom::cli::serve
