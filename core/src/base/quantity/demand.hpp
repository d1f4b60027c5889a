#pragma once

#include <string>
#include <string_view>

namespace headroom {

/// Preconditions of the public functions on numbers. Each throws InputError{usage} that names `where` and a valid
/// range. NaN passes none of them.

/// At least zero; infinity passes.
void demand_not_negative(double value, std::string_view where, std::string const& hint);
/// Above zero; infinity passes.
void demand_positive(double value, std::string_view where, std::string const& hint);
/// At least zero and finite.
void demand_amount(double value, std::string_view where, std::string const& hint);
/// Above zero and finite.
void demand_size(double value, std::string_view where, std::string const& hint);
/// From 0 to 1.
void demand_share(double value, std::string_view where, std::string const& hint);

} // namespace headroom
