#pragma once

// Random legal plans of models that people train, for the closed form and the simulated step to agree on. A plan follows
// from its seed alone.

#include "support/random_questions.hpp"

#include "headroom/pipeline.hpp"
#include "headroom/simulated_step.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace headroom::training {

/// Dense ones small and large, mixtures with whole and with fine experts, an encoder.
inline constexpr std::array simulated_models{"llama-3-8b",   "llama-3-70b", "gpt3-175b",
                                             "mixtral-8x7b", "deepseek-v3", "bert-large"};
inline constexpr std::array simulated_clusters{"dgx-h100", "dgx-a100", "gb200-nvl72", "mi300x-node"};
inline constexpr std::array simulated_frameworks{"megatron-core", "megatron-core",  "nemo-2023",    "torchtitan",
                                                 "pytorch-fsdp",  "deepspeed-2024", "megatron-2021"};

inline void draw_simulated_schedule(Strategy& s, Model const& model, CounterRandom& random) {
    if (s.pp == 1) { return; }
    if (!one_in(random, 5)) { return; } // most run 1F1B
    if (one_in(random, 2)) {
        set_schedule(s, PipelineSchedule::interleaved, model);
        return;
    }
    auto const rows = pipeline_schedules();
    set_schedule(s, rows[static_cast<std::size_t>(random.below(static_cast<int>(rows.size())))].id, model);
}

inline Strategy random_simulated_strategy(Model const& model, CounterRandom& random) {
    Strategy s;
    s.tp = one_of(random, {1, 2, 4, 8});
    s.pp = one_of(random, {1, 1, 1, 1, 2, 4, 8, 16});
    s.cp = one_of(random, {1, 1, 1, 1, 1, 1, 2, 4});
    s.dp = one_of(random, {1, 2, 4, 8, 16, 32});
    s.micro_batch = one_of(random, {1, 2, 2, 4});
    s.sequence_parallel = s.tp > 1 && !one_in(random, 3);
    s.exchange = one_of(random, {ContextExchange::gather, ContextExchange::ring, ContextExchange::all_to_all});
    if (model.moe.experts > 0) {
        s.micro_batch *= 2; // the host counts the tokens of each expert
        s.ep = one_of(random, {1, 2, 4, 8});
        s.etp = one_of(random, {1, 1, s.tp});
    }
    s.zero = s.pp > 1 ? one_of(random, {0, 1, 1}) : one_of(random, {0, 1, 2, 3});
    s.recompute = one_of(random, {Recompute::none, Recompute::none, Recompute::selective, Recompute::full});
    if (s.recompute != Recompute::none && one_in(random, 8)) { s.recompute_layers = 1 + random.below(model.layers); }

    s.overlap = one_in(random, 12) ? Overlap::off : Overlap::on;
    s.precision = one_in(random, 8) ? Precision::fp8 : Precision::bf16;
    if (one_in(random, 48)) { s.offload = one_of(random, {Offload::optimizer, Offload::activations}); }
    if (one_in(random, 24)) { s.trained = Trained::adapters; }
    if (one_in(random, 32)) { draw_synchronisation(s, random); }
    draw_simulated_schedule(s, model, random);
    return s;
}

inline Question random_simulated_plan(std::uint64_t seed) {
    CounterRandom random{seed ^ 0x5174ULL};
    auto const one = [&random](auto const& from) {
        return from[static_cast<std::size_t>(random.below(static_cast<int>(from.size())))];
    };
    static auto const models = [] {
        std::vector<Model> all;
        for (auto const* name : simulated_models) { all.push_back(catalog().model(name)); }
        return all;
    }();
    static auto const clusters = [] {
        std::vector<Cluster> all;
        for (auto const* name : simulated_clusters) { all.push_back(catalog().cluster(name)); }
        return all;
    }();
    static auto const stacks = [] {
        std::vector<Framework> all;
        for (auto const* name : simulated_frameworks) { all.push_back(catalog().framework(name)); }
        return all;
    }();
    Model const& model = models[seed % models.size()];
    Cluster const& cluster = one(clusters);
    Framework const& stack = one(stacks);
    while (true) {
        Strategy s = random_simulated_strategy(model, random);
        bool const encoder = !model.causal;
        if (encoder) { s.micro_batch *= 64; } // short sequences, many of them
        Workload workload;
        int const micro_batches = s.pp * one_of(random, {1, 2, 3, 4});
        workload.global_batch = s.dp * s.micro_batch * micro_batches;
        workload.sequence_length = encoder ? 512 : one_of(random, {4096, 8192});
        if (!illegal_because(s, model, workload).empty()) { continue; }
        Question asked = question(model, cluster, stack, s, workload);
        if (illegal_because(asked.strategy, model, workload).empty()) { return asked; }
    }
}

/// One plan by both ways.
struct Agreement {
    Question question;
    StepTime closed;
    double difference = 0.0; ///< simulated over closed form - 1
    std::vector<ClosedFormLimit> limits;
    SimulatedStep simulated;
    [[nodiscard]] bool claimed() const { return limits.empty(); }
};

inline Agreement agreement_of(std::uint64_t seed) {
    Agreement result;
    result.question = random_simulated_plan(seed);
    Priced const priced{result.question};
    auto const setting = priced.setting();
    auto const& strategy = priced.question.strategy;
    result.closed = priced.time;
    result.limits = closed_form_limits(setting, strategy, priced.costs);
    result.simulated = simulate_step(setting, strategy, priced.costs);
    result.difference = result.simulated.step() / result.closed.total() - 1.0;
    return result;
}

} // namespace headroom::training
