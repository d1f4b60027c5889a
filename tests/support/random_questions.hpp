#pragma once

// Random models of every kind with random legal strategies: what the laws of the step model are checked on. A question
// follows from its seed alone, which is part of its model's name.

#include "support/draws.hpp"
#include "support/random.hpp"
#include "support/training.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace headroom::training {

using test::CounterRandom;

template <class T> T one_of(CounterRandom& random, std::initializer_list<T> from) {
    return from.begin()[random.below(static_cast<int>(from.size()))];
}
/// True in one of so many draws.
inline bool one_in(CounterRandom& random, int draws) { return random.below(draws) == 0; }

inline int random_divisor(CounterRandom& random, int number) {
    std::vector<int> divisors;
    for (int d = 1; d <= number; ++d) {
        if (number % d == 0) { divisors.push_back(d); }
    }
    return divisors.at(static_cast<std::size_t>(random.below(static_cast<int>(divisors.size()))));
}

// ---- models -------------------------------------------------------------------------------------------------------

/// Family of models; a mixture may have latent attention, a hybrid may have experts.
enum class Family { dense, mixture, latent, window, hybrid, pair, operators };
inline constexpr std::array families{Family::dense,  Family::mixture, Family::latent,   Family::window,
                                     Family::hybrid, Family::pair,    Family::operators};
inline char const* name_of(Family family) {
    constexpr std::array names{"dense", "mixture", "latent", "window", "hybrid", "pair", "operators"};
    return names.at(static_cast<std::size_t>(family));
}

/// A stack of attention and feed-forward blocks; every degree that divides the heads divides the widths.
inline training::Model random_stack(CounterRandom& random) {
    training::Model model;
    model.layers = one_of(random, {1, 2, 3, 4, 5, 7, 8, 12, 13, 16, 24, 31});
    model.heads = one_of(random, {4, 8, 12, 16, 24});
    model.kv_heads = model.heads / one_of(random, {1, 1, 2, 4});
    model.head_dim = one_of(random, {32, 64, 80, 128});
    model.hidden = model.heads * one_of(random, {32, 64, 128});
    model.ffn = model.heads * one_of(random, {64, 96, 256});
    model.vocab = one_of(random, {1000, 32000, 50257});
    model.max_positions = 4096;
    model.feed_forward = one_of(random, {training::FeedForward::plain, training::FeedForward::gated});
    model.positions = one_of(random, {training::Positions::rotary, training::Positions::learned});
    model.norms_per_layer = one_of(random, {1, 2, 2, 4});
    for (bool* const option :
         {&model.norm_bias, &model.tied_embeddings, &model.qkv_bias, &model.out_bias, &model.mlp_bias, &model.head_bias,
          &model.qk_norm, &model.sinks, &model.embedding_norm}) {
        *option = one_in(random, 3);
    }
    model.final_norm = !one_in(random, 4);
    model.causal = !one_in(random, 4);
    model.head_share = one_of(random, {1.0, 1.0, 0.15});
    model.memory_tokens = one_of(random, {0, 0, 0, 128});
    model.prediction_layers = one_of(random, {0, 0, 0, 1, 2});
    return model;
}

inline void add_experts(training::Model& model, CounterRandom& random) {
    auto& moe = model.moe;
    moe.experts = one_of(random, {2, 4, 6, 8, 16});
    moe.top_k = one_of(random, {1, 2});
    moe.ffn = model.heads * one_of(random, {0, 16, 48});
    moe.shared_experts = one_of(random, {0, 1, 2});
    moe.shared_ffn = model.heads * one_of(random, {0, 32});
    moe.first_dense = one_of(random, {0, 0, 1, 3});
    moe.every = one_of(random, {1, 1, 2});
    moe.group_limit = one_of(random, {0, 0, 2});
    moe.latent = one_of(random, {0, 0, model.hidden / 2});
    moe.router_bias = one_in(random, 2);
}

