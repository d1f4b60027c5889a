#include "support/draws.hpp"
#include "support/simulated_plans.hpp"
#include "training/step_screen.hpp"

#include "headroom/counter_random.hpp"
#include "headroom/training/legality.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <vector>

// The price of a step, a recurrence, against the same step run task by task, over random legal plans.
// HEADROOM_DRAWS says how many (`make agreement`: 5,000).

namespace headroom {
namespace {

using namespace training;

constexpr double rounding = 1e-6; ///< relative: rounding of whole ticks

int const priced_plans = test::draws_of(1000, 250); ///< 250 are of every kind

/// Simulated over priced step, less 1.
double difference_of(Question const& question, bool shared_links) {
    Calibration const constants = fitted().values();
    StepSetting const setting = step_setting(question, question.cluster, constants);
    LayerShape const shape = shape_of(question.strategy, question.workload);
    LayerCosts const costs = layer_costs(step_program(question.model, shape, question.framework), shape,
                                         question.cluster, question.framework, constants);
    SimulationOptions options;
    options.detail = StepDetail::block;
    options.share_links = shared_links;
    auto const simulated = simulate_step(setting, question.strategy, costs, options);
    EXPECT_EQ(simulated.refused, "");
    return simulated.step() / price_step(setting, question.strategy, costs, shared_links).total() - 1.0;
}

std::string words_of(Question const& question) {
    return question.model.name + " on " + question.cluster.name + " with " + question.framework.name + ", " +
           short_name(question.strategy) + ", overlap " + spelled(question.strategy.overlap) + ", " +
           std::to_string(question.workload.global_batch) + " sequences";
}

TEST(StepPrice, IsComparedOnPlansOfEveryKind) {
    auto const kinds = [](int count) {
        std::set<std::string> all;
        for (int plan = 0; plan < count; ++plan) {
            Question const question = random_simulated_plan(static_cast<std::uint64_t>(plan));
            all.merge(std::set<std::string>{question.model.name, question.cluster.name, question.framework.name});
            for (std::string const& kind : kinds_of(question)) { all.insert(kind); }
        }
        return all;
    };
    EXPECT_EQ(kinds(priced_plans), kinds(1000));
}

TEST(StepPrice, IsTheStepRunTaskByTask) {
    // Expectation: without shared NICs begin and end of every task are the same by both; ticks are rounded otherwise.
    for (int plan = 0; plan < priced_plans; ++plan) {
        Question const question = random_simulated_plan(static_cast<std::uint64_t>(plan));
        EXPECT_NEAR(difference_of(question, false), 0.0, rounding) << plan << ": " << words_of(question);
    }
}

TEST(StepPrice, IsTheStepOfEveryOverlapByKind) {
    // Expectation: whatever kinds of traffic overlap, each by itself, both read the same dependencies.
    for (int plan = 0; plan < priced_plans / 5; ++plan) {
        Question question = random_simulated_plan(static_cast<std::uint64_t>(plan));
        CounterRandom random{static_cast<std::uint64_t>(plan)};
        for (TrafficKind const kind : traffic_kinds) {
            question.strategy.overlap[kind] =
                std::array{Overlap::off, Overlap::on, Overlap::hidden}[static_cast<std::size_t>(random.below(3))];
        }
        EXPECT_NEAR(difference_of(question, false), 0.0, rounding) << plan << ": " << words_of(question);
    }
}

TEST(StepPrice, IsTheStepOfShardedPipelines) {
    // Expectation: ZeRO 2 and 3 with a pipeline, over all ranks and over half of them, run as they are priced.
    int compared = 0;
    for (int plan = 0; plan < priced_plans / 2; ++plan) {
        Question question = random_simulated_plan(static_cast<std::uint64_t>(plan));
        auto& strategy = question.strategy;
        if (strategy.pp == 1) { continue; }
        strategy.zero = 2 + plan % 2;
        strategy.shard = strategy.data_ranks() % 2 == 0 && plan % 3 == 0 ? strategy.data_ranks() / 2 : 0;
        if (!illegal_because(strategy, question.model, question.workload).empty()) { continue; }
        EXPECT_NEAR(difference_of(question, false), 0.0, rounding) << plan << ": " << words_of(question);
        ++compared;
    }
    EXPECT_GT(compared, priced_plans / 10);
}

TEST(StepPrice, IsNeverBelowItsFloor) {
    // Expectation: a step takes at least its kernels and exposed collectives; most of a step without a pipeline is just that.
    std::vector<double> shares;
    for (int plan = 0; plan < priced_plans; ++plan) {
        Question const question = random_simulated_plan(static_cast<std::uint64_t>(plan));
        Calibration const constants = fitted().values();
        StepSetting const setting = step_setting(question, question.cluster, constants);
        LayerShape const shape = shape_of(question.strategy, question.workload);
        LayerCosts costs = layer_costs(step_program(question.model, shape, question.framework), shape, question.cluster,
                                       question.framework, constants);
        costs.pace(plan % 3 == 0 ? 1.0 : 0.5 + 0.01 * (plan % 100));
        Seconds const floor = step_floor(setting, question.strategy, costs);
        Seconds const price = price_step(setting, question.strategy, costs).total();
        EXPECT_LE(floor, price) << plan << ": " << words_of(question);
        if (question.strategy.pp == 1) { shares.push_back(floor / price); }
    }
    std::ranges::sort(shares);
    EXPECT_GT(shares[shares.size() / 2], 0.8);
}

TEST(StepPrice, SharesANicWithOneTransferAtATime) {
    // Expectation: a third transfer by the same NIC, which the price neglects, moves one plan in a hundred by more than 3 %.
    std::vector<double> differences;
    for (int plan = 0; plan < priced_plans; ++plan) {
        differences.push_back(std::abs(difference_of(random_simulated_plan(static_cast<std::uint64_t>(plan)), true)));
    }
    std::ranges::sort(differences);
    EXPECT_LT(differences[static_cast<std::size_t>(priced_plans) / 2], rounding);
    EXPECT_LT(differences[static_cast<std::size_t>(priced_plans) * 99 / 100], 0.03);
}

TEST(StepPrice, OfManyMicroBatchesIsThatOfEveryOneOfThem) {
    // Expectation: a step of eight times the micro-batches, which the price takes from a few rounds, runs as long task by task.
    // A host that gains on its chip with every round is further ahead at the end of the whole step than of the rounds that
    // were run: some of the last passes no longer wait for it, in 1 of 500 plans 0.008 % of the step.
    constexpr double last_waits = 2e-4;
    int rounded = 0;
    for (int plan = 0; plan < priced_plans / 10; ++plan) {
        Question question = random_simulated_plan(static_cast<std::uint64_t>(plan));
        question.workload.global_batch *= 8;
        double const difference = difference_of(question, false);
        EXPECT_LE(difference, rounding) << plan << ": " << words_of(question);
        EXPECT_GE(difference, -last_waits) << plan << ": " << words_of(question);
        rounded += std::abs(difference) <= rounding ? 1 : 0;
    }
    EXPECT_GE(rounded, priced_plans / 10 * 99 / 100);
}

} // namespace
} // namespace headroom
