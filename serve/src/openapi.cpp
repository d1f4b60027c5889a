#include "openapi.hpp"

#include "output.hpp"
#include "request_words.hpp"

#include "headroom/document/fields.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace headroom::serve {

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

Json response(std::string const& words, Json schema, char const* type = "application/json") {
    Json media = Json::object(), content = Json::object(), one = Json::object();
    media.set("schema", std::move(schema));
    content.set(type, std::move(media));
    one.set("description", words).set("content", std::move(content));
    return one;
}

Json typed(char const* type) { return Json::object().set("type", type); }

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

Json responses_of(Json good) {
    Json responses = Json::object();
    responses.set("200", std::move(good));
    responses.set("400", response("a field that was not understood", error_schema()));
    responses.set("409", response("a later question of the same page goes first", error_schema()));
    responses.set("422", response("a question without an answer", error_schema()));
    responses.set("504", response("a question that takes longer than --time-limit", error_schema()));
    return responses;
}

std::string place_of_schema(Verb const& verb) {
    return "#/paths/~1api~1" + std::string{verb.name} + "/get/responses/200/content/application~1json/schema";
}

Json path_of(Verb const& verb) {
    Json parameters = Json::array();
    for (Positional const& one : verb.positionals) { parameters.push(parameter(field_of(one), one.help, one.many)); }
    for (Option const& option : verb.all_options()) {
        bool const is_argument = std::ranges::count(verb.positionals, std::string{option.name + 2}, field_of) > 0;
        if (is_taken(option) && !is_argument) {
            parameters.push(parameter(option.name + 2, option.help, option.takes == Takes::values));
        }
    }
    Json get = Json::object(), post = Json::object(), path = Json::object();
    std::string const words = "the answer; the header X-Headroom-Exit has the verb's exit code";
    get.set("summary", verb.summary);
    get.set("responses", responses_of(response(words, answer_schema(verb))));
    Json files = Json::object().set("type", "object").set("additionalProperties", typed("string"));
    post.set("summary", std::string{verb.summary} + ", with files: the field of one is upload:NAME");
    post.set("requestBody", response("files by any name", std::move(files), "multipart/form-data"));
    std::string const same = place_of_schema(verb);
    post.set("responses", responses_of(response(words, Json::object().set("$ref", same))));
    path.set("parameters", std::move(parameters)).set("get", std::move(get)).set("post", std::move(post));
    return path;
}

/// Another form of every answer: `/csv/{verb}`, with the fields of `/api/{verb}`.
Json form_path(std::string const& summary, Json good, bool launch) {
    Json names = Json::array(), parameters = Json::array();
    for (Verb const& verb : answered_verbs()) { names.push(verb.name); }
    Json verb = Json::object().set("name", "verb").set("in", "path").set("required", true);
    parameters.push(verb.set("schema", text_schema().set("enum", std::move(names))));
    Json fields = typed("object").set("additionalProperties", text_schema());
    Json all = Json::object().set("name", "fields").set("in", "query").set("description", "those of /api/{verb}");
    parameters.push(all.set("style", "form").set("explode", true).set("schema", std::move(fields)));
    if (launch) { parameters.push(parameter("_as", "framework or scheduler of the launch file", false)); }
    Json get = Json::object();
    get.set("summary", summary).set("parameters", std::move(parameters));
    get.set("responses", responses_of(std::move(good)));
    return Json::object().set("get", std::move(get));
}

/// `{"exit", "page", "headline", "figures", "answer"}`.
Json page_answer_schema() {
    Json parts = Json::object();
    parts.set("exit", typed("integer")).set("headline", text_schema()).set("answer", typed("object"));
    Json const text_or_null = Json::array().push("string").push("null");
    parts.set(
        "page",
        Json::object().set("type", text_or_null).set("description", "address of the report; null where there is none"));
    parts.set("figures", typed("array"));
    return typed("object").set("properties", std::move(parts));
}

Json figure_path() {
    Json post = Json::object();
    post.set("summary", "a chart with the ranges and ticks that a report gives it");
    post.set("requestBody", response("the chart", typed("object")));
    post.set("responses", responses_of(response("the figure, in a list", typed("array"))));
    return Json::object().set("post", std::move(post));
}

using OrderedValue = nlohmann::ordered_json;

/// Leads references within an answer's schema, "#/definitions/model", to where that schema stands in the document.
void lead_references(OrderedValue& value, std::string const& schema) {
    constexpr std::string_view within = "#/definitions/";
    for (auto& [name, part] : value.items()) {
        if (name == "$ref" && part.is_string() && part.get_ref<std::string const&>().starts_with(within)) {
            part = schema + part.get_ref<std::string const&>().substr(1);
        } else if (part.is_structured()) {
            lead_references(part, schema);
        }
    }
}

} // namespace

std::string openapi() {
    Json info = Json::object(), paths = Json::object(), whole = Json::object();
    info.set("title", "Headroom").set("version", HEADROOM_VERSION);
    for (Verb const& verb : answered_verbs()) { paths.set("/api/" + std::string{verb.name}, path_of(verb)); }
    paths.set("/csv/{verb}", form_path("the answer as CSV", response("CSV", text_schema(), "text/csv"), false));
    paths.set("/report/{verb}", form_path("the report", response("HTML", text_schema(), "text/html"), false));
    paths.set("/launch/{verb}",
              form_path("the launch file of the plan", response("a file", text_schema(), "text/plain"), true));
    paths.set("/answer/{verb}", form_path("the answer with its headline, figures and the address of its report",
                                          response("of one run", page_answer_schema()), false));
    paths.set("/figure", figure_path());
    whole.set("openapi", "3.1.0").set("info", std::move(info)).set("paths", std::move(paths));
    OrderedValue document = OrderedValue::parse(whole.text());
    for (Verb const& verb : answered_verbs()) {
        lead_references(document["paths"]["/api/" + std::string{verb.name}]["get"], place_of_schema(verb));
    }
    return document.dump(2) + "\n";
}

} // namespace headroom::serve
