// 1F1B on stages that differ: the closed form of its length against its rows run.

#include "support/pipelines.hpp"

#include "headroom/training/pipeline_length.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace headroom {

using namespace headroom::training;

namespace {

using test::CounterRandom;
constexpr Ticks unit = 3000; ///< of a stage

struct Uneven {
    std::vector<EqualStages> groups;
    PipelineShape shape;
    Ticks hop = 0;
    bool blocking = false;

    [[nodiscard]] Ticks run() const {
        PipelineTimes times;
        for (EqualStages const& group : groups) {
            auto const forward = static_cast<Ticks>(group.forward), all = static_cast<Ticks>(group.time);
            for (int i = 0; i < group.count; ++i) { times.passes.push_back({forward, all - forward, 0}); }
        }
        times.hop.assign(static_cast<std::size_t>(shape.stages), hop);
        times.blocking = blocking;
        return run_pipeline(schedule_row(PipelineSchedule::one_f_one_b).order(shape), times)->makespan;
    }
    [[nodiscard]] double closed() const {
        return one_f_one_b_length(groups, shape.micro_batches, static_cast<double>(hop), blocking);
    }
};

/// Groups of stages of which none is shorter than a third of another, with fewer micro-batches than stages or more.
Uneven random_stages(CounterRandom& random, int kinds) {
    int const p = 2 + random.below(15);
    Uneven of;
    for (int left = p; left > 0;) {
        bool const last = static_cast<int>(of.groups.size()) + 1 == kinds;
        int const count = last ? left : 1 + random.below(left);
        auto const time = static_cast<double>(unit + random.below(2 * unit));
        of.groups.push_back({count, time, std::floor(time * (0.25 + 0.001 * random.below(100)))});
        left -= count;
    }
    of.shape = {p, 1, 1 + random.below(5 * p)};
    of.hop = random.below(3) == 0 ? 0 : random.below(unit / 2);
    of.blocking = random.below(4) == 0;
    return of;
}

TEST(PipelineLength, OfEqualStagesIsExact) {
    for (int p = 1; p <= 12; ++p) {
        for (int m = 1; m <= 4 * p; ++m) {
            for (Ticks const hop : {0, 10, 1000, 5000}) {
                for (bool const blocking : {false, true}) {
                    Uneven const of{{{p, static_cast<double>(unit), unit / 3.0}}, {p, 1, m}, hop, blocking};
                    EXPECT_NEAR(of.closed(), static_cast<double>(of.run()), 1e-6)
                        << p << " " << m << " hop " << hop << (blocking ? " blocking" : "");
                }
            }
        }
    }
}

TEST(PipelineLength, OfStagesThatDifferIsTheRowsRun) {
    // Expectation: the same tick for nine in ten, within 1 % for 99 in a hundred and 5 % always, of hops up to half a stage.
    CounterRandom random{1};
    int const trials = 6000;
    int exact = 0, near = 0;
    for (int trial = 0; trial < trials; ++trial) {
        Uneven const of = random_stages(random, trial % 2 == 0 ? 4 : most_stage_groups);
        auto const run = static_cast<double>(of.run());
        double const off = of.closed() / run - 1.0;
        EXPECT_LT(std::abs(off), 0.05) << "trial " << trial << " p " << of.shape.stages << " m "
                                       << of.shape.micro_batches << " hop " << of.hop << " " << of.blocking << " off "
                                       << off;
        exact += std::abs(off) * run < 0.5 ? 1 : 0;
        near += std::abs(off) < 0.01 ? 1 : 0;
    }
    EXPECT_GT(exact, trials * 9 / 10);
    EXPECT_GT(near, trials * 99 / 100);
}

/// What m more micro-batches add to a long run of 1F1B, over m.
double period_of(Uneven of) {
    int const p = of.shape.stages;
    of.shape.micro_batches = 160 * p;
    auto const longer = static_cast<double>(of.run());
    of.shape.micro_batches = 80 * p;
    return (longer - static_cast<double>(of.run())) / (80.0 * p);
}

TEST(PipelineLength, OfARunWithoutFlushIsThatOfItsSlowestWindow) {
    // Expectation: stages are the slowest one by one or window by window; what runs on takes that for each micro-batch.
    CounterRandom random{3};
    for (int trial = 0; trial < 100; ++trial) {
        Uneven of = random_stages(random, most_stage_groups);
        of.blocking = false;
        double period = 0.0;
        for (EqualStages const& group : of.groups) { period = std::max(period, group.time); }
        for (auto const begin : {WindowBegin::first, WindowBegin::between, WindowBegin::last}) {
            period = std::max(period, window_period(of.groups, begin, 0.0, static_cast<double>(of.hop)));
        }
        EXPECT_NEAR(period / period_of(of), 1.0, 1e-3) << trial;
    }
}

} // namespace
} // namespace headroom
