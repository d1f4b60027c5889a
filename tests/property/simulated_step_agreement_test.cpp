#include "support/simulated_plans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// The closed form of a step against the step unrolled and run, over random legal plans. HEADROOM_AGREEMENT_PLANS says how
// many (`make agreement`: 10,000 and the table).

namespace headroom {
namespace {

using namespace training;

constexpr double claimed_bar = 0.80; ///< of the plans
// What is reached on these plans: the guide to the simulated step says what is short of the bars on others.
constexpr double reached_within = 1.0, reached_claim = 0.82, reached_worst = 0.01;

/// What is claimed is judged on plans of other seeds than those that its shares were read off.
constexpr std::uint64_t fresh = 2'000'000, fresh_of_suite = 3'000'000;

int plans_asked(int usual) {
    char const* asked = std::getenv("HEADROOM_AGREEMENT_PLANS");
    return asked != nullptr ? std::atoi(asked) : usual;
}

/// The rows of so many plans; each must have been simulated.
std::vector<AgreementRow> rows_of(int plans, std::uint64_t seed) {
    auto rows = agreement_rows(simulated_menu(), fitted(), seed, plans);
    for (AgreementRow const& row : rows) { EXPECT_THAT(row.refused, testing::IsEmpty()) << row.strategy; }
    return rows;
}

/// Claimed, and off by more than the bar.
std::vector<std::string> beyond(std::vector<AgreementRow> const& rows) {
    std::vector<std::string> found;
    for (AgreementRow const& row : rows) {
        if (!row.claimed() || row.within()) { continue; }
        found.push_back(std::to_string(row.index) + ": " + std::to_string(100.0 * row.difference) + " % " + row.model +
                        " on " + row.cluster + " with " + row.framework + ", " + row.strategy);
    }
    return found;
}

void print(AgreementOfModel const& model, char const* name) {
    std::printf("%-16s %7d %8.1f%% %8.2f%% %8.2f%%\n", name, model.all.plans, 100.0 * model.claimed_share(),
                100.0 * model.claimed.p99, 100.0 * model.claimed.worst);
}

void print(AgreementTable const& table, std::size_t beyond) {
    std::printf("%-16s %7s %9s %9s %9s\n", "model", "plans", "claimed", "p99", "worst");
    for (AgreementOfModel const& model : table.models) { print(model, model.name.c_str()); }
    print(table.all, "all");
    std::printf("claimed and beyond %.0f %%: %zu\n\n", 100.0 * agreement_bar, beyond);
    std::printf("%-32s %7s %7s %9s %9s  %s\n", "limit", "plans", "alone", "median", "worst", "reason");
    for (AgreementOfLimit const& limit : table.limits) {
        std::printf("%-32s %7d %7d %8.2f%% %8.2f%%  %s\n", limit.name.c_str(), limit.met.plans, limit.alone.plans,
                    100.0 * limit.met.median, 100.0 * limit.met.worst, limit.reason.c_str());
    }
}

/// A plan of equal blocks on one stage and one replica whose host is so fast; nothing but copies is to be waited for.
Question copying(Offload offload, Recompute recompute, double bandwidth) {
    Question question = random_simulated_plan(0);
    question.model = catalog().model("llama-3-70b");
    question.cluster = catalog().cluster("dgx-h100");
    question.cluster.host.bandwidth = bandwidth * units::GB / units::s;
    question.framework = catalog().framework("megatron-core");
    question.workload = {.sequence_length = 4096, .global_batch = 4};
    question.strategy = {.tp = 8, .recompute = recompute, .offload = offload};
    return question;
}

TEST(SimulatedStepAgreement, CopiesShowAsMuchAsWhenTheyAreRun) {
    // Expectation: from hosts that nobody notices to hosts that the step waits for, blocks wait for activations that are
    // two blocks behind them, and for weights and gradients, as long as the closed form says: 0.3 % of the step.
    for (double const bandwidth : {200.0, 50.0, 20.0, 5.0}) {
        for (auto const offload : {Offload::activations, Offload::optimizer, Offload::both}) {
            for (auto const recompute : {Recompute::none, Recompute::full}) {
                auto const plan = headroom::training::agreement_of(copying(offload, recompute, bandwidth), fitted());
                EXPECT_NEAR(plan.difference, 0.0, 0.003) << name_of(offload) << " at " << bandwidth << " GB/s";
                EXPECT_TRUE(plan.claimed()) << name_of(offload) << " at " << bandwidth << " GB/s";
            }
        }
    }
}

TEST(SimulatedStepAgreement, TheClosedFormHoldsWhereItClaimsTo) {
    if (std::getenv("HEADROOM_AGREEMENT_PLANS") == nullptr) { GTEST_SKIP() << "make agreement"; }
    auto const rows = rows_of(plans_asked(10'000), fresh);
    auto const table = agreement_table(rows);
    auto const missed = beyond(rows);
    print(table, missed.size());
    EXPECT_THAT(missed, testing::IsEmpty());
    EXPECT_GE(table.all.claimed_share(), claimed_bar);
}

/// Pipelines whose chunks or halves of passes reduce in turn; rows that are run, or interleaved 1F1B.
bool reduces_in_turn(Question const& question) {
    auto const& row = schedule_row(question.strategy.schedule());
    return question.strategy.pp > 1 && !row.asynchronous && row.id != PipelineSchedule::one_f_one_b &&
           row.id != PipelineSchedule::gpipe;
}

TEST(SimulatedStepAgreement, ChunksReduceInTurn) {
    int plans = 0, within = 0;
    for (std::uint64_t index = 0; plans < 80; ++index) {
        Question const question = random_plan(simulated_menu(), fresh_of_suite, index);
        if (!reduces_in_turn(question)) { continue; }
        auto const plan = headroom::training::agreement_of(question, fitted());
        if (!plan.limits.empty()) { continue; }
        ++plans;
        within += std::abs(plan.difference) <= agreement_bar ? 1 : 0;
    }
    EXPECT_GE(within, 79); // of those that are claimed, whatever the size of their traffic
}

TEST(SimulatedStepAgreement, IsAsGoodAsItWas) {
    auto const table = agreement_table(rows_of(400, fresh_of_suite));
    EXPECT_GE(table.all.claimed.within, reached_within);
    EXPECT_GE(table.all.claimed_share(), reached_claim);
    EXPECT_LE(table.all.claimed.worst, reached_worst);
}

TEST(SimulatedStepAgreement, LimitsHaveNamesAndReasons) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        for (auto const& limit : agreement_of(seed).limits) {
            EXPECT_FALSE(limit.name.empty());
            EXPECT_GT(limit.reason.size(), limit.name.size());
        }
    }
}

} // namespace
} // namespace headroom
