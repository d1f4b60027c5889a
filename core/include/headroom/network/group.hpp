#pragma once

#include <compare>

namespace headroom::network {

/// A communication group as the network sees it: `size` ranks, `per_domain` of them in each scale-up
/// domain. size = per_domain * domains (rounded up where it does not divide).
struct Group {
    int size = 1;
    int per_domain = 1;
    [[nodiscard]] int domains() const { return size / per_domain + (size % per_domain != 0 ? 1 : 0); }
    bool operator==(Group const&) const = default;
};

/// The group of `size` ranks that are `stride` apart in rank order, on domains of `domain` ranks.
///
///     per_domain = clamp(floor(domain / stride), 1, size)
///
/// Where the stride does not divide the domain the count is rounded down, so that the slow link is never under-used.
Group group_of(int size, int stride, int domain);

/// The groups of a dimension of parallelism: of `ranks` ranks in all, `size` to a group, `stride` apart
/// (`strided_groups`).
struct DimensionGroups {
    int size = 1, stride = 1, ranks = 1;
    auto operator<=>(DimensionGroups const&) const = default;
};

} // namespace headroom::network
