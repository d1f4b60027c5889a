#pragma once

// Files with a line lost, a line twice, text behind a number, a line of something else, or a second copy behind them. What
// is read of them differs from what is read of the whole file, counts the damage, or is an error.

#include "headroom/counter_random.hpp"
#include "headroom/error.hpp"
#include "headroom/issue.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::test {

using Lines = std::vector<std::string>;

/// Issues as text, without their places.
inline std::string counted(std::vector<Issue> const& issues) {
    std::string text;
    for (Issue const& one : issues) { text += fmt::format("{} {} {} {}\n", one.kind, one.count, one.column, one.text); }
    return text;
}

inline Lines lines_of(std::string const& text) {
    Lines lines;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const end = std::min(text.find('\n', at), text.size() - 1);
        lines.push_back(text.substr(at, end - at + 1));
        at = end + 1;
    }
    return lines;
}

inline std::string joined(Lines const& lines) {
    std::string text;
    for (std::string const& line : lines) { text += line; }
    return text;
}

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Ends of the numbers of a line that a reader has to look at: of a table those of the columns that it uses.
inline std::vector<std::size_t> number_ends(std::string const& line, bool json, std::vector<int> const& columns) {
    std::string_view const between = json ? " \t,:|\r\n\"{}[]" : !columns.empty() ? ",\t\r\n" : " \t,;|\r\n\"{}[]()";
    std::vector<std::size_t> ends;
    int column = 0;
    std::size_t const begin = line.starts_with("[1,0]<") ? line.find(':') : 0; // behind the mark of a launcher
    for (std::size_t i = begin; i < line.size(); ++column) {
        std::size_t const end = std::min(line.find_first_of(between, i), line.size());
        bool const wanted = columns.empty() || std::ranges::find(columns, column) != columns.end();
        bool const text = json && i > 0 && line[i - 1] == '"';
        if (end > i && is_digit(line[i]) && wanted && !text) { ends.push_back(end); }
        i = end + 1;
    }
    return ends;
}

/// Facts of a file that the damage has to know.
struct Layout {
    std::vector<std::string_view> quiet = {}; ///< parts of lines without a figure: nobody can tell that one is missing
    std::vector<std::string_view> free = {};  ///< parts of lines whose text is anything
    std::vector<int> columns = {};            ///< of a table that are used, from 0
    bool json = false;
    std::string_view row =
        {}; ///< bytes that rows begin with: another line is put between two of them only, since programs
            ///< print anything around a table
};

using Damage = std::function<bool(Lines& lines, std::size_t line, Layout const& layout, CounterRandom& random)>;

inline bool lose(Lines& lines, std::size_t line, Layout const&, CounterRandom&) {
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(line));
    return true;
}
inline bool repeat(Lines& lines, std::size_t line, Layout const&, CounterRandom&) {
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(line), lines[line]);
    return true;
}
/// False where the line holds no number.
inline bool add_text(Lines& lines, std::size_t line, Layout const& layout, CounterRandom& random) {
    auto const ends = number_ends(lines[line], layout.json, layout.columns);
    if (ends.empty()) { return false; }
    lines[line].insert(ends[random.next() % ends.size()], "#x");
    return true;
}

inline void end_last_line(Lines& lines) {
    if (!lines.back().ends_with('\n')) { lines.back() += '\n'; }
}
inline bool is_row(std::string const& line, Layout const& layout) {
    std::size_t const first = line.find_first_not_of(" \t");
    return first != std::string::npos && layout.row.find(line[first]) != std::string::npos;
}
/// A line of something else, before this one or at the end.
inline bool insert_line(Lines& lines, std::size_t line, Layout const& layout, CounterRandom& random) {
    bool const at_end = layout.row.empty() && random.next() % 2 == 0;
    bool const between = line > 0 && is_row(lines[line], layout) && is_row(lines[line - 1], layout);
    if (!layout.row.empty() && !between) { return false; }
    end_last_line(lines);
    lines.insert(at_end ? lines.end() : lines.begin() + static_cast<std::ptrdiff_t>(line), "another 12.5 line of 7\n");
    return true;
}
inline bool append_copy(Lines& lines, std::size_t, Layout const&, CounterRandom&) {
    end_last_line(lines);
    Lines const copy = lines;
    lines.insert(lines.end(), copy.begin(), copy.end());
    return true;
}

struct Kind {
    std::string_view name;
    Damage make;
    bool of_a_line = true; ///< a line may be a comment, whose loss changes nothing
    int most = 20;         ///< tries
};
inline std::vector<Kind> const& kinds() {
    static std::vector<Kind> const all{{"lost", lose},
                                       {"twice", repeat},
                                       {"text behind a number", add_text},
                                       {"another line", insert_line, false},
                                       {"a second copy", append_copy, false, 1}};
    return all;
}

inline bool holds_one(std::string const& line, std::vector<std::string_view> const& parts) {
    return std::ranges::any_of(parts, [&](std::string_view part) { return line.find(part) != std::string::npos; });
}

/// Whether a damage of a line cannot be seen: of empty ones, comments, and those that the layout names.
inline bool is_silent(std::string const& line, Kind const& kind, Layout const& layout) {
    if (!kind.of_a_line) { return false; }
    std::size_t const first = line.find_first_not_of(" \t\r\n");
    if (first == std::string::npos || line[first] == '#' || holds_one(line, layout.free)) { return true; }
    return kind.name != "text behind a number" && holds_one(line, layout.quiet);
}

using Reading = std::function<std::string(std::string const&)>;

/// Twenty damages of each kind, or as many as the file has lines for.
inline void expect_seen(std::string const& name, std::string const& text, Reading const& read,
                        Layout const& layout = {}) {
    std::string whole;
    try {
        whole = read(text);
    } catch (InputError const& error) { FAIL() << name << ": " << error.what(); }
    Lines const lines = lines_of(text);
    for (Kind const& kind : kinds()) {
        CounterRandom random{7};
        for (int tries = 0, made = 0; tries < 400 && made < kind.most; ++tries) {
            std::size_t const line = random.next() % lines.size();
            Lines damaged = lines;
            if (is_silent(lines[line], kind, layout) || !kind.make(damaged, line, layout, random)) { continue; }
            ++made;
            try {
                EXPECT_NE(read(joined(damaged)), whole)
                    << name << ": " << kind.name << ": line " << line + 1 << ": " << lines[line];
            } catch (InputError const&) {} // said so
        }
    }
}

} // namespace headroom::test
