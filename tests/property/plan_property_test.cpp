#include "support/planning.hpp"

#include "headroom/training/plan.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <tuple>

namespace headroom {

using namespace headroom::training;

namespace {

Executor const on_threads = [](int count, std::function<void(int)> const& task) {
    std::atomic<int> next{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = next++; i < count; i = next++) { task(i); }
        });
    }
    for (std::thread& thread : threads) { thread.join(); }
};

Executor const backwards = [](int count, std::function<void(int)> const& task) {
    for (int i = count - 1; i >= 0; --i) { task(i); }
};

/// A question of varied shape, small enough to be asked often.
PlanQuestion any_question() {
    auto question = planning::small_question();
    question.model.layers = *rc::gen::element(6, 12, 24, 32);
    question.model.heads = *rc::gen::element(12, 16, 24);
    question.model.kv_heads = *rc::gen::element(1, 2, 4);
    question.model.hidden = question.model.heads * question.model.head_dim;
    question.model.ffn = *rc::gen::element(6144, 8192, 12288);
    question.model.moe = {.experts = *rc::gen::element(0, 0, 4, 6), .top_k = 2, .ffn = 1536};
    question.cluster.domain = *rc::gen::element(1, 4, 8);
    question.cluster.accelerator.memory = *rc::gen::element(8.0, 16.0, 40.0) * units::GiB;
    question.workload.global_batch = *rc::gen::element(24, 32, 48, 96);
    question.workload.sequence_length = *rc::gen::element(2048, 6144, 16384);
    question.space.workers = {*rc::gen::element(1, 2, 3, 4, 6, 8), *rc::gen::element(12, 16, 24, 32)};
    return question;
}

struct Asked {
    explicit Asked(PlanQuestion asked) : question{std::move(asked)} {}
    [[nodiscard]] std::vector<SearchResult> search(int top = 3) const {
        return headroom::training::search(
            {question.model, question.cluster, question.framework, constants, question.workload}, question.space, top);
    }
    [[nodiscard]] std::vector<Strategy> legal(int workers) const {
        return legal_strategies(question.model, question.cluster, question.framework, question.workload, workers,
                                question.space.fixed);
    }
    PlanQuestion question;
    Calibration constants = planning::calibration().values();
};

void require_same(std::vector<SearchResult> const& a, std::vector<SearchResult> const& b) {
    RC_ASSERT(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        RC_ASSERT(a[i].workers == b[i].workers);
        RC_ASSERT(a[i].best == b[i].best);
        RC_ASSERT(a[i].step == b[i].step);
        RC_ASSERT(a[i].memory == b[i].memory);
        RC_ASSERT(a[i].nothing_because == b[i].nothing_because);
        RC_ASSERT(a[i].counts.legal == b[i].counts.legal);
        RC_ASSERT(a[i].counts.evaluated == b[i].counts.evaluated);
        RC_ASSERT(a[i].counts.feasible == b[i].counts.feasible);
        RC_ASSERT(a[i].counts.infeasible_by_reason == b[i].counts.infeasible_by_reason);
    }
}

TEST(PlanProperty, AParallelSearchGivesTheSameAnswer) {
    EXPECT_TRUE(rc::check("serial, backwards and on threads agree to the bit", [] {
        auto question = any_question();
        question.model.heads = 16;
        question.space.workers = {64, *rc::gen::element(96, 128, 192)};
        question.workload.global_batch = 192;
        auto const serial = Asked{question}.search();
        question.space.run = on_threads;
        require_same(serial, Asked{question}.search());
        question.space.run = backwards;
        require_same(serial, Asked{question}.search());
    }));
}

TEST(PlanProperty, LegalStrategiesAreLegalAndListedOnce) {
    EXPECT_TRUE(rc::check("each is legal, makes the workers, and appears once", [] {
        Asked const asked{any_question()};
        using Key = std::tuple<int, int, int, int, int, int, int, int, int, int, bool, int>;
        for (int const workers : asked.question.space.workers) {
            std::set<Key> seen;
            for (Strategy const& s : asked.legal(workers)) {
                RC_ASSERT(illegal_because(s, asked.question.model, asked.question.workload).empty());
                RC_ASSERT(s.workers() == workers);
                RC_ASSERT(seen.insert({s.dp, s.tp, s.pp, s.virtual_pp, s.cp, s.ep, s.etp, s.zero, s.shard,
                                       s.micro_batch, s.sequence_parallel, static_cast<int>(s.recompute)})
                              .second);
            }
        }
    }));
}

