// The search against every strategy priced alone.

#include "support/planning.hpp"

#include "headroom/training/memory.hpp"
#include "headroom/training/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace headroom {

using namespace headroom::training;

namespace {

using planning::Asked;

TEST(SearchProperty, FindsWhatTryingEveryStrategyFinds) {
    auto question = planning::small_question();
    question.space.workers = {8};
    Asked const asked{question};
    auto const setting = asked.setting();
    Bytes const usable = usable_memory(asked.question.cluster.accelerator);
    for (SearchResult const& result : asked.search()) {
        auto const legal =
            legal_strategies(setting.model, setting.cluster, setting.framework, setting.workload, result.workers, {});
        Seconds fastest{INFINITY};
        for (Strategy const& s : legal) {
            if (memory_use(setting, s).total() > usable) { continue; }
            auto const shape = shape_of(s, setting.workload);
            auto const costs = layer_costs(step_program(setting.model, shape, setting.framework), shape,
                                           setting.cluster, setting.framework, setting.constants);
            fastest = std::min(fastest, price_step(setting, s, costs).total());
        }
        ASSERT_FALSE(result.best.empty());
        EXPECT_LE(result.fastest, 1.01 * fastest) << result.workers;
        EXPECT_LE(result.step.front(), (1.0 + step_tie) * result.fastest) << result.workers;
        EXPECT_EQ(result.memory.front(), memory_use(setting, result.best.front()).total());
    }
}

TEST(SearchProperty, EvaluatesEveryStrategyAsIfItWereAlone) {
    // Expectation: costs, stages and traffic that neighbours in the list share are those of each of them. A mixture whose
    // first block is dense, so that stages differ; all that memory refuses elsewhere fits.
    auto question = planning::small_question();
    question.model.layers = 6;
    question.model.moe = {.experts = 8, .top_k = 2, .ffn = 512, .first_dense = 1};
    question.cluster.accelerator.memory = 1e5 * units::GB;
    question.space.workers = {32};
    Asked const asked{question};
    auto const setting = asked.setting();
    auto const result = asked.search(100'000).at(0);
    ASSERT_EQ(static_cast<std::int64_t>(result.best.size()), result.counts.legal);
    ASSERT_GT(result.best.size(), 1000U);
    for (std::size_t i = 0; i < result.best.size(); ++i) {
        Strategy const& one = result.best[i];
        auto const shape = shape_of(one, setting.workload);
        auto const costs = layer_costs(step_program(setting.model, shape, setting.framework), shape, setting.cluster,
                                       setting.framework, setting.constants);
        ASSERT_EQ(result.step[i], price_step(setting, one, costs).total()) << short_name(one);
        ASSERT_EQ(result.memory[i], memory_use(setting, one).total()) << short_name(one);
    }
}

TEST(SearchProperty, OneStrategyIsTheFirstOfAll) {
    // Expectation: strategies that are not priced where one is asked for are neither recommended, nor the next best.
    for (int const workers : {8, 16, 64}) {
        for (double const memory : {40.0, 80.0, 640.0}) {
            auto question = planning::small_question();
            question.cluster.accelerator.memory = memory * units::GiB;
            question.space.workers = {workers};
            Asked const asked{question};
            auto const one = asked.search(1).at(0), all = asked.search(64).at(0);
            ASSERT_FALSE(one.best.empty());
            EXPECT_EQ(one.best.size(), 1U);
            EXPECT_EQ(one.best.front(), all.best.front()) << short_name(one.best.front());
            EXPECT_EQ(one.step.front(), all.step.front());
            EXPECT_EQ(one.memory.front(), all.memory.front());
            EXPECT_EQ(one.fastest, all.fastest);
            ASSERT_EQ(one.next_best.has_value(), all.next_best.has_value());
            if (one.next_best) {
                EXPECT_EQ(one.next_best->strategy, all.next_best->strategy) << short_name(one.next_best->strategy);
                EXPECT_EQ(one.next_best->time.total(), all.next_best->time.total());
            }
            auto const setting = asked.setting();
            auto const chosen = chosen_strategy(setting, question.space);
            ASSERT_TRUE(chosen.has_value());
            EXPECT_EQ(chosen->strategy, one.best.front()) << short_name(chosen->strategy);
        }
    }
}

} // namespace
} // namespace headroom
