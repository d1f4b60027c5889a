#include "serving/serving_price.hpp"

#include "headroom/error.hpp"

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
    double const read = block.cache_bytes / (rates.memory.base() * cache_read_share);
    double const rate = rates.attention.base() * (block.small_head ? rates.small_head : 1.0);
    double const decode = std::max(block.decode_work / rates.attention.base(), read) * block.count;
    double const prefill = block.prefill_work / rate * block.count;
    auto& a = t.attention;
    bool const windowed = block.window > 0;
    (windowed ? a.decode_window_key : a.decode_key) += decode;
    (windowed ? a.prefill_window_pair : a.prefill_pair) += prefill;
    (windowed ? a.read_window_key : a.read_key) += read * block.count;
    (windowed ? t.decode_window_flops : t.decode_flops) += block.decode_work * block.count;
    (windowed ? t.prefill_window_flops : t.prefill_flops) += block.prefill_work * block.count;
    (windowed ? t.window_bytes : t.cache_bytes) += block.cache_bytes * block.count;
    a.prefill_token += prefill * 0.5 * rates.half_length + scan_seconds(t, block) * block.count;
    a.decode_sequence += 2.0 * block.state_bytes / rates.memory.base() * block.count;
    t.state_bytes += block.state_bytes * block.count;
}

/// Table entries beyond those that are exact.
std::size_t strides(ServingPlan const& plan) {
    auto const most = static_cast<std::size_t>(plan.most_sequences) + static_cast<std::size_t>(plan.prefill_chunk);
    auto const exact = ServingPricer::Tables::exact_tokens, stride = ServingPricer::Tables::stride;
    return most > exact ? (most - exact + stride - 1) / stride + 1 : 1;
}

void fill(ServingPricer::Tables& t) {
    auto const& plan = t.plan;
    auto const sequences = static_cast<std::size_t>(plan.most_sequences);
    std::size_t const most = std::min(t.exact_tokens, sequences + static_cast<std::size_t>(plan.prefill_chunk));
    std::size_t const beyond = most == t.exact_tokens ? strides(plan) : 0;
    t.linear.reserve(most + beyond + 1);
    t.linear.push_back(0.0);
    for (std::size_t m = 1; m <= most; ++m) {
        t.linear.push_back(linear_parts(t, static_cast<double>(m)).seconds() + t.gaps);
    }
    for (std::size_t i = 1; i <= beyond; ++i) {
        double const tokens = static_cast<double>(t.exact_tokens) + static_cast<double>(i * t.stride);
        t.linear.push_back(linear_parts(t, tokens).seconds() + t.gaps);
    }
    t.head.reserve(sequences + 2);
    for (std::size_t n = 0; n <= sequences + 1; ++n) {
        t.head.push_back(head_parts(t, static_cast<double>(n)).seconds());
    }
}

bool figure(double value) { return std::isfinite(value) && value >= 0.0; }

void check(ServingBatch const& batch) {
    bool const fine = batch.decoding >= 0 && figure(batch.decode_context) && figure(batch.prefill_tokens) &&
                      figure(batch.prefill_context) && figure(batch.decode_window_context.value_or(0.0)) &&
                      figure(batch.prefill_window_context.value_or(0.0));
    if (!fine) {
        throw InputError{Fault::usage, {.where = "serving: batch", .problem = "a figure is negative or not finite"}};
    }
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
      element{rates.element} {
    double layers = 0.0;
    for (auto const& block : served.blocks) {
        add_attention(*this, block);
        layers += block.count * block.issue;
    }
    gaps = constants[Constant::kernel_gap] * layers;
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

ServingTime ServingPricer::price(ServingBatch const& batch) const {
    check(batch);
    auto const& t = *tables_;
    double const tokens = batch.decoding + batch.prefill_tokens;
    ServingTime time;
    if (tokens <= 0.0) { return time; }
    double const sequences = batch.decoding, keys = batch.decode_context, window_keys = t.window_keys(batch);
    double const window_pairs = t.window_pairs(batch);
    auto parts = linear_parts(t, tokens);
    parts.add(head_parts(t, sequences + (batch.prefill_tokens > 0.0 ? 1.0 : 0.0)), 1.0);
    double const states = t.attention.decode_sequence * sequences;
    double const decode = t.attention.decode_key * keys + t.attention.decode_window_key * window_keys;
    double const prefill = t.prefill_attention(batch.prefill_tokens, batch.prefill_context, window_pairs);
    parts.attention = decode + prefill + states;
    parts.read += t.cache_bytes * keys + t.window_bytes * window_keys + t.state_bytes * sequences;
    parts.flops += t.decode_flops * keys + t.decode_window_flops * window_keys +
                   t.prefill_flops * batch.prefill_context + t.prefill_window_flops * window_pairs;
    parts.by_memory += decode + states + parts.memory;
    parts.by_compute += prefill;
    time.products = Seconds{parts.products}, time.attention = Seconds{parts.attention};
    time.memory = Seconds{parts.memory}, time.communication = Seconds{parts.communication};
    time.gaps = Seconds{t.gaps}, time.host = Seconds{t.host};
    time.read = Bytes{parts.read}, time.flops = Flops{parts.flops};
    double const chip = parts.seconds() + t.gaps;
    time.total = Seconds{std::max(chip, t.host)};
    time.bound = parts.by_compute > parts.by_memory ? ServingBound::compute : ServingBound::memory;
    if (parts.communication > std::max(parts.by_compute, parts.by_memory)) { time.bound = ServingBound::communication; }
    if (t.host > chip) { time.bound = ServingBound::host; }
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
        throw InputError{Fault::usage,
                         {.where = "serving: batch", .problem = "iterations in a row are of decoding sequences alone"}};
    }
    // up to the window all read more from one iteration to the next, from there on none
    double const sequences = first.decoding, keys = first.decode_context, seen = t.window_keys(first);
    double const left = t.memory.window > 0 ? sequences * t.memory.window - seen : 0.0;
    double const growing = std::min(static_cast<double>(n), std::ceil(std::max(0.0, left) / sequences));
    double const full = std::min(sequences * t.memory.window, seen + growing * sequences);
    double total = t.decode(sequences, keys, seen, sequences).sum(growing);
    total += t.decode(sequences, keys + growing * sequences, full, 0.0).sum(static_cast<double>(n) - growing);
    return Seconds{total};
}

} // namespace headroom::serving
