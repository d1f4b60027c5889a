#pragma once

// Settings of the step model for tests: records of the catalog that travel inside the program, and evaluations of them.

#include "support/draws.hpp"

#include "headroom/counter_random.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/training/kernel.hpp"
#include "headroom/training/memory.hpp"
#include "headroom/training/operation.hpp"
#include "headroom/training/prediction.hpp"
#include "headroom/training/step.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headroom::training {

/// The catalog as it was built in, without overlays.
inline io::Catalog const& catalog() {
    static io::Catalog const embedded;
    return embedded;
}

inline training::CalibrationSet const& fitted() {
    static training::CalibrationSet const set = catalog().calibration("training");
    return set;
}

inline std::vector<training::Framework> const& frameworks() {
    static std::vector<training::Framework> const all = [] {
        std::vector<training::Framework> result;
        for (auto const& name : catalog().names(io::RecordKind::framework)) {
            result.push_back(catalog().framework(name));
        }
        return result;
    }();
    return all;
}

/// A stack of equal blocks: plain attention over the whole sequence and a dense feed-forward part.
inline bool is_uniform(training::Model const& model) {
    auto const runs = training::block_runs(model);
    return runs.size() == 1 && runs.front().kind == training::BlockKind{.causal = model.causal} &&
           model.prediction_layers == 0;
}

/// Blocks of one kind, dense and causal without a window, whose every token reaches the head.
inline bool is_plain_stack(training::Model const& model) {
    auto const runs = training::block_runs(model);
    return runs.size() == 1 && runs.front().kind == training::BlockKind{} && model.head_share == 1.0 &&
           model.memory_tokens == 0;
}

/// Every dense model of the catalog.
inline std::vector<training::Model> const& dense_models() {
    static std::vector<training::Model> const all = [] {
        std::vector<training::Model> result;
        for (auto const& name : catalog().names(io::RecordKind::model)) {
            auto model = catalog().model(name);
            if (is_uniform(model) || is_plain_stack(model)) { result.push_back(std::move(model)); }
        }
        return result;
    }();
    return all;
}

/// Gated and plain blocks, grouped and multi-head attention, wide and odd heads, experts.
inline std::vector<training::Model> const& some_models() {
    static std::vector<training::Model> const some = [] {
        std::vector<training::Model> result;
        for (auto const* name : {"llama-3-70b", "gpt3-13b", "gpt2-xl", "gemma-7b", "bloom-7b1", "mixtral-8x7b"}) {
            result.push_back(catalog().model(name));
        }
        return result;
    }();
    return some;
}

/// One node of each kind of machine: NVLink of several ages, a rack-wide domain, PCIe, a torus, another vendor.
inline std::vector<Cluster> const& some_clusters() {
    static std::vector<Cluster> const some = [] {
        std::vector<Cluster> result;
        for (auto const* name :
             {"dgx-h100", "dgx-a100", "dgx-v100", "gb200-nvl72", "l40s-pcie-8", "tpu-v5p-host", "mi300x-node"}) {
            result.push_back(catalog().cluster(name));
        }
        return result;
    }();
    return some;
}

/// Strategies of every kind; those that a model and a batch forbid are left out by `legal`.
inline std::vector<training::Strategy> strategies() {
    return {
        {.dp = 1},
        {.dp = 8},
        {.dp = 16, .zero = 1, .micro_batch = 2, .recompute = training::Recompute::full},
        {.dp = 8, .zero = 2},
        {.dp = 32, .zero = 3, .recompute = training::Recompute::full},
        {.dp = 32, .zero = 3, .shard = 8},
        {.dp = 2, .tp = 4},
        {.dp = 2, .tp = 8, .zero = 1, .sequence_parallel = true, .recompute = training::Recompute::selective},
        {.dp = 2, .tp = 2, .cp = 2, .zero = 1, .sequence_parallel = true},
        {.dp = 2, .pp = 4, .recompute = training::Recompute::full},
        {.dp = 2, .tp = 4, .pp = 2, .virtual_pp = 2, .zero = 1, .sequence_parallel = true},
        {.dp = 4, .tp = 2, .pp = 2, .overlap = training::Overlap::off},
        {.dp = 4, .tp = 4, .cp = 2, .trained = training::Trained::lora},
        {.dp = 2, .tp = 2, .pp = 3, .zero = 1}, // stages of unequal depth
        {.dp = 8, .ep = 4, .zero = 1},
        {.dp = 2, .tp = 2, .cp = 2, .ep = 4, .etp = 2, .sequence_parallel = true},
        {.dp = 8, .tp = 2, .cp = 2, .exchange = training::ContextExchange::ring, .offload = training::Offload::both},
        {.dp = 16, .trained = training::Trained::last_layers, .trained_layers = 4, .local_steps = 8},
    };
}

/// A way to run one model on one machine, with a precision that the machine has.
inline training::Question question(training::Model model, Cluster cluster, training::Framework framework,
                                   training::Strategy strategy, training::Workload workload) {
    if (peak_rate(cluster.accelerator, strategy.precision).base() <= 0.0) { strategy.precision = Precision::fp16; }
    return {.model = std::move(model),
            .cluster = std::move(cluster),
            .framework = std::move(framework),
            .workload = workload,
            .strategy = strategy,
            .assumptions = {},
            .tokens = {}};
}

