#pragma once

#include "headroom/laws/scaling_laws.hpp"

#include <string_view>
#include <vector>

namespace headroom::io {

/// A total overhead as it is written: "2 K log2(K)", "50*K + 0.3 W^(2/3) K^0.5". Terms between `+`; in each a number
/// and powers of K (workers), W (work) and log2(K), in any order, with or without `*`.
/// Errors: InputError{usage} at `where` that quotes what cannot be read; a power of W of 1 or more, with which no
/// problem is ever large enough; a term that is zero or below.
std::vector<laws::OverheadTerm> parse_overhead(std::string_view text, std::string_view where);

} // namespace headroom::io
