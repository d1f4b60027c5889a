// The closed form of a step with a pipeline against its schedule, run pass by pass.

#include "../../core/src/training/stage.hpp"
#include "../../core/src/training/traffic.hpp"
#include "support/random.hpp"

#include "headroom/training/legality.hpp"
#include "headroom/training/pipeline.hpp"
#include "headroom/training/step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::training;

namespace {

constexpr double ticks_per_second = 1e12;

/// Seconds of one layer, and of both ends of the model, a micro-batch.
struct Times {
    double forward = 0.001, input = 0.001, weight = 0.001;
    double head = 0.0, embedding = 0.0; ///< forward and backward, a third each pass
};

LayerCost cost_of(double forward, double input, double weight) {
    LayerCost cost;
    cost.gemm = Seconds{forward + input + weight};
    cost.backward = Seconds{input + weight};
    cost.weight_gradient = Seconds{weight};
    return cost;
}

/// A model of equal layers on a pipeline, and nothing else that takes time.
struct Piped {
    Model model;
    Cluster cluster;
    Framework framework;
    Calibration constants;
    Workload workload;
    Strategy strategy;
    Times times;

    Piped(int layers, int micro_batches, Strategy chosen, Times of, double hop) : strategy{chosen}, times{of} {
        model.layers = layers;
        model.hidden = 1;
        workload = {.sequence_length = 1, .global_batch = micro_batches};
        cluster.domain = 1;
        cluster.accelerator.memory_bandwidth = BytesPerSecond{1.0}; // and nothing that it carries
        cluster.scale_out = {.latency = Seconds{hop}, .bandwidth = BytesPerSecond{1e30}};
        cluster.scale_up = cluster.scale_out;
        constants[Constant::memory_fraction] = 1.0;
        constants[Constant::scale_out] = 1.0;
        constants[Constant::other_scale_up] = 1.0;
    }
    [[nodiscard]] StepSetting setting() const { return {model, cluster, framework, constants, workload}; }
    [[nodiscard]] StepTime closed() const {
        LayerCosts costs;
        costs.block = cost_of(times.forward, times.input, times.weight);
        costs.head = cost_of(times.head / 3, times.head / 3, times.head / 3);
        costs.embedding = cost_of(times.embedding / 3, times.embedding / 3, times.embedding / 3);
        return step_time(setting(), strategy, costs);
    }
    /// Computation, waiting and transfers of the closed form.
    [[nodiscard]] double step() const {
        auto const time = closed();
        return (time.compute + time.pipeline_bubble + time.pipeline_communication).base();
    }
    [[nodiscard]] PassTicks passes(double layers, double head, double embedding) const {
        double const ends = (times.head * head + times.embedding * embedding) / 3.0;
        auto const ticks = [&](double layer) {
            return static_cast<Ticks>(std::llround((layers * layer + ends) * ticks_per_second));
        };
        return {.forward = ticks(times.forward), .input = ticks(times.input), .weight = ticks(times.weight)};
    }
    /// The same by running the rows.
    [[nodiscard]] double run() const {
        auto const& row = schedule_row(strategy.schedule());
        auto const shape = pipeline_shape(strategy, workload);
        PipelineTimes of;
        of.blocking = strategy.overlap == Overlap::off;
        for (int stage = 0; stage < shape.stages; ++stage) {
            auto const place = stage == 0                  ? StagePlace::first
                               : stage == shape.stages - 1 ? StagePlace::last
                                                           : StagePlace::middle;
            double const layers = stage_layers(model.layers, shape.stages, place);
            for (int chunk = 0; chunk < shape.chunks; ++chunk) {
                bool const begins = !previous_place(shape, row.layout, {stage, chunk});
                bool const ends = !next_place(shape, row.layout, {stage, chunk});
                double const share = row.layout == ChunkLayout::bidirectional ? 1.0 : 1.0 / shape.chunks;
                of.passes.push_back(passes(layers * share, ends, begins));
            }
        }
        auto const hop = hop_time(setting(), strategy, calibrated_fabric(cluster, constants)).base();
        of.hop.assign(static_cast<std::size_t>(shape.stages), static_cast<Ticks>(std::llround(hop * ticks_per_second)));
        auto const ran = run_pipeline(row.order(shape), of);
        EXPECT_TRUE(ran);
        bool const by_period = row.asynchronous || row.validates_late;
        return static_cast<double>(by_period ? ran->period : ran->makespan) / ticks_per_second;
    }
    [[nodiscard]] std::string told() const {
        return short_name(strategy) + ", " + std::to_string(model.layers) + " layers, m " +
               std::to_string(workload.global_batch);
    }
};

Strategy piped(PipelineSchedule schedule, int stages, int chunks = 1, Overlap overlap = Overlap::on) {
    return {.pp = stages, .virtual_pp = chunks, .pipeline = schedule, .overlap = overlap};
}

TEST(PipelineStep, OfEqualStagesIsTheScheduleRun) {
    // Expectation: 1F1B, GPipe and interleaved of equal stages take what their rows take, with and without transfers that
    // run beside computation.
    test::CounterRandom random{7};
    for (int trial = 0; trial < 1000; ++trial) {
        int const p = 2 + random.below(7), v = 1 + random.below(3), layers = p * v * (1 + random.below(3));
        int const m = v > 1 ? p * (1 + random.below(5)) : 1 + random.below(5 * p);
        bool const all_first = v == 1 && random.below(3) == 0;
        Times const times{.forward = (1 + random.below(9)) * 1e-3,
                          .input = (1 + random.below(9)) * 1e-3,
                          .weight = (1 + random.below(9)) * 1e-3};
        double const hop = random.below(3) == 0 ? 0.0 : random.below(8) * 0.1e-3;
        auto const schedule = all_first ? PipelineSchedule::gpipe : PipelineSchedule::one_f_one_b;
        auto const overlap = random.below(4) == 0 ? Overlap::off : Overlap::on;
        Piped const piped_step{layers, m, piped(schedule, p, v, overlap), times, hop};
        ASSERT_EQ(illegal_because(piped_step.strategy, piped_step.model, piped_step.workload), "");
        EXPECT_NEAR(piped_step.step(), piped_step.run(), 1e-9) << piped_step.told() << ", hop " << hop;
    }
}

TEST(PipelineStep, OfEverySchedulesEqualStagesIsTheScheduleRun) {
    // Expectation: the step of every schedule that drains is its rows run, makespan or period, with gradients of weights
    // no longer than the other passes, with and without transfers.
    test::CounterRandom random{13};
    for (int trial = 0; trial < 200; ++trial) {
        int const p = 2 * (1 + random.below(4)), layers = 2 * p * (1 + random.below(2)),
                  m = 2 * p + 2 * random.below(9);
        int const weight = 1 + random.below(6), input = weight + random.below(4), forward = input + random.below(3);
        Times const times{.forward = forward * 1e-3, .input = input * 1e-3, .weight = weight * 1e-3};
        double const hop = random.below(2) * 0.1e-3;
        for (ScheduleRow const& row : pipeline_schedules()) {
            if (row.asynchronous || row.id == PipelineSchedule::interleaved) { continue; }
            Piped const of{layers, m, piped(row.id, p), times, hop};
            ASSERT_EQ(illegal_because(of.strategy, of.model, of.workload), "") << of.told();
            EXPECT_NEAR(of.step(), of.run(), 1e-9)
                << of.told() << ", F " << forward << " B " << input << " W " << weight << ", hop " << hop;
        }
    }
}

TEST(PipelineStep, WithoutAFlushIsWhatOneMoreMicroBatchTakes) {
    // Expectation: PipeDream's step of m micro-batches takes what m more add to a long run of 1F1B.
    for (int const p : {2, 3, 4, 8}) {
        for (double const hop : {0.0, 0.2e-3}) {
            Times const times{.forward = 1e-3, .input = 1e-3, .weight = 1e-3};
            Piped const once{p, 10 * p, piped(PipelineSchedule::one_f_one_b, p), times, hop};
            Piped const longer{p, 20 * p, piped(PipelineSchedule::one_f_one_b, p), times, hop};
            Piped const of{p, 10 * p, piped(PipelineSchedule::pipedream, p), times, hop};
            EXPECT_NEAR(of.step(), longer.run() - once.run(), 1e-9) << of.told();
        }
    }
}

TEST(PipelineStep, OfLinksSlowerThanAPassIsNearTheScheduleRun) {
    // Expectation: interleaved stages whose transfers outlast the pass of a chunk: within 10 % of the rows, never half.
    test::CounterRandom random{17};
    for (int trial = 0; trial < 200; ++trial) {
        int const p = 2 + random.below(4), v = 2 + random.below(2), m = p * (1 + random.below(4));
        Times const times{.forward = 1e-3, .input = 1e-3, .weight = 1e-3};
        Piped const of{p * v, m, piped(PipelineSchedule::one_f_one_b, p, v), times, (1 + random.below(30)) * 0.1e-3};
        EXPECT_NEAR(of.step() / of.run(), 1.0, 0.1) << of.told();
    }
}

TEST(PipelineStep, OfASlowLastStageIsTheScheduleRun) {
    // Expectation: an output projection on the last stage and no hops: the closed form is exact, whatever the schedule of
    // one chunk; with hops the other stages make up for them while they wait, and it is within 2 %.
    test::CounterRandom random{11};
    for (int trial = 0; trial < 600; ++trial) {
        int const p = 2 + random.below(7), layers = p * (1 + random.below(4)), m = p * (1 + random.below(8));
        Times const times{.forward = 1e-3, .input = 1e-3, .weight = 1e-3, .head = random.below(6) * 1e-3};
        for (auto const schedule : {PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe}) {
            Piped const still{layers, m, piped(schedule, p), times, 0.0};
            EXPECT_NEAR(still.step(), still.run(), 1e-9) << still.told();
            Piped const moving{layers, m, piped(schedule, p), times, 0.05e-3};
            EXPECT_NEAR(moving.step() / moving.run(), 1.0, 0.02) << moving.told() << ", head " << times.head;
        }
    }
}

} // namespace
} // namespace headroom