inline void add_latent_attention(training::Model& model, CounterRandom& random) {
    model.latent = {.q_rank = one_of(random, {0, 96, 256}),
                    .kv_rank = one_of(random, {64, 128}),
                    .nope_dim = one_of(random, {32, 128}),
                    .rope_dim = one_of(random, {16, 64}),
                    .value_dim = one_of(random, {32, 96, 128})};
    model.kv_heads = model.heads;
    model.memory_tokens = 0;
}

inline void make_hybrid(training::Model& model, CounterRandom& random) {
    model.state_space = {.heads = model.heads * one_of(random, {1, 2}),
                         .head_dim = one_of(random, {32, 64}),
                         .groups = one_of(random, {1, 2, 4}),
                         .state = one_of(random, {16, 128}),
                         .convolution = 4};
    bool const experts = one_in(random, 2);
    if (experts) { add_experts(model, random); }
    for (int layer = 0; layer < model.layers; ++layer) {
        model.pattern += one_of(random, {'M', 'M', '*', '-', experts ? 'E' : '-'});
    }
}

/// No family of its own: questions are drawn from those above. Layers of two parts by a plan: recurrences, windows, parts left out, keys borrowed; gates and an indexer.
inline void make_mixed(training::Model& model, CounterRandom& random) {
    using enum training::ScanKind;
    model.state_space = {.kind = one_of(random, {mamba2, mamba1, gated_delta, kimi_delta, lightning, convolution}),
                         .heads = model.heads,
                         .head_dim = one_of(random, {32, 64}),
                         .groups = 1,
                         .state = one_of(random, {16, 128}),
                         .rank = one_of(random, {16, 64})};
    model.output_gate =
        one_of(random, {training::OutputGate::none, training::OutputGate::head, training::OutputGate::element});
    model.value_dim = one_of(random, {0, 0, 32});
    model.per_layer_input = model.heads * one_of(random, {0, 0, 4});
    if (one_in(random, 3)) { model.indexer = {.heads = 4, .head_dim = 32, .top_k = 256}; }
    auto const kinds = std::to_array<training::BlockKind>({{},
                                                           {.mixer = training::Mixer::state_space},
                                                           {.mixer = training::Mixer::attention_and_scan},
                                                           {.window = 128, .kv_heads = model.heads},
                                                           {.borrows_keys = true},
                                                           {.mixer = training::Mixer::none, .ffn = 2 * model.ffn},
                                                           {.channel = training::Channel::none}});
    for (int layer = 0; layer < model.layers; ++layer) {
        auto kind = layer == 0 ? kinds.front() : kinds[static_cast<std::size_t>(random.below(kinds.size()))];
        kind.causal = model.causal;
        model.plan.push_back(kind);
    }
}

inline void make_pair(training::Model& model, CounterRandom& random) {
    model.layers = std::max(2, model.layers);
    model.encoder_layers = 1 + random.below(model.layers - 1);
    model.decoder_length = one_of(random, {1.0, 0.25, 2.0});
    model.memory_tokens = 0;
}

inline training::Operator random_operator(CounterRandom& random) {
    training::Operator one;
    one.name = "operator";
    one.kind = one_of(random, {training::OperatorKind::convolution, training::OperatorKind::linear,
                               training::OperatorKind::recurrent, training::OperatorKind::normalisation,
                               training::OperatorKind::elementwise, training::OperatorKind::embedding});
    one.repeats = 1 + random.below(3);
    one.groups = one.kind == training::OperatorKind::convolution ? one_of(random, {1, 1, 4, 16}) : 1;
    one.in = 16 * (1 + random.below(16));
    one.out = 16 * (1 + random.below(16));
    one.kernel = one.kind == training::OperatorKind::convolution ? one_of(random, {1, 3, 7}) : 1;
    one.kernel_width = one.kernel > 1 ? one_of(random, {0, 1}) : 0;
    one.height = one_of(random, {1, 7, 56});
    one.width = one.kind == training::OperatorKind::recurrent ? 1 : one_of(random, {0, 14});
    one.inputs = one_of(random, {1.0, 2.0, 9.0});
    one.trained = !one_in(random, 5);
    return one;
}

