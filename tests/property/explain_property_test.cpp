#include "support/simulated_plans.hpp"
#include "support/term_formula.hpp"

#include "headroom/training/assume.hpp"
#include "headroom/training/training_answers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

// Every number of a prediction opens: from the step and from memory down to values of the catalog, options and constants.

namespace headroom {
namespace {

using namespace training;

constexpr double rounding = 1e-9; ///< relative

/// Walks from some terms to the facts. Each input must be a term of the same value, each formula must give its value, and
/// what has neither formula nor inputs must be a fact.
class Walk {
public:
    explicit Walk(std::vector<Term> const& terms) {
        for (Term const& term : terms) { EXPECT_TRUE(terms_.emplace(term.name, &term).second) << term.name; }
    }

    void from(std::string const& name) {
        if (!seen_.insert(name).second) { return; }
        auto const known = terms_.find(name);
        ASSERT_NE(known, terms_.end()) << name << " is an unknown term";
        Term const& term = *known->second;
        EXPECT_TRUE(std::isfinite(term.value)) << name;
        if (term.kind == TermKind::formula) {
            double const value = test::evaluate(term.formula, term.inputs);
            EXPECT_NEAR(value, term.value, rounding * std::abs(term.value) + 1e-15) << name << " = " << term.formula;
        } else {
            EXPECT_TRUE(term.formula.empty()) << name;
            EXPECT_FALSE(term.origin.empty()) << name;
            EXPECT_EQ(is_fact(term.kind), term.inputs.empty()) << name << " has a wrong kind";
        }
        for (auto const& [input, value] : term.inputs) {
            from(input);
            auto const one = terms_.find(input);
            if (one != terms_.end()) { EXPECT_EQ(one->second->value, value) << input << " of " << name; }
        }
    }

