#include "headroom/counter_random.hpp"
#include "headroom/simulation_agreement.hpp"

#include <initializer_list>

namespace headroom {
namespace {

template <class T> T one_of(CounterRandom& random, std::initializer_list<T> from) {
    return from.begin()[random.below(static_cast<int>(from.size()))];
}
template <class T> T const& one_of(CounterRandom& random, std::vector<T> const& from) {
    return from[static_cast<std::size_t>(random.below(static_cast<int>(from.size())))];
}
/// True in one of so many draws.
bool one_in(CounterRandom& random, int draws) { return random.below(draws) == 0; }

void draw_schedule(Strategy& s, Model const& model, CounterRandom& random) {
    if (s.pp == 1) { return; }
    if (!one_in(random, 5)) { return; } // most run 1F1B
    if (one_in(random, 2)) {
        set_schedule(s, PipelineSchedule::interleaved, model);
        return;
    }
    auto const rows = pipeline_schedules();
    set_schedule(s, rows[static_cast<std::size_t>(random.below(static_cast<int>(rows.size())))].id, model);
}

/// At most one of local updates, servers and compression.
void draw_synchronisation(Strategy& s, CounterRandom& random) {
    switch (random.below(6)) {
    case 0: s.local_steps = 4; break;
    case 1: s.servers = one_of(random, {1, 2, 16}); break;
    case 2:
        s.compression.kind =
            one_of(random, {Compression::low_rank, Compression::quantised, Compression::top_k, Compression::one_bit});
        break;
    default: break;
    }
}

void draw_degrees(Strategy& s, Model const& model, CounterRandom& random) {
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
    if (!model.causal) { s.micro_batch *= 64; } // short sequences, many of them
}

/// What is kept, computed again and moved away.
void draw_savings(Strategy& s, Model const& model, CounterRandom& random) {
    s.zero = s.pp > 1 ? one_of(random, {0, 1, 1}) : one_of(random, {0, 1, 2, 3});
    s.recompute = one_of(random, {Recompute::none, Recompute::none, Recompute::selective, Recompute::full});
    if (s.recompute != Recompute::none && one_in(random, 8)) { s.recompute_layers = 1 + random.below(model.layers); }
    s.overlap = one_in(random, 12) ? Overlap::off : Overlap::on;
    s.precision = one_in(random, 8) ? Precision::fp8 : Precision::bf16;
    if (one_in(random, 48)) { s.offload = one_of(random, {Offload::optimizer, Offload::activations}); }
    if (one_in(random, 24)) { s.trained = Trained::adapters; }
    if (one_in(random, 32)) { draw_synchronisation(s, random); }
}

/// A whole number of batches of the pipeline, of sequences of a usual length.
Workload draw_workload(Strategy const& s, Model const& model, CounterRandom& random) {
    Workload workload;
    int const micro_batches = s.pp * one_of(random, {1, 2, 3, 4});
    workload.global_batch = s.dp * s.micro_batch * micro_batches;
    workload.sequence_length = model.causal ? one_of(random, {4096, 8192}) : 512;
    return workload;
}

/// A stream of its own for every plan: other multiples than those by which the stream counts.
CounterRandom random_of(std::uint64_t seed, std::uint64_t index) {
    return CounterRandom{(index ^ 0x5174ULL) + seed * 0xD1B54A32D192ED03ULL};
}

} // namespace

Question random_plan(PlanMenu const& menu, std::uint64_t seed, std::uint64_t index) {
    CounterRandom random = random_of(seed, index);
    Question question;
    question.model = menu.models[index % menu.models.size()];
    question.cluster = one_of(random, menu.clusters);
    question.framework = one_of(random, menu.frameworks);
    while (true) {
        Strategy s;
        draw_degrees(s, question.model, random);
        draw_savings(s, question.model, random);
        draw_schedule(s, question.model, random);
        question.workload = draw_workload(s, question.model, random);
        if (peak_rate(question.cluster.accelerator, s.precision).base() <= 0.0) { s.precision = Precision::fp16; }
        question.strategy = s;
        if (illegal_because(s, question.model, question.workload).empty()) { return question; }
    }
}

} // namespace headroom
