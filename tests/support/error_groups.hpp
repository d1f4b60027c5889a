#pragma once

#include "headroom/training/validation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace headroom::training {

/// The errors of one group of a validation, by property and value; a failure where there is no such group.
inline ErrorGroup const& group(Validation const& validation, std::string const& by, std::string const& name) {
    static ErrorGroup const none;
    auto const found =
        std::ranges::find_if(validation.groups, [&](ErrorGroup const& g) { return g.by == by && g.name == name; });
    if (found != validation.groups.end()) { return *found; }
    ADD_FAILURE() << "no group " << by << " " << name;
    return none;
}

} // namespace headroom::training
