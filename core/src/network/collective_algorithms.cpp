#include "algorithms/binomial.hpp"
#include "algorithms/double_binary_tree.hpp"
#include "algorithms/hierarchical.hpp"
#include "algorithms/in_network.hpp"
#include "algorithms/one_level.hpp"
#include "algorithms/rails.hpp"

#include "headroom/network/collective_algorithm.hpp"

#include <array>

namespace headroom::network {
namespace {

using namespace algorithms;

constexpr std::string_view any_ranks = "any number of ranks";
constexpr std::string_view any_skewed = "any number of ranks; skew towards one rank";
constexpr std::string_view even_levels = "one to three full levels";
constexpr std::string_view even_pair = "one or two full levels";
constexpr std::string_view even_skewed = "one to three full levels; skew towards one rank";
constexpr std::string_view even_or_two = "one to three full levels; two of which the last domain has fewer ranks";

using Time = CollectiveTime (*)(CollectiveCall const&);
using Schedule = std::unique_ptr<MessageSchedule> (*)(CollectiveCall const&);
using Takes = bool (*)(Layout const&);

/// A row of an algorithm on one level.
constexpr CollectiveAlgorithm flat(Collective collective, std::string_view name, Time time, Schedule schedule,
                                   std::string_view source, std::string_view holds_for = any_ranks,
                                   Takes takes = nullptr) {
    return {collective, name, Arrangement::flat, time, schedule, holds_for, source, takes};
}

/// A row of an algorithm that goes through the levels one after another.
constexpr CollectiveAlgorithm levels(Collective collective, std::string_view name, Time time, Schedule schedule,
                                     std::string_view source, std::string_view holds_for, Takes takes) {
    return {collective, name, Arrangement::levels, time, schedule, holds_for, source, takes};
}

/// A row of an algorithm that goes along the sides of a torus one after another.
constexpr CollectiveAlgorithm torus(Collective collective, std::string_view name, Time time, Schedule schedule,
                                    std::string_view source) {
    return {collective, name, Arrangement::torus, time, schedule, "a torus with one to three sides, a ring along each",
            source};
}

/// A row of an algorithm of switches that add.
constexpr CollectiveAlgorithm switched(Collective collective, Schedule schedule) {
    return {collective,      "in_network", Arrangement::in_network,
            in_network_time, schedule,     "any number of ranks, 72 below a switch; switches that add at line rate",
            "Graham2016"};
}

constexpr std::array rows{
    flat(Collective::all_reduce, "ring", ring_all_reduce_time, ring_all_reduce_schedule, "PatarasukYuan2009"),
    flat(Collective::all_reduce, "flat", flat_all_reduce_time, flat_all_reduce_schedule, "Thakur2005"),
    flat(Collective::all_reduce, "chain", chain_all_reduce_time, chain_all_reduce_schedule, "OpenMPI"),
    flat(Collective::all_reduce, "double_binary_tree", double_binary_tree_all_reduce_time,
         double_binary_tree_all_reduce_schedule, "SandersSpeckTraeff2009"),
    flat(Collective::all_reduce, "recursive_doubling", recursive_doubling_all_reduce_time,
         recursive_doubling_all_reduce_schedule, "Thakur2005"),
    flat(Collective::all_reduce, "rabenseifner", rabenseifner_all_reduce_time, rabenseifner_all_reduce_schedule,
         "Rabenseifner2004"),
    levels(Collective::all_reduce, "hierarchical_ring", hierarchical_ring_all_reduce_time,
           hierarchical_ring_all_reduce_schedule, "StasMlEngineering", even_or_two, is_even_or_two_levels),
    levels(Collective::all_reduce, "hierarchical_recursive_doubling", hierarchical_doubling_all_reduce_time,
           hierarchical_doubling_all_reduce_schedule, "StasMlEngineering", even_or_two, is_even_or_two_levels),
    levels(Collective::all_reduce, "hierarchical_rabenseifner", hierarchical_rabenseifner_all_reduce_time,
           hierarchical_rabenseifner_all_reduce_schedule, "StasMlEngineering", even_or_two, is_even_or_two_levels),
    torus(Collective::all_reduce, "torus_ring", hierarchical_ring_all_reduce_time,
          hierarchical_ring_all_reduce_schedule, "PatarasukYuan2009"),
    switched(Collective::all_reduce, in_network_all_reduce_schedule),

    flat(Collective::all_gather, "ring", ring_all_gather_time, ring_all_gather_schedule, "Thakur2005"),
    flat(Collective::all_gather, "recursive_doubling", recursive_doubling_all_gather_time,
         recursive_doubling_all_gather_schedule, "Thakur2005"),
    flat(Collective::all_gather, "bruck", bruck_all_gather_time, bruck_all_gather_schedule, "Bruck1997"),
    levels(Collective::all_gather, "hierarchical_ring", hierarchical_ring_all_gather_time,
           hierarchical_ring_all_gather_schedule, "StasMlEngineering", even_or_two, is_even_or_two_levels),
    levels(Collective::all_gather, "hierarchical_bruck", hierarchical_bruck_all_gather_time,
           hierarchical_bruck_all_gather_schedule, "Bruck1997", even_levels, is_even),
    torus(Collective::all_gather, "torus_ring", hierarchical_ring_all_gather_time,
          hierarchical_ring_all_gather_schedule, "PatarasukYuan2009"),

    flat(Collective::reduce_scatter, "ring", ring_reduce_scatter_time, ring_reduce_scatter_schedule, "Thakur2005"),
    flat(Collective::reduce_scatter, "recursive_halving", recursive_halving_reduce_scatter_time,
         recursive_halving_reduce_scatter_schedule, "Thakur2005"),
    flat(Collective::reduce_scatter, "recursive_doubling", recursive_doubling_reduce_scatter_time,
         recursive_doubling_reduce_scatter_schedule, "Thakur2005", "a power of two ranks", is_power_of_two),
    flat(Collective::reduce_scatter, "pairwise", pairwise_reduce_scatter_time, pairwise_reduce_scatter_schedule,
         "Thakur2005"),
    levels(Collective::reduce_scatter, "hierarchical_ring", hierarchical_ring_reduce_scatter_time,
           hierarchical_ring_reduce_scatter_schedule, "StasMlEngineering", even_or_two, is_even_or_two_levels),
    levels(Collective::reduce_scatter, "hierarchical_recursive_halving", hierarchical_halving_reduce_scatter_time,
           hierarchical_halving_reduce_scatter_schedule, "Thakur2005", even_levels, is_even),
    torus(Collective::reduce_scatter, "torus_ring", hierarchical_ring_reduce_scatter_time,
          hierarchical_ring_reduce_scatter_schedule, "PatarasukYuan2009"),

    flat(Collective::all_to_all, "pairwise", pairwise_all_to_all_time, pairwise_all_to_all_schedule, "Thakur2005",
         any_skewed),
    flat(Collective::all_to_all, "bruck", bruck_all_to_all_time, bruck_all_to_all_schedule, "Bruck1997", any_skewed),
    levels(Collective::all_to_all, "hierarchical", hierarchical_all_to_all_time, hierarchical_all_to_all_schedule,
           "Bruck1997", even_skewed, is_even),

    flat(Collective::broadcast, "flat", flat_broadcast_time, flat_broadcast_schedule, "Thakur2005"),
    flat(Collective::broadcast, "pipelined_chain", pipelined_chain_broadcast_time, pipelined_chain_broadcast_schedule,
         "OpenMPI"),
    flat(Collective::broadcast, "binomial", binomial_broadcast_time, binomial_broadcast_schedule, "Thakur2005"),
    flat(Collective::broadcast, "van_de_geijn", van_de_geijn_broadcast_time, van_de_geijn_broadcast_schedule,
         "Barnett1994"),
    flat(Collective::broadcast, "scatter_ring", scatter_ring_broadcast_time, scatter_ring_broadcast_schedule,
         "Thakur2005"),
    flat(Collective::broadcast, "double_binary_tree", double_binary_tree_broadcast_time,
         double_binary_tree_broadcast_schedule, "SandersSpeckTraeff2009"),
    levels(Collective::broadcast, "hierarchical_pipelined_chain", rails_chain_broadcast_time,
           rails_chain_broadcast_schedule, "StasMlEngineering", even_levels, is_even),
    levels(Collective::broadcast, "hierarchical_van_de_geijn", rails_van_de_geijn_broadcast_time,
           rails_van_de_geijn_broadcast_schedule, "StasMlEngineering", even_levels, is_even),
    levels(Collective::broadcast, "hierarchical_double_binary_tree", rails_trees_broadcast_time,
           rails_trees_broadcast_schedule, "StasMlEngineering", even_levels, is_even),
    levels(Collective::broadcast, "hierarchical_binomial", nested_binomial_broadcast_time,
           nested_binomial_broadcast_schedule, "Thakur2005", even_levels, is_even),
    switched(Collective::broadcast, in_network_broadcast_schedule),

    flat(Collective::point_to_point, "send", send_time, send_schedule, "Thakur2005"),

    flat(Collective::reduce, "flat", flat_reduce_time, flat_reduce_schedule, "Thakur2005"),
    flat(Collective::reduce, "pipelined_chain", pipelined_chain_reduce_time, pipelined_chain_reduce_schedule,
         "OpenMPI"),
    flat(Collective::reduce, "binomial", binomial_reduce_time, binomial_reduce_schedule, "Thakur2005"),
    flat(Collective::reduce, "rabenseifner", rabenseifner_reduce_time, rabenseifner_reduce_schedule,
         "Rabenseifner2004"),
    flat(Collective::reduce, "double_binary_tree", double_binary_tree_reduce_time, double_binary_tree_reduce_schedule,
         "SandersSpeckTraeff2009"),
    levels(Collective::reduce, "hierarchical_pipelined_chain", rails_chain_reduce_time, rails_chain_reduce_schedule,
           "StasMlEngineering", even_levels, is_even),
    levels(Collective::reduce, "hierarchical_rabenseifner", rails_rabenseifner_reduce_time,
           rails_rabenseifner_reduce_schedule, "StasMlEngineering", even_levels, is_even),
    levels(Collective::reduce, "hierarchical_double_binary_tree", rails_trees_reduce_time, rails_trees_reduce_schedule,
           "StasMlEngineering", even_levels, is_even),
    levels(Collective::reduce, "hierarchical_binomial", nested_binomial_reduce_time, nested_binomial_reduce_schedule,
           "Thakur2005", even_levels, is_even),
    switched(Collective::reduce, in_network_reduce_schedule),

    flat(Collective::scatter, "linear", linear_shards_time, linear_scatter_schedule, "MPICH"),
    flat(Collective::scatter, "binomial", binomial_shards_time, binomial_scatter_schedule, "Thakur2005"),
    levels(Collective::scatter, "hierarchical_binomial", rails_shards_time, rails_scatter_schedule, "Thakur2005",
           even_pair, is_even_to_two_levels),

    flat(Collective::gather, "linear", linear_shards_time, linear_gather_schedule, "MPICH"),
    flat(Collective::gather, "binomial", binomial_shards_time, binomial_gather_schedule, "Thakur2005"),
    levels(Collective::gather, "hierarchical_binomial", rails_shards_time, rails_gather_schedule, "Thakur2005",
           even_pair, is_even_to_two_levels),

    flat(Collective::barrier, "dissemination", dissemination_barrier_time, dissemination_barrier_schedule,
         "Hensgen1988"),
    flat(Collective::barrier, "binomial", binomial_barrier_time, binomial_barrier_schedule, "Thakur2005"),
};

} // namespace

std::span<CollectiveAlgorithm const> collective_algorithms() { return rows; }

bool has_closed_form(CollectiveAlgorithm const& algorithm, Layout const& layout) {
    if (algorithm.takes != nullptr && !algorithm.takes(layout)) { return false; }
    switch (algorithm.arrangement) {
    case Arrangement::flat:
    case Arrangement::in_network: return layout.levels == 1;
    case Arrangement::levels: return true;
    case Arrangement::torus: return layout.even();
    }
    return false;
}

} // namespace headroom::network
