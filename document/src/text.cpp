#include "headroom/document/text.hpp"

#include "headroom/document/document.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace headroom::document {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// Bytes of the first `width` columns.
std::size_t bytes_of(std::string_view text, std::size_t width) {
    std::size_t at = 0;
    while (at < text.size() && width > 0) {
        ++at;
        while (at < text.size() && continues(text[at])) { ++at; }
        --width;
    }
    return at;
}

/// Bytes of a word that is wider than a line: behind a hyphen or the like where one is in the second half of the line.
std::size_t bytes_of_line(std::string_view word, std::size_t width) {
    std::size_t const most = bytes_of(word, width);
    std::size_t const mark = word.substr(0, most).find_last_of("-/+_,.:=");
    return mark != std::string_view::npos && 2 * (mark + 1) >= most ? mark + 1 : most;
}

/// Whether a word is the unit of the number before it.
bool follows_number(std::string_view before, std::string_view word) {
    static constexpr std::array<std::string_view, 19> units{"kB",  "MB",   "GB",      "TB",      "KiB",    "MiB", "GiB",
                                                            "TiB", "kB/s", "MB/s",    "GB/s",    "TB/s",   "us",  "ms",
                                                            "s",   "$/h",  "GFLOP/s", "TFLOP/s", "PFLOP/s"};
    if (word.starts_with('%')) { return true; }
    if (before.starts_with('(')) { before.remove_prefix(1); }
    bool const digits = !before.empty() && before.find_first_not_of("0123456789.") == std::string_view::npos;
    while (!word.empty() && std::string_view{",;:.)"}.find(word.back()) != std::string_view::npos) {
        word.remove_suffix(1);
    }
    return digits && std::ranges::find(units, word) != units.end();
}

} // namespace

std::string whole(double value) { return std::to_string(std::llround(value)); }

std::string scaled(double value, int digits) {
    static constexpr std::array<char const*, 5> letters{"", "k", "M", "B", "T"};
    if (!std::isfinite(value)) { return "-"; }
    std::size_t letter = 0;
    double const half = 0.5 * std::pow(10.0, 3 - digits); // what rounds up to the next letter
    while (std::abs(value) >= 1000.0 - half && letter + 1 < letters.size()) {
        value /= 1000.0;
        ++letter;
    }
    return significant(value, digits) + letters[letter];
}

std::size_t columns_of(std::string_view text) {
    std::size_t count = 0;
    for (char const c : text) { count += continues(c) ? 0 : 1; }
    return count;
}

std::size_t longest_word(std::string_view text) {
    std::size_t longest = 0;
    while (!text.empty()) {
        auto const end = std::min(text.find(' '), text.size());
        longest = std::max(longest, columns_of(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return longest;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
    std::vector<std::string> lines;
    std::string line;
    std::vector<std::string> words;
    for (std::string& word : split(text, ' ')) {
        if (word.empty()) { continue; }
        bool const belongs = !words.empty() && follows_number(words.back(), word); // "90 %", "450 GB/s" stay whole
        if (belongs) {
            words.back() += ' ' + word;
        } else {
            words.push_back(std::move(word));
        }
    }
    for (std::string& word : words) {
        if (!line.empty() && columns_of(line) + 1 + columns_of(word) > width) {
            lines.push_back(std::move(line));
            line.clear();
        }
        while (columns_of(word) > width) {
            if (!line.empty()) { lines.push_back(std::move(line)); }
            std::size_t const cut = bytes_of_line(word, width);
            lines.push_back(word.substr(0, cut));
            word.erase(0, cut);
            line.clear();
        }
        if (!line.empty() && !word.empty()) { line += ' '; }
        line += word;
    }
    if (!line.empty() || lines.empty()) { lines.push_back(std::move(line)); }
    return lines;
}

void add_table(std::vector<Block>& blocks, Table table) {
    if (!table.rows.empty()) { blocks.emplace_back(std::move(table)); }
}

void add_issues(std::vector<Block>& blocks, std::vector<Issue> const& issues) {
    if (issues.empty()) { return; }
    Items list{"Not used", {}, Part::warning};
    for (Issue const& one : issues) { list.items.push_back(printable(words_of(one))); }
    blocks.emplace_back(std::move(list));
}

} // namespace headroom::document
