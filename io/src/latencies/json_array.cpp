#include "latencies/json_report.hpp"
#include "latencies/latency_formats.hpp"
#include "tables/cell_text.hpp"
#include "tables/numbers.hpp"

namespace headroom::io {

bool looks_like_json_array(std::string_view head) {
    std::string_view const begin = trimmed_line(whole_lines(head).substr(0, 4096));
    std::size_t const next = begin.find_first_not_of("[ \t\r\n");
    if (next != std::string_view::npos && (is_decimal_digit(begin[next]) || begin[next] == '-')) {
        std::size_t const end =
            begin.find_first_of(",] \t\r\n", next); // "[2026-01-01 ...]" and "[12] text" begin a log
        bool const closed = end != std::string_view::npos && begin[end] == ']';
        std::string_view const behind =
            closed ? begin.substr(end + 1, begin.find('\n', end) - end - 1) : std::string_view{};
        if (!decimal_number(begin.substr(next, end - next)) || behind.find_first_not_of(",] \t\r") < behind.size()) {
            return false;
        }
    }
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
