#include "support/planning.hpp"

#include "headroom/error.hpp"
#include "headroom/laws/laws.hpp"
#include "headroom/training/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace headroom {

using namespace headroom::laws;
using namespace headroom::training;

namespace {

using planning::calibration;
using planning::llama_question;
using planning::small_question;
using testing::HasSubstr;
using testing::StartsWith;

Plan planned(PlanQuestion const& question) { return make_plan(question, calibration()); }

CurvePoint const& chosen(Plan const& plan) { return plan.curve.at(plan.recommended.value()); }

std::vector<CurvePoint const*> feasible(Plan const& plan) {
    std::vector<CurvePoint const*> points;
    for (CurvePoint const& point : plan.curve) {
        if (point.feasible) { points.push_back(&point); }
    }
    return points;
}

TEST(MarginalSpeedup, IsPerDoubling) {
    // Expectation: four times the workers are two doublings; 4 s to 1 s is 4x, so 2x each.
    EXPECT_DOUBLE_EQ(marginal_speedup_per_doubling(4.0 * units::s, 1.0 * units::s, 8, 32), 2.0);
    EXPECT_DOUBLE_EQ(marginal_speedup_per_doubling(3.0 * units::s, 2.0 * units::s, 8, 16), 1.5);
    // Expectation: 1.5 times the workers and ideal scaling are still 2x a doubling.
    EXPECT_NEAR(marginal_speedup_per_doubling(3.0 * units::s, 2.0 * units::s, 8, 12), 2.0, 1e-12);
}

TEST(MakePlan, BuildsTheCurve) {
    auto question = llama_question();
    question.space.workers = {8, 16, 64, 256, 512};
    Plan const plan = planned(question);
    ASSERT_EQ(plan.curve.size(), 5U);
    EXPECT_TRUE(plan.complete);
    EXPECT_FALSE(plan.curve.front().feasible);
    EXPECT_FALSE(plan.curve.front().why_not.empty());

    auto const points = feasible(plan);
    EXPECT_EQ(points.front()->speedup, 1.0);
    EXPECT_EQ(points.front()->efficiency, 1.0);
    EXPECT_FALSE(points.front()->marginal_speedup_per_doubling);
    for (std::size_t i = 1; i < points.size(); ++i) {
        CurvePoint const& point = *points[i];
        Seconds const smallest = points.front()->prediction->step();
        EXPECT_EQ(point.prediction->workers, point.workers);
        EXPECT_TRUE(point.prediction->fits);
        EXPECT_DOUBLE_EQ(point.speedup, smallest / point.prediction->step());
        EXPECT_DOUBLE_EQ(point.efficiency * point.workers, point.speedup * points.front()->workers);
        EXPECT_DOUBLE_EQ(*point.marginal_speedup_per_doubling,
                         marginal_speedup_per_doubling(points[i - 1]->prediction->step(), point.prediction->step(),
                                                       points[i - 1]->workers, point.workers));
    }
}

TEST(MakePlan, PredictsWhatTheSearchFound) {
    auto question = small_question();
    question.top = 3;
    for (CurvePoint const& point : planned(question).curve) {
        ASSERT_TRUE(point.feasible);
        ASSERT_FALSE(point.runners_up.empty());
        EXPECT_LE(point.runners_up.size(), 2U);
        EXPECT_LE(point.prediction->step(), (1.0 + step_tie) * point.runners_up_step.front());
        EXPECT_EQ(point.runners_up.size(), point.runners_up_memory.size());
    }
}

TEST(MakePlan, TheNextBestHasOtherDegreesAndSaysWhyItLost) {
    auto question = small_question();
    Plan const plan = planned(question);
    question.top = 5;
    Plan const longer = planned(question);
    int named = 0;
    for (std::size_t i = 0; i < plan.curve.size(); ++i) {
        CurvePoint const& point = plan.curve[i];
        ASSERT_EQ(point.next_best.has_value(), longer.curve[i].next_best.has_value());
        if (!point.next_best) { continue; }
        ++named;
        NextBest const& next = *point.next_best;
        EXPECT_EQ(next.strategy, longer.curve[i].next_best->strategy) << "it does not depend on --top";
        auto const degrees = [](Strategy const& s) { return std::tuple{s.tp, s.cp, s.pp, s.ep, s.etp, s.dp}; };
        EXPECT_NE(degrees(next.strategy), degrees(point.prediction->question.strategy));
        EXPECT_DOUBLE_EQ(next.chosen.total().base(), point.prediction->step().base());
        Question asked = point.prediction->question;
        asked.strategy = next.strategy;
        EXPECT_NEAR(next.time.total() / predict(asked, calibration()).step(), 1.0, 1e-12);
        EXPECT_GE(next.time.total(), point.prediction->step() / (1.0 + step_tie)) << "a faster one is at most a tie";
        EXPECT_THAT(next.why, testing::ContainsRegex("slower|faster|as fast"));
    }
    EXPECT_GT(named, 0);
}

TEST(MakePlan, CostsAreWorkersTimesPriceTimesDuration) {
    Plan const plan = planned(small_question());
    for (CurvePoint const* point : feasible(plan)) {
        double const rate = point->prediction->tokens_per_second;
        // 30 billion tokens at 2.50 dollars an accelerator-hour
        double const hours = 30e9 / rate / 3600.0;
        EXPECT_NEAR(point->duration->in(units::hour), hours, 1e-9 * hours);
        EXPECT_NEAR(point->cost->in(units::dollar), 2.5 * point->workers * hours, 1e-6);
        EXPECT_NEAR(*point->tokens_per_dollar, 30e9 / point->cost->in(units::dollar), 1.0);
        EXPECT_NEAR(*point->dollars_per_million_tokens, point->cost->in(units::dollar) / 30e3, 1e-9);
    }
}

TEST(MakePlan, KneeIsTheLargestSizeWhoseLastDoublingPays) {
    Plan const plan = planned(small_question());
    int expected = feasible(plan).front()->workers;
    for (CurvePoint const* point : feasible(plan)) {
        if (point->marginal_speedup_of_run.value_or(0.0) >= 1.6) { expected = point->workers; }
    }
    EXPECT_EQ(chosen(plan).workers, expected);
    // Expectation: a batch of 64 sequences is too small for 256 workers, so the knee lies inside the list.
    EXPECT_GT(expected, 1);
    EXPECT_LT(expected, 256);
}

TEST(MakePlan, TimeIsTheFastestAndCostTheCheapest) {
    auto question = small_question();
    question.objective = Objective::time;
    Plan const fastest = planned(question);
    question.objective = Objective::cost;
    Plan const cheapest = planned(question);
    for (CurvePoint const* point : feasible(fastest)) {
        EXPECT_LE(chosen(fastest).prediction->step(), point->prediction->step());
        EXPECT_LE(*chosen(cheapest).cost, *point->cost);
    }
}

TEST(MakePlan, StopsWhereNothingLargerGainsTwoPerCent) {
    auto question = small_question();
    question.space.workers = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
    Plan const plan = planned(question);
    auto const points = feasible(plan);
    int expected = 0;
    for (std::size_t i = 0; i < points.size() && expected == 0; ++i) {
        bool const gains =
            std::any_of(points.begin() + static_cast<std::ptrdiff_t>(i) + 1, points.end(),
                        [&](auto* later) { return later->prediction->step() < 0.98 * points[i]->prediction->step(); });
        if (!gains) { expected = points[i]->workers; }
    }
    EXPECT_EQ(plan.stop.workers.value(), expected);
    EXPECT_FALSE(plan.stop.reason.empty());
}

TEST(MakePlan, VerdictNamesSizeStrategyAndTheNextStep) {
    Plan const plan = planned(small_question());
    int const workers = chosen(plan).workers;
    EXPECT_THAT(plan.verdict, StartsWith(headline(plan) + " Use " + std::to_string(workers) + " accelerators ("));
    EXPECT_THAT(plan.verdict, HasSubstr(short_name(chosen(plan).prediction->question.strategy)));
    EXPECT_THAT(plan.verdict, HasSubstr("x faster for "));
    EXPECT_THAT(plan.verdict, HasSubstr("x the cost"));
    EXPECT_GE(plan.reasons.size(), 4U);
    EXPECT_EQ(plan.checklist.size(), 5U);
    for (ChecklistItem const& item : plan.checklist) {
        EXPECT_TRUE(item.question.ends_with("?")) << item.question;
        EXPECT_FALSE(item.answer.empty());
    }
}

TEST(MakePlan, TheDeadlineIsMetAtTheLeastCost) {
    auto question = small_question();
    question.deadline = 12.0 * units::hour;
    Plan const plan = planned(question);
    ASSERT_TRUE(plan.recommended);
    EXPECT_LE(*chosen(plan).duration, *question.deadline);
    for (CurvePoint const* point : feasible(plan)) {
        if (*point->duration <= *question.deadline) { EXPECT_LE(*chosen(plan).cost, *point->cost); }
    }
    EXPECT_THAT(plan.verdict, HasSubstr(" of the 12.0 hours allowed"));
}

TEST(ProbabilityWithin, IsThatOfTheInterval) {
    Prediction prediction;
    prediction.time.compute = 10.0 * units::s;
    prediction.interval = {.low = 8.0 * units::s, .high = 20.0 * units::s, .coverage = 0.9};
    auto const within = [&](double seconds) { return probability_within(prediction, seconds * units::s); };
    // Expectation: half at the prediction, each tail of a 90 % interval 5 %, sides of different widths.
    EXPECT_EQ(within(10.0), 0.5);
    EXPECT_NEAR(within(20.0), 0.95, 1e-9);
    EXPECT_NEAR(within(8.0), 0.05, 1e-9);
    // Expectation: the square root of the upper ratio is half as many deviations, 1.6449 / 2; of a normal law 79.4 %.
    EXPECT_NEAR(within(10.0 * std::sqrt(2.0)), 0.7946, 1e-4);
    EXPECT_EQ(within(0.0), 0.0);
    for (double limit = 1.0; limit < 40.0; limit += 0.5) { EXPECT_LE(within(limit), within(limit + 0.5)); }

    // Expectation: an end without width makes its side certain.
    prediction.interval.high = 10.0 * units::s;
    EXPECT_EQ(within(10.1), 1.0);
}

TEST(MakePlan, ALimitIsKeptWithTheProbabilityOfItsInterval) {
    auto question = small_question();
    question.deadline = 12.0 * units::hour;
    Plan const plan = planned(question);
    CurvePoint const& one = chosen(plan);
    Seconds const scaled = one.prediction->step() * (*question.deadline / *one.duration);
    EXPECT_DOUBLE_EQ(one.deadline_probability.value(), probability_within(*one.prediction, scaled));
    EXPECT_FALSE(one.budget_probability);
    EXPECT_THAT(plan.verdict, HasSubstr(" of the 12.0 hours allowed (kept with a probability of "));

    // Expectation: a deadline at the predicted end of a size is kept every second time, and a size that keeps it more surely is named,
    // the cheapest of them.
    question.deadline = *one.duration;
    Plan const close = planned(question);
    ASSERT_EQ(chosen(close).workers, one.workers);
    EXPECT_EQ(chosen(close).deadline_probability, 0.5);
    CurvePoint const* sure = nullptr;
    for (CurvePoint const* point : feasible(close)) {
        bool const likely = *point->deadline_probability >= 0.9;
        if (likely && (sure == nullptr || *point->cost < *sure->cost)) { sure = point; }
    }
    if (sure == nullptr) {
        EXPECT_THAT(close.verdict, HasSubstr("No size of the list keeps the deadline with 90.0 %."));
    } else {
        EXPECT_THAT(close.verdict, HasSubstr(" " + std::to_string(sure->workers) + " accelerators keep it with "));
    }

    // Expectation: a budget at the predicted cost is kept every second time, too.
    question.deadline.reset();
    question.budget = *one.cost;
    Plan const billed = planned(question);
    auto const same = std::ranges::find(billed.curve, one.workers, &CurvePoint::workers);
    EXPECT_EQ(same->budget_probability, 0.5);
    EXPECT_FALSE(same->deadline_probability);
}

TEST(MakePlan, TheStartOfAJobKeepsAShortRunSmall) {
    auto question = small_question();
    Plan const longer = planned(question);
    // Expectation: a run of a millionth of the tokens is over sooner than a job starts: no doubling gives 1.6x.
    question.tokens = *question.tokens / 1e6;
    Plan const shortest = planned(question);
    ASSERT_LT(*chosen(shortest).duration, start_of(question));
    EXPECT_LT(chosen(shortest).workers, chosen(longer).workers);
    EXPECT_EQ(chosen(shortest).workers, feasible(shortest).front()->workers);
    EXPECT_THAT(shortest.verdict, HasSubstr(" with 5.00 minutes to start the job; the rule asks for 1.6x a doubling"));
    // Expectation: of a run of days the start is no part, whatever its length.
    for (CurvePoint const* point : feasible(longer)) {
        if (!point->marginal_speedup_per_doubling) { continue; }
        double const without = *point->marginal_speedup_per_doubling;
        EXPECT_LE(*point->marginal_speedup_of_run, std::max(1.0, without));
    }
}

TEST(MakePlan, AnImpossibleDeadlineLeavesNoRecommendation) {
    auto question = small_question();
    question.deadline = 1.0 * units::minute;
    Plan const plan = planned(question);
    EXPECT_FALSE(plan.recommended);
    EXPECT_THAT(plan.verdict, StartsWith("No size of the list meets the deadline of "));
    EXPECT_THAT(plan.verdict, HasSubstr("the fastest, 256 accelerators (32 nodes), takes "));
    EXPECT_THAT(plan.verdict, HasSubstr("x the time allowed."));
    EXPECT_TRUE(plan.stop.workers);
    EXPECT_FALSE(plan.pareto.empty());
}

TEST(MakePlan, AnImpossibleBudgetSaysByHowMuch) {
    auto question = small_question();
    question.budget = Dollars{1.0};
    Plan const plan = planned(question);
    EXPECT_FALSE(plan.recommended);
    EXPECT_THAT(plan.verdict, StartsWith("No size of the list meets the budget of $1.00: the cheapest, "));
    EXPECT_THAT(plan.verdict, HasSubstr("x the budget."));
}

TEST(MakePlan, ABudgetTakesTheCheapestAndNamesTheSoonestWithinIt) {
    auto question = small_question();
    auto const free = planned(question);
    auto const points = feasible(free);
    std::vector<Dollars> costs;
    for (CurvePoint const* point : points) { costs.push_back(*point->cost); }
    std::ranges::sort(costs);
    question.budget = costs[costs.size() / 2];
    CurvePoint const* soonest = nullptr;
    for (CurvePoint const* point : points) {
        if (*point->cost <= *question.budget && (soonest == nullptr || *point->duration < *soonest->duration)) {
            soonest = point;
        }
    }
    Plan const cheapest = planned(question);
    EXPECT_EQ(*chosen(cheapest).cost, costs.front());
    ASSERT_GT(soonest->workers, chosen(cheapest).workers) << "else the budget leaves no choice";
    std::string const named = "Within it the soonest: " + std::to_string(soonest->workers) + " accelerators, ";
    EXPECT_THAT(cheapest.verdict, HasSubstr(named));

    // Expectation: an objective that is stated decides within the budget, and leaves nothing to add.
    question.objective = Objective::time;
    Plan const fastest = planned(question);
    EXPECT_EQ(chosen(fastest).workers, soonest->workers);
    EXPECT_THAT(fastest.verdict, Not(HasSubstr("the soonest")));
    question.objective = Objective::cost;
    EXPECT_EQ(chosen(planned(question)).workers, chosen(cheapest).workers);
    EXPECT_THAT(planned(question).verdict, Not(HasSubstr("the soonest")));

    // Expectation: with a deadline, too, the cheapest that meets it is what was asked for.
    question.objective = Objective::knee;
    question.deadline = *soonest->duration;
    EXPECT_EQ(chosen(planned(question)).workers, soonest->workers);
}

TEST(MakePlan, TheLargestSizeIsCalledWhatItIsAndTheRuleIsStated) {
    auto question = small_question();
    question.space.workers = {8, 16};
    EXPECT_THAT(planned(question).verdict,
                HasSubstr("16 is the largest size you asked about, and doubling still pays ("));
    EXPECT_THAT(planned(question).verdict, testing::EndsWith("x; the rule asks for 1.6x). Try larger sizes."));
    question.usual_sizes = true;
    EXPECT_THAT(planned(question).verdict, HasSubstr("16 is the largest size that was tried, and"));
    question.objective = Objective::time;
    EXPECT_THAT(planned(question).verdict, Not(HasSubstr("the rule asks")));
    auto longest = small_question();
    longest.tokens = 3e12; // a start is no part of months
    EXPECT_THAT(planned(longest).verdict, HasSubstr("x the cost (the rule asks for 1.6x a doubling)"));
}

TEST(MakePlan, ARunOfFewOptimizerStepsIsReported) {
    auto question = small_question(); // 64 sequences of 4096 tokens
    Plan const plan = planned(question);
    for (CurvePoint const* point : feasible(plan)) { EXPECT_NEAR(*point->steps, 30e9 / (64.0 * 4096.0), 1e-3); }
    EXPECT_THAT(planned(question).verdict, Not(HasSubstr("optimizer step")));
    question.tokens = 64.0 * 4096.0 * 6.0;
    EXPECT_THAT(headline(planned(question)),
                HasSubstr(". Only 6 optimizer steps of 64 sequences: give a smaller --global-batch."));
    question.tokens = 64.0 * 4096.0 * 99.0;
    EXPECT_THAT(planned(question).verdict, HasSubstr("Only 99 optimizer steps"));
    question.tokens = 64.0 * 4096.0 * 100.0;
    EXPECT_THAT(planned(question).verdict, Not(HasSubstr("optimizer step")));
    question.tokens = 500;
    EXPECT_THAT(planned(question).verdict,
                HasSubstr("Less than one optimizer step of 64 sequences: check --tokens and --global-batch."));
    question.batch_per_worker = 4;
    question.space.workers = {8};
    question.tokens = 32.0 * 4096.0 * 10.0;
    EXPECT_THAT(planned(question).verdict,
                HasSubstr("Only 10 optimizer steps of 32 sequences: give a smaller --batch-per-worker."));
    question.tokens.reset();
    EXPECT_FALSE(chosen(planned(question)).steps);
}

TEST(MakePlan, ValueOfTimeWeighsDollarsAgainstHours) {
    auto question = small_question();
    for (double const dollars_per_hour : {0.0, 10.0, 100.0, 1000.0, 1e7}) {
        question.value_of_time = Dollars{dollars_per_hour} / units::hour;
        Plan const plan = planned(question);
        auto const total = [&](CurvePoint const& point) {
            return point.cost->in(units::dollar) + dollars_per_hour * point.duration->in(units::hour);
        };
        for (CurvePoint const* point : feasible(plan)) {
            EXPECT_LE(total(chosen(plan)), total(*point) * (1.0 + 1e-12)) << dollars_per_hour;
        }
        EXPECT_THAT(plan.reasons, ::testing::Contains(HasSubstr("An hour sooner is worth"))) << dollars_per_hour;
    }
}

TEST(MakePlan, WithoutAPriceCostsStayEmpty) {
    auto question = small_question();
    question.cluster.price.reset();
    Plan const plan = planned(question);
    for (CurvePoint const* point : feasible(plan)) {
        EXPECT_FALSE(point->cost);
        EXPECT_FALSE(point->tokens_per_dollar);
        EXPECT_FALSE(point->dollars_per_million_tokens);
        EXPECT_TRUE(point->duration);
    }
    EXPECT_THAT(plan.verdict, HasSubstr("x the accelerator-hours"));
    EXPECT_THAT(plan.reasons.back(), StartsWith("No price is known"));
    // Expectation: a price scales all costs alike, so it does not move the cheapest or the front.
    auto priced = small_question();
    EXPECT_EQ(plan.pareto, planned(priced).pareto);
}

TEST(MakePlan, RefusesQuestionsWithoutWhatTheyNeed) {
    auto const refused = [](auto change) {
        auto question = small_question();
        change(question);
        EXPECT_THROW(planned(question), InputError);
    };
    refused([](PlanQuestion& q) { q.space.workers.clear(); });
    refused([](PlanQuestion& q) { q.space.workers = {0, 8}; });
    refused([](PlanQuestion& q) { q.tokens.reset(), q.deadline = units::day; });
    refused([](PlanQuestion& q) { q.tokens.reset(), q.budget = Dollars{1.0}; });
    refused([](PlanQuestion& q) { q.cluster.price.reset(), q.budget = Dollars{1.0}; });
    refused([](PlanQuestion& q) { q.cluster.price.reset(), q.value_of_time = Dollars{1.0} / units::hour; });
}

TEST(MakePlan, SortsTheListAndDropsRepeats) {
    auto question = small_question();
    question.space.workers = {32, 8, 16, 8};
    Plan const plan = planned(question);
    ASSERT_EQ(plan.curve.size(), 3U);
    EXPECT_EQ(plan.curve[0].workers, 8);
    EXPECT_EQ(plan.curve[2].workers, 32);
}

TEST(MakePlan, NothingFeasibleSaysWhy) {
    auto question = llama_question();
    question.space.workers = {4, 8};
    Plan const plan = planned(question);
    EXPECT_FALSE(plan.recommended);
    EXPECT_FALSE(plan.stop.workers);
    EXPECT_TRUE(plan.pareto.empty());
    EXPECT_THAT(plan.verdict, StartsWith("Nothing fits on any size of the list. At 8: the leanest strategy ("));
    EXPECT_THAT(plan.verdict, testing::EndsWith("; more tensor or pipeline ranks are needed."));
    EXPECT_THAT(plan.curve.front().why_not, Not(HasSubstr("are needed"))); // the largest size of the list alone
    question.cluster.host.bandwidth = 25.0 * units::GB / units::s;
    question.cluster.host_memory_bandwidth = 50.0 * units::GB / units::s;
    EXPECT_THAT(planned(question).verdict, HasSubstr("; it would fit with optimizer state offloaded to host memory"));
}

TEST(MakePlan, BeyondTheBatchThereIsNothing) {
    // Expectation: 4 sequences, one stage, tp at most 8 and cp 1: no more than 32 workers have anything to do.
    auto question = small_question();
    question.workload.global_batch = 4;
    question.space.workers = {8, 16, 32, 64};
    question.space.fixed.pp = 1;
    question.space.fixed.cp = 1;
    Plan const plan = planned(question);
    EXPECT_FALSE(plan.curve.back().feasible);
    EXPECT_THAT(plan.curve.back().why_not, HasSubstr("the global batch of 4 sequences does not divide"));
    EXPECT_LE(plan.stop.workers.value(), 32);
}

TEST(MakePlan, StoppedEarlyKeepsWhatIsFinished) {
    std::stop_source source;
    auto question = llama_question();
    int served = 0;
    question.space.run = [&](int count, std::function<void(int)> const& task) {
        if (++served == 4) { source.request_stop(); }
        for (int i = 0; i < count; ++i) { task(i); }
    };
    Plan const plan = make_plan(question, calibration(), source.get_token());
    EXPECT_FALSE(plan.complete);
    EXPECT_EQ(plan.curve.size(), 3U);
    EXPECT_THAT(plan.verdict, StartsWith("Stopped: sizes above 32 were not searched. "));
}

TEST(Compare, TiePriceMakesATokenCostTheSame) {
    auto question = small_question();
    Plan const first = planned(question);
    question.cluster.name = "faster";
    question.cluster.accelerator.peak.bf16 *= 2.0;
    question.cluster.accelerator.memory_bandwidth *= 2.0;
    question.cluster.price = 6.0 * units::dollar / units::hour;
    Plan const second = planned(question);

    PlanComparison const comparison = compare(first, second);
    EXPECT_EQ(comparison.rows.size(), first.curve.size());
    ASSERT_TRUE(comparison.tie_price);

    // Expectation: priced at the tie, the second cluster's token costs what the first one's does.
    question.cluster.price = comparison.tie_price;
    question.space.workers = {chosen(second).workers};
    Plan const tied = planned(question);
    EXPECT_NEAR(*tied.curve.front().dollars_per_million_tokens / *chosen(first).dollars_per_million_tokens, 1.0, 1e-12);
    EXPECT_THAT(comparison.verdict, HasSubstr("of faster are "));
    EXPECT_THAT(comparison.verdict, HasSubstr("They cost the same per token when faster is $"));
}

TEST(Compare, AClusterTiesWithItselfAtItsOwnPrice) {
    Plan const plan = planned(small_question());
    PlanComparison const comparison = compare(plan, plan);
    EXPECT_DOUBLE_EQ(comparison.tie_price->base(), plan.question.cluster.price->base());
    for (ComparisonRow const& row : comparison.rows) { EXPECT_EQ(row.step, row.step2); }
}

TEST(Compare, WithoutACommonSizeThereIsNoTie) {
    auto question = llama_question();
    question.space.workers = {8};
    Plan const none = planned(question);
    question.space.workers = {8, 64};
    Plan const some = planned(question);
    PlanComparison const comparison = compare(none, some);
    EXPECT_EQ(comparison.rows.size(), 1U);
    EXPECT_FALSE(comparison.rows.front().step);
    EXPECT_FALSE(comparison.tie_price);
    EXPECT_THAT(comparison.verdict, StartsWith("No size is feasible on both"));
}

} // namespace
} // namespace headroom
