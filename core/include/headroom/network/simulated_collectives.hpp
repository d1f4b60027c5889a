#pragma once

#include "headroom/machine.hpp"
#include "headroom/network/collective.hpp"
#include "headroom/network/group.hpp"
#include "headroom/network/library_collectives.hpp"

#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace headroom::network {

/// Time of a collective that all groups of its dimension run at once.
struct CollectiveByMessages {
    Seconds closed;             ///< of the fastest algorithm, as the closed form of a step has it
    std::string_view algorithm; ///< that one: a row of `library_algorithms`
    std::string_view schedule;  ///< the row of `collective_algorithms` whose messages were run; empty: none was
    Seconds reference;          ///< of these messages: one group as the closed form has it, see below
    Seconds alone;              ///< one group on the cluster's NICs
    Seconds together;           ///< all groups at once, until the last is done
    DimensionGroups simulated;  ///< the groups that stand for all: fewer, where the rest would be a repetition
    std::string stands_in = {}; ///< why the closed form stands in, in words; else empty
    /// Ratio of all groups at once to one group in the closed form. Above 1, groups contend for links or lie across
    /// domains; below 1, they use more of the NICs than their share.
    [[nodiscard]] double contention() const { return reference > Seconds{} ? together / reference : 1.0; }
    [[nodiscard]] Seconds total() const { return closed * contention(); }
};

/// Prices collectives by messages on the links of a cluster; remembers what it has priced.
///
///     T = T_closed x T(all groups at once, where they are) / T(one group, as the closed form has it)
///
/// The closed form has so many neighbours in each domain (`group_of`), and a share of the NICs for every
/// accelerator. Groups as they are may begin in one domain and end in the next, and share NICs as these come.
/// Both of the right are `simulate_flows` of the schedule that is nearest to the fastest algorithm: rings that leave a
/// domain by different NICs as so many rings, trees between domains as recursive halving and doubling. Where the
/// closed form is that of the schedule, as for hierarchical rings, T is the time of the messages.
/// Domains are nodes of a star: their switches, and a NIC for every `domain` / `adapters` accelerators, joined by a
/// network that takes all of them at full rate. In such a network groups that share no domain do not meet, and domains
/// that are alike fare alike: so few groups and few domains stand for all.
/// Holds for:  any collective, groups and cluster; `stands_in` tells where the closed form is all there is: no row of
///             `library_algorithms`, links without rates, groups that do not divide the ranks, or that do not fit
///             together with domains and would send more than `most_messages`.
/// Assumes:    of point-to-point that the first of each group sends to the last: neighbours are groups of two.
/// Source:     [NCCL], [BertsekasGallager1992]
class CollectivesByMessages {
public:
    static constexpr double most_messages = 40'000; ///< of one simulation

    /// `fabric`: rates as the step is priced by; an accelerator's own share between domains.
    CollectivesByMessages(Cluster const& cluster, Fabric fabric);

    CollectiveByMessages const& price(Collective kind, TotalBytes n, DimensionGroups groups);
    /// NICs of a scale-up domain, at most one for each accelerator.
    [[nodiscard]] int adapters() const { return adapters_; }

private:
    [[nodiscard]] CollectiveByMessages priced(Collective kind, TotalBytes n, DimensionGroups groups) const;

    Fabric fabric_;
    int domain_, adapters_;
    std::map<std::tuple<Collective, double, DimensionGroups>, CollectiveByMessages> known_;
};

} // namespace headroom::network
