#include "headroom/measure/run_order.hpp"

#include "headroom/counter_random.hpp"

#include <numeric>
#include <set>
#include <utility>

namespace headroom::measure {
namespace {

/// Points in the order of one round.
std::vector<std::uint32_t> shuffled(std::size_t points, std::uint64_t seed, std::uint64_t round) {
    std::vector<std::uint32_t> order(points);
    std::iota(order.begin(), order.end(), 0U);
    // rounds of neighbouring seeds are not each other's: both go through the mixer before they meet
    CounterRandom random{CounterRandom{seed}.next() ^ (round + 1) * 0xD1B54A32D192ED03ULL};
    for (std::size_t left = points; left > 1; --left) {
        auto const drawn = static_cast<std::size_t>(random.below(static_cast<int>(left)));
        std::swap(order[left - 1], order[drawn]);
    }
    return order;
}

} // namespace

std::vector<PlannedRun> planned_order(std::size_t points, std::uint32_t warm_up, std::uint32_t repeats,
                                      std::uint64_t seed) {
    std::vector<PlannedRun> order;
    order.reserve(points * (std::size_t{warm_up} + repeats));
    for (std::uint32_t round = 0; round < warm_up + repeats; ++round) {
        for (std::uint32_t const point : shuffled(points, seed, round)) {
            order.push_back({.point = point, .repetition = round, .warm_up = round < warm_up});
        }
    }
    return order;
}

std::vector<PlannedRun> runs_left(std::span<PlannedRun const> order, std::span<Sample const> taken) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> there;
    for (Sample const& sample : taken) { there.emplace(sample.point, sample.repetition); }
    std::vector<PlannedRun> left;
    for (PlannedRun const& run : order) {
        if (!there.contains({run.point, run.repetition})) { left.push_back(run); }
    }
    return left;
}

} // namespace headroom::measure
