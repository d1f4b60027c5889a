#include "headroom/counter_random.hpp"
#include "headroom/training/simulation_agreement.hpp"

#include <initializer_list>

namespace headroom::training {

using namespace headroom::network;

namespace {

constexpr int most_micro_batches = 64;

template <class T> T one_of(CounterRandom& random, std::initializer_list<T> from) {
    return from.begin()[random.below(static_cast<int>(from.size()))];
}
template <class T> T const& one_of(CounterRandom& random, std::vector<T> const& from) {
    return from[static_cast<std::size_t>(random.below(static_cast<int>(from.size())))];
}
/// True in one of `draws` draws.
bool one_in(CounterRandom& random, int draws) { return random.below(draws) == 0; }

/// A power of two, all from `least` to `most` alike.
int power_from(CounterRandom& random, int least, int most) {
    int doublings = 0;
    for (int value = least; value < most; value *= 2) { ++doublings; }
    return least << random.below(doublings + 1);
}

PipelineSchedule other_schedule(CounterRandom& random) {
    std::vector<PipelineSchedule> others;
    for (ScheduleRow const& row : pipeline_schedules()) {
        if (row.id != PipelineSchedule::one_f_one_b && row.id != PipelineSchedule::interleaved) {
            others.push_back(row.id);
        }
    }
    return one_of(random, others);
}

void draw_schedule(Strategy& s, CounterRandom& random) {
    if (s.pp == 1) { return; }
    if (one_in(random, 4)) {
        s.pipeline = other_schedule(random);
    } else if (one_in(random, 2)) {
        s.virtual_pp = one_of(random, {2, 4, 8}); // of 1F1B: interleaved
    }
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

/// Draws options that few plans have.
void draw_rare_options(Strategy& s, Model const& model, CounterRandom& random) {
    auto const rarely = [&random] { return one_in(random, 20); };
    if (rarely()) { s.precision = Precision::fp8; }
    if (rarely()) { s.overlap = Overlap::off; }
    if (rarely()) {
        for (TrafficKind const kind : traffic_kinds) {
            s.overlap[kind] = one_of(random, {Overlap::off, Overlap::on, Overlap::hidden});
        }
    }
    if (rarely()) { s.offload = one_of(random, {Offload::optimizer, Offload::activations, Offload::both}); }
    if (rarely() && s.recompute != Recompute::none) { s.recompute_layers = 1 + random.below(model.layers); }
    if (rarely()) { s.trained = one_of(random, {Trained::lora, Trained::last_layers}); }
    if (s.trained == Trained::last_layers) { s.trained_layers = 1 + random.below(model.layers); }
    if (rarely()) { draw_synchronisation(s, random); }
}

/// All but the data-parallel degree.
Strategy draw_strategy(Model const& model, CounterRandom& random) {
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
    if (s.zero > 0 && one_in(random, 4)) { s.shard = power_from(random, 1, 64); }
    s.recompute = one_of(random, {Recompute::none, Recompute::selective, Recompute::full});
    draw_schedule(s, random);
    draw_rare_options(s, model, random);
    return s;
}

Workload draw_workload(Model const& model, CounterRandom& random) {
    int const length = model.causal ? power_from(random, 2048, 16384) : 512;
    return {.sequence_length = length, .global_batch = power_from(random, 16, 4096)};
}

/// Gives the workers that a replica leaves to data parallelism; false where that, or the batch, does not come out whole
/// or is larger than the grid.
bool fill_workers(Strategy& s, Workload const& workload, int workers) {
    int const ranks_of_a_replica = s.tp * s.pp * s.cp;
    if (workers % ranks_of_a_replica != 0) { return false; }
    s.dp = workers / ranks_of_a_replica;
    bool const whole = workload.global_batch % (s.dp * s.micro_batch) == 0;
    return whole && whole_micro_batches(s, workload) <= most_micro_batches;
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
    int const workers = power_from(random, 8, 1024);
    while (true) {
        Strategy s = draw_strategy(question.model, random);
        question.workload = draw_workload(question.model, random);
        if (!fill_workers(s, question.workload, workers)) { continue; }
        if (!illegal_because(s, question.model, question.workload).empty()) { continue; }
        if (peak_rate(question.cluster.accelerator, s.precision).base() <= 0.0) { s.precision = Precision::fp16; }
        if (!illegal_because(s, question.model, question.workload).empty()) { continue; }
        question.strategy = s;
        return question;
    }
}

} // namespace headroom::training
