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

// The draw. Every field comes evenly from its list, and what is not legal is drawn again: all legal plans of the grid are
// equally likely. None has to fit in memory.
//
//     model            six in turn, each of another kind; cluster and stack evenly
//     workers          8 to 1,024
//     batch            16 to 4,096 sequences a step, at most 64 micro-batches a replica
//     length           2,048 to 16,384 tokens, of an encoder 512
//     micro-batch      1 to 8 sequences, of an encoder 8 to 128
//     tp, pp, cp       up to 8, 16, 4; ep up to 32; dp is the rest
//     ZeRO, recomputation, sequence parallelism, exchange of keys: any
//     schedule         of plans with a pipeline a quarter others than 1F1B, evenly; the rest 1F1B and interleaved
//                      with 2, 4 or 8 chunks, half each
//     one in twenty    each: FP8, no overlap, state or activations with the host, recomputation of some blocks, training
//                      of adapters or of the last blocks, and local updates, servers or compression

/// A dense model with grouped queries, a larger plain one, mixtures with whole and with fine experts, a hybrid with
/// scans, an encoder.
inline constexpr std::array simulated_models{"llama-3-70b", "gpt3-175b",     "mixtral-8x7b",
                                             "deepseek-v3", "nemotron-h-8b", "bert-large"};
inline constexpr std::array simulated_clusters{"dgx-h100", "dgx-a100", "gb200-nvl72", "mi300x-node"};
inline constexpr std::array simulated_frameworks{"megatron-core", "nemo-2023",      "torchtitan",
                                                 "pytorch-fsdp",  "deepspeed-2024", "megatron-2021"};

/// A power of two, all from `least` to `most` alike.
inline int power_from(CounterRandom& random, int least, int most) {
    int doublings = 0;
    for (int value = least; value < most; value *= 2) { ++doublings; }
    return least << random.below(doublings + 1);
}

inline PipelineSchedule other_schedule(CounterRandom& random) {
    std::vector<PipelineSchedule> others;
    for (ScheduleRow const& row : pipeline_schedules()) {
        if (row.id != PipelineSchedule::one_f_one_b && row.id != PipelineSchedule::interleaved) {
            others.push_back(row.id);
        }
    }
    return others[static_cast<std::size_t>(random.below(static_cast<int>(others.size())))];
}

inline void draw_simulated_schedule(Strategy& s, CounterRandom& random) {
    if (s.pp == 1) { return; }
    if (one_in(random, 4)) {
        s.pipeline = other_schedule(random);
    } else if (one_in(random, 2)) {
        s.virtual_pp = one_of(random, {2, 4, 8}); // of 1F1B: interleaved
    }
}

/// What few plans ask for.
inline void draw_rare_options(Strategy& s, Model const& model, CounterRandom& random) {
    auto const rarely = [&random] { return one_in(random, 20); };
    if (rarely()) { s.precision = Precision::fp8; }
    if (rarely()) { s.overlap = Overlap::off; }
    if (rarely()) { s.offload = one_of(random, {Offload::optimizer, Offload::activations, Offload::both}); }
    if (rarely() && s.recompute != Recompute::none) { s.recompute_layers = 1 + random.below(model.layers); }
    if (rarely()) { s.trained = one_of(random, {Trained::adapters, Trained::last_layers}); }
    if (s.trained == Trained::last_layers) { s.trained_layers = 1 + random.below(model.layers); }
    if (rarely()) { draw_synchronisation(s, random); }
}

inline Strategy random_simulated_strategy(Model const& model, CounterRandom& random) {
    Strategy s;
    s.tp = power_from(random, 1, 8);
    s.pp = power_from(random, 1, 16);
    s.cp = power_from(random, 1, 4);
    s.micro_batch = model.causal ? power_from(random, 1, 8) : power_from(random, 8, 128);
    s.sequence_parallel = one_in(random, 2);
    s.exchange = one_of(random, {ContextExchange::gather, ContextExchange::ring, ContextExchange::all_to_all});
    if (model.moe.experts > 0) {
        s.ep = power_from(random, 1, 32);
        s.etp = one_of(random, {1, s.tp});
    }
    s.zero = random.below(4);
    s.recompute = one_of(random, {Recompute::none, Recompute::selective, Recompute::full});
    draw_simulated_schedule(s, random);
    draw_rare_options(s, model, random);
    return s;
}

/// Records of the catalog by name.
template <class Record, class Names, class Read> std::vector<Record> records_of(Names const& names, Read read) {
    std::vector<Record> all;
    for (auto const* name : names) { all.push_back(read(name)); }
    return all;
}

inline Question random_simulated_plan(std::uint64_t seed) {
    static auto const models =
        records_of<Model>(simulated_models, [](char const* name) { return catalog().model(name); });
    static auto const clusters =
        records_of<Cluster>(simulated_clusters, [](char const* name) { return catalog().cluster(name); });
    static auto const stacks =
        records_of<Framework>(simulated_frameworks, [](char const* name) { return catalog().framework(name); });
    CounterRandom random{seed ^ 0x5174ULL};
    auto const one = [&random](auto const& from) -> auto const& {
        return from[static_cast<std::size_t>(random.below(static_cast<int>(from.size())))];
    };
    Model const& model = models[seed % models.size()];
    Cluster const& cluster = one(clusters);
    Framework const& stack = one(stacks);
    int const workers = power_from(random, 8, 1024);
    while (true) {
        Strategy s = random_simulated_strategy(model, random);
        Workload const workload{.sequence_length = model.causal ? power_from(random, 2048, 16384) : 512,
                                .global_batch = power_from(random, 16, 4096)};
        int const ranks_of_a_replica = s.tp * s.pp * s.cp;
        if (workers % ranks_of_a_replica != 0) { continue; }
        s.dp = workers / ranks_of_a_replica;
        bool const whole = workload.global_batch % (s.dp * s.micro_batch) == 0;
        if (!whole || whole_micro_batches(s, workload) > 64) { continue; }
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
