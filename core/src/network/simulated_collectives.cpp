#include "headroom/network/simulated_collectives.hpp"

#include "headroom/network/flow_simulation.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace headroom::network {
namespace {

Seconds seconds_of(Ticks ticks) { return Seconds{static_cast<double>(ticks) * 1e-12}; }

/// The table's schedule that stands for an algorithm of libraries, by the levels that its group has.
struct Stand {
    Collective collective;
    std::string_view algorithm, flat, levels; ///< of the library, and the rows that stand for it
    bool rings = false;                       ///< on levels it is a ring for every rank of a domain, each with its part
};
constexpr std::array stands{
    Stand{Collective::all_reduce, "ring", "ring", "ring", true},
    Stand{Collective::all_reduce, "tree", "double_binary_tree", "hierarchical_rabenseifner"},
    Stand{Collective::all_reduce, "hierarchical_ring", "ring", "hierarchical_ring"},
    Stand{Collective::all_reduce, "hierarchical_tree", "double_binary_tree", "hierarchical_rabenseifner"},
    Stand{Collective::all_gather, "ring", "ring", "ring", true},
    Stand{Collective::all_gather, "hierarchical_ring", "ring", "hierarchical_ring"},
    Stand{Collective::reduce_scatter, "ring", "ring", "ring", true},
    Stand{Collective::reduce_scatter, "hierarchical_ring", "ring", "hierarchical_ring"},
    Stand{Collective::all_to_all, "pairwise", "pairwise", "pairwise"},
    Stand{Collective::broadcast, "binomial", "binomial", "hierarchical_binomial"},
    Stand{Collective::broadcast, "scatter_all_gather", "scatter_ring", "hierarchical_van_de_geijn"},
    Stand{Collective::broadcast, "ring", "pipelined_chain", "hierarchical_pipelined_chain"},
    Stand{Collective::reduce, "ring", "pipelined_chain", "hierarchical_pipelined_chain"},
    Stand{Collective::point_to_point, "send", "send", "send"},
};

CollectiveAlgorithm const* row_of(Collective collective, std::string_view name, Layout const& layout) {
    for (CollectiveAlgorithm const& row : collective_algorithms()) {
        bool const takes = row.takes == nullptr || row.takes(layout);
        bool const runs = row.arrangement == Arrangement::flat || row.arrangement == Arrangement::levels;
        if (row.collective == collective && row.name == name && takes && runs) { return &row; }
    }
    return nullptr;
}

/// A schedule to be run, and by how many rings.
struct Chosen {
    CollectiveAlgorithm const* row = nullptr;
    int channels = 1;
};

std::optional<Chosen> chosen_for(Collective collective, std::string_view library, Layout const& layout) {
    for (Stand const& stand : stands) {
        if (stand.collective != collective || stand.algorithm != library) { continue; }
        if (layout.levels > 1) {
            auto const* const row = row_of(collective, stand.levels, layout);
            if (row != nullptr) { return Chosen{row, stand.rings && layout.even() ? layout.level[0].ranks : 1}; }
        }
        if (auto const* const row = row_of(collective, stand.flat, layout)) { return Chosen{row, 1}; }
    }
    return std::nullopt;
}

/// Groups as they are simulated.
struct Instance {
    DimensionGroups groups;
    Layout layout;
    Chosen chosen;
    std::unique_ptr<MessageSchedule> schedule; ///< of one channel

