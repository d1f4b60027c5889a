// Checks on random models of every family that changes which add work never shorten a step: skew, imbalance, spread,
// congestion, larger batches, more trained weights or recomputation, and more frequent synchronisation.

#include "support/draws.hpp"
#include "support/random_questions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace headroom {

using namespace headroom::training;

namespace {

using training::for_random_questions;
using training::is_legal;
using training::name_of;
using training::Priced;

int const strategy_draws = test::draws_of(4200); ///< at most 600 of each family

/// Compares every random question with its changed version, where that is legal.
///
/// Gradients overlap with the backward share of a block's kernels. Where the CPU sets the pace, work with another
/// backward share changes this share, and with it the step, by a little in either direction. So a change of a block's
/// work is compared exactly without overlap, and within 2 % with it. Blocking transfers between interleaved stages
/// overlap with the shorter pass of a chunk: there the share changes the step, too, and it is compared within 0.1 %.
/// A launch-bound routed block passes its wait on to the next block, which works meanwhile: within 0.5 %.
/// Uneven stages: see `has_uneven_stages`.
template <class Change> void expect_no_shorter(char const* what, bool changes_blocks, Change change) {
    int compared = 0;
    for_random_questions(strategy_draws, [&](Question question) {
        for (auto const overlap : {Overlap::off, Overlap::on}) {
            question.strategy.overlap = overlap;
            Question changed = question;
            if (!change(changed) || !is_legal(changed)) { return; }
            bool const turns = changes_blocks && question.strategy.virtual_pp > 1;
            double const stages = std::max(1e-12, training::stages_slack(question));
            bool const routed = changes_blocks && question.model.moe.experts > 0;
            double const work = changes_blocks && overlap == Overlap::on ? 0.02 : routed ? 0.005 : turns ? 0.001 : 0.0;
            double const slack = std::max(stages, work);
            EXPECT_GE(training::step(changed).base(), training::step(question).base() * (1.0 - slack))
                << name_of(question) << ": " << what;
            ++compared;
        }
    });
    EXPECT_GE(compared, strategy_draws / 50) << what << " was hardly looked at";
}

TEST(Slower, WithMoreSkew) {
    expect_no_shorter("more skew", true, [](Question& q) {
        q.workload.expert_skew *= 1.5;
        return q.strategy.ep > 1 && q.strategy.capacity == 0.0;
    });
    expect_no_shorter("more capacity", true, [](Question& q) {
        q.strategy.capacity *= 1.5;
        return q.strategy.capacity > 0.0;
    });
}

TEST(Slower, WithMoreImbalance) {
    expect_no_shorter("more imbalance", false, [](Question& q) {
        q.disturbance.imbalance += 0.2;
        return true;
    });
    // Expectation: it is the computation of the rank with the most work that is longer, by its share.
    for_random_questions(strategy_draws, [](Question question) {
        question.disturbance.imbalance = 1.2;
        auto const time = Priced{question}.time;
        EXPECT_NEAR(time.imbalance / time.compute, 0.2, 1e-12) << name_of(question);
    });
}

TEST(Slower, WithMoreSpread) {
    expect_no_shorter("more spread", false, [](Question& q) {
        q.disturbance.spread = q.disturbance.spread.value_or(0.0) * 2.0;
        return *q.disturbance.spread > 0.0;
    });
    // Expectation: of more ranks the slowest is slower: 1.54 standard deviations of 10, 2.51 of 100; one waits for nobody.
    for_random_questions(strategy_draws, [](Question question) {
        question.disturbance.spread = 0.05;
        auto const time = Priced{question}.time;
        double const busy = (time.total() - time.stragglers - time.overhead).base();
        double const deviations = time.stragglers.base() / (0.05 * busy);
        int const workers = question.strategy.workers();
        if (workers == 1) { EXPECT_EQ(time.stragglers, Seconds{}) << name_of(question); }
        if (workers >= 10) { EXPECT_GT(deviations, 1.5) << name_of(question); }
        if (workers <= 100) { EXPECT_LT(deviations, 2.6) << name_of(question); }
    });
}

TEST(Slower, WithMoreCongestion) {
    expect_no_shorter("more congestion", false, [](Question& q) {
        q.disturbance.congestion += 0.3;
        return true;
    });
    // Expectation: inside one domain nothing is congested; across k it is the scale-out rate over 1 + c lg k.
    Cluster const cluster = training::catalog().cluster("dgx-h100");
    EXPECT_EQ(congested(cluster, 0.5, 8).scale_out.bandwidth, cluster.scale_out.bandwidth);
    EXPECT_NEAR(cluster.scale_out.bandwidth / congested(cluster, 0.5, 64).scale_out.bandwidth, 1.0 + 0.5 * 3.0, 1e-12);
    EXPECT_EQ(congested(cluster, 0.5, 64).scale_up.bandwidth, cluster.scale_up.bandwidth);
}

/// Whether the host issues the softmax in parts because of how many heads a micro-batch has; twice as many may spare it.
bool issues_in_parts(Question const& q) {
    return q.framework.attention == AttentionKernel::unfused && q.framework.host == HostPace::eager_2022;
}

TEST(Slower, WithALargerBatch) {
    expect_no_shorter("more micro-batches", false, [](Question& q) {
        q.workload.global_batch *= 2;
        return true;
    });
    expect_no_shorter("larger micro-batches", true, [](Question& q) {
        q.workload.global_batch *= 2;
        q.strategy.micro_batch *= 2;
        return !issues_in_parts(q) || q.model.heads == 0;
    });
    expect_no_shorter("longer sequences", true, [](Question& q) {
        q.workload.sequence_length *= 2;
        return true;
    });
    expect_no_shorter("less padding", true, [](Question& q) {
        bool const padded = q.workload.fill < 1.0;
        q.workload.fill = 1.0;
        return padded;
    });
}

TEST(Slower, WithLongerDocumentsAndWindows) {
    expect_no_shorter("longer documents", true, [](Question& q) {
        q.workload.documents *= 2.0;
        return q.workload.documents > 0.0;
    });
    expect_no_shorter("a longer window", true, [](Question& q) {
        q.model.window *= 2;
        return q.model.window > 0;
    });
    expect_no_shorter("no window", true, [](Question& q) {
        bool const some = q.model.window > 0;
        q.model.window = 0;
        return some;
    });
}

TEST(Slower, WhereMoreIsTrainedOrComputedAgain) {
    expect_no_shorter("more trained layers", true, [](Question& q) {
        ++q.strategy.trained_layers;
        return q.strategy.trained == Trained::last_layers;
    });
    expect_no_shorter("more layers computed again", true, [](Question& q) {
        // one layer more spreads them anew: of blocks that differ others may be chosen
        bool const alike = block_runs(q.model).size() == 1;
        ++q.strategy.recompute_layers;
        return alike && q.strategy.recompute_layers > 1 && !offloads_activations(q.strategy.offload);
    });
}

TEST(Slower, WithoutOverlap) {
    for_random_questions(strategy_draws, [](Question question) {
        Seconds const before = training::step(question);
        question.strategy.overlap = Overlap::off;
        double const uneven = training::has_uneven_stages(question) ? training::uneven_stages_slack : 0.0;
        double const ordered = question.strategy.pp > 1 ? training::in_order_slack : 1e-9; // ticks are rounded
        EXPECT_GE(training::step(question), before * (1.0 - ordered - uneven)) << name_of(question);
    });
}

TEST(Slower, WithoutOverlapOfOneKind) {
    // Expectation: traffic that is exposed moves what other traffic overlaps with, and slows kernels less: the step may be
    // shorter by a little. Largest seen: 0.14 %. Copies to the host have streams of their own, and are looked at as a whole.
    constexpr double moved = 0.002;
    for_random_questions(strategy_draws / 4, [](Question question) {
        if (question.strategy.offload != Offload::none) { return; }
        Seconds const before = training::step(question);
        double const uneven = training::has_uneven_stages(question) ? training::uneven_stages_slack : 0.0;
        auto const overlaps = question.strategy.overlap;
        for (TrafficKind const kind : traffic_kinds) {
            question.strategy.overlap = overlaps;
            question.strategy.overlap[kind] = Overlap::off;
            EXPECT_GE(training::step(question), before * (1.0 - moved - uneven))
                << name_of(question) << ": " << training::name_of(kind);
        }
    });
}

TEST(Slower, WithRarerSynchronisationIsNot) {
    // Expectation: once updates are local, more steps between two synchronisations never lengthen a step. The first
    // local step may, because a blocking synchronisation replaces a reduction that overlaps with passes, with the drain
    // of later stages, or with launch waits (so it does in the simulated step). So that is compared without overlap,
    // without a pipeline and, where passes send gradients of ZeRO 3, without launch-bound passes.
    auto const rarer = [](int from, int to, Overlap overlap) {
        int compared = 0;
        for_random_questions(strategy_draws, [&](Question question) {
            question.strategy.servers = 0;
            question.strategy.compression = {};
            question.strategy.overlap = overlap;
            question.strategy.local_steps = to;
            if (from == 1 && question.strategy.pp > 1) { return; }
            if (!is_legal(question) || question.framework.reduced_bytes < 2.0) { return; }
            training::Priced const rare{question};
            if (from == 1 && question.strategy.zero == 3 && rare.time.host > Seconds{}) { return; }
            Seconds const after = rare.time.total();
            question.strategy.local_steps = from;
            double const slack = training::has_frozen_stages(question) ? training::frozen_stages_slack : 1e-12;
            EXPECT_LE(after.base(), training::step(question).base() * (1.0 + slack)) << name_of(question);
            ++compared;
        });
        EXPECT_GT(compared, strategy_draws / 20);
    };
    rarer(2, 3, Overlap::on);
    rarer(4, 32, Overlap::on);
    rarer(1, 2, Overlap::off);
    rarer(1, 500, Overlap::off);
}

TEST(Predicted, IsWhatThePartsAre) {
    // Expectation: the printed step time is the sum of its parts, and shares of the peak are between 0 and 1.
    for_random_questions(test::draws_of(1400, training::enough_random), [](Question const& question) {
        auto const p = predict(question, training::fitted());
        bool const own_kernels = question.framework.paced || runs_own_kernels(question.framework, question.model);
        if (!own_kernels) { EXPECT_EQ(p.step(), training::step(question)) << name_of(question); }
        EXPECT_GE(p.hfu, p.mfu * (1.0 - 1e-12)) << name_of(question);
        EXPECT_GT(p.mfu, 0.0) << name_of(question);
        EXPECT_GE(p.mfu_full_attention, p.mfu * (1.0 - 1e-12)) << name_of(question);
        if (!own_kernels) { EXPECT_LT(p.hfu, 1.0) << name_of(question); }
        EXPECT_NEAR(p.tokens_per_second * p.step().base(), question.workload.global_batch * question.workload.tokens(),
                    1e-6)
            << name_of(question);
        EXPECT_EQ(p.fits, p.why_not.empty()) << name_of(question);
        EXPECT_GE(p.serial.value, 0.0) << name_of(question);
        EXPECT_LE(p.serial.value, 1.0) << name_of(question);
    });
}

} // namespace
} // namespace headroom
