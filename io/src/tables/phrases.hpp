#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

// Whole phrases of free notes: a word inside another one states nothing.

std::string in_lower_case(std::string_view text);

/// Place of a phrase that neither begins nor ends inside a word, from `from` on; npos without one.
std::size_t find_phrase(std::string_view text, std::string_view phrase, std::size_t from = 0);
inline bool has_phrase(std::string_view text, std::string_view phrase) {
    return find_phrase(text, phrase) != std::string_view::npos;
}
/// Whether a phrase stands in the text, and not after "no", "non", "not", "without", "than", "vs" or "instead of".
bool states_phrase(std::string_view text, std::string_view phrase);

/// The whole number of 1 or more right behind the first `word`; empty without one.
std::optional<int> stated_count(std::string_view text, std::string_view word);

/// The clauses of notes, parted by ";" and "|", in lower case.
std::vector<std::string> clauses_of(std::string_view notes);

} // namespace headroom::io
