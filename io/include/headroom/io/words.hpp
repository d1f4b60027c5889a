#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// A whole positive count that fits an int: "2048" or "8k". Errors: InputError{usage} at `where`.
int parse_whole(std::string_view text, std::string_view where);

/// The one of `choices` that is meant (spelling as in `normalised`). Errors: InputError{usage} with the nearest.
std::string parse_choice(std::string_view text, std::vector<std::string> const& choices, std::string_view where);

/// A plain number from `low` to `high`; "1%" is 0.01. `what` names it in the error. Errors: InputError{usage}.
double parse_between(std::string_view text, double low, double high, std::string_view what, std::string_view where);

} // namespace headroom::io
