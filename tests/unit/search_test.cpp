#include "support/planning.hpp"
#include "training/planner/choose.hpp"

#include "headroom/error.hpp"
#include "headroom/training/memory.hpp"
#include "headroom/training/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

namespace headroom {

using namespace headroom::network;
using namespace headroom::training;

namespace {

using planning::Asked;
using planning::calibration;
using planning::h100_cluster;
using planning::llama_3_70b;
using planning::megatron;
using planning::small_model;

template <class Set> PartialStrategy fixing(Set set) {
    PartialStrategy fixed;
    set(fixed);
    return fixed;
}

TEST(LegalStrategies, HoldWhatIsFixed) {
    PartialStrategy const fixed = fixing([](auto& f) {
        f.tp = 4;
        f.pp = 2;
        f.zero = 1;
        f.micro_batch = 2;
        f.recompute = Recompute::selective;
    });
    auto const legal = legal_strategies(llama_3_70b(), h100_cluster(), megatron(), {8192, 1024}, 256, fixed);
    ASSERT_FALSE(legal.empty());
    for (Strategy const& s : legal) {
        EXPECT_EQ(s.tp, 4);
        EXPECT_EQ(s.pp, 2);
        EXPECT_EQ(s.zero, 1);
        EXPECT_EQ(s.micro_batch, 2);
        EXPECT_EQ(s.recompute, Recompute::selective);
        EXPECT_EQ(s.workers(), 256);
    }
}

TEST(LegalStrategies, HoldWhatTheSearchDoesNotVary) {
    PartialStrategy const fixed = fixing([](auto& f) {
        f.exchange = ContextExchange::ring;
        f.offload = Offload::optimizer;
        f.trained = Trained::last_layers;
        f.trained_layers = 8;
        f.local_steps = 4;
        f.overlap = Overlap::off;
        f.precision = Precision::fp8;
        f.capacity = 1.25;
        f.zero = 0;
    });
    auto const legal = legal_strategies(llama_3_70b(), h100_cluster(), megatron(), {8192, 1024}, 64, fixed);
    ASSERT_FALSE(legal.empty());
    for (Strategy const& s : legal) {
        EXPECT_EQ(s.exchange, ContextExchange::ring);
        EXPECT_EQ(s.offload, Offload::optimizer);
        EXPECT_EQ(s.trained, Trained::last_layers);
        EXPECT_EQ(s.trained_layers, 8);
        EXPECT_EQ(s.local_steps, 4);
        EXPECT_EQ(s.overlap, Overlap::off);
        EXPECT_EQ(s.precision, Precision::fp8);
        EXPECT_EQ(s.capacity, 1.25);
    }
}

TEST(LegalStrategies, RecomputeTheLayersThatAreFixed) {
    // Expectation: of 80 layers 20 are computed again, so a strategy without recomputation is none of them.
    PartialStrategy const fixed = fixing([](auto& f) { f.recompute_layers = 20; });
    auto const legal = legal_strategies(llama_3_70b(), h100_cluster(), megatron(), {8192, 1024}, 64, fixed);
    ASSERT_FALSE(legal.empty());
    for (Strategy const& s : legal) {
        EXPECT_EQ(s.recompute_layers, 20);
        EXPECT_NE(s.recompute, Recompute::none);
    }
}

TEST(LegalStrategies, FixedDegreesAreFreeOfTheBounds) {
    // Expectation: 16 tensor ranks leave the domain of 8, and a micro-batch of 32 passes the cap of 16; the
    // search would not try either, but both are legal.
    PartialStrategy const fixed = fixing([](auto& f) {
        f.dp = 16;
        f.tp = 16;
        f.micro_batch = 32;
    });
    auto const legal = legal_strategies(llama_3_70b(), h100_cluster(), megatron(), {8192, 1024}, 256, fixed);
    ASSERT_FALSE(legal.empty());
    EXPECT_TRUE(std::ranges::all_of(legal, [](Strategy const& s) { return s.tp == 16 && s.micro_batch == 32; }));
}

TEST(LegalStrategies, AccumulationStepsFixTheMicroBatch) {
    // Expectation: 1024 sequences over 128 replicas are 8 each, so 4 accumulation steps leave micro-batches of 2.
    PartialStrategy const fixed = fixing([](auto& f) {
        f.dp = 128;
        f.tp = 1;
        f.pp = 1;
        f.grad_accum = 4;
    });
    auto const legal = legal_strategies(llama_3_70b(), h100_cluster(), megatron(), {8192, 1024}, 128, fixed);
    ASSERT_FALSE(legal.empty());
    EXPECT_TRUE(std::ranges::all_of(legal, [](Strategy const& s) { return s.micro_batch == 2; }));
}

TEST(LegalStrategies, InterleaveOnlyInMultiplesOfTheDepth) {
    Workload const work{.sequence_length = 8192, .global_batch = 1024};
    bool interleaved = false;
    for (Strategy const& s : legal_strategies(llama_3_70b(), h100_cluster(), megatron(), work, 256, {})) {
        if (s.virtual_pp == 1) { continue; }
        interleaved = true;
        EXPECT_EQ(work.global_batch / s.dp / s.micro_batch % s.pp, 0) << short_name(s);
    }
    EXPECT_TRUE(interleaved);
}

TEST(LegalStrategies, RefuseNonsense) {
    EXPECT_THROW(legal_strategies(small_model(), h100_cluster(), megatron(), {4096, 64}, 0, {}), InputError);
    EXPECT_THROW(legal_strategies(small_model(), h100_cluster(), megatron(), {4096, 0}, 8, {}), InputError);
    EXPECT_THROW(legal_strategies(small_model(), h100_cluster(), megatron(), {0, 64}, 8, {}), InputError);
}

std::string why_nothing(PlanQuestion question, int workers, PartialStrategy const& fixed) {
    question.space.workers = {workers};
    question.space.fixed = fixed;
    auto const results = Asked{std::move(question)}.search();
    EXPECT_EQ(results.at(0).counts.legal, 0);
    EXPECT_TRUE(results.at(0).best.empty());
    return results.at(0).nothing_because;
}

TEST(Search, SaysWhyNothingIsLegal) {
    auto const question = planning::llama_question();
    EXPECT_EQ(why_nothing(question, 64, fixing([](auto& f) { f.tp = 7; })),
              "tp 7 does not divide the 64 heads, 8 key-value heads and the feed-forward width");
    // Expectation: 3 stages of unequal depth are legal, but do not make 64 workers; 81 stages need 81 layers.
    EXPECT_EQ(why_nothing(question, 64, fixing([](auto& f) { f.pp = 3; })),
              "no legal tp x pp x cp x dp makes 64 workers");
    EXPECT_EQ(why_nothing(question, 81, fixing([](auto& f) { f.pp = 81; })),
              "pp 81 stages need a layer each, and there are 80");
    EXPECT_EQ(why_nothing(question, 12, fixing([](auto& f) { f.tp = 8; })),
              "no legal tp x pp x cp x dp makes 12 workers");
    EXPECT_EQ(why_nothing(question, 64, fixing([](auto& f) { f.shard = 3; })),
              "a shard group needs ZeRO 1, 2 or 3 and has to divide the data-parallel ranks");
    EXPECT_EQ(why_nothing(question, 64, fixing([](auto& f) {
                              f.tp = 1;
                              f.sequence_parallel = true;
                          })),
              "sequence parallelism needs tp > 1 and a sequence that tp divides");
    auto three = question;
    three.workload.global_batch = 3;
    EXPECT_EQ(why_nothing(three, 64, fixing([](auto& f) {
                              f.tp = 8;
                              f.pp = 1;
                              f.cp = 1;
                          })),
              "the global batch of 3 sequences does not divide over the replicas that 64 workers leave");
}

TEST(Search, CountsEveryEvaluation) {
    auto question = planning::llama_question();
    question.space.workers = {8, 64, 1024};
    for (SearchResult const& result : Asked{question}.search()) {
        SearchCounts const& counts = result.counts;
        std::int64_t refused = 0;
        for (auto const& [reason, count] : counts.infeasible_by_reason) { refused += count; }
        EXPECT_EQ(counts.evaluated, counts.legal);
        EXPECT_EQ(counts.pruned, 0);
        EXPECT_EQ(counts.feasible + refused, counts.evaluated);
        EXPECT_EQ(result.best.empty(), counts.feasible == 0);
    }
}

TEST(Search, TiesGoToTheSimplerStrategy) {
    // Expectation: one stage is simplest, but 2.1 % slower than the fastest and no tie. Of the ties those without ZeRO 2 are
    // simpler, of these one chunk, of these no recomputation, of these a replica in one domain of 8, of these two dimensions;
    // that one of four domains needs no ZeRO comes later.
    std::vector<planner::PricedStrategy> const by_time{
        {{.pp = 4, .virtual_pp = 5, .zero = 2}, Seconds{1.000}},
        {{.pp = 4, .virtual_pp = 5, .zero = 1}, Seconds{1.002}},
        {{.pp = 4, .zero = 1, .recompute = Recompute::full}, Seconds{1.004}},
        {{.tp = 8, .pp = 4}, Seconds{1.005}},
        {{.tp = 2, .pp = 2, .cp = 2, .zero = 1}, Seconds{1.007}},
        {{.tp = 2, .pp = 4, .zero = 1}, Seconds{1.008}},
        {{.tp = 4, .pp = 2, .zero = 1}, Seconds{1.010}},
        {{}, Seconds{1.021}},
    };
    EXPECT_EQ(planner::simplest_of_ties(by_time, 8), 5U) << "of equally simple ones the faster";
    EXPECT_EQ(planner::simplest_of_ties(std::span{by_time}.first(2), 8), 1U);
    EXPECT_EQ(planner::simplest_of_ties(std::span{by_time}.first(1), 8), 0U);
    EXPECT_EQ(planner::simplest_of_ties({}, 8), 0U);
}

TEST(Search, ATieIsNotSimplerWithMoreChunksOrNodes) {
    // Expectation: without ZeRO 2, or with fewer chunks, but over more chunks a stage or more domains of 8 than the fastest.
    std::vector<planner::PricedStrategy> const chunks{
        {{.dp = 64, .zero = 2}, Seconds{1.000}},
        {{.dp = 16, .pp = 4, .virtual_pp = 21, .zero = 1}, Seconds{1.001}},
        {{.dp = 16, .tp = 4, .zero = 1}, Seconds{1.002}},
    };
    EXPECT_EQ(planner::simplest_of_ties(chunks, 8), 2U);
    EXPECT_EQ(planner::simplest_of_ties(std::span{chunks}.first(2), 8), 0U);
    std::vector<planner::PricedStrategy> const nodes{
        {{.dp = 4, .tp = 8, .pp = 4, .virtual_pp = 4, .zero = 1}, Seconds{1.000}},
        {{.dp = 1, .tp = 8, .pp = 16, .virtual_pp = 2}, Seconds{1.001}},
        {{.dp = 4, .tp = 8, .pp = 4, .virtual_pp = 3, .zero = 1}, Seconds{1.002}},
    };
    EXPECT_EQ(planner::simplest_of_ties(nodes, 8), 2U);
}

TEST(Search, ShardGroupsByName) {
    // Expectation: in a node of 8 accelerators tp 2 leaves 4 data-parallel ranks; of 6 ranks in all, 2 at most divide both.
    Strategy const two{.dp = 16, .tp = 2, .cp = 2};
    EXPECT_EQ(shard_group_ranks(shard_in_node, two, 8), 4);
    EXPECT_EQ(shard_group_ranks(shard_in_node, {.dp = 6, .tp = 2}, 8), 2);
    EXPECT_EQ(shard_group_ranks(shard_in_node, {.dp = 16, .tp = 16}, 8), 1);
    EXPECT_EQ(shard_group_ranks(shard_in_replica, two, 8), 2);
    EXPECT_EQ(shard_group_ranks(0, two, 8), 0);
    EXPECT_EQ(shard_group_ranks(16, two, 8), 16);
    auto question = planning::small_question();
    question.space.workers = {32};
    question.space.fixed = {.zero = 3, .shard = shard_in_node};
    for (Strategy const& one : legal_strategies(question.model, question.cluster, question.framework, question.workload,
                                                32, question.space.fixed)) {
        EXPECT_EQ(one.shard, shard_group_ranks(shard_in_node, one, 8)) << short_name(one);
    }
}

TEST(Search, KeepsTheBestInOrder) {
    auto question = planning::small_question();
    question.space.workers = {64};
    auto const five = Asked{question}.search(5).at(0);
    auto const one = Asked{question}.search(1).at(0);
    ASSERT_EQ(five.best.size(), 5U);
    EXPECT_EQ(one.best.size(), 1U);
    EXPECT_EQ(five.best.front(), one.best.front());
    EXPECT_LE(five.step.front(), (1.0 + step_tie) * five.fastest);
    for (std::size_t i = 2; i < five.best.size(); ++i) {
        // Expectation: behind the recommended one faster first; of equally fast ones the leaner first.
        EXPECT_LE((std::tuple{five.step[i - 1], five.memory[i - 1]}), (std::tuple{five.step[i], five.memory[i]}));
    }
}

TEST(Search, RecommendsTheSameWithoutRunnersUp) {
    // Expectation: with every degree fixed one strategy is legal, with some open many are, and 8 accelerators hold none.
    for (auto const& fixed :
         {fixing([](auto&) {}), fixing([](auto& f) { f.tp = 8, f.pp = 4, f.zero = 1, f.micro_batch = 1; }),
          fixing([](auto& f) {
              f.tp = 8, f.pp = 4, f.cp = 1, f.virtual_pp = 1, f.zero = 1, f.micro_batch = 1;
              f.sequence_parallel = true, f.recompute = Recompute::full;
          })}) {
        for (int const workers : {8, 64, 256}) {
            auto question = planning::llama_question();
            question.space.workers = {workers};
            question.space.fixed = fixed;
            Asked const asked{question};
            auto const whole = asked.search(3), brief = asked.search(0);
            ASSERT_EQ(brief.size(), 1U);
            ASSERT_EQ(brief.front().best.empty(), whole.front().best.empty());
            EXPECT_EQ(brief.front().leanest, whole.front().leanest);
            if (!whole.front().best.empty()) { EXPECT_EQ(brief.front().best.front(), whole.front().best.front()); }
        }
    }
}

TEST(Search, SaysWhatFillsTheMemory) {
    // Expectation: 70.6 billion parameters at 18 bytes are 1.27 TB, so eight accelerators of 80 GiB cannot
    // even hold the state, whatever the degrees; most of it is the optimizer's 12 bytes of the 18.
    auto question = planning::llama_question();
    question.space.workers = {8};
    auto const result = Asked{question}.search().at(0);
    EXPECT_GT(result.counts.legal, 0);
    EXPECT_EQ(result.counts.feasible, 0);
    EXPECT_EQ(result.counts.infeasible_by_reason.at("weights, gradients and optimizer state exceed memory"),
              result.counts.evaluated);
    EXPECT_NE(result.nothing_because.find("the leanest strategy ("), std::string::npos) << result.nothing_because;
    EXPECT_NE(result.nothing_because.find("of it is optimizer state"), std::string::npos) << result.nothing_because;
}

TEST(Search, SaysWhenTheChipLacksThePrecision) {
    auto question = planning::small_question();
    question.cluster.accelerator.peak.fp8 = FlopsPerSecond{};
    question.space.workers = {8};
    question.space.fixed.precision = Precision::fp8;
    auto const result = Asked{question}.search().at(0);
    EXPECT_EQ(result.counts.feasible, 0);
    EXPECT_EQ(result.nothing_because, "the h100-sxm has no rate for fp8 arithmetic");
}

TEST(Search, StopsWhenAsked) {
    std::stop_source source;
    source.request_stop();
    Asked const asked{planning::small_question()};
    EXPECT_TRUE(search(asked.setting(), asked.question.space, 1, source.get_token()).empty());
}

TEST(Search, KeepsFinishedSizesWhenStopped) {
    // Expectation: the executor asks to stop during the second size that it serves, so that size is dropped.
    auto question = planning::llama_question();
    std::stop_source source;
    int served = 0;
    question.space.run = [&](int count, std::function<void(int)> const& task) {
        if (++served == 2) { source.request_stop(); }
        for (int i = 0; i < count; ++i) { task(i); }
    };
    Asked const asked{question};
    auto const results = search(asked.setting(), asked.question.space, 1, source.get_token());
    ASSERT_EQ(results.size(), 1U);
    EXPECT_EQ(results.front().workers, question.space.workers.front());
}

TEST(LegalStrategies, CarryEveryFieldThatIsFixed) {
    auto const fixed = fixing([](PartialStrategy& f) {
        f.exchange = ContextExchange::ring;
        f.offload = Offload::both;
        f.trained = Trained::last_layers;
        f.trained_layers = 2;
        f.compression = GradientCompression{.kind = Compression::quantised, .bits = 4};
        f.recompute_layers = 1;
    });
    auto const found = legal_strategies(small_model(), h100_cluster(), megatron(),
                                        {.sequence_length = 4096, .global_batch = 64}, 8, fixed);
    ASSERT_FALSE(found.empty());
    for (Strategy const& s : found) {
        EXPECT_EQ(std::tie(s.exchange, s.offload, s.trained, s.trained_layers, s.recompute_layers),
                  std::tuple(ContextExchange::ring, Offload::both, Trained::last_layers, 2, 1));
        EXPECT_EQ(s.compression, *fixed.compression);
        EXPECT_EQ(s.zero, 0) << "compressed gradients are whole ones";
        EXPECT_NE(s.recompute, Recompute::none);
    }
}

TEST(Search, ComputesAtThePaceOfTheStack) {
    CalibrationSet const constants = calibration();
    Calibration const values = constants.values();
    Model const model = small_model();
    Cluster const cluster = h100_cluster();
    Framework const framework = megatron();
    StepSetting const setting{model, cluster, framework, values, {.sequence_length = 4096, .global_batch = 64}};
    auto const step = [&](double pace) {
        SearchSpace space;
        space.workers = {8};
        space.pace = pace;
        return search(setting, space, 1).front().step.front();
    };
    EXPECT_LT(step(0.5), step(1.0) * 0.75) << "computation is most of this step";
}

} // namespace
} // namespace headroom
