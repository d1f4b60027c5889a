#include "verb_table.hpp"

#include "verb.hpp"

namespace headroom::cli {

using namespace headroom::document;
namespace {

char const* name_of(Takes takes) {
    switch (takes) {
    case Takes::value: return "value";
    case Takes::nothing: return "nothing";
    case Takes::perhaps_value: return "perhaps_value";
    case Takes::values: return "values";
    }
    return "value";
}

Json option_row(Option const& option) {
    Json row = Json::object();
    row.set("name", option.name);
    row.set("alias", option.alias == nullptr ? Json{} : Json{option.alias});
    row.set("placeholder", option.placeholder);
    row.set("help", option.help);
    row.set("group", option.group);
    row.set("takes", name_of(option.takes));
    return row;
}

} // namespace

Json verb_table() {
    Json table = Json::array();
    for (Verb const& verb : verbs()) {
        Json arguments = Json::array(), options = Json::array();
        for (Positional const& one : verb.positionals) {
            Json row = Json::object();
            row.set("name", one.name).set("help", one.help).set("many", one.many);
            arguments.push(std::move(row));
        }
        for (Option const& option : verb.all_options()) { options.push(option_row(option)); }
        Json row = Json::object();
        row.set("name", verb.name).set("summary", verb.summary).set("arguments", std::move(arguments));
        row.set("options", std::move(options)).set("examples", verb.examples);
        table.push(std::move(row));
    }
    return table;
}

} // namespace headroom::cli
