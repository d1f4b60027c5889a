#pragma once

#include "headroom/quantity.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::io {

/// A whole positive count that fits an int: "2048" or "8k". Errors: InputError{usage} at `where`.
int parse_whole(std::string_view text, std::string_view where);

/// A count as people write it in words: "2 trillion tokens", "15T", "1,000,000". Errors: InputError{usage} at `where`.
double parse_spelled_count(std::string_view text, std::string_view where);
/// "2 trillion" as "2T", "$1,000,000" as "$1000000", "4M tokens" as "4M"; other texts as they are.
std::string spelled_short(std::string_view text);
/// A length in tokens: "8192", "8k" as 8 x 1024, "1M" as 1024 x 1024. Errors: InputError{usage} at `where`.
int parse_length(std::string_view text, std::string_view where);

/// The one of `choices` that is meant (spelling as in `normalised`). Errors: InputError{usage} with the nearest.
std::string parse_choice(std::string_view text, std::vector<std::string> const& choices, std::string_view where);

/// A plain number from `low` to `high`; "1%" is 0.01. `what` names it in the error. Errors: InputError{usage}.
double parse_between(std::string_view text, double low, double high, std::string_view what, std::string_view where);

/// "tp=8,pp=4" as pairs. Errors: InputError{usage} at `where`, with `example`.
std::vector<std::pair<std::string, std::string>> parse_pairs(std::string_view text, std::string_view where,
                                                             std::string_view example = "tp=8,pp=4");

/// "8", "8,16,64", "8..1024" (doubling), "8..64:8" (step 8); sorted, each once.
std::vector<int> parse_counts(std::string_view text, std::string_view where);

/// Dollars and dollars an hour: "2.95 $/h", "$2.95/h", and a bare number, whose unit the option's name gives.
Dollars parse_dollars(std::string_view text, std::string_view where);
DollarsPerSecond parse_price(std::string_view text, std::string_view where);

namespace words {
/// Text without blanks at its ends.
std::string trimmed(std::string_view text);
/// Parts between separators, blanks around each removed.
std::vector<std::string> split(std::string_view text, char separator);
/// A word as a shell takes it: in quotes where it has to be.
std::string shell_word(std::string_view word);
} // namespace words

/// "did you mean 'NAME'?", the nearest of the candidates; `otherwise` where none is near.
std::string did_you_mean(std::string_view name, std::vector<std::string> const& candidates,
                         std::string const& otherwise = {});
/// As above; where none is near, a list of all.
std::string did_you_mean_one_of(std::string_view name, std::vector<std::string> const& candidates);

} // namespace headroom::io