inline training::Model random_operators(CounterRandom& random) {
    training::Model model;
    int const count = 2 + random.below(12);
    for (int i = 0; i < count; ++i) { model.operators.push_back(random_operator(random)); }
    model.operators.front().kind = training::OperatorKind::convolution; // something to multiply
    model.nominal_length = 1;
    model.other_parameters = one_of(random, {0.0, 1000.0});
    return model;
}

/// Experts that no layer has, or a hybrid without attention, would leave strategies nothing to split.
inline void fill_in(training::Model& model) {
    if (!model.pattern.empty()) {
        model.pattern.front() = '*';
        if (model.moe.experts > 0 && model.layers > 1) { model.pattern[1] = 'E'; }
    }
    bool const routed = std::ranges::any_of(training::block_runs(model), [](training::BlockRun const& run) {
        return run.kind.channel == training::Channel::experts;
    });
    if (!routed && model.pattern.empty()) { model.moe.first_dense = 0, model.moe.every = 1; }
    if (!routed && !model.pattern.empty()) { model.moe = {}; }
}

inline training::Model random_model(Family family, CounterRandom& random) {
    if (family == Family::operators) { return random_operators(random); }
    training::Model model = random_stack(random);
    switch (family) {
    case Family::mixture: add_experts(model, random); break;
    case Family::latent:
        add_latent_attention(model, random);
        if (one_in(random, 2)) { add_experts(model, random); }
        break;
    case Family::window:
        model.window = one_of(random, {64, 256, 1024});
        model.full_every = one_of(random, {0, 2, 6});
        break;
    case Family::hybrid: make_hybrid(model, random); break;
    case Family::pair: make_pair(model, random); break;
    case Family::dense:
    case Family::operators: break;
    }
    fill_in(model);
    return model;
}

// ---- strategies ---------------------------------------------------------------------------------------------------

inline void draw_experts(training::Strategy& s, training::Model const& model, CounterRandom& random) {
    if (model.moe.experts == 0) { return; }
    s.ep = random_divisor(random, model.moe.experts);
    s.etp = one_of(random, {1, s.tp});
    s.capacity = one_of(random, {0.0, 0.0, 1.0, 1.25});
}

inline void draw_degrees(training::Strategy& s, training::Model const& model, CounterRandom& random) {
    s.dp = one_of(random, {1, 2, 3, 4, 8});
    if (!model.operators.empty()) { return; }
    s.tp = one_in(random, 2) ? 1 : random_divisor(random, model.heads);
    s.cp = one_of(random, {1, 1, 2, 3, 4});
    s.exchange = one_of(random, {training::ContextExchange::gather, training::ContextExchange::ring,
                                 training::ContextExchange::all_to_all});
    s.pp = one_in(random, 2) ? 1 : 1 + random.below(std::min(model.layers, 9));
    if (s.pp > 1 && one_in(random, 2)) { s.virtual_pp = random_divisor(random, (model.layers + s.pp - 1) / s.pp); }
    s.sequence_parallel = s.tp > 1 && one_in(random, 2);
    draw_experts(s, model, random);
}

/// Draws ZeRO, recomputation and offload.
inline void draw_savings(training::Strategy& s, training::Model const& model, CounterRandom& random) {
    s.zero = s.pp > 1 ? random.below(2) : random.below(4);
    if (s.zero == 3 && one_in(random, 2)) { s.shard = random_divisor(random, s.data_ranks()); }
    s.offload = one_of(random, {training::Offload::none, training::Offload::none, training::Offload::optimizer,
                                training::Offload::activations, training::Offload::both});
    s.trained = one_of(random, {training::Trained::all, training::Trained::all, training::Trained::all,
                                training::Trained::lora, training::Trained::last_layers});
    if (!model.operators.empty()) {
        s.trained = training::Trained::all;
        return;
    }
    s.recompute = one_of(random, {training::Recompute::none, training::Recompute::none, training::Recompute::selective,
                                  training::Recompute::full});
    if (s.recompute != training::Recompute::none && one_in(random, 3)) {
        s.recompute_layers = 1 + random.below(model.layers);
    }
    if (s.trained == training::Trained::last_layers) { s.trained_layers = 1 + random.below(model.layers); }
}

