#include "support/simulated_plans.hpp"

#include "headroom/training/pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

// Plans whose stages differ in more than their length: those that run on without a flush, and those that train the last
// blocks only.

namespace headroom {
namespace {

using namespace training;

constexpr std::uint64_t fresh = 4'000'000; ///< of no other test

/// How far apart the two are, of so many plans that are of interest and in doubt for nothing but what is asked for.
template <class Wanted> std::vector<double> differences(std::size_t plans, std::string_view beside, Wanted wanted) {
    constexpr std::uint64_t most_drawn =
        20'000; // a kind of which nothing is claimed would be looked for without an end
    std::vector<double> apart;
    for (std::uint64_t index = 0; apart.size() < plans && index < most_drawn; ++index) {
        auto const plan = random_plan(simulated_menu(), fresh, index);
        if (!wanted(plan.strategy, plan.model)) { continue; }
        auto const agreement = headroom::training::agreement_of(plan, fitted());
        EXPECT_EQ(agreement.simulated.refused, "");
        bool const asked =
            std::ranges::all_of(agreement.limits, [&](auto const& limit) { return limit.name == beside; });
        if (asked) { apart.push_back(std::abs(agreement.difference)); }
    }
    EXPECT_EQ(apart.size(), plans);
    std::ranges::sort(apart);
    return apart;
}

void expect_close(std::vector<double> const& apart) {
    ASSERT_FALSE(apart.empty());
    EXPECT_LT(apart[apart.size() / 2], 0.005);
    EXPECT_LT(apart[apart.size() * 9 / 10], 0.015);
}

TEST(SimulatedStages, WithoutAFlushTakeWhatTheSlowestTakesWithItsUpdates) {
    expect_close(differences(25, "no flush", [](Strategy const& strategy, Model const&) {
        return strategy.pp > 1 && schedule_row(strategy.schedule()).asynchronous;
    }));
}

TEST(SimulatedStages, OfFrozenBlocksRunForwardOnly) {
    expect_close(differences(25, "", [](Strategy const& strategy, Model const& model) {
        return strategy.pp > 1 && strategy.trained == Trained::last_layers && strategy.trained_layers < model.layers;
    }));
}

/// One micro-batch or many: from step to step it is the same run, told in parts.
TEST(SimulatedStages, WithoutAFlushTakeTwiceAsLongForTwiceAsMany) {
    auto asked =
        question(catalog().model("llama-3-8b"), catalog().cluster("dgx-h100"), catalog().framework("megatron-core"),
                 {.dp = 2, .tp = 2, .pp = 4, .pipeline = PipelineSchedule::pipedream},
                 {.sequence_length = 4096, .global_batch = 8});
    auto const step = [&](int batch) {
        asked.workload.global_batch = batch;
        Priced const priced{asked, fitted().values()};
        auto const time = simulate_step(priced.setting(), asked.strategy, priced.costs).time;
        return time.total() - time.stragglers - time.overhead;
    };
    EXPECT_NEAR(step(16) / step(8), 2.0, 0.002);
    EXPECT_NEAR(step(128) / step(8), 16.0, 0.016);
}

} // namespace
} // namespace headroom
