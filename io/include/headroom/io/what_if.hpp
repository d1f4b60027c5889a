#pragma once

#include "headroom/training/prediction.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// A changed question next to the base: "bandwidth=2x", "overlap=off", or all of them together.
struct Lever {
    std::string name;
    training::Question question;
};

/// Reads "bandwidth=2x,latency=0.5x,overlap=off"; an empty text stands for the usual levers. Several are
/// answered one by one and then together.
/// Errors: InputError{usage} for an unknown lever, a value that is no factor, or a strategy that is not legal.
std::vector<Lever> levers(training::Question const& base, std::string_view text);

} // namespace headroom::io
