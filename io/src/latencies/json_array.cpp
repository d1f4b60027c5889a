#include "latencies/json_report.hpp"
#include "latencies/latency_formats.hpp"
#include "tables/cell_text.hpp"

namespace headroom::io {

bool looks_like_json_array(std::string_view head) {
    std::string_view const begin = trimmed_line(whole_lines(head).substr(0, 4096));
    std::size_t const next = begin.find_first_not_of("[ \t\r\n");
    return begin.starts_with('[') && next != std::string_view::npos &&
           std::string_view{"{\"-0123456789n"}.find(begin[next]) != std::string_view::npos;
}

void read_json_array(HeadSource& source, SampleBuilder& samples) {
    auto const list = parse_report(whole_report(source, samples), samples);
    std::string lines;
    for (auto const& element : list) {
        lines += element.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        lines += '\n';
    }
    HeadSource elements{open_source(lines, samples.where(), {}), table_head_bytes};
    read_json_lines(elements, samples);
    samples.note("a list of JSON: places are numbers of its elements, not lines");
}

} // namespace headroom::io