    [[nodiscard]] Term const& at(std::string const& name) const { return *terms_.at(name); }
    [[nodiscard]] bool reaches(std::string const& name) const { return seen_.contains(name); }
    [[nodiscard]] std::size_t count() const { return seen_.size(); }

private:
    std::map<std::string, Term const*> terms_;
    std::set<std::string> seen_;
};

Walk walked(Prediction const& prediction) {
    static std::vector<std::vector<Term>> kept; // a walk refers to its terms
    kept.push_back(explain(prediction, fitted()));
    Walk walk{kept.back()};
    walk.from("step_seconds");
    walk.from("total_bytes");
    walk.from("footprint_bytes");
    EXPECT_DOUBLE_EQ(walk.at("step_seconds").value, prediction.step().base());
    EXPECT_DOUBLE_EQ(walk.at("total_bytes").value, prediction.memory.total().base());
    EXPECT_DOUBLE_EQ(walk.at("footprint_bytes").value, prediction.memory.footprint().base());
    return walk;
}

TEST(Explain, OpensRandomPlansDownToFacts) {
    for (std::uint64_t plan = 0; plan < 300; ++plan) {
        Question const question = random_simulated_plan(plan);
        SCOPED_TRACE(std::to_string(plan) + ": " + question.model.name + " on " + question.cluster.name + " with " +
                     question.framework.name + ", " + short_name(question.strategy));
        walked(predict(question, fitted()));
    }
}

struct NamedPlan {
    char const* model;
    char const* cluster;
    char const* framework;
    Strategy strategy;
    Workload workload;
};

/// Kinds of plans that random ones have rarely or never.
std::vector<Question> named_plans() {
    using enum PipelineSchedule;
    auto const of = [](char const* model, char const* cluster, char const* framework, Strategy strategy,
                       Workload work) {
        return Question{.model = catalog().model(model),
                        .cluster = catalog().cluster(cluster),
                        .framework = catalog().framework(framework),
                        .workload = work,
                        .strategy = strategy,
                        .assumptions = {},
                        .tokens = {}};
    };
    Workload const usual{.sequence_length = 8192, .global_batch = 256};
    std::vector<Question> plans{
        of("llama-3-8b", "dgx-h100", "megatron-core", {.dp = 8, .zero = 1}, usual),
        of("llama-3-70b", "dgx-h100", "torchtitan", {.dp = 64, .zero = 3, .shard = 8, .recompute = Recompute::full},
           usual),
        of("deepseek-v3", "hgx-h800", "megatron-core",
           {.dp = 16, .tp = 8, .pp = 4, .ep = 64, .etp = 1, .sequence_parallel = true}, usual),
        of("llama-3-8b", "tpu-v5p-host", "maxtext", {.dp = 64, .zero = 3}, usual),
        of("llama-3-8b", "dgx-h100", "megatron-core", {.dp = 8, .offload = Offload::both}, usual),
        of("llama-3-8b", "dgx-h100", "megatron-core",
           {.dp = 8, .pp = 2, .trained = Trained::last_layers, .trained_layers = 4}, usual),
        of("llama-3-8b", "dgx-h100", "megatron-core", {.dp = 8, .trained = Trained::lora}, usual),
        of("llama-3-8b", "dgx-h100", "megatron-core", {.dp = 48}, usual), // a ragged last micro-batch
        of("resnet-50", "dgx-a100", "megatron-core", {.dp = 8, .micro_batch = 32},
           {.sequence_length = 1, .global_batch = 256}),
        of("t5-11b", "dgx-a100", "megatron-core", {.dp = 8}, {.sequence_length = 512, .global_batch = 64}),
    };
    for (ScheduleRow const& row : pipeline_schedules()) {
        Strategy strategy{.dp = 2, .pp = 4, .pipeline = row.id};
        set_schedule(strategy, row.id, catalog().model("llama-3-70b"));
        plans.push_back(of("llama-3-70b", "dgx-h100", "megatron-core", strategy, usual));
    }
    plans[0].disturbance = {
        .uneven = UnevenSequences{.spread = 0.5, .per_replica = 16.0}, .spread = 0.02, .congestion = 0.05};
    plans[1].disturbance = {.imbalance = 1.1, .congestion = 0.05};
    plans[1].failures = Failures{};
    plans[1].tokens = 1e12, plans[1].critical_batch = 1024.0;
    return plans;
}

TEST(Explain, OpensNamedPlansDownToFacts) {
    for (Question const& question : named_plans()) {
        SCOPED_TRACE(question.model.name + " on " + question.cluster.name + ", " + short_name(question.strategy));
        walked(predict(question, fitted()));
    }
}

TEST(Explain, ReachesRatesShapesAndConstants) {
    // Expectation: 87 % of the computation were behind one block time that nothing opened.
    Prediction const prediction = predict(named_plans().front(), fitted());
    Walk const walk = walked(prediction);
    for (char const* name : {"peak_flops", "memory_bandwidth", "gemm_hopper", "attention_hopper", "memory_fraction",
                             "block_kernel_seconds", "block_attention_core_forward_head_dim", "dp", "global_batch",
                             "scale_up_bandwidth", "base_latency", "optimizer_traffic", "hidden", "block_parameters"}) {
        EXPECT_TRUE(walk.reaches(name)) << name;
    }
    for (char const* name : {"compute_seconds", "optimizer_seconds", "reduce_seconds", "block_kernel_seconds"}) {
        EXPECT_EQ(walk.at(name).kind, TermKind::formula) << name;
    }
    EXPECT_EQ(walk.at("data_seconds").kind, TermKind::priced);
    EXPECT_DOUBLE_EQ(walk.at("compute_seconds").value, prediction.time.compute.base());
}

TEST(Explain, NamesOperatorsAsTheModelDoes) {
    Question const question = named_plans()[8];
    ASSERT_EQ(question.model.name, "resnet-50");
    std::string name = question.model.operators.front().name;
    std::ranges::replace_if(
        name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    EXPECT_TRUE(walked(predict(question, fitted())).reaches("block_1_" + name + "_forward_seconds")) << name;
}

TEST(Explain, OpensEveryTermThatItLists) {
    // Also what is in no step: failures and the critical batch.
    auto const plans = named_plans();
    auto const terms = explain(predict(plans[1], fitted()), fitted());
    Walk walk{terms};
    for (Term const& term : terms) { walk.from(term.name); }
    EXPECT_EQ(walk.count(), terms.size());
    for (char const* name : {"goodput", "steps_needed", "congestion_slowdown", "device_mtbf_seconds"}) {
        EXPECT_TRUE(walk.reaches(name)) << name;
    }
}

TEST(Explain, IsAsLongAsItIsDeep) {
    auto const terms = explain(predict(named_plans().front(), fitted()), fitted());
    EXPECT_EQ(opened(terms, {"compute_seconds"}, 0).size(), 1U);
    EXPECT_EQ(opened(terms, {"compute_seconds"}, 1).size(), 3U);
    EXPECT_GT(opened(terms, {"compute_seconds"}, to_the_facts).size(), 50U);
    EXPECT_TRUE(opened(terms, {"no such term"}, to_the_facts).empty());
}

TEST(Explain, NamesNoUnknownInput) {
    TermBook book;
    book.add(TermKind::option, "a", "", "--a", 2.0);
    EXPECT_THROW(book.formula("c", "", "a + b", 3.0), std::logic_error);
    EXPECT_THROW(book.add(TermKind::option, "a", "", "--a", 3.0), std::logic_error);
    book.formula("d", "", "max(1e3, a ^ 2)", 1000.0);
    ASSERT_EQ(book.terms().back().inputs.size(), 1U);
    EXPECT_EQ(book.terms().back().inputs.front().first, "a");
}

} // namespace
} // namespace headroom
