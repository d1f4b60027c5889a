#include "algorithms/barrier.hpp"
#include "algorithms/binomial.hpp"
#include "algorithms/bruck.hpp"
#include "algorithms/chain.hpp"
#include "algorithms/double_binary_tree.hpp"
#include "algorithms/flat.hpp"
#include "algorithms/hierarchical.hpp"
#include "algorithms/in_network.hpp"
#include "algorithms/pairwise.hpp"
#include "algorithms/point_to_point.hpp"
#include "algorithms/rabenseifner_reduce.hpp"
#include "algorithms/recursive_doubling.hpp"
#include "algorithms/recursive_halving.hpp"
#include "algorithms/ring.hpp"
#include "algorithms/scatter_all_gather.hpp"

#include "headroom/collective_algorithm.hpp"

#include <array>

namespace headroom {
namespace {

using namespace algorithms;

constexpr std::string_view any_ranks = "any number of ranks";
constexpr std::string_view even_levels = "one to three full levels";
constexpr std::string_view even_or_two = "one to three full levels; two of which the last domain has fewer ranks";
constexpr std::string_view torus_sides = "a torus with one to three sides, a ring along each";

using Time = CollectiveTime (*)(CollectiveCall const&);
using Schedule = std::unique_ptr<MessageSchedule> (*)(CollectiveCall const&);

/// A row of an algorithm on one level that takes any number of ranks.
constexpr CollectiveAlgorithm any(Collective collective, std::string_view name, Time time, Schedule schedule,
                                  std::string_view source) {
    return {.collective = collective,
            .name = name,
            .arrangement = Arrangement::flat,
            .time = time,
            .schedule = schedule,
            .holds_for = any_ranks,
            .source = source};
}

/// A row of an algorithm of switches that add.
constexpr CollectiveAlgorithm switched(Collective collective, Schedule schedule) {
    return {.collective = collective,
            .name = "in_network",
            .arrangement = Arrangement::in_network,
            .time = in_network_time,
            .schedule = schedule,
            .holds_for = "any number of ranks, 72 below a switch; switches that add at line rate",
            .source = "Graham2016"};
}

constexpr std::array rows{
    CollectiveAlgorithm{.collective = Collective::all_reduce,
                        .name = "ring",
                        .arrangement = Arrangement::flat,
                        .time = ring_all_reduce_time,
                        .schedule = ring_all_reduce_schedule,
                        .holds_for = any_ranks,
                        .source = "PatarasukYuan2009"},
    CollectiveAlgorithm{.collective = Collective::all_gather,
                        .name = "ring",
                        .arrangement = Arrangement::flat,
                        .time = ring_all_gather_time,
                        .schedule = ring_all_gather_schedule,
                        .holds_for = any_ranks,
                        .source = "Thakur2005"},
    CollectiveAlgorithm{.collective = Collective::reduce_scatter,
                        .name = "ring",
                        .arrangement = Arrangement::flat,
                        .time = ring_reduce_scatter_time,
                        .schedule = ring_reduce_scatter_schedule,
                        .holds_for = any_ranks,
                        .source = "Thakur2005"},

    // Exchanges between ranks that all do the same, on one level and on several.
    CollectiveAlgorithm{.collective = Collective::all_reduce,
                        .name = "recursive_doubling",
                        .arrangement = Arrangement::flat,
                        .time = recursive_doubling_all_reduce_time,
                        .schedule = recursive_doubling_all_reduce_schedule,
                        .holds_for = any_ranks,
                        .source = "Thakur2005"},
    CollectiveAlgorithm{.collective = Collective::all_reduce,
                        .name = "rabenseifner",
                        .arrangement = Arrangement::flat,
                        .time = rabenseifner_all_reduce_time,
                        .schedule = rabenseifner_all_reduce_schedule,
                        .holds_for = any_ranks,
                        .source = "Rabenseifner2004"},
    CollectiveAlgorithm{.collective = Collective::all_reduce,
                        .name = "hierarchical_ring",
                        .arrangement = Arrangement::levels,
                        .time = hierarchical_ring_all_reduce_time,
                        .schedule = hierarchical_ring_all_reduce_schedule,
                        .holds_for = even_or_two,
                        .source = "StasMlEngineering",
                        .takes = is_even_or_two_levels},
    CollectiveAlgorithm{.collective = Collective::all_reduce,
                        .name = "hierarchical_recursive_doubling",
                        .arrangement = Arrangement::levels,
                        .time = hierarchical_doubling_all_reduce_time,
                        .schedule = hierarchical_doubling_all_reduce_schedule,
                        .holds_for = even_or_two,
                        .source = "StasMlEngineering",
                        .takes = is_even_or_two_levels},
    CollectiveAlgorithm{.collective = Collective::all_reduce,
                        .name = "hierarchical_rabenseifner",
                        .arrangement = Arrangement::levels,
                        .time = hierarchical_rabenseifner_all_reduce_time,
                        .schedule = hierarchical_rabenseifner_all_reduce_schedule,
                        .holds_for = even_or_two,
                        .source = "StasMlEngineering",
                        .takes = is_even_or_two_levels},
    CollectiveAlgorithm{.collective = Collective::all_reduce,
                        .name = "torus_ring",
                        .arrangement = Arrangement::torus,
                        .time = hierarchical_ring_all_reduce_time,
                        .schedule = hierarchical_ring_all_reduce_schedule,
                        .holds_for = torus_sides,
                        .source = "PatarasukYuan2009"},
    CollectiveAlgorithm{.collective = Collective::all_gather,
                        .name = "recursive_doubling",
                        .arrangement = Arrangement::flat,
                        .time = recursive_doubling_all_gather_time,
                        .schedule = recursive_doubling_all_gather_schedule,
                        .holds_for = any_ranks,
                        .source = "Thakur2005"},
    CollectiveAlgorithm{.collective = Collective::all_gather,
                        .name = "bruck",
                        .arrangement = Arrangement::flat,
                        .time = bruck_all_gather_time,
                        .schedule = bruck_all_gather_schedule,
                        .holds_for = any_ranks,
                        .source = "Bruck1997"},
    CollectiveAlgorithm{.collective = Collective::all_gather,
                        .name = "hierarchical_ring",
                        .arrangement = Arrangement::levels,
                        .time = hierarchical_ring_all_gather_time,
                        .schedule = hierarchical_ring_all_gather_schedule,
                        .holds_for = even_or_two,
                        .source = "StasMlEngineering",
                        .takes = is_even_or_two_levels},
    CollectiveAlgorithm{.collective = Collective::all_gather,
                        .name = "hierarchical_bruck",
                        .arrangement = Arrangement::levels,
                        .time = hierarchical_bruck_all_gather_time,
                        .schedule = hierarchical_bruck_all_gather_schedule,
                        .holds_for = even_levels,
                        .source = "Bruck1997",
                        .takes = is_even},
    CollectiveAlgorithm{.collective = Collective::all_gather,
                        .name = "torus_ring",
                        .arrangement = Arrangement::torus,
                        .time = hierarchical_ring_all_gather_time,
                        .schedule = hierarchical_ring_all_gather_schedule,
                        .holds_for = torus_sides,
                        .source = "PatarasukYuan2009"},
    CollectiveAlgorithm{.collective = Collective::reduce_scatter,
                        .name = "recursive_halving",
                        .arrangement = Arrangement::flat,
                        .time = recursive_halving_reduce_scatter_time,
                        .schedule = recursive_halving_reduce_scatter_schedule,
                        .holds_for = any_ranks,
                        .source = "Thakur2005"},
    CollectiveAlgorithm{.collective = Collective::reduce_scatter,
                        .name = "recursive_doubling",
                        .arrangement = Arrangement::flat,
                        .time = recursive_doubling_reduce_scatter_time,
                        .schedule = recursive_doubling_reduce_scatter_schedule,
                        .holds_for = "a power of two ranks",
                        .source = "Thakur2005",
                        .takes = is_power_of_two},
    CollectiveAlgorithm{.collective = Collective::reduce_scatter,
                        .name = "pairwise",
                        .arrangement = Arrangement::flat,
                        .time = pairwise_reduce_scatter_time,
                        .schedule = pairwise_reduce_scatter_schedule,
                        .holds_for = any_ranks,
                        .source = "Thakur2005"},
    CollectiveAlgorithm{.collective = Collective::reduce_scatter,
                        .name = "hierarchical_ring",
                        .arrangement = Arrangement::levels,
                        .time = hierarchical_ring_reduce_scatter_time,
                        .schedule = hierarchical_ring_reduce_scatter_schedule,
                        .holds_for = even_or_two,
                        .source = "StasMlEngineering",
                        .takes = is_even_or_two_levels},
    CollectiveAlgorithm{.collective = Collective::reduce_scatter,
                        .name = "hierarchical_recursive_halving",
                        .arrangement = Arrangement::levels,
                        .time = hierarchical_halving_reduce_scatter_time,
                        .schedule = hierarchical_halving_reduce_scatter_schedule,
                        .holds_for = even_levels,
                        .source = "Thakur2005",
                        .takes = is_even},
    CollectiveAlgorithm{.collective = Collective::reduce_scatter,
                        .name = "torus_ring",
                        .arrangement = Arrangement::torus,
                        .time = hierarchical_ring_reduce_scatter_time,
                        .schedule = hierarchical_ring_reduce_scatter_schedule,
                        .holds_for = torus_sides,
                        .source = "PatarasukYuan2009"},
    CollectiveAlgorithm{.collective = Collective::all_to_all,
                        .name = "pairwise",
                        .arrangement = Arrangement::flat,
                        .time = pairwise_all_to_all_time,
                        .schedule = pairwise_all_to_all_schedule,
                        .holds_for = "any number of ranks; skew towards one rank",
                        .source = "Thakur2005"},
    CollectiveAlgorithm{.collective = Collective::all_to_all,
                        .name = "bruck",
                        .arrangement = Arrangement::flat,
                        .time = bruck_all_to_all_time,
                        .schedule = bruck_all_to_all_schedule,
                        .holds_for = "any number of ranks; skew towards one rank",
                        .source = "Bruck1997"},
    CollectiveAlgorithm{.collective = Collective::all_to_all,
                        .name = "hierarchical",
                        .arrangement = Arrangement::levels,
                        .time = hierarchical_all_to_all_time,
                        .schedule = hierarchical_all_to_all_schedule,
                        .holds_for = "one to three full levels; skew towards one rank",
                        .source = "Bruck1997",
                        .takes = is_even},
    CollectiveAlgorithm{.collective = Collective::barrier,
                        .name = "dissemination",
                        .arrangement = Arrangement::flat,
                        .time = dissemination_barrier_time,
                        .schedule = dissemination_barrier_schedule,
                        .holds_for = any_ranks,
                        .source = "Hensgen1988"},
    CollectiveAlgorithm{.collective = Collective::barrier,
                        .name = "binomial",
                        .arrangement = Arrangement::flat,
                        .time = binomial_barrier_time,
                        .schedule = binomial_barrier_schedule,
                        .holds_for = any_ranks,
                        .source = "Thakur2005"},
    any(Collective::point_to_point, "send", send_time, send_schedule, "Thakur2005"),
    any(Collective::broadcast, "flat", flat_broadcast_time, flat_broadcast_schedule, "Thakur2005"),
    any(Collective::reduce, "flat", flat_reduce_time, flat_reduce_schedule, "Thakur2005"),
    any(Collective::all_reduce, "flat", flat_all_reduce_time, flat_all_reduce_schedule, "Thakur2005"),
    any(Collective::scatter, "linear", linear_shards_time, linear_scatter_schedule, "MPICH"),
    any(Collective::gather, "linear", linear_shards_time, linear_gather_schedule, "MPICH"),
    any(Collective::all_reduce, "chain", chain_all_reduce_time, chain_all_reduce_schedule, "OpenMPI"),
    any(Collective::broadcast, "pipelined_chain", pipelined_chain_broadcast_time, pipelined_chain_broadcast_schedule,
        "OpenMPI"),
    any(Collective::reduce, "pipelined_chain", pipelined_chain_reduce_time, pipelined_chain_reduce_schedule, "OpenMPI"),
    any(Collective::broadcast, "binomial", binomial_broadcast_time, binomial_broadcast_schedule, "Thakur2005"),
    any(Collective::reduce, "binomial", binomial_reduce_time, binomial_reduce_schedule, "Thakur2005"),
    any(Collective::scatter, "binomial", binomial_shards_time, binomial_scatter_schedule, "Thakur2005"),
    any(Collective::gather, "binomial", binomial_shards_time, binomial_gather_schedule, "Thakur2005"),
    any(Collective::broadcast, "van_de_geijn", van_de_geijn_broadcast_time, van_de_geijn_broadcast_schedule,
        "Barnett1994"),
    any(Collective::broadcast, "scatter_ring", scatter_ring_broadcast_time, scatter_ring_broadcast_schedule,
        "Thakur2005"),
    any(Collective::reduce, "rabenseifner", rabenseifner_reduce_time, rabenseifner_reduce_schedule, "Rabenseifner2004"),
    any(Collective::broadcast, "double_binary_tree", double_binary_tree_broadcast_time,
        double_binary_tree_broadcast_schedule, "SandersSpeckTraeff2009"),
    any(Collective::reduce, "double_binary_tree", double_binary_tree_reduce_time, double_binary_tree_reduce_schedule,
        "SandersSpeckTraeff2009"),
    any(Collective::all_reduce, "double_binary_tree", double_binary_tree_all_reduce_time,
        double_binary_tree_all_reduce_schedule, "SandersSpeckTraeff2009"),
    switched(Collective::broadcast, in_network_broadcast_schedule),
    switched(Collective::reduce, in_network_reduce_schedule),
    switched(Collective::all_reduce, in_network_all_reduce_schedule),
};

} // namespace

std::string_view name_of(Arrangement arrangement) {
    switch (arrangement) {
    case Arrangement::flat: return "flat";
    case Arrangement::levels: return "levels";
    case Arrangement::torus: return "torus";
    case Arrangement::in_network: return "in_network";
    }
    return "";
}

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

} // namespace headroom
