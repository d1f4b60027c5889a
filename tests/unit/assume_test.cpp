#include "support/training.hpp"

#include "headroom/error.hpp"
#include "headroom/training/assume.hpp"
#include "headroom/training/legality.hpp"
#include "headroom/training/memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace headroom {

using namespace headroom::network;
using namespace headroom::training;

namespace {

using ::testing::HasSubstr;

struct Setting {
    Model model = training::catalog().model("llama-3-70b");
    Cluster cluster = training::catalog().cluster("dgx-h100");
    Framework framework = training::catalog().framework("megatron-core");
    Workload workload{.sequence_length = 4096, .global_batch = 256};
    int workers = 64;

    [[nodiscard]] AssumedStrategy fill(PartialStrategy const& partial) const {
        return assume(partial, model, cluster, framework, workload, workers);
    }
    [[nodiscard]] bool fits(Strategy const& strategy) const {
        return training::Priced{training::question(model, cluster, framework, strategy, workload)}.memory().total() <=
               usable_memory(cluster.accelerator);
    }
    /// The one line that refuses a strategy.
    [[nodiscard]] std::string refusal(PartialStrategy const& partial) const {
        try {
            static_cast<void>(fill(partial));
        } catch (InputError const& error) {
            EXPECT_EQ(error.fault(), Fault::usage);
            std::string const line = error.what();
            EXPECT_EQ(line.find('\n'), std::string::npos);
            return line;
        }
        ADD_FAILURE() << "nothing was refused";
        return {};
    }
};

std::set<std::string> fields(AssumedStrategy const& filled) {
    std::set<std::string> result;
    for (auto const& assumption : filled.assumptions) {
        EXPECT_TRUE(result.insert(assumption.field).second) << assumption.field << " is listed twice";
        EXPECT_FALSE(assumption.value.empty()) << assumption.field;
        EXPECT_FALSE(assumption.reason.empty()) << assumption.field;
    }
    return result;
}

PartialStrategy complete(Strategy const& s) {
    return {.dp = s.dp,
            .tp = s.tp,
            .pp = s.pp,
            .virtual_pp = s.virtual_pp,
            .cp = s.cp,
            .ep = s.ep,
            .etp = s.etp,
            .zero = s.zero,
            .shard = s.shard,
            .micro_batch = s.micro_batch,
            .sequence_parallel = s.sequence_parallel,
            .recompute = s.recompute,
            .recompute_layers = s.recompute_layers,
            .recomputed = s.recomputed,
            .precision = s.precision,
            .overlap = s.overlap,
            .exchange = s.exchange,
            .offload = s.offload,
            .trained = s.trained,
            .adapter_rank = s.adapter_rank,
            .trained_layers = s.trained_layers,
            .adapter_modules = s.adapter_modules,
            .capacity = s.capacity,
            .local_steps = s.local_steps,
            .servers = s.servers,
            .compression = s.compression};
}

TEST(Assume, FillsEveryGapAndListsIt) {
    Setting const setting;
    auto const filled = setting.fill({});
    EXPECT_EQ(filled.strategy.workers(), 64);
    auto const listed = fields(filled);
    for (auto const* field : {"precision", "dp", "tp", "pp", "cp", "zero", "micro_batch", "recompute"}) {
        EXPECT_EQ(listed.count(field), 1u) << field;
    }
    EXPECT_EQ(illegal_because(filled.strategy, setting.model, setting.workload), "");
    EXPECT_TRUE(setting.fits(filled.strategy));
    // Expectation: what changes the work is marked: degrees, micro-batch, recomputation.
    for (auto const& assumption : filled.assumptions) {
        bool const structural =
            std::set<std::string>{"tp", "pp", "virtual_pp", "micro_batch", "recompute"}.count(assumption.field) == 1;
        EXPECT_EQ(assumption.structural, structural) << assumption.field;
    }
}

TEST(Assume, EveryFrameworkGetsAWholeLegalStrategy) {
    Setting setting;
    for (auto const& framework : training::frameworks()) {
        for (auto const& cluster : training::some_clusters()) {
            for (auto const* name : {"llama-3-8b", "gpt3-13b"}) {
                setting.framework = framework;
                setting.cluster = cluster;
                setting.model = training::catalog().model(name);
                auto const filled = setting.fill({});
                fields(filled);
                EXPECT_EQ(filled.strategy.workers(), setting.workers);
                EXPECT_EQ(illegal_because(filled.strategy, setting.model, setting.workload), "")
                    << framework.name << " on " << cluster.name << ": " << short_name(filled.strategy);
                EXPECT_GT(peak_rate(cluster.accelerator, filled.strategy.precision).base(), 0.0)
                    << framework.name << " on " << cluster.name << " in " << name_of(filled.strategy.precision);
            }
        }
    }
}

TEST(Assume, StageZeroOfABf16OptimizerThatShardsIsStageOne) {
    // Expectation: scripts of BLOOM state ZERO_STAGE=0, for its optimizer in bf16 shards by itself; in fp16 it does not.
    Setting setting;
    setting.framework = training::catalog().framework("megatron-deepspeed");
    auto const filled = setting.fill({.zero = 0, .precision = Precision::bf16});
    EXPECT_EQ(filled.strategy.zero, 1);
    EXPECT_EQ(fields(filled).count("zero"), 1U);
    EXPECT_EQ(setting.fill({.zero = 0, .precision = Precision::fp16}).strategy.zero, 0);
    EXPECT_EQ(running_zero({.precision = Precision::bf16}, setting.framework), std::nullopt);
    setting.framework = training::catalog().framework("pytorch");
    EXPECT_EQ(setting.fill({.zero = 0, .precision = Precision::bf16}).strategy.zero, 0);
}

TEST(Assume, AScheduleBringsWhatFollowsFromIt) {
    // Expectation: interleaved takes the fewest chunks that 80 layers on 4 stages can be cut in, and is then 1F1B with
    // chunks; the others have chunks of their own; all but 1F1B make a pipeline.
    Setting const setting;
    auto const with = [&](PipelineSchedule schedule) {
        return setting.fill({.tp = 8, .pp = 4, .pipeline = schedule}).strategy;
    };
    auto const interleaved = with(PipelineSchedule::interleaved);
    EXPECT_EQ(interleaved.virtual_pp, 2);
    EXPECT_EQ(interleaved.schedule(), PipelineSchedule::interleaved);
    EXPECT_EQ(interleaved, setting.fill({.tp = 8, .pp = 4, .virtual_pp = 2}).strategy);
    EXPECT_EQ(with(PipelineSchedule::one_f_one_b).schedule(), PipelineSchedule::one_f_one_b);
    EXPECT_EQ(with(PipelineSchedule::zbv).virtual_pp, 1);
    EXPECT_EQ(with(PipelineSchedule::zbv).schedule(), PipelineSchedule::zbv);
    EXPECT_GT(setting.fill({.pipeline = PipelineSchedule::gpipe}).strategy.pp, 1);
    // twenty layers a stage halve; three layers a stage do not; one layer is not cut
    EXPECT_EQ(fewest_chunks(4, setting.model), 2);
    Model odd = setting.model;
    odd.layers = 6;
    EXPECT_EQ(fewest_chunks(2, odd), 3);
    EXPECT_EQ(fewest_chunks(6, odd), 1);
}

TEST(Assume, RefusesAScheduleAndChunksThatExcludeEachOther) {
    Setting const setting;
    EXPECT_THAT(setting.refusal({.pp = 4, .virtual_pp = 2, .pipeline = PipelineSchedule::one_f_one_b}),
                HasSubstr("1f1b is not interleaved, and virtual_pp is 2"));
    EXPECT_THAT(setting.refusal({.pp = 4, .virtual_pp = 1, .pipeline = PipelineSchedule::interleaved}),
                HasSubstr("two chunks a stage or more"));
    EXPECT_EQ(contradiction_of({.virtual_pp = 1, .pipeline = PipelineSchedule::zbv}), "");
}

TEST(Assume, NeverChangesWhatWasGiven) {
    Setting const setting;
    for (int const tp : {1, 2, 4, 8}) {
        for (int const pp : {1, 2, 4}) {
            for (auto const recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
                PartialStrategy const partial{.tp = tp,
                                              .pp = pp,
                                              .zero = 0,
                                              .micro_batch = 2,
                                              .sequence_parallel = tp > 1,
                                              .recompute = recompute,
                                              .precision = Precision::fp16,
                                              .overlap = Overlap::off};
                auto const filled = setting.fill(partial);
                auto const& s = filled.strategy;
                EXPECT_EQ(s.tp, tp);
                EXPECT_EQ(s.pp, pp);
                EXPECT_EQ(s.dp, 64 / tp / pp);
                EXPECT_EQ(s.zero, 0);
                EXPECT_EQ(s.micro_batch, 2);
                EXPECT_EQ(s.sequence_parallel, tp > 1);
                EXPECT_EQ(s.recompute, recompute);
                EXPECT_EQ(s.precision, Precision::fp16);
                EXPECT_EQ(s.overlap, Overlap::off);
                auto const listed = fields(filled);
                for (auto const* field :
                     {"tp", "pp", "zero", "micro_batch", "sequence_parallel", "recompute", "precision"}) {
                    EXPECT_EQ(listed.count(field), 0u) << field << " was given, not assumed";
                }
            }
        }
    }
}

TEST(Assume, ACompleteStrategyIsLeftAlone) {
    Setting setting;
    for (auto strategy : training::strategies()) {
        strategy.precision = Precision::bf16;
        if (!illegal_because(strategy, setting.model, setting.workload).empty()) { continue; }
        setting.workers = strategy.workers();
        auto const filled = setting.fill(complete(strategy));
        EXPECT_EQ(filled.strategy, strategy) << short_name(strategy);
        EXPECT_TRUE(filled.assumptions.empty()) << short_name(strategy) << ": " << filled.assumptions.front().field;
    }
}

TEST(Assume, IsIdempotent) {
    Setting setting;
    for (auto const& framework : training::frameworks()) {
        setting.framework = framework;
        auto const once = setting.fill({});
        auto const again = setting.fill(complete(once.strategy));
        EXPECT_EQ(again.strategy, once.strategy) << framework.name;
        EXPECT_TRUE(again.assumptions.empty()) << framework.name << ": " << again.assumptions.front().field;
    }
}

TEST(Assume, DerivesTheLastDegree) {
    Setting const setting;
    EXPECT_EQ(setting.fill({.dp = 4, .tp = 8}).strategy.pp, 2);
    EXPECT_EQ(setting.fill({.dp = 4, .pp = 2}).strategy.tp, 8);
    EXPECT_EQ(setting.fill({.tp = 8, .pp = 2}).strategy.dp, 4);
    EXPECT_EQ(setting.fill({.tp = 8, .pp = 2, .cp = 2}).strategy.dp, 2);
}

TEST(Assume, TakesTheSmallestDegreesThatFit) {
    // Expectation: 70 billion parameters at 6 + 12/d bytes do not fit one 80 GB part; 8 of them and a pipeline do, and
    // one tensor or pipeline rank less does not.
    Setting const setting;
    auto const chosen = setting.fill({}).strategy;
    EXPECT_GT(chosen.tp * chosen.pp, 1);
    EXPECT_TRUE(setting.fits(chosen));
    if (chosen.pp > 1) {
        Strategy shallow = chosen;
        shallow.pp = shallow.virtual_pp = 1;
        shallow.tp = 8;
        shallow.dp = 8;
        EXPECT_FALSE(setting.fits(shallow)) << short_name(chosen);
    }
}

TEST(Assume, TheReasonIsTrueWhenNothingFits) {
    // Expectation: a model that fits nowhere is not reported to fit.
    Setting setting;
    setting.model = training::catalog().model("llama-3-405b");
    setting.workers = 8;
    auto const filled = setting.fill({});
    ASSERT_FALSE(setting.fits(filled.strategy));
    for (auto const& assumption : filled.assumptions) {
        EXPECT_THAT(assumption.reason, ::testing::Not(HasSubstr("fits in memory")))
            << assumption.field << ": " << assumption.reason;
    }
}

TEST(Assume, TakesTheLargestMicroBatchThatFits) {
    Setting setting;
    setting.model = training::catalog().model("llama-3-8b");
    setting.workload.global_batch = 512;
    auto const s = setting.fill({.tp = 1, .pp = 1, .recompute = Recompute::full}).strategy;
    EXPECT_EQ(512 / s.dp % s.micro_batch, 0);
    EXPECT_TRUE(setting.fits(s));
    for (int larger = s.micro_batch + 1; larger <= 512 / s.dp; ++larger) {
        Strategy more = s;
        more.micro_batch = larger;
        if (512 / s.dp % larger == 0) { EXPECT_FALSE(setting.fits(more)) << larger; }
    }
}

TEST(Assume, AccumulationGivesTheMicroBatch) {
    Setting const setting;
    auto const filled = setting.fill({.tp = 8, .pp = 2, .grad_accum = 32});
    EXPECT_EQ(filled.strategy.micro_batch, 256 / 4 / 32);
}

TEST(Assume, RanksBeyondTheBatchSplitTheSequence) {
    // Expectation: a framework that shards over data ranks only cannot use 128 of them for 64 sequences: pairs share
    // one.
    Setting setting;
    setting.framework = training::catalog().framework("torchtitan");
    setting.workers = 128;
    setting.workload.global_batch = 64;
    auto const s = setting.fill({}).strategy;
    EXPECT_EQ(s.cp, 2);
    EXPECT_EQ(s.workers(), 128);
}

TEST(Assume, GivesNoDegreesThatTheFrameworkLacks) {
    // Expectation: Trainer runs data parallel alone; 15 sequences over two cards are refused, not split over tensor ranks.
    Setting setting;
    setting.model = training::catalog().model("llama-3-8b");
    setting.framework = training::catalog().framework("hf-trainer");
    setting.workers = 8;
    for (int const batch : {8, 12, 15}) {
        setting.workload.global_batch = batch;
        auto const s = setting.fill({.trained = Trained::lora}).strategy;
        EXPECT_EQ(s.tp * s.pp * s.cp, 1) << batch;
        EXPECT_EQ(s.dp, 8) << batch;
    }
    setting.model = training::catalog().model("llama-3-70b"); // does not fit, whole, on any rank
    setting.workload.global_batch = 256;
    auto const whole = setting.fill({}).strategy;
    EXPECT_EQ(whole.tp * whole.pp * whole.cp, 1);
}

TEST(Assume, ChoosesArithmeticThatTheChipHas) {
    Setting setting;
    setting.cluster = training::catalog().cluster("dgx-v100");
    EXPECT_EQ(setting.fill({}).strategy.precision, Precision::fp16); // Volta has no bf16
    setting.framework.precision = Precision::fp8;
    EXPECT_EQ(setting.fill({}).strategy.precision, Precision::fp16);
    setting.cluster = training::catalog().cluster("dgx-a100");
    EXPECT_EQ(setting.fill({}).strategy.precision, Precision::bf16); // nor Ampere fp8
    setting.cluster = training::catalog().cluster("dgx-h100");
    EXPECT_EQ(setting.fill({}).strategy.precision, Precision::fp8);
}

TEST(Assume, GradientsStayWholeForWhatNeedsThem) {
    Setting const setting;
    PartialStrategy compressed, local, served;
    compressed.compression = GradientCompression{.kind = Compression::low_rank};
    local.local_steps = 500;
    served.servers = 4;
    for (PartialStrategy const& partial : {compressed, local, served}) {
        Strategy const filled = setting.fill(partial).strategy;
        EXPECT_EQ(filled.zero, 0) << "the stack would share the optimizer state";
        EXPECT_EQ(illegal_because(filled, setting.model, setting.workload), "");
    }
    EXPECT_EQ(setting.fill({}).strategy.zero, 1);
}

TEST(Assume, LayersToRecomputeAskForRecomputation) {
    PartialStrategy partial;
    partial.recompute_layers = 4;
    EXPECT_EQ(Setting{}.fill(partial).strategy.recompute, Recompute::full);
}

TEST(Assume, AListOfOperatorsRunsDataParallelOnly) {
    Setting setting;
    setting.model = training::catalog().model("resnet-50");
    setting.framework = training::catalog().framework("mxnet-mlperf");
    setting.workload = {.sequence_length = 1, .global_batch = 16384};
    auto const filled = setting.fill({});
    EXPECT_EQ(filled.strategy.dp, 64);
    EXPECT_EQ(filled.strategy.micro_batch, 256);
    EXPECT_FALSE(fields(filled).contains("tp")) << "there is no choice to name";
}

TEST(Assume, ChipsWithoutFp32ComputeInBf16) {
    // Expectation: a framework of 2020 trains in fp32 by default, which a TPU has no products for.
    Setting setting;
    setting.framework.precision = Precision::fp32;
    setting.cluster = training::catalog().cluster("tpu-v5p-host");
    ASSERT_EQ(peak_rate(setting.cluster.accelerator, Precision::fp32).base(), 0.0);
    EXPECT_EQ(setting.fill({}).strategy.precision, Precision::bf16);
    setting.cluster = training::catalog().cluster("dgx-h100");
    EXPECT_EQ(setting.fill({}).strategy.precision, Precision::fp32);
}

TEST(Assume, AnOperatorListRunsDataParallel) {
    // Expectation: images are not cut: whatever the framework does by default, every accelerator is a replica.
    Setting setting;
    setting.model = training::catalog().model("resnet-50");
    setting.workload = {.sequence_length = 1, .global_batch = 2048};
    for (auto const& framework : training::frameworks()) {
        setting.framework = framework;
        auto const filled = setting.fill({});
        EXPECT_EQ(filled.strategy.dp, 64) << framework.name;
        EXPECT_EQ(illegal_because(filled.strategy, setting.model, setting.workload), "") << framework.name;
        for (auto const& assumption : filled.assumptions) {
            EXPECT_THAT(assumption.reason, ::testing::Not(HasSubstr("every degree that was tried")))
                << assumption.field;
        }
    }
    // Expectation: where one image does not fit, no degree that would cut it is tried.
    setting.cluster.accelerator.memory = 1.2 * units::GiB;
    auto const crowded = setting.fill({});
    EXPECT_FALSE(setting.fits(crowded.strategy));
    EXPECT_EQ(crowded.strategy.dp, 64);
}

TEST(Assume, ExpertsSpreadInsideTheDomain) {
    // Expectation: 8 experts on nodes of 8: one each, whole; tensor ranks share them too.
    Setting setting;
    setting.model = training::catalog().model("mixtral-8x7b");
    auto const filled = setting.fill({});
    EXPECT_EQ(filled.strategy.ep, 8);
    EXPECT_EQ(filled.strategy.etp, 1);
    EXPECT_EQ(fields(filled).count("ep"), 1u);
    EXPECT_EQ(illegal_because(filled.strategy, setting.model, setting.workload), "");
    // Expectation: where every rank has all of them they are cut like the rest.
    EXPECT_EQ(setting.fill({.tp = 4, .pp = 1, .ep = 1}).strategy.etp, 4);
}

TEST(Assume, RefusesInOneLine) {
    Setting setting;
    EXPECT_THAT(setting.refusal({.tp = 0}), HasSubstr("tp: 0 is out of range (it must be from 1 to 1000000)"));
    EXPECT_THAT(setting.refusal({.dp = -3}), HasSubstr("dp: -3 is out of range (it must be from 1 to 1000000)"));
    EXPECT_THAT(setting.refusal({.pp = 0}), HasSubstr("pp: "));
    EXPECT_THAT(setting.refusal({.cp = 0}), HasSubstr("cp: "));
    EXPECT_THAT(setting.refusal({.virtual_pp = 0}), HasSubstr("virtual_pp: "));
    EXPECT_THAT(setting.refusal({.micro_batch = 0}), HasSubstr("micro_batch: "));
    EXPECT_THAT(setting.refusal({.grad_accum = -1}), HasSubstr("grad_accum: "));
    EXPECT_THAT(setting.refusal({.tp = 3, .pp = 1}), HasSubstr("64 workers cannot be divided by tp 3 x pp 1 x cp 1"));
    EXPECT_THAT(setting.refusal({.dp = 3, .tp = 8, .pp = 2}), HasSubstr("is 48, not 64 workers"));
    setting.workload.global_batch = 16;
    EXPECT_THAT(setting.refusal({.tp = 1, .pp = 1}),
                HasSubstr("16 sequences cannot be shared by 64 data-parallel replicas"));
    setting.workers = 0;
    EXPECT_THAT(setting.refusal({}), HasSubstr("workers: 0 is out of range (it must be from 1 to 1000000)"));
}

TEST(Assume, RefusesWhatNoStrategyHas) {
    // Expectation: a stage beyond 3, a negative shard group and no experts are refused as other degrees are.
    Setting const setting;
    EXPECT_THAT(setting.refusal({.zero = 4}), HasSubstr("zero"));
    EXPECT_THAT(setting.refusal({.zero = -1}), HasSubstr("zero"));
    EXPECT_THAT(setting.refusal({.shard = -8}), HasSubstr("shard"));
    EXPECT_THAT(setting.refusal({.ep = 0}), HasSubstr("ep"));
}

TEST(Assume, RefusesAnEmptyWorkload) {
    // Expectation: no sequences, or sequences of no tokens, are refused in one line by every framework.
    Setting setting;
    for (auto const& framework : training::frameworks()) {
        setting.framework = framework;
        for (Workload const& workload : {Workload{.sequence_length = 4096, .global_batch = 0},
                                         Workload{.sequence_length = 4096, .global_batch = -8},
                                         Workload{.sequence_length = 0, .global_batch = 64}}) {
            setting.workload = workload;
            EXPECT_NE(setting.refusal({}), "") << framework.name;
            EXPECT_NE(setting.refusal({.trained = Trained::lora}), "") << framework.name;
        }
    }
}

TEST(IllegalBecause, NamesTheFirstThatDoesNotDivide) {
    Setting const setting;
    auto const because = [&](Strategy const& s) { return illegal_because(s, setting.model, setting.workload); };
    EXPECT_EQ(because({.dp = 4, .tp = 8, .pp = 2}), "");
    EXPECT_THAT(because({.tp = 3}), HasSubstr("tp 3 does not divide 64 attention heads"));
    // Expectation: stages may be of unequal depth, but each has a layer.
    EXPECT_EQ(because({.pp = 3}), "");
    EXPECT_EQ(because({.pp = 80}), "");
    EXPECT_THAT(because({.pp = 81}), HasSubstr("pp 81 stages need a layer each, and there are 80"));
    // Expectation: the fullest of 3 stages has 27 layers, which 9 chunks share out and 2 do not.
    EXPECT_EQ(because({.pp = 3, .virtual_pp = 9, .micro_batch = 256}),
              "interleaving needs micro-batches (1) in multiples of pp 3");
    EXPECT_THAT(because({.pp = 3, .virtual_pp = 2}), HasSubstr("virtual_pp 2 does not divide 27 layers of a stage"));
    // Expectation: 32 stages of 3 layers or 2; the 96 chunks have 80 layers and two ends to hold.
    EXPECT_THAT(because({.pp = 32, .virtual_pp = 3}), HasSubstr("pp 32 x virtual_pp 3 chunks are more than 80 layers"));
    EXPECT_THAT(because({.virtual_pp = 2}), HasSubstr("need a pipeline"));
    EXPECT_THAT(because({.pp = 4, .virtual_pp = 3}), HasSubstr("virtual_pp 3 does not divide 20 layers"));
    EXPECT_THAT(because({.cp = 3}), HasSubstr("context parallelism"));
    EXPECT_THAT(because({.dp = 3}), HasSubstr("does not divide the batch of 256"));
    EXPECT_THAT(because({.micro_batch = 3}), HasSubstr("does not divide the batch of 256"));
    EXPECT_THAT(because({.dp = 256, .pp = 4, .virtual_pp = 2}), HasSubstr("interleaving needs micro-batches (1)"));
    EXPECT_THAT(because({.zero = 4}), HasSubstr("ZeRO has stages 0 to 3"));
    EXPECT_EQ(because({.dp = 2, .pp = 2, .zero = 3}), "");
    EXPECT_EQ(because({.dp = 2, .pp = 2, .zero = 2}), "");
    EXPECT_THAT(because({.dp = 2, .pp = 2, .pipeline = PipelineSchedule::pipedream, .zero = 2}),
                HasSubstr("ZeRO stage 2 with pipedream"));
    EXPECT_THAT(because({.sequence_parallel = true}), HasSubstr("sequence parallelism needs tp > 1"));
    EXPECT_THAT(because({.dp = 8, .zero = 3, .shard = 3}), HasSubstr("shard group"));
    EXPECT_THAT(because({.dp = 8, .shard = 4}), HasSubstr("needs ZeRO stage 1, 2 or 3"));
    EXPECT_EQ(because({.dp = 8, .zero = 1, .shard = 4}), "");
    EXPECT_THAT(because({.ep = 2}), HasSubstr("mixture of experts"));
    for (Strategy const& broken : {Strategy{.dp = 0}, Strategy{.tp = 0}, Strategy{.pp = 0}, Strategy{.virtual_pp = 0},
                                   Strategy{.cp = 0}, Strategy{.micro_batch = 0}, Strategy{.dp = -8}}) {
        EXPECT_NE(because(broken), "");
    }
}

TEST(IllegalBecause, NamesTheRuleOfWhatIsSavedAndSent) {
    Setting setting;
    auto const because = [&](Strategy const& s) { return illegal_because(s, setting.model, setting.workload); };
    EXPECT_THAT(because({.trained = Trained::last_layers}), HasSubstr("0 cannot be the last ones trained"));
    EXPECT_THAT(because({.recompute_layers = 8}), HasSubstr("needs selective or full recomputation"));
    EXPECT_EQ(because({.recompute = Recompute::full, .recompute_layers = 80}), "");
    EXPECT_THAT(because({.dp = 8, .zero = 1, .servers = 2}), HasSubstr("whole gradients on every rank (ZeRO 0)"));
    EXPECT_THAT(because({.dp = 8, .local_steps = 2, .servers = 2}), HasSubstr("exclude each other"));
    EXPECT_THAT(because({.dp = 8, .zero = 3, .local_steps = 2}), HasSubstr("a state of their own"));
    EXPECT_EQ(because({.dp = 8, .zero = 3, .shard = 4, .local_steps = 2}), "");
    // Expectation: ranks that share a sequence sum gradients every step, so they are one worker.
    EXPECT_THAT(because({.dp = 4, .cp = 2, .local_steps = 2}), HasSubstr("hold whole sequences and all experts"));
    EXPECT_EQ(because({.dp = 4, .cp = 2, .zero = 3, .shard = 4, .local_steps = 2}), "");
    EXPECT_THAT(because({.tp = 8, .cp = 16, .exchange = ContextExchange::all_to_all}),
                HasSubstr("cp 16 x tp 8 does not divide 64"));
    EXPECT_EQ(because({.tp = 8, .cp = 16}), "");
}

TEST(IllegalBecause, NamesTheRuleOfExperts) {
    Setting setting;
    setting.model = training::catalog().model("mixtral-8x7b");
    auto const because = [&](Strategy const& s) { return illegal_because(s, setting.model, setting.workload); };
    EXPECT_EQ(because({.dp = 8, .ep = 8}), "");
    EXPECT_EQ(because({.dp = 4, .tp = 4, .ep = 4, .etp = 4}), "");
    EXPECT_EQ(because({.dp = 8, .tp = 4, .ep = 4, .local_steps = 2}), "");
    EXPECT_THAT(because({.dp = 8, .tp = 4, .ep = 8, .local_steps = 2}), HasSubstr("all experts"));
    EXPECT_THAT(because({.dp = 8, .ep = 3}), HasSubstr("ep 3 does not divide 8 experts"));
    EXPECT_THAT(because({.dp = 4, .tp = 4, .ep = 2, .etp = 2}), HasSubstr("etp 2 is neither 1 nor tp 4"));
    EXPECT_THAT(because({.dp = 4, .ep = 8}), HasSubstr("ep 8 x etp 1 does not divide the dp x cp x tp = 4 ranks"));
    // Expectation: experts that every token passes are cut like a dense layer, as wide as a routed one unless stated.
    setting.model.moe.shared_experts = 1;
    setting.model.moe.ffn = 100;
    EXPECT_THAT(because({.tp = 8}), HasSubstr("tp 8 does not divide the feed-forward width 100"));
    setting.model.moe.shared_ffn = 800;
    EXPECT_EQ(because({.tp = 8}), "");
    // Expectation: a list of operators is not split.
    setting.model = training::catalog().model("resnet-50");
    EXPECT_EQ(because({.dp = 8}), "");
    EXPECT_THAT(because({.dp = 8, .tp = 2}), HasSubstr("runs data parallel only"));
}

} // namespace
} // namespace headroom