/// Every legal combination of some models, clusters and strategies with every framework of the catalog.
template <class Check> void for_all_questions(Check check) {
    training::Workload const workload{.sequence_length = 2048, .global_batch = 64};
    for (auto const& model : some_models()) {
        for (auto const& cluster : some_clusters()) {
            for (auto const& framework : frameworks()) {
                for (auto const& strategy : strategies()) {
                    if (!training::illegal_because(strategy, model, workload).empty()) { continue; }
                    check(question(model, cluster, framework, strategy, workload));
                }
            }
        }
    }
}

/// Calls `check` with the share of them that tests draw, always the same ones.
template <class Check> void for_some_questions(Check check) {
    std::uint64_t number = 0;
    for_all_questions([&](training::Question const& question) {
        if (CounterRandom{number++}.uniform() < test::share_of_draws()) { check(question); }
    });
}

/// Description of a question in a failure message.
inline std::string name_of(training::Question const& question) {
    return question.model.name + " on " + question.cluster.name + " with " + question.framework.name + ", " +
           training::short_name(question.strategy);
}

/// One question, priced with one set of constants as `predict` prices it, except for the pace of a framework.
struct Priced {
    explicit Priced(training::Question const& asked, training::Calibration const& values = fitted().values())
        : question{asked},
          constants{values},
          cluster{training::congested(question.cluster, question.disturbance.congestion, question.strategy.workers())},
          shape{training::shape_of(question.strategy, question.workload)},
          costs{training::layer_costs(training::step_program(question.model, shape, question.framework), shape, cluster,
                                      question.framework, constants)},
          step{training::price_step(setting(), question.strategy, costs)},
          time{step.time} {}

    [[nodiscard]] training::StepSetting setting() const { return training::step_setting(question, cluster, constants); }
    [[nodiscard]] std::vector<Term> terms() const {
        TermBook book;
        training::explain_step(book, setting(), question.strategy, costs);
        return book.terms();
    }
    [[nodiscard]] std::vector<training::CommunicationRow> rows() const {
        return training::communication_rows(setting(), question.strategy, costs, step);
    }
    [[nodiscard]] training::MemoryUse memory() const { return training::memory_use(setting(), question.strategy); }

    training::Question question;
    training::Calibration constants;
    Cluster cluster; ///< with its congestion
    training::LayerShape shape;
    training::LayerCosts costs;
    training::PricedStep step;
    training::StepTime time;
};

inline Seconds step(training::Question const& question) { return Priced{question}.time.total(); }

/// Memory does not depend on times, so it is had without them.
inline training::MemoryUse memory_of(training::Question const& question) {
    static constexpr training::Calibration unused{};
    return training::memory_use(training::step_setting(question, question.cluster, unused), question.strategy);
}

/// Every part of a step, in the order of its fields.
inline std::array<Seconds, 13> parts_of(training::StepTime const& time) {
    return {time.compute,
            time.host,
            time.tensor_communication,
            time.context_communication,
            time.expert_communication,
            time.pipeline_communication,
            time.data_communication,
            time.pipeline_bubble,
            time.optimizer,
            time.offload,
            time.imbalance,
            time.stragglers,
            time.overhead};
}
inline std::array<Bytes, 7> parts_of(training::MemoryUse const& use) {
    return {use.weights, use.gradients, use.optimizer, use.activations, use.logits, use.temporaries, use.buffers};
}

/// A pipeline whose stages may differ. The closed form of its length is near the longest chain of passes, within a percent
/// of up to four kinds of stages (`one_f_one_b_length`), which it joins where there are more: where one of several becomes
/// shorter, another chain is taken for the longest or others are joined, and the step moves that much the other way.
/// Largest seen: 1.06 %.
inline bool has_uneven_stages(training::Question const& question) {
    return question.strategy.pp > 1 &&
           !(is_uniform(question.model) && question.strategy.trained == training::Trained::all);
}
inline constexpr double uneven_stages_slack = 0.011;

/// A pipeline whose first blocks are frozen is priced by the stage that ends its step, one without by its slowest stage
/// and the drain of all. A change that moves the end to another stage, or unfreezes the last frozen block, changes the
/// step by the difference of the two. Largest seen: 6.8 % (not tested).
inline bool has_frozen_stages(training::Question const& question) {
    return question.strategy.pp > 1 && question.strategy.trained == training::Trained::last_layers;
}
inline constexpr double frozen_stages_slack = 0.069;
/// Tolerance for comparing a question with a changed one.
inline double stages_slack(training::Question const& question) {
    if (has_frozen_stages(question)) { return frozen_stages_slack; }
    return has_uneven_stages(question) ? uneven_stages_slack : 0.0;
}

/// Share by which overlap lengthens a pipeline: streams work in order, and an early task delays one that others wait for.
inline constexpr double in_order_slack = 5e-3;

} // namespace headroom::training
