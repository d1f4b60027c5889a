#include "logs/log_lines.hpp"

#include <algorithm>

namespace headroom::io {
namespace {

std::size_t digits_at(std::string_view text, std::size_t at) {
    std::size_t count = 0;
    while (at + count < text.size() && is_decimal_digit(text[at + count])) { ++count; }
    return count;
}

/// "[1,0]<stdout>:" of mpirun --tag-output, "[host@1,0]<stdout>:", "[default0]:" of torchrun, "[0] " of others: the length, 0
/// when there is none. A name needs a sign behind the bracket: "[node1] text" is text.
std::size_t bracketed_rank(std::string_view line) {
    constexpr std::size_t longest = 64;
    std::size_t const end = line.starts_with('[') ? line.find(']') : std::string_view::npos;
    if (end == std::string_view::npos || end < 2 || end > longest) { return 0; }
    std::string_view const name = line.substr(1, end - 1);
    if (name.find_first_of(" \t[") != std::string_view::npos || name.find_first_of("0123456789") == name.npos) {
        return 0;
    }
    std::size_t at = end + 1;
    for (std::string_view const stream : {"<stdout>", "<stderr>"}) {
        if (line.substr(at).starts_with(stream)) { at += stream.size(); }
    }
    if (at < line.size() && line[at] == ':') { ++at; }
    bool const rank = name.find_first_not_of("0123456789,") == std::string_view::npos;
    return rank || at > end + 1 ? at : 0;
}

/// "> " of a text that was quoted.
std::size_t quote(std::string_view line) { return line.starts_with("> ") ? 2 : 0; }

/// "0: " of srun --label and "3:" padded by it.
std::size_t labelled_task(std::string_view line) {
    std::size_t const digits = digits_at(line, 0);
    bool const label =
        digits > 0 && digits < 8 && digits + 1 < line.size() && line[digits] == ':' && line[digits + 1] == ' ';
    return label ? digits + 2 : 0;
}

/// "node1: " of pdsh and of launchers by ssh, before a row or a comment: a name of a host has a digit, a dash or a point.
std::size_t labelled_host(std::string_view line) {
    constexpr std::size_t longest = 64;
    std::size_t const end = line.find_first_of(" \t:");
    if (end == 0 || end >= std::min(longest, line.size()) || line[end] != ':') { return 0; }
    std::string_view const label = line.substr(0, end);
    bool const host = label == "localhost" || label.find_first_of("0123456789-.") != std::string_view::npos;
    bool const named = host && label.find_first_not_of("0123456789") != std::string_view::npos &&
                       label.find_first_of("[]<>()=,\"'#") == std::string_view::npos;
    std::size_t const rest = line.find_first_not_of(" \t", end + 1);
    bool const goes_on = rest == end + 2 || (rest != std::string_view::npos && rest > end + 1);
    return named && goes_on ? end + 1 : 0;
}

/// Length of a label of a host, only where a row or a comment follows: "node-1: warning" stays as it is.
std::size_t host_before_row(std::string_view line) {
    std::size_t const length = labelled_host(line);
    if (length == 0) { return 0; }
    char const first = trimmed_line(line.substr(length)).front();
    return first == '#' || is_decimal_digit(first) ? length : 0;
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
        std::size_t const length =
            std::max({quote(line), bracketed_rank(line), labelled_task(line), host_before_row(line), time_stamp(line)});
        if (length == 0) { return line; }
        line = trimmed_line(line.substr(length));
    }
    return line;
}

/// Length of a mark inside a row: "[1,0]<stdout>:", "node1: "; 0 where there is none. "[0x07]" of a device is none.
std::size_t mark_inside(std::string_view text, bool behind_blank) {
    std::size_t const rank = bracketed_rank(text);
    bool const stream = rank > 0 && (text[rank - 1] == ':' || text[rank - 1] == '>');
    if (stream) { return rank; }
    return behind_blank ? std::max(labelled_host(text), labelled_task(text)) : 0;
}

/// A row of numbers without the marks inside; false where it has none.
bool take_marks_out(std::string_view line, std::string& clean) {
    if (line.empty() || !is_decimal_digit(line.front()) || line.find(':') == std::string_view::npos) { return false; }
    clean.clear();
    bool any = false;
    for (std::size_t at = 0; at < line.size();) {
        bool const behind_blank = at > 0 && (line[at - 1] == ' ' || line[at - 1] == '\t');
        std::size_t const mark = at > 0 ? mark_inside(line.substr(at), behind_blank) : 0;
        clean += mark > 0 ? ' ' : line[at];
        any = any || mark > 0;
        at += std::max<std::size_t>(mark, 1);
    }
    return any;
}

} // namespace

bool LogLines::next(std::string_view& line) {
    bool const more = lines_.next(line);
    if (!more) { return false; }
    line = without_prefixes(line);
    if (take_marks_out(line, clean_)) {
        line = clean_;
        ++marked_inside_;
    }
    return true;
}

} // namespace headroom::io
