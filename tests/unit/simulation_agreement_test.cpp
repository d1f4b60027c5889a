#include "support/simulated_plans.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace headroom {

using namespace headroom::training;

namespace {

AgreementRow row(std::uint64_t index, double difference, double unshared, std::vector<std::string> kinds) {
    AgreementRow one;
    one.index = index;
    one.difference = difference, one.unshared = unshared;
    one.kinds = std::move(kinds);
    return one;
}

/// Five that were simulated, one of them at the bar and two beyond; one that was not.
std::vector<AgreementRow> some_rows() {
    std::vector<AgreementRow> rows{
        row(0, 0.001, 0.0, {"1F1B", "ZeRO 1"}),   row(1, 0.02, 1e-7, {"one stage", "ZeRO 1"}),
        row(2, -0.01, -2e-7, {"1F1B", "ZeRO 3"}), row(3, 0.3, 0.0, {"1F1B", "ZeRO 1"}),
        row(4, -0.002, 0.0, {"1F1B", "ZeRO 1"}),  row(5, 0.0, 0.0, {"1F1B"})};
    rows.back().refused = "too many tasks";
    return rows;
}

TEST(SimulationAgreement, AStepTooLongToCountIsRefusedAndEndsNoTable) {
    // Expectation: a step that takes each of its 16 stages days, with memory of kilobytes a second, has more ticks than a run
    // counts.
    auto question =
        training::question(training::catalog().model("llama-3-70b"), training::catalog().cluster("dgx-h100"),
                           training::catalog().framework("megatron-core"), {.dp = 1, .pp = 16},
                           {.sequence_length = 4096, .global_batch = 64});
    question.cluster.accelerator.memory_bandwidth *= 1e-6;
    auto const row = agreement_of(question, training::fitted());
    EXPECT_EQ(row.refused, "its tasks take too long together");
    EXPECT_EQ(row.difference, 0.0);
    EXPECT_GT(row.priced.base(), 1e5);
}

/// A thread for each of four residues, the last tasks first.
void run_on_four(int count, std::function<void(int)> const& task) {
    std::vector<std::jthread> crew;
    for (int self = 0; self < 4; ++self) {
        crew.emplace_back([=, &task] {
            for (int index = count - 1 - self; index >= 0; index -= 4) { task(index); }
        });
    }
}

TEST(AgreementTable, CountsByKindMostPlansFirst) {
    auto const table = agreement_table(some_rows());
    EXPECT_EQ(table.refused, 1);
    EXPECT_EQ(table.all.difference.plans, 5);
    EXPECT_DOUBLE_EQ(table.all.difference.within, 0.6); // 0.1 %, 0.2 % and the bar itself
    EXPECT_DOUBLE_EQ(table.all.unshared.worst, 2e-7);
    ASSERT_EQ(table.kinds.size(), 4U);
    EXPECT_EQ(table.kinds[0].name, "1F1B");
    EXPECT_EQ(table.kinds[0].difference.plans, 4); // the other was not simulated
    EXPECT_DOUBLE_EQ(table.kinds[0].difference.worst, 0.3);
    EXPECT_EQ(table.kinds[1].name, "ZeRO 1");
    EXPECT_EQ(table.kinds[1].difference.plans, 4);
    EXPECT_DOUBLE_EQ(table.kinds[1].unshared.worst, 1e-7);
}

TEST(AgreementTable, OfNothingIsEmpty) {
    auto const table = agreement_table({});
    EXPECT_EQ(table.all.difference.plans, 0);
    EXPECT_TRUE(table.kinds.empty());
}

TEST(RandomPlans, AreLegalAndFollowFromSeedAndIndex) {
    auto const& menu = training::simulated_menu();
    std::set<std::string> seen;
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        for (std::uint64_t index = 0; index < 60; ++index) {
            auto const plan = random_plan(menu, seed, index), again = random_plan(menu, seed, index);
            EXPECT_EQ(illegal_because(plan.strategy, plan.model, plan.workload), "");
            EXPECT_EQ(training::name_of(plan), training::name_of(again));
            EXPECT_EQ(plan.model.name, menu.models[index % menu.models.size()].name);
            seen.insert(training::name_of(plan) + std::to_string(plan.workload.global_batch));
        }
    }
    EXPECT_GT(seen.size(), 170U); // of 180
}

TEST(RandomPlans, ArePricedAsPredictPricesThem) {
    for (std::uint64_t index = 0; index < 30; ++index) {
        auto const plan = random_plan(training::simulated_menu(), 0, index);
        auto const one = agreement_of(plan, training::fitted());
        EXPECT_EQ(one.priced, predict(plan, training::fitted()).step());
        EXPECT_DOUBLE_EQ(one.priced * (1.0 + one.difference) / one.simulated, 1.0);
    }
}

TEST(RandomPlans, RowsDoNotDependOnThreads) {
    auto const& menu = training::simulated_menu();
    auto const one = agreement_rows(menu, training::fitted(), 3, 16);
    auto const four = agreement_rows(menu, training::fitted(), 3, 16, run_on_four);
    ASSERT_EQ(one.size(), 16U);
    ASSERT_EQ(four.size(), 16U);
    for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_EQ(one[i].index, i);
        EXPECT_EQ(one[i].strategy, four[i].strategy);
        EXPECT_EQ(one[i].difference, four[i].difference);
    }
}

TEST(RandomPlans, StoppedKeepsThoseBeforeTheFirstThatIsMissing) {
    std::stop_source stop;
    int started = 0;
    Executor const run = [&](int count, std::function<void(int)> const& task) {
        for (int index = 0; index < count; ++index) {
            if (++started > 7) { stop.request_stop(); }
            task(index);
        }
    };
    EXPECT_EQ(agreement_rows(training::simulated_menu(), training::fitted(), 0, 20, run, stop.get_token()).size(), 7U);
}

} // namespace
} // namespace headroom
