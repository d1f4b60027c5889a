#include "tables/request_columns.hpp"

#include "records/record.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace headroom::io {
namespace {

// Of several in one file the one that stands first here is taken.
constexpr std::array<std::string_view, 21> names_of_time{
    "timestamp", "arrival",     "arrivaltime", "arrivaltimestamp", "arrivedat", "arrivesat", "arrives",
    "arrived",   "requesttime", "requestedat", "requesttimestamp", "sentat",    "senttime",  "submittime",
    "starttime", "createdat",   "time",        "datetime",         "offset",    "ts",        "t"};
constexpr std::array<std::string_view, 18> names_of_prompt{
    "prompttokens",   "inputtokens",      "contexttokens", "requesttokens", "promptlength",     "inputlength",
    "promptlen",      "inputlen",         "prefilltokens", "contextlength", "numprefilltokens", "numprompttokens",
    "numinputtokens", "numcontexttokens", "tokensin",      "prefilllength", "prompt",           "input"};
constexpr std::array<std::string_view, 18> names_of_output{
    "outputtokens",    "generatedtokens", "responsetokens",     "completiontokens", "outputlength",
    "outputlen",       "decodetokens",    "generationtokens",   "responselength",   "generatedlength",
    "numdecodetokens", "numoutputtokens", "numgeneratedtokens", "completionlength", "tokensout",
    "decodelength",    "output",          "completion"};

struct FieldWords {
    std::span<std::string_view const> names;
    std::string_view what, option;
};
constexpr std::array<FieldWords, request_fields> fields{
    FieldWords{names_of_time, "when a request arrived", "--time-column"},
    FieldWords{names_of_prompt, "the tokens of a prompt", "--prompt-column"},
    FieldWords{names_of_output, "the tokens that came out", "--output-column"},
};

std::size_t column_named(std::vector<std::string> const& header, std::string const& name, std::string_view where,
                         std::string_view option) {
    auto const found = std::ranges::find(header, name);
    if (found != header.end()) { return static_cast<std::size_t>(found - header.begin()); }
    std::string const near = nearest(name, header);
    usage_error(option, fmt::format("no column {} in {}", headroom::quoted(name), where), {},
                near.empty() ? std::string{} : fmt::format("did you mean '{}'?", near));
}

std::size_t column_of(std::vector<NamedColumn> const& columns, std::string_view where, FieldWords const& field,
                      std::vector<std::string> const& header) {
    for (std::string_view const name : field.names) {
        auto const found = std::ranges::find(columns, name, &NamedColumn::name);
        if (found != columns.end()) { return static_cast<std::size_t>(found - columns.begin()); }
    }
    std::string all;
    for (std::string const& one : header) { all += (all.empty() ? "" : ", ") + one; }
    usage_error(std::string{where}, fmt::format("no column of {}", field.what),
                fmt::format("it has {}", headroom::quoted(all)), fmt::format("name it: {} NAME", field.option));
}

/// Traces whose bare times are told by their authors.
struct KnownTrace {
    std::string_view name;
    std::array<std::string_view, request_fields> columns;
    bool objects;
    std::string_view unit;
    double seconds;
};
constexpr std::array known_traces{
    KnownTrace{"Mooncake", {"timestamp", "input_length", "output_length"}, true, "ms", 1e-3},
    KnownTrace{"BurstGPT", {"Timestamp", "Request tokens", "Response tokens"}, false, "s", 1.0},
    KnownTrace{"Vidur", {"arrived_at", "num_prefill_tokens", "num_decode_tokens"}, false, "s", 1.0},
};

void find_unit(RequestColumns& found, std::string const& header_unit, bool objects,
               RequestTraceQuestion const& question) {
    auto const tell = [&](std::string_view unit, double seconds, std::string_view from) {
        found.unit = std::string{unit};
        found.unit_seconds = seconds;
        found.unit_from = std::string{from};
    };
    if (!question.time_unit.empty()) {
        auto const seconds = unit_of_time(question.time_unit);
        if (!seconds) {
            usage_error("--time-unit", fmt::format("{} is no unit of time", headroom::quoted(question.time_unit)), {},
                        "write s, ms, us or ns");
        }
        return tell(question.time_unit, *seconds, "given");
    }
    if (auto const seconds = unit_of_time(header_unit)) { return tell(header_unit, *seconds, "header"); }
    for (KnownTrace const& trace : known_traces) {
        if (trace.objects != objects || !std::ranges::equal(trace.columns, found.names)) { continue; }
        tell(trace.unit, trace.seconds, "format");
        found.notes.push_back(fmt::format("bare times are {} as in the traces of {}", trace.unit, trace.name));
    }
}

} // namespace

RequestColumns find_request_columns(std::vector<std::string> const& header, std::string_view where, bool objects,
                                    RequestTraceQuestion const& question) {
    std::vector<NamedColumn> columns;
    columns.reserve(header.size());
    for (std::string const& one : header) { columns.push_back(named_column(one)); }
    std::array<std::string, request_fields> const asked{question.time_column, question.prompt_column,
                                                        question.output_column};
    RequestColumns found;
    for (std::size_t i = 0; i < request_fields; ++i) {
        found.at.at(i) = asked.at(i).empty() ? column_of(columns, where, fields.at(i), header)
                                             : column_named(header, asked.at(i), where, fields.at(i).option);
        found.names.at(i) = header.at(found.at.at(i));
    }
    if (found.at[0] == found.at[1] || found.at[0] == found.at[2] || found.at[1] == found.at[2]) {
        usage_error(std::string{where}, "one column is asked for twice", "a time and two counts are three columns",
                    "name three");
    }
    find_unit(found, columns[found.at[0]].unit, objects, question);
    return found;
}

} // namespace headroom::io
