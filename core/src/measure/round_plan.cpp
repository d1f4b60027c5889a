#include "headroom/measure/round_plan.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headroom::measure {

RoundPlan plan_rounds(std::span<PointCost const> costs, double seconds, std::uint32_t least, std::uint32_t most) {
    RoundPlan plan{.repetitions = 0, .taken = std::vector<bool>(costs.size(), true)};
    std::vector<std::size_t> costliest(costs.size());
    std::iota(costliest.begin(), costliest.end(), std::size_t{0});
    std::ranges::stable_sort(costliest, [&](std::size_t left, std::size_t right) {
        return std::pair{costs[left].essential, -costs[left].seconds} <
               std::pair{costs[right].essential, -costs[right].seconds};
    });
    double round = 0.0;
    for (PointCost const& one : costs) { round += one.seconds; }
    for (std::size_t const point : costliest) {
        if (round * least <= seconds) { break; }
        plan.taken[point] = false;
        round -= costs[point].seconds;
    }
    bool const any = std::ranges::find(plan.taken, true) != plan.taken.end();
    if (!any) { return plan; }
    double const fit = round > 0.0 ? seconds / round : static_cast<double>(most);
    plan.repetitions = static_cast<std::uint32_t>(std::clamp(fit, 1.0 * least, 1.0 * most));
    return plan;
}

} // namespace headroom::measure
