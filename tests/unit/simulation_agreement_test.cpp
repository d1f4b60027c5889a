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

AgreementRow row(std::uint64_t index, std::string model, double difference, std::vector<ClosedFormLimit> limits = {}) {
    AgreementRow one;
    one.index = index;
    one.model = std::move(model);
    one.difference = difference;
    one.limits = std::move(limits);
    return one;
}

constexpr ClosedFormLimit first{"first", "because of one"}, second{"second", "because of another"};

/// Three claimed, one of them at the bar and one beyond; two that are not; one that was not simulated.
std::vector<AgreementRow> some_rows() {
    std::vector<AgreementRow> rows{row(0, "a", 0.001), row(1, "b", 0.02), row(2, "a", -0.01),
                                   row(3, "a", 0.3, {first, second}), row(4, "a", -0.002, {second})};
    rows.push_back(row(5, "a", 0.0, {first}));
    rows.back().refused = "too many tasks";
    return rows;
}

TEST(SimulationAgreement, AStepTooLongToCountIsRefusedAndEndsNoTable) {
    // Expectation: a step of 1F1B without a flush that takes its ranks days has more ticks than a run counts.
    auto const plan = agreement_of(random_plan(training::simulated_menu(), 201, 786), training::fitted());
    EXPECT_EQ(plan.simulated.refused, "its tasks take too long together");
    EXPECT_EQ(plan.difference, 0.0);
    EXPECT_GT(plan.closed.total().base(), 1e5);
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

TEST(AgreementTable, CountsByModel) {
    auto const table = agreement_table(some_rows());
    EXPECT_EQ(table.refused, 1);
    EXPECT_EQ(table.all.all.plans, 5);
    EXPECT_EQ(table.all.claimed.plans, 3);
    EXPECT_DOUBLE_EQ(table.all.claimed_share(), 0.6);
    EXPECT_DOUBLE_EQ(table.all.all.within, 0.6); // 0.1, 0.2 and the bar itself
    ASSERT_EQ(table.models.size(), 2U);
    EXPECT_EQ(table.models[0].name, "a");
    EXPECT_EQ(table.models[0].all.plans, 4);
    EXPECT_DOUBLE_EQ(table.models[0].claimed.worst, 0.01);
    EXPECT_DOUBLE_EQ(table.models[0].all.worst, 0.3);
    EXPECT_DOUBLE_EQ(table.models[1].claimed.within, 0.0);
}

TEST(AgreementTable, CountsByLimitMostPlansFirst) {
    auto const table = agreement_table(some_rows());
    ASSERT_EQ(table.limits.size(), 2U);
    EXPECT_EQ(table.limits[0].name, "second");
    EXPECT_EQ(table.limits[0].met.plans, 2);
    EXPECT_EQ(table.limits[0].alone.plans, 1);
    EXPECT_DOUBLE_EQ(table.limits[0].alone.worst, 0.002);
    EXPECT_EQ(table.limits[1].met.plans, 1); // the other was not simulated
    EXPECT_EQ(table.limits[1].alone.plans, 0);
}

TEST(AgreementTable, OfNothingIsEmpty) {
    auto const table = agreement_table({});
    EXPECT_EQ(table.all.all.plans, 0);
    EXPECT_EQ(table.all.claimed_share(), 0.0);
    EXPECT_TRUE(table.models.empty());
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
        EXPECT_EQ(one.closed.total(), predict(plan, training::fitted()).step());
        EXPECT_DOUBLE_EQ(one.closed.total() * (1.0 + one.difference) / one.simulated.step(), 1.0);
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
