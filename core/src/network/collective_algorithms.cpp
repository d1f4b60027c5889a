#include "algorithms/ring.hpp"

#include "headroom/collective_algorithm.hpp"

#include <array>

namespace headroom {
namespace {

using namespace algorithms;

constexpr std::string_view any_ranks = "any number of ranks";

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
