#include "output.hpp"
#include "verb.hpp"
#include "verb_table.hpp"

#include "headroom/document/fields.hpp"
#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/probe/record_fields.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli::verb_schema {
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

Json table_of_verbs() {
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

namespace {

constexpr std::array positionals{
    Positional{"VERB", "a verb whose results have a JSON form: predict, or \"measure comm\"; record: the recorder",
               true},
};

constexpr std::array options{
    Option{"--verbs", "", "the verbs with their arguments and options instead, as JSON", "Output", Takes::nothing},
    Option{"--out", "FILE", "write the schema there, whole or not at all; - is standard output", "Output"},
};

constexpr char const* examples = "  headroom schema predict\n"
                                 "  headroom schema measure comm --out measure_comm.json\n"
                                 "  headroom schema --verbs";

/// "measure comm" -> "measure_comm": as the key "schema" of its results has it.
std::string schema_name(std::string name) {
    std::ranges::replace(name, ' ', '_');
    return name;
}

Verb verb_named(std::string const& wanted) {
    std::vector<std::string> names;
    for (Verb& verb : verbs()) {
        if (verb.answers.empty()) { continue; }
        if (schema_name(verb.name) == schema_name(wanted)) { return verb; }
        names.emplace_back(verb.name);
    }
    names.emplace_back("record");
    refuse("VERB", "no verb " + headroom::quoted(wanted) + " with a JSON form", "", did_you_mean_one_of(wanted, names));
}

Json schema_of(std::string const& name) {
    if (name == "record") { // what headroom/probe/report.hpp writes
        static constexpr FieldTable none{"none", {}};
        return json_schema("Result of a recorded fork-join program (headroom/probe/report.hpp)",
                           {&field_table_of(static_cast<probe::Study const*>(nullptr))}, none, none);
    }
    Verb const verb = verb_named(name);
    static constexpr ResultHead const* head = nullptr;
    static constexpr ResultTail const* tail = nullptr;
    return json_schema("Result of headroom " + std::string{verb.name}, verb.answers, field_table_of(head),
                       field_table_of(tail));
}

int run(Arguments const& arguments) {
    bool const wants_verbs = arguments.has("--verbs");
    if (wants_verbs && arguments.has("VERB")) {
        refuse("--verbs", "with a verb", "it lists all of them", "leave one of them out");
    }
    Json const schema = wants_verbs ? table_of_verbs() : schema_of(join(arguments.all("VERB"), " "));
    io::write_file(arguments.text("--out").value_or("-"), schema.text());
    return Exit::done;
}

Verb described() {
    Verb verb{"schema", "the JSON Schema of a verb's results", positionals, examples, run};
    verb.options = {options};
    return verb;
}

} // namespace
} // namespace headroom::cli::verb_schema

headroom::cli::Verb headroom::cli::schema_verb() { return verb_schema::described(); }

headroom::document::Json headroom::cli::verb_table() { return verb_schema::table_of_verbs(); }
