#include "logs/log_lines.hpp"

#include <algorithm>

namespace headroom::io {
namespace {

std::size_t digits_at(std::string_view text, std::size_t at) {
    std::size_t count = 0;
    while (at + count < text.size() && is_decimal_digit(text[at + count])) { ++count; }
    return count;
}

/// "[1,0]<stdout>:" of mpirun --tag-output, "[0] " of others: the length, 0 when there is none.
std::size_t bracketed_rank(std::string_view line) {
    if (!line.starts_with('[')) { return 0; }
    std::size_t at = 1;
    std::size_t const first = digits_at(line, at);
    if (first == 0) { return 0; }
    at += first;
    if (at < line.size() && line[at] == ',') { at += 1 + digits_at(line, at + 1); }
    if (at >= line.size() || line[at] != ']') { return 0; }
    ++at;
    for (std::string_view const stream : {"<stdout>", "<stderr>"}) {
        if (line.substr(at).starts_with(stream)) { at += stream.size(); }
    }
    if (at < line.size() && line[at] == ':') { ++at; }
    return at;
}

/// "0: " of srun --label and "3:" padded by it.
std::size_t labelled_task(std::string_view line) {
    std::size_t const digits = digits_at(line, 0);
    bool const label =
        digits > 0 && digits < 8 && digits + 1 < line.size() && line[digits] == ':' && line[digits + 1] == ' ';
    return label ? digits + 2 : 0;
}

/// "2024-05-01T10:00:00.123456Z " or "2024-05-01 10:00:00,123 " that a cluster's log keeper puts first.
std::size_t time_stamp(std::string_view line) {
    if (digits_at(line, 0) != 4 || line.size() < 20 || line[4] != '-' || line[7] != '-') { return 0; }
    if (line[10] != 'T' && line[10] != ' ') { return 0; }
    if (line[13] != ':' || line[16] != ':' || digits_at(line, 17) != 2) { return 0; }
    auto const end = line.find_first_of(" \t", 19);
    if (end == std::string_view::npos) { return 0; }
    for (std::string_view const stream : {"stdout F ", "stderr F "}) { // what container engines add
        if (line.substr(end + 1).starts_with(stream)) { return end + 1 + stream.size(); }
    }
    return end + 1;
}

std::string_view without_prefixes(std::string_view line) {
    constexpr int most_prefixes = 4;
    for (int i = 0; i < most_prefixes; ++i) {
        std::size_t const length = std::max({bracketed_rank(line), labelled_task(line), time_stamp(line)});
        if (length == 0) { return line; }
        line = trimmed_line(line.substr(length));
    }
    return line;
}

} // namespace

bool LogLines::next(std::string_view& line) {
    bool const more = lines_.next(line);
    if (more) { line = without_prefixes(line); }
    return more;
}

} // namespace headroom::io
