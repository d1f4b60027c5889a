#include "support/training.hpp"

#include "headroom/training/step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace headroom {

using namespace headroom::network;
using namespace headroom::training;

namespace {

using namespace units;
using training::Priced;

/// Kernels of both passes.
Seconds kernels(LayerCost const& cost) { return cost.gemm + cost.attention + cost.memory; }

Calibration without_overhead() {
    Calibration constants = training::fitted().values();
    constants[Constant::step_overhead] = 0.0;
    return constants;
}

struct Setting {
    Model model = training::catalog().model("llama-3-70b");
    Cluster cluster = training::catalog().cluster("dgx-h100");
    Framework framework = training::catalog().framework("megatron-core");
    Calibration constants = without_overhead();
    Workload workload{.sequence_length = 4096, .global_batch = 64};

    [[nodiscard]] Priced priced(Strategy const& strategy) const {
        return Priced{training::question(model, cluster, framework, strategy, workload), constants};
    }
    [[nodiscard]] StepTime price(Strategy const& strategy) const { return priced(strategy).time; }
};

/// A model whose ends cost next to nothing, no launches, and transfers that take no time.
Setting even_stages(int layers) {
    Setting setting;
    setting.model.layers = layers;
    setting.model.vocab = 128;
    setting.framework.host = HostPace::native;
    setting.constants[Constant::base_latency] = setting.constants[Constant::optimizer_traffic] = 0.0;
    for (Link* link : {&setting.cluster.scale_up, &setting.cluster.scale_out}) {
        *link = {.latency = Seconds{}, .bandwidth = BytesPerSecond{1e20}};
    }
    return setting;
}

constexpr double ticks = 1e-6; ///< relative: the price counts whole picoseconds

TEST(StepTime, OneRankComputesAndNothingElse) {
    // Expectation: one accelerator with everything on it sends nothing and waits for nobody.
    Setting setting;
    setting.model = training::catalog().model("llama-3-8b");
    auto const time = setting.price({});
    EXPECT_EQ(time.exposed_communication(), Seconds{});
    EXPECT_EQ(time.pipeline_bubble, Seconds{});
    EXPECT_GT(time.compute, Seconds{});
    EXPECT_GT(time.optimizer, Seconds{});
    auto const asked = training::question(setting.model, setting.cluster, setting.framework, {}, setting.workload);
    EXPECT_TRUE(Priced{asked}.rows().empty());
}

TEST(StepTime, ComputesEveryLayerOfEveryMicroBatch) {
    // Expectation: 80 layers on 4 stages and 16 micro-batches: the last stage has 20 layers and the output projection.
    auto const priced = Setting{}.priced({.dp = 4, .pp = 4});
    Seconds const each = 20.0 * kernels(priced.costs.block) + kernels(priced.costs.head);
    EXPECT_EQ(priced.step.stage, 3);
    EXPECT_NEAR(priced.time.compute / (16.0 * each), 1.0, ticks);
}

TEST(StepTime, BubbleIsStagesLessOneOverMicroBatches) {
    // Expectation: with equal stages and next to nothing at the ends, 1F1B wastes (p-1)/m of what a stage works, and v chunks
    // a stage divide that by v. A stage computes and adds its gradients up; without an update that is all the optimizer's
    // time.
    for (int const stages : {2, 4, 8}) {
        for (int const micro_batches : {8, 16, 64}) {
            for (int const chunks : {1, 2, 5}) {
                Setting setting = even_stages(80);
                setting.workload.global_batch = micro_batches;
                auto const time = setting.price({.pp = stages, .virtual_pp = chunks});
                EXPECT_GT(time.optimizer, Seconds{});
                EXPECT_NEAR(time.pipeline_bubble / (time.compute + time.optimizer) * micro_batches * chunks /
                                (stages - 1.0),
                            1.0, 0.01)
                    << stages << " stages, " << micro_batches << " micro-batches, " << chunks << " chunks";
            }
        }
    }
}

TEST(StepTime, TheSlowestStageSetsThePace) {
    // Expectation: without a pipeline both ends are on the one stage; with one the first stage has no output projection.
    Setting const setting;
    auto const one = setting.priced({.dp = 4});
    auto const& costs = one.costs;
    Seconds const all = 80.0 * kernels(costs.block) + kernels(costs.head) + kernels(costs.embedding);
    EXPECT_NEAR(one.time.compute / (16.0 * all), 1.0, ticks);
    EXPECT_GT(setting.price({.dp = 4, .pp = 4}).compute, 16.0 * 20.0 * kernels(costs.block));
}

TEST(StepTime, Zero3SendsHalfAgainAsMuch) {
    // Expectation: weights are gathered twice and gradients scattered once: 3 N against the 2 N of an all-reduce, where
    // both are kept in 16 bits, nothing overlaps, and bandwidth is all that counts.
    Setting setting;
    setting.framework.reduced_bytes = setting.framework.parameter_bytes = 2.0;
    setting.constants[Constant::base_latency] = 0.0;
    setting.cluster.scale_up.latency = setting.cluster.scale_out.latency = Seconds{};
    setting.workload.global_batch = 8;
    auto const all_reduce = setting.price({.dp = 8, .overlap = Overlap::off});
    auto const sharded_state = setting.price({.dp = 8, .zero = 1, .overlap = Overlap::off});
    auto const fully_sharded = setting.price({.dp = 8, .zero = 3, .overlap = Overlap::off});
    EXPECT_NEAR(sharded_state.data_communication / all_reduce.data_communication, 1.0, 1e-9);
    EXPECT_NEAR(fully_sharded.data_communication / all_reduce.data_communication, 1.5, 0.01); // final norm aside
    // Expectation: four micro-batches gather and scatter four times, unless the framework keeps the weights.
    setting.workload.global_batch = 32;
    auto const often = setting.price({.dp = 8, .zero = 3, .overlap = Overlap::off});
    EXPECT_NEAR(often.data_communication / fully_sharded.data_communication, 4.0, 1e-9);
    setting.framework.gathers_per_micro_batch = false;
    auto const once = setting.price({.dp = 8, .zero = 3, .overlap = Overlap::off});
    EXPECT_NEAR(once.data_communication / fully_sharded.data_communication, 1.0, 1e-9);
}

/// Framework and links by which a reduction and a gathering of the same parameters take as long, in proportion to bytes.
Setting equal_traffic() {
    Setting setting;
    setting.framework.reduced_bytes = setting.framework.parameter_bytes = 2.0;
    setting.constants[Constant::base_latency] = 0.0;
    setting.cluster.scale_up.latency = setting.cluster.scale_out.latency = Seconds{};
    return setting;
}

TEST(StepTime, Zero3WithAPipelineGathersEachMicroBatchAndReducesOnce) {
    // Expectation: m micro-batches gather 2 m N and reduce N. ZeRO 1 and 2 reduce N; they gather N while the stage waits for
    // its first input.
    Setting setting = equal_traffic();
    for (int const micro_batches : {2, 4}) {
        setting.workload.global_batch = 4 * micro_batches;
        auto const data = [&](int zero) {
            return setting.price({.dp = 4, .tp = 2, .pp = 4, .zero = zero, .overlap = Overlap::off}).data_communication;
        };
        EXPECT_EQ(data(2), data(1));
        EXPECT_NEAR(data(3) / data(1), 2.0 * micro_batches + 1.0, 0.01);
    }
}

TEST(StepTime, AShardGroupSumsShardsBetweenItsCopies) {
    // Expectation: in one node of 8, groups of 4 reduce and gather N 3/4 and sum quarters over two copies, N/4; all 8 ranks
    // reduce and gather N 7/8: 2 x 3/4 + 1/4 is as much as 2 x 7/8.
    Setting setting = equal_traffic();
    for (int const zero : {1, 2, 3}) {
        setting.workload.global_batch = 8;
        auto const data = [&](int shard) {
            return setting.price({.dp = 8, .zero = zero, .shard = shard, .overlap = Overlap::off}).data_communication;
        };
        EXPECT_EQ(data(8), data(0)) << "a group of all ranks is none";
        double const gathers = zero == 3 ? 2.0 : 1.0;
        EXPECT_NEAR(data(4) / data(0), (1.0 + gathers * 3.0 / 4.0) / ((1.0 + gathers) * 7.0 / 8.0), 0.01) << zero;
    }
}

TEST(StepTime, ExposesEachKindOfTrafficAlone) {
    // Expectation: of one kind, `off` moves the time of that kind and of no other, and `hidden` hides, where the framework
    // does not.
    Setting setting;
    setting.framework.tensor_overlap = false;
    setting.constants[Constant::tensor_exposed] = 0.2;
    Strategy strategy{.dp = 2, .tp = 4, .zero = 1};
    auto const usual = setting.price(strategy);
    strategy.overlap[TrafficKind::tensor] = Overlap::off;
    auto const exposed = setting.price(strategy);
    strategy.overlap[TrafficKind::tensor] = Overlap::hidden;
    auto const hidden = setting.price(strategy);
    EXPECT_EQ(exposed.tensor_communication, usual.tensor_communication);
    EXPECT_LT(hidden.tensor_communication, usual.tensor_communication);
    strategy.overlap = Overlap::on;
    strategy.overlap[TrafficKind::gradients] = Overlap::off;
    auto const late = setting.price(strategy);
    EXPECT_GT(late.data_communication, usual.data_communication);
    EXPECT_NEAR(late.tensor_communication / usual.tensor_communication, 1.0, ticks);
    strategy.overlap[TrafficKind::parameters] = Overlap::off;
    EXPECT_GT(setting.price(strategy).data_communication, late.data_communication);
}

TEST(StepTime, GradientsHideBehindTheBackwardPass) {
    // Expectation: gradients of the embedding and of the last bucket of 40 million elements are made last of all, and
    // overlap with accumulation only. A backward pass longer than the reduction of the others loses the calibrated
    // share of the traffic that overlaps with its kernels.
    Setting setting;
    setting.workload = {.sequence_length = 32768, .global_batch = 8};
    setting.framework.host = HostPace::native;
    setting.constants[Constant::gradients_exposed] = 0.25;
    setting.constants[Constant::accumulate_bytes] = 0.0; // nothing hides the last ones
    double const whole = setting.price({.dp = 8, .overlap = Overlap::off}).data_communication.base();
    auto const count = count_parameters(setting.model);
    double const bucket = count.layer / std::floor(count.layer / 40e6),
                 table = static_cast<double>(setting.model.vocab) * setting.model.hidden;
    double const tail = (table + bucket) / count.total * whole;
    EXPECT_GT(tail, 0.01 * whole);
    EXPECT_NEAR(setting.price({.dp = 8}).data_communication.base(), 0.25 * (whole - tail) + tail, 0.01 * whole);
    setting.framework.gradient_overlap = GradientOverlap::exposed;
    setting.constants[Constant::gradients_exposed_old] = 0.8;
    EXPECT_NEAR(setting.price({.dp = 8}).data_communication.base(), 0.8 * whole, 0.01 * whole);
}

TEST(StepTime, OnlyTheLastBucketOfGradientsIsAlone) {
    // Expectation: 25.6 million gradients of ResNet-50 in one bucket of 40 million overlap with nothing, in buckets of
    // a quarter million all but the last one do.
    Setting setting;
    setting.model = training::catalog().model("resnet-50");
    setting.cluster = training::catalog().cluster("dgx-a100");
    setting.framework = training::catalog().framework("pytorch-apex");
    setting.constants[Constant::gradients_exposed] = setting.constants[Constant::base_latency] = 0.0;
    setting.workload = {.sequence_length = 1, .global_batch = 2048};
    Strategy const replicas{.dp = 8, .micro_batch = 256, .precision = Precision::fp16};
    auto const exposed = [&](double elements) {
        setting.framework.bucket_elements = elements;
        return setting.price(replicas).data_communication.base();
    };
    double const whole = exposed(40e6);
    EXPECT_GT(whole, 0.0);
    EXPECT_LT(exposed(0.25e6), 0.05 * whole);
}

TEST(StepTime, TensorParallelismStaysInsideTheNode) {
    // Expectation: eight accelerators behind four NICs of 100 Gbit/s reach a neighbour node far slower than each
    // other; one NIC each softens that; a fast domain that spans the rack removes it. With constants that no fit moves.
    Setting setting;
    setting.constants = training::catalog().calibration("independent").values();
    setting.workload.global_batch = 1;
    auto const dearer = [&](char const* node) {
        setting.cluster = training::catalog().cluster(node);
        return setting.price({.tp = 16}).tensor_communication / setting.price({.tp = 8}).tensor_communication;
    };
    EXPECT_GT(dearer("aws-p4d"), 3.0);
    EXPECT_GT(dearer("dgx-h100"), 1.2);
    EXPECT_LT(dearer("gb200-nvl72"), 1.15);
}

TEST(StepTime, TheOptimizerReadsItsShareOfTheState) {
    // Expectation: ZeRO-1 over 8 ranks updates an eighth; what accumulates gradients stays.
    Setting setting;
    setting.constants[Constant::accumulate_bytes] = 0.0;
    double const alone = setting.price({.dp = 8}).optimizer.base();
    EXPECT_NEAR(setting.price({.dp = 8, .zero = 1}).optimizer.base(), alone / 8.0, 1e-12);
    EXPECT_NEAR(setting.price({.dp = 8, .zero = 3}).optimizer.base(), alone / 8.0, 1e-12);
    double const bytes = setting.constants[Constant::optimizer_traffic] * count_parameters(setting.model).total;
    double const rate =
        (setting.cluster.accelerator.memory_bandwidth * setting.constants[Constant::memory_fraction]).base();
    EXPECT_NEAR(alone / (bytes / rate), 1.0, 1e-6); // all but the final norm
}

TEST(StepTime, SplitGradientsAreStillAccumulatedWhole) {
    // Expectation: a backward pass writes every gradient of a rank before it is sent, whether it is kept whole (ZeRO 1) or
    // in parts (ZeRO 2).
    Setting const setting;
    EXPECT_EQ(setting.price({.dp = 8, .zero = 2}).optimizer, setting.price({.dp = 8, .zero = 1}).optimizer);
}

TEST(StepTime, BlocksAheadExchangeKeysToo) {
    // Expectation: 61 blocks and one that predicts a second token: a sixty-first more between context ranks, all shown.
    auto question =
        training::question(training::catalog().model("deepseek-v3-mtp"), training::catalog().cluster("dgx-h100"),
                           training::catalog().framework("megatron-core"), {.dp = 4, .cp = 2, .overlap = Overlap::off},
                           {.sequence_length = 4096, .global_batch = 4});
    Priced const with{question};
    question.model.prediction_layers = 0;
    Priced const without{question};
    EXPECT_NEAR(with.time.context_communication / without.time.context_communication, 62.0 / 61.0, 1e-9);
    auto const of = [](Priced const& priced) {
        auto const rows = priced.rows();
        return *std::ranges::find(rows, "context", &CommunicationRow::dimension);
    };
    EXPECT_NEAR(of(with).bytes / of(without).bytes, 62.0 / 61.0, 1e-9);
    EXPECT_NEAR(of(with).exposed / of(with).seconds, 1.0, 1e-9);
}

TEST(StepTime, AShardGroupUpdatesItsShare) {
    // Expectation: when 8 of 32 ranks hold one copy of the state, each holds and updates an eighth, not a thirty-second.
    Setting setting;
    double const all = setting.price({.dp = 32, .zero = 3}).optimizer.base();
    double const group = setting.price({.dp = 32, .zero = 3, .shard = 8}).optimizer.base();
    EXPECT_NEAR(group / all, 4.0, 1e-9);
}

TEST(StepTime, WeightsAreGatheredInTheFormatTheyAreComputedIn) {
    // Expectation: a framework that keeps 32-bit shards and computes in 16 bits casts before it gathers: as many bytes
    // on the wire as with 16-bit weights.
    Setting setting;
    Strategy const strategy{.dp = 8, .zero = 3, .overlap = Overlap::off};
    setting.framework.parameter_bytes = 2.0;
    setting.framework.optimizer_bytes = 12.0;
    auto const copy = setting.price(strategy);
    setting.framework.parameter_bytes = 4.0;
    setting.framework.optimizer_bytes = 8.0;
    auto const master = setting.price(strategy);
    EXPECT_NEAR(master.data_communication / copy.data_communication, 1.0, 1e-9);
}

TEST(StepTime, ComputeHoldsNoCommunication) {
    // Expectation: compute is kernels; collectives of the blocks and of a vocabulary-parallel look-up are communication.
    auto const priced = Setting{}.priced({.tp = 8});
    auto const& costs = priced.costs;
    Seconds const all = 80.0 * kernels(costs.block) + kernels(costs.head) + kernels(costs.embedding);
    EXPECT_NEAR(priced.time.compute / (64.0 * all), 1.0, ticks);
    EXPECT_GT(costs.embedding.tensor.time, Seconds{});
    EXPECT_GT(priced.time.tensor_communication, Seconds{});
}

TEST(StepTime, TheFixedTimeIsThatOfAnyScale) {
    Setting setting;
    setting.constants[Constant::step_overhead] = 0.1;
    for (int const replicas : {8, 64}) {
        auto const time = setting.price({.dp = replicas});
        EXPECT_NEAR(time.overhead.base(), 0.1, 1e-12) << replicas;
        EXPECT_EQ(time.stragglers, Seconds{}) << "of a spread that nobody stated";
    }
}

TEST(StepTime, TheSlowestOfUnequalStagesSetsThePace) {
    // Expectation: 126 layers on 16 stages: 8 on the fullest, 7 on the ends. 32 micro-batches pass 8 layers, and filling and
    // draining the others once: 117, for the stage before the last does 8 of its own while it waits for the 7 of the last
    // twice, at its first and at its last micro-batch: 2 x 7 - 8 = 6. So does each with its gradients added up, 15 of which are
    // waited for: without an update the optimizer's time is 32 times that of one.
    Setting setting = even_stages(126);
    setting.workload.global_batch = 32;
    auto const priced = setting.priced({.pp = 16});
    Seconds const layer = kernels(priced.costs.block);
    EXPECT_NEAR(priced.time.compute / (32.0 * 8.0 * layer), 1.0, 1e-3);
    EXPECT_NEAR(priced.time.pipeline_bubble / (117.0 * layer + 15.0 * priced.time.optimizer / 32.0), 1.0, 0.01);
}

TEST(StepTime, AnOffloadedOptimizerWaitsForTheHost) {
    // Expectation: 4-byte gradients down and 2-byte weights up over 5 TB/s, and 28 bytes a parameter at a quarter of the
    // 100 GB/s of the host's memory, and at those of the ranks that do not work. Gradients overlap with the last backward pass and with their accumulation, weights with the first
    // forward pass, the update with nothing. Weights of the table and of the first block come before any pass runs.
    Setting setting;
    setting.framework.host = HostPace::native;
    setting.cluster.host = {Seconds{}, 5000.0 * GB / s};
    setting.cluster.host_memory_bandwidth = 100.0 * GB / s;
    setting.constants[Constant::optimizer_traffic] = 28.0;
    setting.constants[Constant::host_update] = 0.25;
    auto const count = count_parameters(setting.model);
    double const transfer = count.total * 6.0 / 5e12,
                 update = count.total * 28.0 / (25e9 * setting.cluster.accelerators_per_node);
    double const ends = (count.embedding + count.layer) * 2.0 / 5e12;
    auto const offloaded = [&](Overlap overlap) {
        return setting.price({.overlap = overlap, .offload = Offload::optimizer}).offload.base();
    };
    EXPECT_NEAR(offloaded(Overlap::off), update + transfer, 1e-4 * transfer);
    EXPECT_NEAR(offloaded(Overlap::on), update + ends, 0.1 * ends);
    EXPECT_LT(setting.price({.offload = Offload::optimizer}).optimizer, setting.price({}).optimizer);
}

TEST(StepTime, OffloadedActivationsGoDownAndComeUp) {
    // Expectation: what 80 blocks keep, twice, for each of 64 micro-batches.
    Setting setting;
    setting.cluster.host = {Seconds{}, 50.0 * GB / s};
    Strategy const strategy{.overlap = Overlap::off, .offload = Offload::activations};
    auto const shape = shape_of(strategy, setting.workload);
    double const kept = 80.0 * block_activation_bytes(setting.model, shape, setting.framework).base();
    auto const time = setting.price(strategy);
    EXPECT_NEAR(time.offload.base() / (64 * 2 * kept / 50e9), 1.0, ticks);
}

TEST(StepTime, LocalUpdatesExchangeEveryFewSteps) {
    // Expectation: 4 bytes of every parameter once in 16 steps, before all wait; with bandwidth alone counted that is an
    // eighth of the time of 2-byte gradients every step.
    Setting setting;
    setting.framework.reduced_bytes = 2.0;
    setting.constants[Constant::base_latency] = 0.0;
    setting.cluster.scale_up.latency = setting.cluster.scale_out.latency = Seconds{};
    setting.workload.global_batch = 8;
    auto const every = setting.price({.dp = 8, .overlap = Overlap::off});
    auto const local = setting.price({.dp = 8, .overlap = Overlap::off, .local_steps = 16});
    EXPECT_NEAR(local.data_communication / every.data_communication, 1.0 / 8.0, 1e-9);
    EXPECT_EQ(setting.price({.dp = 8, .local_steps = 16}).data_communication, local.data_communication)
        << "it hides behind nothing";
}

TEST(StepTime, ServersAreAsFastAsTheirPorts) {
    // Expectation: 8 workers and 4 servers: two workers queue at each port, there and back.
    Setting setting;
    setting.constants[Constant::base_latency] = 0.0;
    setting.cluster.scale_up.latency = setting.cluster.scale_out.latency = Seconds{};
    auto const served = setting.price({.dp = 8, .servers = 4});
    auto const fabric = calibrated_fabric(setting.cluster, setting.constants);
    double const n = count_parameters(setting.model).total * setting.framework.reduced_bytes;
    EXPECT_NEAR(served.data_communication.base() / (2.0 * 2.0 * n / fabric.scale_up.bandwidth.base()), 1.0, 1e-9);
}

TEST(StepTime, MoreServersAreNeverSlower) {
    Setting const setting;
    Seconds before = setting.price({.dp = 8, .servers = 1}).data_communication;
    for (int const servers : {2, 4, 7, 8, 9, 64}) {
        Seconds const now = setting.price({.dp = 8, .servers = servers}).data_communication;
        EXPECT_LE(now, before) << servers;
        before = now;
    }
}

TEST(StepTime, TensorRanksQueueAtTheSameServers) {
    // Expectation: 16 ranks push all gradients to one server twice over, cut over 8 tensor ranks or sent by 2 alone: its port
    // carries as much, but for a start and a message of each.
    Setting setting;
    setting.constants[Constant::base_latency] = 0.0;
    setting.cluster.domain = 1;
    auto const whole = setting.price({.dp = 2, .servers = 1}).data_communication;
    auto const cut = setting.price({.dp = 2, .tp = 8, .servers = 1}).data_communication;
    EXPECT_NEAR(cut / whole, 1.0, 1e-4);
}

TEST(StepTime, DisturbancesAddWhatTheySay) {
    // Expectation: a rank with a tenth more work is a tenth of computation later; of 64 ranks whose steps spread by 5 % the
    // slowest is 2.36 standard deviations behind the mean.
    Setting const setting;
    auto const timed = [&](Disturbance const& disturbance, double slowest) {
        Strategy const strategy{.dp = 64};
        StepSetting const of{.model = setting.model,
                             .cluster = setting.cluster,
                             .framework = setting.framework,
                             .constants = setting.constants,
                             .workload = setting.workload,
                             .disturbance = disturbance,
                             .expected_slowest = slowest};
        return price_step(of, strategy, setting.priced(strategy).costs).time;
    };
    auto const calm = timed({}, 0.0);
    auto const uneven = timed({.imbalance = 1.1, .spread = {}}, 0.0);
    EXPECT_NEAR((uneven.total() - calm.total()) / (0.1 * calm.compute), 1.0, 1e-9);
    auto const spread = timed({.spread = 0.05}, 2.36);
    EXPECT_NEAR(spread.stragglers / (calm.total() - calm.overhead - calm.stragglers), 0.05 * 2.36, 1e-9);
}

TEST(LayerCost, TheHostIsAFloor) {
    // Expectation: (chip^3 + host^3)^(1/3): a host that needs ten times as long as the chip sets the time to a part in 3,000,
    // one that needs a tenth shows as little.
    LayerCost cost;
    cost.gemm = 1.0 * ms;
    cost.host = cost.host_forward = 10.0 * ms;
    EXPECT_NEAR(cost.total().in(ms), std::cbrt(1001.0), 1e-9);
    cost.host = cost.host_forward = 0.1 * ms;
    EXPECT_NEAR(cost.total().in(ms), std::cbrt(1.001), 1e-9);
}

TEST(LayerCosts, RecomputationIsAnotherForwardPass) {
    Setting const setting;
    auto const costs = [&](Recompute recompute) {
        return Priced{training::question(setting.model, setting.cluster, setting.framework,
                                         {.tp = 8, .recompute = recompute}, setting.workload),
                      setting.constants}
            .costs.block;
    };
    auto const none = costs(Recompute::none), selective = costs(Recompute::selective), full = costs(Recompute::full);
    EXPECT_EQ(none.recompute, Seconds{});
    Seconds const forward = none.gemm + none.attention + none.memory - none.backward;
    EXPECT_NEAR(full.recompute / forward, 1.0, 1e-9);
    EXPECT_NEAR(full.backward / none.backward, 1.0, 1e-12);
    EXPECT_GT(selective.recompute, Seconds{});
    EXPECT_LT(selective.recompute, forward * 0.3);
    EXPECT_NEAR(selective.gemm / none.gemm, 1.0, 1e-12);
}

TEST(LayerCosts, OverlapShowsLessOfTheTensorCollectives) {
    Setting setting;
    auto const exposed = [&](bool overlap) {
        setting.framework.tensor_overlap = overlap;
        auto const block =
            Priced{training::question(setting.model, setting.cluster, setting.framework, {.tp = 8}, setting.workload),
                   setting.constants}
                .costs.block;
        EXPECT_LE(block.tensor.exposed, block.tensor.time);
        return block.tensor.exposed / block.tensor.time;
    };
    EXPECT_NEAR(exposed(true), setting.constants[Constant::tensor_exposed], 1e-12);
    EXPECT_NEAR(exposed(false), 1.0, 1e-12);
}

TEST(CalibratedFabric, DeratesEachLevelByItsOwnConstant) {
    Calibration const constants = training::fitted().values();
    auto const ratio = [&](char const* node) {
        auto const cluster = training::catalog().cluster(node);
        auto const fabric = calibrated_fabric(cluster, constants);
        EXPECT_NEAR(fabric.scale_out.bandwidth / cluster.scale_out.bandwidth, constants[Constant::scale_out], 1e-12);
        EXPECT_EQ(fabric.scale_up.latency, cluster.scale_up.latency);
        return fabric.scale_up.bandwidth / cluster.scale_up.bandwidth;
    };
    EXPECT_NEAR(ratio("dgx-v100"), constants[Constant::nvlink_volta], 1e-12);
    EXPECT_NEAR(ratio("dgx-a100"), constants[Constant::nvlink_ampere], 1e-12);
    EXPECT_NEAR(ratio("dgx-h100"), constants[Constant::nvlink_hopper], 1e-12);
    EXPECT_NEAR(ratio("dgx-b200"), constants[Constant::nvlink_blackwell], 1e-12);
    EXPECT_NEAR(ratio("l40s-pcie-8"), constants[Constant::pcie], 1e-12);
    EXPECT_NEAR(ratio("tpu-v5p-host"), constants[Constant::other_scale_up], 1e-12);
    EXPECT_NEAR(ratio("rtx-2080-ti-nvlink-2"), constants[Constant::nvlink_volta], 1e-12); // Turing: the same NVLink
}

TEST(CommunicationRows, CountMoreOperationsThanAnIntHolds) {
    Setting const setting;
    Strategy const strategy{.dp = 4, .tp = 8, .pp = 2, .zero = 1, .sequence_parallel = true};
    Workload workload = setting.workload;
    workload.global_batch = 1'000'000'000; // of a quarter each a replica
    Priced const priced{training::question(setting.model, setting.cluster, setting.framework, strategy, workload)};
    EXPECT_EQ(priced.rows().front().operations, (10 * 40 + 2) * std::int64_t{250'000'000});
}

TEST(CommunicationRows, SayWhatEachDimensionSends) {
    Setting const setting;
    Strategy const strategy{.dp = 4, .tp = 8, .pp = 2, .zero = 1, .sequence_parallel = true};
    Priced const priced{
        training::question(setting.model, setting.cluster, setting.framework, strategy, setting.workload)};
    auto const rows = priced.rows();
    auto const named = [&](std::string const& dimension, std::string const& collective) {
        auto const found = std::ranges::find_if(rows, [&](CommunicationRow const& row) {
            return row.dimension == dimension && row.collective == collective;
        });
        EXPECT_NE(found, rows.end()) << dimension << " " << collective;
        return found == rows.end() ? CommunicationRow{} : *found;
    };
    // Expectation: 10 collectives of s b h w bytes for each of 40 layers and 16 micro-batches, and 2 around the output.
    auto const tensor = named("tensor", "all_gather + reduce_scatter");
    EXPECT_EQ(tensor.operations, (10 * 40 + 2) * 16);
    EXPECT_DOUBLE_EQ(tensor.bytes.base(), (10.0 * 40 + 2.0) * 16 * 4096 * 8192 * 2);
    EXPECT_EQ(tensor.group, (Group{.size = 8, .per_domain = 8}));
    // Expectation: an activation and its gradient for each micro-batch, an eighth of it from each tensor rank.
    auto const pipeline = named("pipeline", "point_to_point");
    EXPECT_EQ(pipeline.operations, 2 * 16);
    EXPECT_DOUBLE_EQ(pipeline.bytes.base(), 2.0 * 16 * 4096 * 8192 * 2 / 8);
    auto const reduced = named("data", "reduce_scatter"), gathered = named("data", "all_gather");
    EXPECT_DOUBLE_EQ(reduced.bytes / gathered.bytes,
                     setting.framework.reduced_bytes / setting.framework.parameter_bytes);
    EXPECT_EQ(reduced.group, (Group{.size = 4, .per_domain = 1}));
}

TEST(CommunicationRows, SayWhereExpertsAre) {
    // Expectation: 8192 tokens of a rank, two experts each, of 4096 numbers: four times a layer and micro-batch. Gradients
    // of the experts are summed over the two ranks that hold the same ones, those of the rest over all 16.
    Setting setting;
    setting.model = training::catalog().model("mixtral-8x7b");
    Strategy const strategy{.dp = 16, .ep = 8, .zero = 0, .micro_batch = 2};
    Priced const priced{
        training::question(setting.model, setting.cluster, setting.framework, strategy, setting.workload)};
    auto const rows = priced.rows();
    auto const named = [&](std::string const& dimension) {
        return *std::ranges::find(rows, dimension, &CommunicationRow::dimension);
    };
    EXPECT_EQ(named("experts").operations, 4 * 32 * 2);
    EXPECT_DOUBLE_EQ(named("experts").bytes.base(), 4.0 * 32 * 2 * 8192 * 2 * 4096 * 2);
    EXPECT_EQ(named("experts").group, (Group{.size = 8, .per_domain = 8}));
    EXPECT_EQ(named("expert data").group, (Group{.size = 2, .per_domain = 1}));
    EXPECT_EQ(named("data").group, (Group{.size = 16, .per_domain = 8}));
    auto const count = count_parameters(setting.model);
    EXPECT_NEAR(named("expert data").bytes.base(), setting.framework.reduced_bytes * count.experts * 32 / 8.0, 1.0);
}

TEST(CommunicationRows, CountWholeOperationsOfUnevenModels) {
    // Expectation: an attention block in two of three: its collectives are whole numbers, however the mean comes out.
    Setting setting;
    setting.model.layers = 3;
    setting.model.pattern = "**-";
    Strategy const strategy{.dp = 1, .tp = 2, .cp = 2};
    Priced const priced{
        training::question(setting.model, setting.cluster, setting.framework, strategy, setting.workload)};
    for (auto const& row : priced.rows()) {
        if (row.dimension == "tensor") { EXPECT_EQ(row.operations, 64 * (3 * 2 + 2)); }
        if (row.dimension == "context") { EXPECT_EQ(row.operations, 64 * 2 * 2); }
    }
}

TEST(StepTime, OfAVHasBothEndsOnTheFirstStage) {
    // Expectation: the first of 4 stages of 4 layers has both ends under a V, the last the head under 1F1B; with two directions
    // an end stage has half of its micro-batches with each end.
    Setting setting;
    setting.model.layers = 16;
    setting.framework.host = HostPace::native;
    auto const expect = [&](PipelineSchedule schedule, double heads, double tables) {
        auto const priced = setting.priced({.pp = 4, .pipeline = schedule});
        Seconds const each = 4.0 * kernels(priced.costs.block) + heads * kernels(priced.costs.head) +
                             tables * kernels(priced.costs.embedding);
        EXPECT_NEAR(priced.time.compute / (static_cast<double>(setting.workload.global_batch) * each), 1.0, ticks);
    };
    expect(PipelineSchedule::zbv, 1.0, 1.0);
    expect(PipelineSchedule::one_f_one_b, 1.0, 0.0);
    expect(PipelineSchedule::dualpipe, 0.5, 0.5);
}

TEST(StepTime, WithoutAFlushUpdatesEveryMicroBatch) {
    // Expectation: PipeDream's update is as often as its micro-batches, 64 times; gradients are accumulated either way.
    Setting setting;
    auto const of = [&](PipelineSchedule schedule) { return setting.price({.pp = 4, .pipeline = schedule}).optimizer; };
    Setting twice;
    twice.constants[Constant::accumulate_bytes] = 0.0;
    auto const update = [&](PipelineSchedule schedule) {
        return twice.price({.pp = 4, .pipeline = schedule}).optimizer;
    };
    EXPECT_NEAR(update(PipelineSchedule::pipedream) / update(PipelineSchedule::one_f_one_b), 64.0, 1e-9);
    EXPECT_GT(of(PipelineSchedule::pipedream), of(PipelineSchedule::one_f_one_b));
}

} // namespace
} // namespace headroom