    /// A schedule may have rounds in which few send: this is the most.
    [[nodiscard]] double messages() const {
        return static_cast<double>(schedule->rounds()) * groups.ranks * chosen.channels;
    }
};

Link outer(Fabric const& fabric) {
    return fabric.scale_out.bandwidth > BytesPerSecond{} ? fabric.scale_out : fabric.scale_up;
}

std::optional<Instance> instance_of(Collective kind, TotalBytes n, std::string_view library, DimensionGroups groups,
                                    int domain, Fabric const& fabric) {
    Group const group = group_of(groups.size, groups.stride, domain);
    Layout const layout = Layout::of(group, fabric.scale_up, outer(fabric));
    auto const chosen = chosen_for(kind, library, layout);
    if (!chosen) { return std::nullopt; }
    CollectiveCall const call{.size = {n.size / static_cast<double>(chosen->channels)}, .layout = layout};
    return Instance{.groups = groups, .layout = layout, .chosen = *chosen, .schedule = chosen->row->schedule(call)};
}

/// The part of the job that repeats: whole groups on whole domains.
DimensionGroups one_repetition(DimensionGroups groups, int domain) {
    std::int64_t const block = std::int64_t{groups.size} * groups.stride;
    std::int64_t const repeats = std::lcm(block, std::int64_t{domain});
    groups.ranks = static_cast<int>(std::min<std::int64_t>(groups.ranks, repeats));
    return groups;
}

/// Ranks that are whole domains apart meet the same groups as those of neighbouring domains.
DimensionGroups closer(DimensionGroups groups, int domain) {
    if (groups.stride > domain && groups.stride % domain == 0) { groups.stride = domain; }
    return groups;
}

/// Half the domains of a group; nothing when it has two.
std::optional<DimensionGroups> fewer_domains(DimensionGroups groups, int domain) {
    std::int64_t const block = std::int64_t{groups.size} * groups.stride;
    if (block % domain != 0 || block / domain < 3) { return std::nullopt; }
    std::int64_t const domains = (block / domain + 1) / 2;
    if (domains * domain % groups.stride != 0) { return std::nullopt; }
    groups.size = static_cast<int>(domains * domain / groups.stride);
    groups.ranks = static_cast<int>(domains * domain);
    return groups;
}

/// Rank 1, to which rank 0 sends, is the last of the group.
std::vector<int> to_the_farthest(std::vector<int> group) {
    std::swap(group[1], group.back());
    return group;
}

/// Ring c passes the ranks of each domain from c on, so that rings leave a domain by different ranks.
std::vector<int> turned(std::vector<int> const& group, Instance const& instance, int channel) {
    if (instance.chosen.row->collective == Collective::point_to_point) { return to_the_farthest(group); }
    if (instance.chosen.channels == 1) { return group; }
    int const members = instance.chosen.channels;
    std::vector<int> order(group.size());
    for (std::size_t i = 0; i < group.size(); ++i) {
        auto const rank = static_cast<int>(i);
        int const first = rank / members * members;
        int const place = first + (rank - first + channel) % members;
        order[i] = group[static_cast<std::size_t>(place)];
    }
    return order;
}

std::vector<PlacedSchedule> placed(Instance const& instance, std::span<std::vector<int> const> groups) {
    std::vector<PlacedSchedule> all;
    for (auto const& group : groups) {
        for (int channel = 0; channel < instance.chosen.channels; ++channel) {
            all.push_back({.schedule = instance.schedule.get(),
                           .layout = &instance.layout,
                           .endpoints = turned(group, instance, channel)});
        }
    }
    return all;
}

/// Domains on a switch. Ports share equally the bandwidth that the accelerators of a domain have together.
Topology star_of(int ranks, int domain, int adapters, Fabric const& fabric) {
    int const domains = (ranks + domain - 1) / domain;
    Link port = outer(fabric);
    port.bandwidth *= static_cast<double>(domain) / adapters;
    return build_topology(StarNetwork{
        .endpoints = domains * domain,
        .port = port,
        .nodes = {.accelerators = domain, .adapters = domain == 1 ? 1 : adapters, .scale_up = fabric.scale_up}});
}

/// The group as the closed form sees it: so many neighbours in each domain.
std::vector<int> aligned(DimensionGroups groups, int domain) {
    int const inside = group_of(groups.size, groups.stride, domain).per_domain;
    std::vector<int> group;
    for (int rank = 0; rank < groups.size; ++rank) { group.push_back(rank / inside * domain + rank % inside); }
    return group;
}

Seconds time_of(Instance const& instance, std::span<std::vector<int> const> groups, Topology const& topology) {
    return seconds_of(simulate_flows(placed(instance, groups), topology).last());
}

void run(Instance const& instance, int domain, int adapters, Fabric const& fabric, CollectiveByMessages& result) {
    DimensionGroups const shape = instance.groups;
    std::vector<int> const ideal = aligned(shape, domain);
    result.reference = time_of(instance, {&ideal, 1}, star_of(ideal.back() + 1, domain, domain, fabric));
    auto const groups = strided_groups(shape.ranks, shape.size, shape.stride);
    Topology const shared = star_of(shape.ranks, domain, adapters, fabric);
    result.alone = time_of(instance, {groups.data(), 1}, shared);
    result.together = groups.size() == 1 ? result.alone : time_of(instance, groups, shared);
}

/// NICs of a domain, each for as many accelerators: the fewest that have their rate. A network that is congested has
/// less of it.
int adapters_of(Cluster const& cluster) {
    int const domain = std::max(cluster.domain, 1);
    if (cluster.adapter <= BytesPerSecond{}) { return domain; }
    double const wanted = cluster.scale_out.bandwidth / cluster.adapter * domain;
    int count = 1;
    while (count < domain && (domain % count != 0 || count < wanted * (1.0 - 1e-9))) { ++count; }
    return count;
}

} // namespace

CollectivesByMessages::CollectivesByMessages(Cluster const& cluster, Fabric fabric)
    : fabric_{fabric}, domain_{std::max(cluster.domain, 1)}, adapters_{adapters_of(cluster)} {}

CollectiveByMessages const& CollectivesByMessages::price(Collective kind, TotalBytes n, DimensionGroups groups) {
    auto const [place, is_new] = known_.try_emplace({kind, n.size.base(), groups});
    if (is_new) { place->second = priced(kind, n, groups); }
    return place->second;
}

CollectiveByMessages CollectivesByMessages::priced(Collective kind, TotalBytes n, DimensionGroups groups) const {
    CollectiveByMessages result;
    Group const group = group_of(groups.size, groups.stride, domain_);
    CollectiveChoice const choice = fastest(kind, n, group, fabric_);
    result.closed = choice.time.total();
    result.algorithm = choice.algorithm;
    if (groups.size <= 1 || n.size <= Bytes{}) { return result; }
    if (groups.stride < 1 || groups.ranks % (std::int64_t{groups.size} * groups.stride) != 0) {
        result.stands_in = "its groups do not divide the ranks";
        return result;
    }
    bool const has_rates = fabric_.scale_up.bandwidth > BytesPerSecond{} || domain_ == 1;
    if (!has_rates || outer(fabric_).bandwidth <= BytesPerSecond{}) {
        result.stands_in = "its links have no rates";
        return result;
    }
    std::optional<DimensionGroups> smaller = one_repetition(closer(groups, domain_), domain_);
    while (smaller) {
        auto const instance = instance_of(kind, n, choice.algorithm, *smaller, domain_, fabric_);
        if (!instance) {
            result.stands_in = "no schedule of messages is known for it";
            return result;
        }
        if (instance->messages() <= most_messages) {
            result.schedule = instance->chosen.row->name;
            result.simulated = *smaller;
            run(*instance, domain_, adapters_, fabric_, result);
            return result;
        }
        smaller = fewer_domains(*smaller, domain_);
    }
    result.stands_in = "its groups are too many and too uneven to simulate";
    return result;
}

} // namespace headroom::network
