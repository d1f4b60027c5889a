#pragma once

#include "headroom/network/collective.hpp"
#include "headroom/network/layout.hpp"
#include "headroom/network/message_schedule.hpp"

#include <memory>
#include <span>
#include <string_view>

namespace headroom::network {

/// One collective as it is asked about.
struct CollectiveCall {
    TotalBytes size;
    Layout layout;
    SecondsPerByte reduction = {}; ///< gamma: time to add a byte to another; zero: adding is hidden or free
    double skew = 1.0;             ///< all-to-all: what the busiest receiver gets over the mean
};

/// Layouts for which an algorithm's closed form holds. Its schedule can be written for every layout.
enum class Arrangement {
    flat,       ///< one level
    levels,     ///< any levels, one or more
    torus,      ///< levels that are the sides of a torus; even only
    in_network, ///< switches add: one level, whose link leads to the switches
};

/// One algorithm of one collective: a row of the table that the verb, the property tests and the benchmarks share.
struct CollectiveAlgorithm {
    Collective collective;
    std::string_view name;
    Arrangement arrangement;
    CollectiveTime (*time)(CollectiveCall const&); ///< closed form
    std::unique_ptr<MessageSchedule> (*schedule)(CollectiveCall const&);
    std::string_view holds_for;             ///< in words, for people: "any number of ranks"
    std::string_view source;                ///< key of docs/references.bib
    bool (*takes)(Layout const&) = nullptr; ///< empty: every number of ranks
};
std::span<CollectiveAlgorithm const> collective_algorithms();

/// Whether the closed form holds for this call: the row takes the layout, and its arrangement is this one.
bool has_closed_form(CollectiveAlgorithm const& algorithm, Layout const& layout);

/// Times that no algorithm without switches that add can beat, on ranks with one full-duplex port on each level.
///
///     latency     ceil(lg p) alpha of the fastest link; alpha for point-to-point
///     bandwidth   what some rank must send or receive, over the sum of its ports' rates; and what must leave a domain
///                 on average, over its ranks' outer ports
///     reduction   (p-1)/p n gamma where all ranks can add, for all-reduce, reduce-scatter and reduce
///
/// With `in_network` adding the bandwidth term of reductions is n beta and their reduction term zero.
/// T >= each of the three; never their sum, since they may overlap.
/// Holds for:  any p >= 1 (p = 1 costs nothing).
/// Source:     [Chan2007]
struct CollectiveBound {
    Seconds latency, bandwidth, reduction;
    [[nodiscard]] Seconds total() const;
};
CollectiveBound lower_bound(Collective collective, CollectiveCall const& call, bool in_network = false);

} // namespace headroom::network