TEST(PlanProperty, EveryLegalStrategyIsEvaluatedAndAccountedFor) {
    EXPECT_TRUE(rc::check("legal = evaluated = feasible + infeasible, nothing pruned", [] {
        Asked const asked{any_question()};
        for (SearchResult const& result : asked.search()) {
            std::int64_t infeasible = 0;
            for (auto const& [reason, count] : result.counts.infeasible_by_reason) { infeasible += count; }
            RC_ASSERT(result.counts.legal == static_cast<std::int64_t>(asked.legal(result.workers).size()));
            RC_ASSERT(result.counts.evaluated == result.counts.legal);
            RC_ASSERT(result.counts.pruned == 0);
            RC_ASSERT(result.counts.feasible + infeasible == result.counts.evaluated);
            RC_ASSERT(result.nothing_because.empty() == (result.counts.feasible > 0));
        }
    }));
}

TEST(PlanProperty, FixingADegreeNeverFindsAFasterStep) {
    EXPECT_TRUE(rc::check("a part of the space has no better optimum", [] {
        auto question = any_question();
        auto const free = Asked{question}.search(1);
        question.space.fixed.tp = *rc::gen::element(1, 2, 4);
        question.space.fixed.recompute = *rc::gen::element(Recompute::none, Recompute::full);
        auto const held = Asked{question}.search(1);
        for (std::size_t i = 0; i < free.size(); ++i) {
            bool const inside = *question.space.fixed.tp <= question.cluster.domain;
            if (held[i].best.empty() || !inside) { continue; }
            RC_ASSERT(!free[i].best.empty());
            RC_ASSERT(free[i].fastest <= held[i].fastest);
            RC_ASSERT(held[i].best.front().tp == *question.space.fixed.tp);
        }
    }));
}

TEST(PlanProperty, MoreMemoryNeverSlowsTheBest) {
    EXPECT_TRUE(rc::check("what fitted still fits", [] {
        auto question = any_question();
        auto const less = Asked{question}.search(1);
        question.cluster.accelerator.memory *= 2.0;
        auto const more = Asked{question}.search(1);
        for (std::size_t i = 0; i < less.size(); ++i) {
            RC_ASSERT(less[i].counts.feasible <= more[i].counts.feasible);
            if (less[i].best.empty()) { continue; }
            RC_ASSERT(more[i].fastest <= less[i].fastest);
            RC_ASSERT(more[i].step.front() <= more[i].fastest * (1.0 + step_tie)); // of ties the simplest
        }
    }));
}

TEST(PlanProperty, ThePlanKeepsItsPromises) {
    EXPECT_TRUE(rc::check("front, stop and recommendation follow from the curve", [] {
        auto question = any_question();
        question.space.workers = {1, 2, 4, 8, 16, 24, 32, 48, 96};
        question.objective = *rc::gen::element(Objective::knee, Objective::time, Objective::cost);
        Plan const plan = make_plan(question, planning::calibration());
        auto const step = [&](std::size_t i) { return plan.curve[i].prediction->step(); };
        auto const cost = [&](std::size_t i) { return *plan.curve[i].cost; };

        std::vector<std::size_t> points;
        for (std::size_t i = 0; i < plan.curve.size(); ++i) {
            if (plan.curve[i].feasible) { points.push_back(i); }
        }
        RC_ASSERT(plan.recommended.has_value() == !points.empty());
        RC_ASSERT(plan.stop.workers.has_value() == !points.empty());
        for (std::size_t const front : plan.pareto) {
            for (std::size_t const i : points) { RC_ASSERT(step(i) >= step(front) || cost(i) >= cost(front)); }
        }
        for (std::size_t const i : points) {
            // Expectation: past the stop no step is shorter by more than 2 %.
            if (plan.curve[i].workers <= *plan.stop.workers) { continue; }
            auto const stop = *std::ranges::find_if(
                points, [&](std::size_t p) { return plan.curve[p].workers == *plan.stop.workers; });
            RC_ASSERT(step(i) >= 0.98 * step(stop));
        }
        if (points.empty()) { return; }
        // Expectation: a recommended size is never slower than a smaller one.
        if (question.objective == Objective::cost) { return; }
        for (std::size_t const i : points) {
            if (i < *plan.recommended) { RC_ASSERT(step(*plan.recommended) < step(i)); }
        }
    }));
}

TEST(PlanProperty, TheSameQuestionGivesTheSameWords) {
    EXPECT_TRUE(rc::check("verdict, reasons and checklist repeat", [] {
        auto question = any_question();
        Plan const once = make_plan(question, planning::calibration());
        question.space.run = backwards;
        Plan const again = make_plan(question, planning::calibration());
        RC_ASSERT(once.verdict == again.verdict);
        RC_ASSERT(once.reasons == again.reasons);
        RC_ASSERT(once.stop.reason == again.stop.reason);
        RC_ASSERT(once.recommended == again.recommended);
    }));
}

} // namespace
} // namespace headroom