/// At most one of local updates, servers and compression.
inline void draw_synchronisation(training::Strategy& s, CounterRandom& random) {
    switch (random.below(6)) {
    case 0: s.local_steps = 4; break;
    case 1: s.servers = one_of(random, {1, 2, 16}); break;
    case 2:
        s.compression.kind = one_of(random, {network::Compression::low_rank, network::Compression::quantised,
                                             network::Compression::top_k, network::Compression::one_bit});
        break;
    default: break;
    }
}

/// Mostly legal; `random_question` draws again where it is not.
inline training::Strategy random_strategy(training::Model const& model, CounterRandom& random) {
    training::Strategy s;
    draw_degrees(s, model, random);
    draw_savings(s, model, random);
    draw_synchronisation(s, random);
    s.micro_batch = one_of(random, {1, 1, 2, 3});
    s.precision = one_of(random, {Precision::bf16, Precision::bf16, Precision::fp16, Precision::fp8});
    s.overlap = one_of(random, {training::Overlap::on, training::Overlap::on, training::Overlap::off});
    return s;
}

inline training::Workload random_workload(training::Model const& model, training::Strategy const& s,
                                          CounterRandom& random) {
    training::Workload workload;
    int const pieces = s.virtual_pp > 1 ? s.pp : 1;
    workload.global_batch = s.dp * s.micro_batch * pieces * (1 + random.below(6));
    workload.sequence_length = model.operators.empty() ? 2 * s.cp * s.tp * one_of(random, {8, 64, 250}) : 1;
    if (!model.operators.empty()) { return workload; }
    workload.documents = one_of(random, {0.0, 0.0, workload.sequence_length / 3.0});
    workload.fill = one_of(random, {1.0, 1.0, 0.625});
    workload.expert_skew = one_of(random, {1.0, 1.0, 1.4});
    return workload;
}

inline training::Disturbance random_disturbance(CounterRandom& random) {
    training::Disturbance disturbance;
    disturbance.imbalance = one_of(random, {1.0, 1.0, 1.1});
    disturbance.congestion = one_of(random, {0.0, 0.0, 0.1});
    if (one_in(random, 4)) { disturbance.spread = 0.02; }
    return disturbance;
}

/// The question of one seed: families take turns.
inline training::Question random_question(std::uint64_t seed) {
    CounterRandom random{seed};
    Family const family = families[seed % families.size()];
    training::Model model = random_model(family, random);
    model.name = std::string{name_of(family)} + " of seed " + std::to_string(seed);
    auto const one = [&random](auto const& from) {
        return from[static_cast<std::size_t>(random.below(static_cast<int>(from.size())))];
    };
    Cluster const cluster = one(some_clusters());
    training::Framework const framework = one(frameworks());
    while (true) {
        training::Strategy const strategy = random_strategy(model, random);
        training::Workload const workload = random_workload(model, strategy, random);
        if (!training::illegal_because(strategy, model, workload).empty()) { continue; }
        training::Question asked = question(model, cluster, framework, strategy, workload);
        asked.disturbance = random_disturbance(random);
        return asked;
    }
}

/// Number of random questions that are of every kind, frameworks among them.
inline constexpr int enough_random = 450;

/// Calls `check` with the questions of so many seeds; what a test changes and may make illegal is its own affair.
template <class Check> void for_random_questions(int count, Check check) {
    for (int seed = 0; seed < count; ++seed) { check(random_question(static_cast<std::uint64_t>(seed))); }
}

/// Some of the grid of known models, machines and strategies, and random questions of every family.
template <class Check> void for_every_question(Check check) {
    for_some_questions(check);
    for_random_questions(test::draws_of(1400, enough_random), check);
}

/// Whether a changed question may still be asked.
inline bool is_legal(training::Question const& question) {
    return training::illegal_because(question.strategy, question.model, question.workload).empty();
}

} // namespace headroom::training
