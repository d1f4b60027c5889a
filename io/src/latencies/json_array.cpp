#include "latencies/csv_layout.hpp"
#include "latencies/json_fields.hpp"
#include "latencies/json_report.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/sample_columns.hpp"
#include "records/record.hpp"
#include "tables/cell_text.hpp"

#include <algorithm>

namespace headroom::io {
namespace {

using nlohmann::json;

std::string text_of(json const& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

/// Whether the elements of a list are samples: numbers or times, or objects with a field of latencies, or the asked one.
bool holds_samples(json const& list, std::string const& name, SampleBuilder const& samples) {
    std::string const& asked = samples.question().column;
    if (!list.is_array() || list.empty()) { return false; }
    json const& first = list.front();
    if (first.is_string() && !cell_value(first.get<std::string>(), CellMeasure::time).is_number()) { return false; }
    if (first.is_number() || first.is_string()) { return asked.empty() || asked == name; }
    JsonFields fields;
    if (!first.is_object() || !fields.read_all(text_of(first))) { return false; }
    if (!asked.empty()) { return std::ranges::find(fields.names(), asked) != fields.names().end(); }
    return value_column(fields.names(), samples.where()).found();
}

/// Lists of samples within objects, with the names of the keys that lead to them.
void find_lists(json const& object, std::string const& path, SampleBuilder const& samples,
                std::vector<std::pair<std::string, json const*>>& found) { // NOLINT(misc-no-recursion)
    for (auto const& [key, value] : object.items()) {
        std::string const name = path.empty() ? key : path + "." + key;
        if (holds_samples(value, name, samples)) { found.emplace_back(name, &value); }
        if (value.is_object()) { find_lists(value, name, samples, found); }
    }
}

void read_list(json const& list, std::string const& name, SampleBuilder& samples) {
    std::string lines;
    for (json const& element : list) {
        bool const bare = !name.empty() && !element.is_structured(); // its key may state the unit
        lines += (bare ? "{" + text_of(name) + ":" + text_of(element) + "}" : text_of(element)) + "\n";
    }
    HeadSource elements{open_source(lines, samples.where(), {}), table_head_bytes};
    read_json_lines(elements, samples);
}

} // namespace

bool looks_like_json_array(std::string_view head) {
    std::string_view const begin = trimmed_line(whole_lines(head).substr(0, 4096));
    std::size_t const next = begin.find_first_not_of("[{ \t\r\n");
    return (begin.starts_with('[') || begin.starts_with('{')) && next != std::string_view::npos &&
           std::string_view{"\"-0123456789n"}.find(begin[next]) != std::string_view::npos;
}

bool is_json_document(std::string_view head) {
    head = head.substr(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
    head = head.substr(0, head.find_last_not_of(" \t\r\n") + 1);
    JsonFields fields;
    bool const alone = head.starts_with('{') && head.find('\n') == std::string_view::npos;
    return alone && (!fields.read_all(head) || std::ranges::any_of(fields.fields(), &ReadField::is_nested));
}

void read_json_array(HeadSource& source, SampleBuilder& samples) {
    std::string const text = whole_report(source, samples);
    json const whole = parse_report(text, samples);
    if (whole.is_array()) {
        read_list(whole, {}, samples);
        return samples.note("a list of JSON: places are numbers of its elements, not lines");
    }
    std::vector<std::pair<std::string, json const*>> lists;
    if (whole.is_object()) { find_lists(whole, {}, samples, lists); }
    if (lists.empty() && is_json_document(text)) { // one object a line, of one line
        HeadSource line{open_source(text, samples.where(), {}), table_head_bytes};
        return read_json_lines(line, samples);
    }
    if (lists.size() != 1) {
        std::vector<std::string> names;
        for (auto const& one : lists) { names.push_back(one.first); }
        refuse(samples.where(), lists.empty() ? "no list of latencies in this JSON" : "several lists hold numbers",
               lists.empty() ? "no list of numbers, nor of objects with a field of latencies" : one_of(names),
               lists.empty() ? "give one, as {\"latencies_ms\": [12.1, 13.4]}"
                             : "name the one of latencies: --column NAME");
    }
    read_list(*lists.front().second, lists.front().first, samples);
    samples.note("the list " + headroom::quoted(lists.front().first) +
                 " of a JSON object: places are numbers of its elements, not lines");
}

} // namespace headroom::io
