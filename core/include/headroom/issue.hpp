#pragma once

#include "headroom/fields.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// A fault of an input, or content of it that was not used: counted by kind, with the place of the first one.
struct Issue {
    std::string kind; ///< "negative value", "column not used", "cut short", ...
    std::uint64_t count = 0;
    std::string first_at = {}; ///< the place in words where it is not a line: "FILE: byte 12034"
    std::string file = {};
    std::uint64_t line = 0; ///< from 1; 0: not known
    std::string column = {};
    std::string text = {}; ///< the cell or line, shortened
    bool kept = false;     ///< the value counts all the same; else it was left out
    bool operator==(Issue const&) const = default;
};
FieldTable const& field_table_of(Issue const*);

/// "runs.csv:3: 'time_ms'", or `first_at`; empty where no place is known.
std::string place_of(Issue const& issue);
/// "12 left out: failed request (first in line 3: '...')".
std::string words_of(Issue const& issue);
/// Number of faults of all kinds.
std::uint64_t count_of(std::vector<Issue> const& issues);
/// Number of those that stand in a line: of rows, not of columns.
std::uint64_t lines_of(std::vector<Issue> const& issues);

/// Adds to the count of a kind; the first place stays.
void count_issue(std::vector<Issue>& issues, std::string_view kind, std::string first_at, std::uint64_t count = 1);
/// Adds a whole issue to the count of its kind and file.
void count_issue(std::vector<Issue>& issues, Issue issue);
/// Appends the issues of one file, with the name of that file.
void add_issues(std::vector<Issue>& all, std::vector<Issue> const& of_file, std::string_view file);

/// A text on one line for people: control characters escaped, at most 60 characters.
std::string shortened(std::string_view text);

} // namespace headroom
