#include "support/simulated_plans.hpp"

#include "headroom/network/expert_exchange.hpp"
#include "headroom/network/simulated_collectives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

// Collectives of a simulated step by their messages against the same step with each collective as one operation.

namespace headroom {

using namespace headroom::network;

namespace {

using namespace training;

Question asked(Strategy const& strategy, char const* model = "llama-3-8b", char const* stack = "megatron-core") {
    Workload const workload{.sequence_length = 4096, .global_batch = strategy.dp * strategy.micro_batch * 8};
    return question(catalog().model(model), catalog().cluster("dgx-h100"), catalog().framework(stack), strategy,
                    workload);
}

/// Question with so many NICs for the accelerators of a domain, which have the same rate together.
Question on_adapters(Question question, int adapters) {
    Cluster& cluster = question.cluster;
    cluster.adapter = cluster.scale_out.bandwidth * (static_cast<double>(cluster.domain) / adapters);
    return question;
}

SimulatedStep simulated(Question const& question, CollectiveDetail detail, SimulationOptions options = {}) {
    Priced const priced{question};
    options.collectives = detail;
    return simulate_step(priced.setting(), priced.question.strategy, priced.costs, options);
}

/// Time of a step's tasks over that of the same tasks as operations, both without what no graph holds.
double longer(Question const& question) {
    return simulated(question, CollectiveDetail::messages).makespan /
           simulated(question, CollectiveDetail::operation).makespan;
}

/// Groups that divide domains or are divided by them; every dimension, with and without a pipeline.
std::vector<Question> even_questions() {
    return {asked({.dp = 2, .tp = 8, .sequence_parallel = true}),
            asked({.dp = 16, .tp = 2, .zero = 1}),
            asked({.dp = 16, .zero = 3}, "llama-3-8b", "pytorch-fsdp"),
            asked({.dp = 4, .tp = 2, .cp = 4, .zero = 3}),
            asked({.dp = 2, .tp = 8, .pp = 4, .zero = 1}),
            asked({.dp = 8, .tp = 2, .pp = 2}),
            asked({.dp = 16, .tp = 1, .ep = 8, .zero = 1}, "mixtral-8x7b"),
            asked({.dp = 16, .zero = 3, .shard = 8})};
}

TEST(SimulatedMessages, AreTheOperationsWhereEachRankHasAnAdapterAndGroupsDoNotMeet) {
    for (Question const& question : even_questions()) {
        auto const step = simulated(question, CollectiveDetail::messages);
        ASSERT_EQ(step.refused, "");
        EXPECT_TRUE(step.stood_in.empty()) << name_of(question) << ": " << step.stood_in.front();
        EXPECT_NEAR(longer(question), 1.0, 1e-6) << name_of(question);
    }
}

TEST(SimulatedMessages, AreNeverFasterWhereGroupsShareAnAdapter) {
    for (Question const& question : even_questions()) {
        for (int const adapters : {4, 2, 1}) {
            EXPECT_GE(longer(on_adapters(question, adapters)), 1.0 - 1e-6) << name_of(question) << " " << adapters;
        }
    }
}

/// But for an all-to-all: while some ranks of a NIC send inside, those that leave have more of it than their share.
TEST(SimulatedMessages, LetAnExchangeHaveTheAdapterWhileOthersSendInside) {
    Question const question = asked({.dp = 16, .tp = 2, .ep = 8, .etp = 2, .zero = 1}, "mixtral-8x7b");
    EXPECT_NEAR(longer(on_adapters(question, 8)), 1.0, 1e-6);
    double const shared = longer(on_adapters(question, 2));
    EXPECT_LT(shared, 1.0);
    EXPECT_GT(shared, 0.9);
}

/// Groups of 8 in domains of 12: every second one lies across two, which the closed form takes to lie in one.
TEST(SimulatedMessages, TakeLongerWhereGroupsLieAcrossDomains) {
    Question question = asked({.dp = 4, .tp = 8, .sequence_parallel = true});
    question.cluster.domain = 12;
    auto const step = simulated(question, CollectiveDetail::messages);
    EXPECT_GT(step.time.tensor_communication,
              2.0 * simulated(question, CollectiveDetail::operation).time.tensor_communication);
}

/// Groups of 8 in domains of 12: every second one lies across two, and only what it sends takes longer.
TEST(SimulatedMessages, LengthenTheTrafficOfTheirOwnDimension) {
    struct Case {
        Strategy strategy;
        WorkKind kind;
        char const* model = "llama-3-8b";
    };
    for (Case const& one :
         {Case{{.dp = 3, .tp = 8, .sequence_parallel = true}, WorkKind::tensor},
          Case{{.dp = 3, .cp = 8}, WorkKind::context}, Case{{.dp = 24, .ep = 8}, WorkKind::experts, "mixtral-8x7b"},
          Case{{.dp = 8, .pp = 4}, WorkKind::data}, Case{{.dp = 8, .pp = 4, .zero = 1}, WorkKind::data},
          Case{{.dp = 24, .zero = 3, .shard = 8}, WorkKind::data}}) {
        Question question = asked(one.strategy, one.model);
        question.cluster.domain = 12;
        auto const operations = simulated(question, CollectiveDetail::operation);
        auto const messages = simulated(question, CollectiveDetail::messages);
        ASSERT_FALSE(operations.stages.empty()) << operations.refused;
        for (std::size_t kind = 0; kind < work_kind_count; ++kind) {
            double const before = operations.stages[0].busy[kind].base(), after = messages.stages[0].busy[kind].base();
            SCOPED_TRACE(name_of(question) + ": " + std::string{name_of(static_cast<WorkKind>(kind))});
            if (static_cast<WorkKind>(kind) == one.kind) { EXPECT_GT(after, 1.5 * before); }
            // other traffic is as long; kernels that are slowed by more of it are not
            bool const moves = communicates(static_cast<WorkKind>(kind)) && static_cast<WorkKind>(kind) != one.kind;
            if (moves) { EXPECT_NEAR(after, before, 0.3 * before); }
        }
    }
}

/// One tensor-parallel collective by hand: its own time, and the start that every collective has.
TEST(SimulatedMessages, HaveTheTimeOfTheirCollectiveAndItsStart) {
    Question question = asked({.dp = 4, .tp = 8, .sequence_parallel = true, .overlap = Overlap::off});
    question.cluster.domain = 12;
    Priced const priced{question};
    auto const setting = priced.setting();
    auto const detailed = [&](CollectiveDetail detail) {
        auto const step = simulate_step(setting, priced.question.strategy, priced.costs, {.collectives = detail});
        auto const& program = step.program;
        for (std::size_t task = 0; task < program.size(); ++task) {
            if (program.kind[task] == WorkKind::tensor) { return static_cast<double>(program.cost[task]) * 1e-12; }
        }
        return 0.0;
    };
    auto const shape = shape_of(question.strategy, question.workload);
    auto const program = step_program(question.model, shape, question.framework);
    auto const operations = program.embedding.operations();
    auto const first = std::ranges::find(operations, OperationKind::collective, &Operation::kind);
    ASSERT_NE(first, operations.end());
    CollectivesByMessages messages{question.cluster, calibrated_fabric(question.cluster, setting.constants)};
    auto const& one = messages.price(first->collective, {first->bytes},
                                     {.size = 8, .stride = 1, .ranks = question.strategy.workers()});
    double const start = setting.constants[Constant::base_latency];
    EXPECT_NEAR(detailed(CollectiveDetail::operation), one.closed.base() + start, 1e-11);
    EXPECT_NEAR(detailed(CollectiveDetail::messages), one.total().base() + start, 1e-11);
    EXPECT_GT(one.contention(), 1.5);
}

TEST(SimulatedMessages, SayWhereTheClosedFormStandsIn) {
    auto const reasons = [](Question const& question) {
        auto const step = simulated(question, CollectiveDetail::messages);
        EXPECT_EQ(step.refused, "");
        EXPECT_GT(step.makespan, Seconds{});
        std::string all;
        for (auto const& one : step.stood_in) { all += one + "\n"; }
        return all;
    };
    Strategy squeezed{.dp = 16};
    squeezed.compression.kind = Compression::top_k;
    EXPECT_EQ(reasons(asked(squeezed)), "data: no schedule of messages is known for compressed gradients\n");
    EXPECT_EQ(reasons(asked({.dp = 16, .local_steps = 8})),
              "data: no schedule of messages is known for blocking synchronisation\n");
    EXPECT_EQ(reasons(asked({.dp = 2, .tp = 2, .pp = 4})),
              "pipeline: some neighbouring stages share a domain, others do not\n");
    Strategy both{.dp = 2, .tp = 8, .pp = 4};
    set_schedule(both, PipelineSchedule::dualpipe, catalog().model("llama-3-8b"));
    EXPECT_EQ(reasons(asked(both)), "data: its gradients are summed over stages of both directions\n");
    Question once = asked({.dp = 16, .ep = 16}, "deepseek-v3");
    once.framework.sends_tokens_once = true;
    EXPECT_EQ(reasons(once), "experts: no schedule of messages is known for tokens that go to each domain once\n");
    EXPECT_TRUE(simulated(once, CollectiveDetail::operation).stood_in.empty());
}

TEST(SimulatedMessages, StopWhenAsked) {
    std::stop_source source;
    source.request_stop();
    EXPECT_FALSE(
        simulated(asked({.dp = 16, .tp = 2}), CollectiveDetail::messages, {.stop = source.get_token()}).run.complete);
}

} // namespace
} // namespace headroom
