#include "logs/nccl_row.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace headroom::io {
namespace {

/// No line of results has more words.
constexpr std::size_t most_words = 32;

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (!line.empty() && words.size() < most_words) { words.push_back(next_word(line)); }
    return words;
}

bool is_name(std::string_view word) {
    char const first = lowered(word.front());
    return first >= 'a' && first <= 'z' && word != "N/A" && word != "nan" && word != "inf";
}

bool is_whole(std::string_view word) { return word.find_first_not_of("0123456789") == std::string_view::npos; }

/// Results of one group of columns.
NcclLine read_group(std::vector<std::string_view> const& words, std::size_t at, NcclColumns const& columns,
                    NcclRow& row) {
    if (words[at] == "N/A") { return NcclLine::not_available; }
    auto const time = printed_number(words[at]);
    auto const algorithm = printed_number(words[at + 1]), bus = printed_number(words[at + 2]);
    if (!time || !algorithm || !bus) { return NcclLine::unreadable; }
    row.seconds = time->value * columns.time_unit;
    row.printed = {algorithm, bus};
    std::string_view const last = words[at + 3];
    row.checked = last != "N/A";
    if (!row.checked) { return NcclLine::row; }
    auto const wrong = printed_number(last);
    if (!wrong || wrong->value < 0.0) { return NcclLine::unreadable; }
    bool const deviation = columns.error || (!columns.known && last.find_first_of(".e") != std::string_view::npos);
    row.wrong = deviation ? is_wrong_deviation(row.type, wrong->value) : wrong->value > 0.0;
    return NcclLine::row;
}

} // namespace

bool read_nccl_header(std::string_view line, NcclColumns& columns) {
    if (line.find("busbw") == std::string_view::npos) { return false; }
    bool const marked = line.starts_with('#');
    auto const words = words_of(line.substr(marked ? 1 : 0));
    for (std::string_view const name : {"size", "count", "type", "algbw"}) { // else a table of somebody's own
        if (!marked && std::ranges::find(words, name) == words.end()) { return false; }
    }
    NcclColumns read{.known = true, .groups = 0};
    for (std::string_view const word : words) {
        read.root = read.root || word == "root";
        read.error = read.error || word == "error" || word == "res";
        read.stamped = read.stamped || word == "timestamp";
        if (word == "time" || word == "cputime") { ++read.groups; }
        if (word == "i_min") { read.width = 8; }
        if (word == "res") { read.time_unit = 1e-3; }
    }
    bool const right = read.groups == 1 || read.groups == 2;
    if (right) { columns = read; }
    return right;
}

bool is_wrong_deviation(std::string_view type, double deviation) {
    if (type == "half" || type == "bfloat16") { return deviation > 1e-2; }
    if (type == "float") { return deviation > 1e-5; }
    if (type == "double") { return deviation > 1e-12; }
    return deviation > 0.0;
}

NcclLine read_nccl_row(std::string_view line, NcclColumns const& columns, bool in_place, NcclRow& row) {
    auto const words = words_of(line);
    if (words.size() < 3 || !is_whole(words[0]) || !is_whole(words[1])) { return NcclLine::not_a_row; }
    if (!is_name(words[2])) { return NcclLine::unreadable; }
    auto const bytes = printed_number(words[0]);
    if (!bytes) { return NcclLine::unreadable; }
    row.bytes = bytes->value;
    row.type = words[2];
    std::size_t at = 3;
    row.operation.clear();
    if (at < words.size() && is_name(words[at])) { row.operation = words[at++]; }
    auto const width = static_cast<std::size_t>(columns.width), groups = static_cast<std::size_t>(columns.groups);
    std::size_t const left = words.size() - at;
    std::size_t const results = width * groups + (columns.stamped ? 2 : 0);
    bool const root = columns.known ? columns.root : left == results + 1;
    std::size_t const wanted = results + (root ? 1 : 0);
    if (left != wanted) { return left < wanted ? NcclLine::cut : NcclLine::unreadable; }
    auto const root_rank = root ? printed_number(words[at]) : std::nullopt;
    if (root && !root_rank) { return NcclLine::unreadable; }
    row.root = root ? root_rank->value : -1.0;
    std::size_t const first = at + (root ? 1 : 0);
    auto const is_result = [](std::string_view word) {
        return !is_decimal_digit(word.front()) || printed_number(word);
    };
    bool const whole = std::all_of(words.begin() + static_cast<std::ptrdiff_t>(first),
                                   words.begin() + static_cast<std::ptrdiff_t>(first + width * groups), is_result);
    if (!whole) { return NcclLine::unreadable; } // also in columns that nobody asked for
    at += (root ? 1 : 0) + (in_place && groups == 2 ? width : 0);
    return read_group(words, at, columns, row);
}

} // namespace headroom::io
