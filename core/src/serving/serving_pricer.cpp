#include "serving/serving_price.hpp"

#include "headroom/error.hpp"
#include "headroom/network/link_class.hpp"
#include "headroom/training/step.hpp"

#include <cmath>

namespace headroom::serving {

using namespace headroom::training;

namespace {

KernelRates rates_of(Cluster const& cluster, ServedModel const& served, Framework const& framework,
                     Calibration const& constants) {
    return kernel_rates(cluster.accelerator, served.shape.precision, framework, constants);
}

/// Seconds a key, pair, token and sequence. Prefill runs at the rate of fused attention for its reach k = 2 pairs / tokens,
///
///     w pairs / (R k / (k + s0)) = w / R (pairs + s0 / 2 tokens)
///
/// which is linear in both; a decode step moves the cache at a share of what streams reach, or computes for longer.
void add_attention(ServingPricer::Tables& t, ServedBlock const& block) {
    auto const& rates = t.rates;
    double const read = block.cache_bytes / rates.memory.base();
    double const rate = rates.attention.base() * (block.small_head ? rates.small_head : 1.0);
    double const work = t.verified * block.decode_work / rates.attention.base() * block.count;
    double const prefill = block.prefill_work / rate * block.count;
    auto& a = t.attention;
    bool const windowed = block.window > 0;
    (windowed ? a.work_window_key : block.wide ? a.wide_key : a.work_key) += work;
    (windowed ? a.prefill_window_pair : a.prefill_pair) += prefill;
    (windowed ? a.read_window_key : a.read_key) += read * block.count;
    (windowed ? t.decode_window_flops : t.decode_flops) += t.verified * block.decode_work * block.count;
    (windowed ? t.prefill_window_flops : t.prefill_flops) += block.prefill_work * block.count;
    (windowed ? t.window_bytes : t.cache_bytes) += block.cache_bytes * block.count;
    a.prefill_token += prefill * 0.5 * rates.half_length + scan_seconds(t, block) * block.count;
    t.grouped = t.grouped || block.grouped;
    a.decode_sequence += 2.0 * block.state_bytes / rates.memory.base() * block.count;
    t.state_bytes += block.state_bytes * block.count;
}

/// Tokens of the largest iteration.
std::size_t most_tokens(ServingPlan const& plan) {
    return static_cast<std::size_t>(plan.most_sequences) * static_cast<std::size_t>(plan.speculation.verified()) +
           static_cast<std::size_t>(plan.prefill_chunk);
}

/// Table entries beyond those that are exact.
std::size_t strides(ServingPlan const& plan) {
    auto const most = most_tokens(plan);
    auto const exact = ServingPricer::Tables::exact_tokens, stride = ServingPricer::Tables::stride;
    return most > exact ? (most - exact + stride - 1) / stride + 1 : 1;
}

void fill(ServingPricer::Tables& t) {
    auto const& plan = t.plan;
    auto const sequences = static_cast<std::size_t>(plan.most_sequences);
    std::size_t const most = std::min(t.exact_tokens, most_tokens(plan));
    std::size_t const beyond = most == t.exact_tokens ? strides(plan) : 0;
    t.linear.reserve(most + beyond + 1);
    t.exchange.reserve(most + beyond + 1);
    t.linear.push_back(0.0);
    t.exchange.push_back(0.0);
    auto const& factors = plan.law.factors;
    auto const add_tokens = [&](double tokens) {
        auto const parts = linear_parts(t, tokens);
        t.linear.push_back(parts.computed());
        t.exchange.push_back(parts.exchanged(factors));
    };
    for (std::size_t m = 1; m <= most; ++m) { add_tokens(static_cast<double>(m)); }
    for (std::size_t i = 1; i <= beyond; ++i) {
        add_tokens(static_cast<double>(t.exact_tokens) + static_cast<double>(i * t.stride));
    }
    t.head.reserve(sequences + 2);
    for (std::size_t n = 0; n <= sequences + 1; ++n) {
        auto const parts = head_parts(t, static_cast<double>(n) * t.verified);
        t.head.push_back(parts.computed());
        t.head_exchange.push_back(parts.exchanged(factors));
    }
}

bool figure(double value) { return std::isfinite(value) && value >= 0.0; }

void check(ServingBatch const& batch) {
    bool const fine = batch.decoding >= 0 && figure(batch.decode_context) && figure(batch.prefill_tokens) &&
                      figure(batch.prefill_context) && figure(batch.decode_window_context.value_or(0.0)) &&
                      figure(batch.prefill_window_context.value_or(0.0));
    if (!fine) { refuse("serving: batch", "a figure is negative or not finite"); }
}

} // namespace

std::string_view name_of(ServingBound bound) {
    switch (bound) {
    case ServingBound::compute: return "compute";
    case ServingBound::memory: return "memory";
    case ServingBound::communication: return "communication";
    case ServingBound::host: return "host";
    }
    return "memory";
}

ServingPricer::Tables::Tables(Model const& model, Cluster const& cluster, Framework const& stack,
                              Calibration const& values, ServingPlan const& how)
    : plan{how},
      memory{serving_memory(model, cluster, how)},
      framework{stack},
      constants{values},
      served{served_model(model, cluster.accelerator, stack, how)},
      rates{rates_of(cluster, served, framework, constants)},
      pricer{served.shape, cluster, framework, constants},
      hidden{static_cast<double>(model.hidden)},
      element{rates.element},
      stage_link{how.accelerators() <= cluster.domain ? cluster.scale_up : cluster.scale_out},
      far_link{cluster.scale_out},
      verified{static_cast<double>(how.speculation.verified())},
      given{how.speculation.tokens()} {
    if (how.speculation.draft_tokens > 0 && how.speculation.draft) {
        ServingPlan drafting = how; // its steps are scheduled and sampled with the model's
        drafting.kept = nullptr, drafting.speculation = {}, drafting.pp = 1, drafting.law.overhead.sequence = {};
        draft = std::make_unique<Tables>(*how.speculation.draft, cluster, stack, values, drafting);
    }
    for (auto const& block : served.blocks) {
        add_attention(*this, block);
        layers += block.count * block.issue;
    }
    auto& law = plan.law;
    if (!law.overhead.layer) { law.overhead.layer = Seconds{constants[Constant::kernel_gap]}; }
    cache_share = grouped ? law.factors.grouped_cache_share : law.factors.cache_share;
    attention.decode_key =
        std::max(attention.work_key + attention.wide_key / law.factors.wide_share, attention.read_key / cache_share);
    attention.decode_window_key = std::max(attention.work_window_key, attention.read_window_key / cache_share);
    gaps = law.overhead.layer->base() * layers;
    prompt_gaps = law.overhead.prompt_layer.value_or(*law.overhead.layer).base() * layers;
    sequence = law.overhead.sequence.base();
    auto const link = network::link_class(cluster.scale_up_name);
    bool const inside = plan.tp > 1 && plan.tp <= cluster.domain;
    own_exchanges = inside && (link == network::LinkClass::nvlink || link == network::LinkClass::chip);
    if (inside && link == network::LinkClass::pcie && cluster.accelerator.peer_to_peer) {
        peer_share = calibrated_fabric(cluster, constants).scale_up.bandwidth / cluster.scale_up.bandwidth;
    }
    host = plan.graphs ? 0.0 : constants[Constant::host_modern] * layers;
    fill(*this);
}

double ServingPricer::Tables::window_keys(ServingBatch const& batch) const {
    if (memory.window == 0) { return 0.0; }
    return batch.decode_window_context.value_or(
        std::min(batch.decode_context, static_cast<double>(batch.decoding) * memory.window));
}

double ServingPricer::Tables::window_pairs(ServingBatch const& batch) const {
    if (memory.window == 0) { return 0.0; }
    return batch.prefill_window_context.value_or(std::min(batch.prefill_context, batch.prefill_tokens * memory.window));
}

ServingPricer::ServingPricer(Model const& model, Cluster const& cluster, Framework const& framework,
                             Calibration const& constants, ServingPlan const& plan)
    : tables_{std::make_unique<Tables>(model, cluster, framework, constants, plan)} {}
ServingPricer::~ServingPricer() = default;
ServingPricer::ServingPricer(ServingPricer&&) noexcept = default;
ServingPricer& ServingPricer::operator=(ServingPricer&&) noexcept = default;

ServingMemory const& ServingPricer::memory() const { return tables_->memory; }
ServingPlan const& ServingPricer::plan() const { return tables_->plan; }

namespace {

/// Everything of an iteration that does not depend on contexts.
ServingParts parts_of(ServingPricer::Tables const& t, ServingBatch const& batch) {
    double const sequences = batch.decoding + (batch.prefill_tokens > 0.0 ? 1.0 : 0.0);
    auto parts = linear_parts(t, batch.decoding * t.verified + batch.prefill_tokens);
    parts.add(head_parts(t, sequences * t.verified), 1.0);
    return parts;
}

ServingLoad load_of(ServingPricer::Tables const& t, ServingBatch const& batch, ServingParts const& parts) {
    double const sequences = batch.decoding, keys = batch.decode_context, window_keys = t.window_keys(batch);
    double const prefill = t.prefill_attention(batch.prefill_tokens, batch.prefill_context, t.window_pairs(batch));
    auto const& a = t.attention;
    return {.products = Seconds{parts.products},
            .memory = Seconds{parts.memory},
            .prefill_attention = Seconds{prefill},
            .decode_work = Seconds{a.work_key * keys},
            .decode_read = Seconds{a.read_key * keys},
            .wide_work = Seconds{a.wide_key * keys},
            .window_work = Seconds{a.work_window_key * window_keys},
            .window_read = Seconds{a.read_window_key * window_keys},
            .states = Seconds{a.decode_sequence * sequences},
            .communication = Seconds{parts.communication},
            .exchange_floors = Seconds{parts.exchange_floors},
            .exchanges = parts.exchanges,
            .peer_traffic = Seconds{parts.peer_traffic},
            .peer_rate = Seconds{parts.peer_rate},
            .layers = t.layers,
            .sequences = sequences,
            .prefill_share = batch.prefill_tokens / (sequences * t.verified + batch.prefill_tokens),
            .grouped = t.grouped};
}

double cache_share_of(bool grouped, ServingFactors const& factors) {
    return grouped ? factors.grouped_cache_share : factors.cache_share;
}

/// Factor on what is computed, by the share of prompts in it.
double computed_factor(double prefill_share, ServingFactors const& factors) {
    return 1.0 - (1.0 - factors.prefill) * prefill_share;
}

Seconds decode_attention(ServingLoad const& load, ServingFactors const& factors) {
    double const share = cache_share_of(load.grouped, factors);
    return std::max(load.decode_work + load.wide_work / factors.wide_share, load.decode_read / share) +
           std::max(load.window_work, load.window_read / share) + load.states;
}

/// Time between kernels and of the host; a law without a layer's overhead has none here.
Seconds added_by_engine(ServingLoad const& load, EngineOverhead const& overhead) {
    auto const& decode = overhead.layer;
    auto const layer = load.prefill_share > 0.0 && overhead.prompt_layer ? overhead.prompt_layer : decode;
    return load.layers * layer.value_or(Seconds{}) + load.sequences * overhead.sequence;
}

} // namespace

Seconds law_time(ServingLoad const& load, ServingLaw const& law) {
    auto const& factors = law.factors;
    return computed_factor(load.prefill_share, factors) * (load.products + load.memory) +
           decode_attention(load, factors) + factors.prefill * load.prefill_attention +
           Seconds{exchanged_seconds(load, factors)} + added_by_engine(load, law.overhead);
}

ServingLoad ServingPricer::load(ServingBatch const& batch) const {
    check(batch);
    if (batch.decoding + batch.prefill_tokens <= 0.0) { return {}; }
    return load_of(*tables_, batch, parts_of(*tables_, batch));
}

ServingTime ServingPricer::price(ServingBatch const& batch) const {
    check(batch);
    auto const& t = *tables_;
    ServingTime time;
    if (batch.decoding + batch.prefill_tokens <= 0.0) { return time; }
    ServingLaw const& law = t.plan.law;
    auto parts = parts_of(t, batch);
    ServingLoad const load = load_of(t, batch, parts);
    double const keys = batch.decode_context, window_keys = t.window_keys(batch), sequences = batch.decoding;
    double const factor = computed_factor(load.prefill_share, law.factors);
    Seconds const decode = decode_attention(load, law.factors), prefill = law.factors.prefill * load.prefill_attention;
    time.read = Bytes{parts.read + t.cache_bytes * keys + t.window_bytes * window_keys + t.state_bytes * sequences};
    time.flops = Flops{parts.flops + t.decode_flops * keys + t.decode_window_flops * window_keys +
                       t.prefill_flops * batch.prefill_context + t.prefill_window_flops * t.window_pairs(batch)};
    time.products = factor * load.products, time.memory = factor * load.memory, time.attention = decode + prefill;
    time.communication = Seconds{exchanged_seconds(load, law.factors)};
    time.gaps = added_by_engine(load, t.plan.law.overhead), time.host = Seconds{t.host};
    Seconds const chip = time.products + time.memory + time.attention + time.communication + time.gaps;
    time.draft = Seconds{
        t.drafted(sequences, keys, window_keys, batch.prefill_tokens, batch.prefill_context, t.window_pairs(batch))};
    time.total = std::max(chip, time.host) + time.draft;
    Seconds const memory = decode + time.memory + Seconds{factor * parts.by_memory};
    Seconds const compute = prefill + Seconds{factor * parts.by_compute};
    time.bound = compute > memory ? ServingBound::compute : ServingBound::memory;
    if (time.communication > std::max(compute, memory)) { time.bound = ServingBound::communication; }
    if (time.host > chip) { time.bound = ServingBound::host; }
    return time;
}

Seconds ServingPricer::iteration(ServingBatch const& batch) const {
    auto const& t = *tables_;
    double const tokens = batch.decoding + batch.prefill_tokens;
    if (tokens <= 0.0) { return Seconds{}; }
    if (batch.decoding > t.plan.most_sequences || batch.prefill_tokens > t.plan.prefill_chunk) {
        return price(batch).total;
    }
    double const window_keys = t.window_keys(batch), sequences = batch.decoding;
    if (batch.prefill_tokens <= 0.0) {
        return Seconds{t.decode(sequences, batch.decode_context, window_keys, 0.0).sum(1.0)};
    }
    return Seconds{t.mixed(sequences, batch.decode_context, window_keys, batch.prefill_tokens, batch.prefill_context,
                           t.window_pairs(batch))};
}

Seconds ServingPricer::iterations(ServingBatch const& first, std::int64_t n) const {
    auto const& t = *tables_;
    if (n <= 0) { return Seconds{}; }
    if (first.prefill_tokens > 0.0 || first.decoding <= 0 || first.decoding > t.plan.most_sequences) {
        refuse("serving: batch", "iterations in a row are of decoding sequences alone");
    }
    // up to the window all read more from one iteration to the next, from there on none
    double const sequences = first.decoding, keys = first.decode_context, seen = t.window_keys(first);
    double const left = t.memory.window > 0 ? sequences * t.memory.window - seen : 0.0;
    double const growing = std::min(static_cast<double>(n), std::ceil(std::max(0.0, left) / sequences));
    double const full = std::min(sequences * t.memory.window, seen + growing * sequences);
    double total = t.decode_tokens(sequences, keys, seen, sequences).sum(growing);
    total += t.decode_tokens(sequences, keys + growing * sequences, full, 0.0).sum(static_cast<double>(n) - growing);
    return Seconds{total};
}

} // namespace headroom::serving
