#include "headroom/training/kernel.hpp"

#include "headroom/training/host_launches.hpp"
#include "headroom/training/smooth_maximum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

namespace headroom::training {
namespace {

struct GenerationRow {
    Constant gemm, attention;
};

GenerationRow row_of(Generation generation) {
    using enum Generation;
    using enum Constant;
    switch (generation) {
    case volta:
    case turing: return {gemm_volta, attention_other};
    case ampere: return {gemm_ampere, attention_ampere};
    case ada: return {gemm_ada, attention_other};
    case hopper: return {gemm_hopper, attention_hopper};
    case blackwell: return {gemm_blackwell, attention_hopper};
    case blackwell_ultra: return {gemm_blackwell_ultra, attention_hopper};
    case ada_consumer:
    case blackwell_consumer: return {gemm_consumer, attention_consumer};
    case tpu_v3:
    case tpu_v4:
    case tpu_v5e:
    case tpu_v5p:
    case tpu_v6e:
    case tpu_v7x: return {gemm_tpu, attention_tpu};
    case cdna2:
    case cdna3:
    case cdna4: return {gemm_cdna, attention_other};
    default: return {gemm_other, attention_other};
    }
}

/// Constants of a chip. GeForce sums in 32 bits at half the rate and sustains more of it, as do other cut parts.
GenerationRow row_of(Accelerator const& chip) {
    return row_of(cut_share(chip) < 1.0 ? chip.generation : Generation::ada_consumer);
}

/// The constant that an attention kernel has besides; none: a factor of 1.
std::optional<Constant> attention_kernel_factor(AttentionKernel kernel, Generation generation) {
    bool const hopper_or_later = generation == Generation::hopper || generation == Generation::blackwell ||
                                 generation == Generation::blackwell_ultra;
    switch (kernel) {
    case AttentionKernel::flash1: return hopper_or_later ? Constant::flash1_hopper : Constant::flash1_factor;
    case AttentionKernel::flash2:
    case AttentionKernel::sdpa: return hopper_or_later ? std::optional{Constant::flash2_hopper} : std::nullopt;
    default: return std::nullopt;
    }
}

double value_of(std::optional<Constant> id, Calibration const& constants) { return id ? constants[*id] : 1.0; }

struct Tile {
    double m, n, efficiency;
};
// Smaller tiles reuse operands less: efficiencies relative to the largest, from the vendor's guide.
constexpr std::array<Tile, 4> tiles{{{256, 128, 1.0}, {128, 128, 0.93}, {128, 64, 0.75}, {64, 64, 0.55}}};
constexpr double waves_that_quantise = 12.0; ///< later waves drain unevenly and fill each other's gaps
constexpr double mean_tail = 0.5;            ///< of a last wave that is not full, which takes as long as a whole one

/// Fused attention runs backward as five products of the size of the two of the forward pass [Dao2023].
constexpr double fused_backward_work = 2.5;
/// Up to here fused kernels are held back by exponentials, not products; `attention_small_head` is by how much.
constexpr double largest_small_head = 80.0;

// Batched score products of unfused attention. Guesses after the shape of the tensor units, not fitted: d / (d + 40)
// of the rate for a head dimension d, the short inner dimension of the one product and the width of the other;
// and a loss where rows of d elements do not fill whole fragments, or whole tiles.
constexpr double half_rate_head = 40.0;
constexpr double fragment = 8.0, tile_width = 64.0;
constexpr double partial_tile_rate = 0.72;

double waves(double tile_count, double units) {
    double const exact = tile_count / units;
    return exact <= waves_that_quantise ? std::ceil(exact) : exact + mean_tail;
}

/// Score products over the whole square, both of them: 4 m n k d, `times` over (backward makes them twice).
/// Source: [Korthikanti2022]
double unfused_attention_work(Operation const& operation) {
    return 4.0 * operation.m * operation.n * operation.k * operation.d * operation.times;
}

double fused_attention_work(Operation const& operation) {
    double const forward = 4.0 * operation.m * operation.n * operation.keys * operation.d;
    return forward * (operation.phase == Phase::backward ? fused_backward_work : 1.0);
}

/// Ratio of the FP32 peak of the vector units to the tensor units' peak at `precision`: the rate of a product that cannot use
/// tensor units over that of one that can. A chip without a published FP32 peak gets an A100's ratio, 19.5 / 312 TFLOP/s.
double share_of_vector_units(Accelerator const& chip, Precision precision) {
    constexpr double of_a100 = 19.5 / 312.0;
    auto const vector = peak_rate(chip, Precision::fp32), tensor = peak_rate(chip, plain_precision(precision));
    return vector.base() > 0.0 && tensor.base() > 0.0 ? std::min(1.0, vector.base() / tensor.base()) : of_a100;
}

Seconds unfused_attention_time(Operation const& operation, KernelRates const& rates) {
    double const work = unfused_attention_work(operation);
    double const d = operation.d;
    double rate = rates.unfused.base() * d / (d + half_rate_head);
    auto const remainder = [d](double unit) { return std::fmod(d, unit) != 0.0; };
    if (remainder(fragment)) {
        rate *= rates.misaligned;
    } else if (remainder(tile_width)) {
        rate *= partial_tile_rate;
    }
    return Seconds{work / rate};
}

} // namespace

Constant gemm_constant(Accelerator const& chip) { return row_of(chip).gemm; }

KernelRates kernel_rates(Accelerator const& chip, Precision precision, Framework const& framework,
                         Calibration const& constants) {
    auto const row = row_of(chip);
    double const fraction = sustained_fraction(chip, precision, framework, constants);
    double const share = untuned_share(chip, precision, framework, constants);
    auto const sixteen_bit = peak_rate(chip, plain_precision(precision)) * share;
    double const fused = elementwise_factor(framework, constants);
    KernelRates rates;
    rates.traffic.fill(1.0);
    double const narrow = precision == Precision::nvfp4 ? constants[Constant::nvfp4] : 1.0;
    rates.gemm = peak_rate(chip, precision) * share * fraction * narrow * recipe_factor(precision, framework);
    rates.head_gemm = sixteen_bit * fraction;
    rates.attention = sixteen_bit * constants[row.attention] *
                      cut_factor(chip, constants, row.attention, Constant::attention_consumer) *
                      value_of(attention_kernel_factor(framework.attention, chip.generation), constants);
    rates.unfused = rates.head_gemm * constants[Constant::unfused_gemm];
    rates.memory = sustained_memory(chip, constants);
    rates.element = element_bytes(precision);
    rates.operand = operand_bytes(precision);
    rates.units = chip.units;
    rates.half_length = constants[Constant::attention_half_length];
    rates.small_head = constants[Constant::attention_small_head];
    rates.backward = constants[Constant::attention_backward];
    rates.misaligned = share_of_vector_units(chip, precision);
    auto const traffic = [&rates](MemoryClass kind) -> double& {
        return rates.traffic[static_cast<std::size_t>(kind)];
    };
    for (MemoryClass const kind : {MemoryClass::hidden, MemoryClass::sharded, MemoryClass::feed_forward}) {
        traffic(kind) = constants[Constant::bytes_elementwise] * fused;
    }
    traffic(MemoryClass::logits) = framework.loss_bytes > 0.0 ? framework.loss_bytes : constants[Constant::bytes_logit];
    traffic(MemoryClass::scores) = constants[Constant::unfused_passes];
    traffic(MemoryClass::scan) = constants[Constant::scan_bytes];
    rates.grouped = constants[Constant::grouped_gemm];
    return rates;
}

namespace {

/// Products as tiles on the units of a chip.
struct TiledProduct {
    Tile const* tile = nullptr; ///< the fastest shape; none: a chip without units
    double tiles = 0.0;
    double busy = 0.0; ///< tiles that the units could have worked on meanwhile
    double seconds = 0.0;
};

/// `count` products of one shape in one launch, their tiles in one queue.
TiledProduct tiled_product(double count, double m, double n, double k, FlopsPerSecond rate, KernelRates const& rates) {
    TiledProduct best;
    if (rates.units <= 0.0) {
        best.seconds = 2.0 * count * m * n * k / rate.base();
        return best;
    }
    double least = 0.0;
    for (auto const& tile : tiles) {
        double const queued = count * std::ceil(m / tile.m) * std::ceil(n / tile.n);
        // fewer tiles than units: split-K keeps every unit busy on a share of each tile
        double const work = queued <= rates.units ? queued : waves(queued, rates.units) * rates.units;
        double const cost = work * tile.m * tile.n / tile.efficiency;
        if (best.tile == nullptr || cost < least) {
            least = cost;
            best = {.tile = &tile, .tiles = queued, .busy = work, .seconds = 2.0 * cost * k / rate.base()};
        }
    }
    return best;
}

double plain_bytes(double m, double n, double k, KernelRates const& rates) {
    return rates.operand * (m * k + k * n) + rates.element * m * n;
}

/// Bytes that one of the `times` products moves.
double product_bytes(Operation const& o, KernelRates const& rates) {
    return o.bytes.base() > 0.0 ? o.bytes.base() : plain_bytes(o.m, o.n, o.k, rates);
}

/// Reads of queries and writes of outputs, reads of keys and values; backward each of them again for gradients.
double fused_attention_bytes(Operation const& o, KernelRates const& rates, double queries_per_key) {
    double const once = rates.element * o.m * o.d * (2.0 * o.n + 2.0 * o.k / queries_per_key);
    return o.phase == Phase::backward ? 2.0 * once : once;
}

/// Bytes that unfused attention moves: its ends, and the scores that the first product writes and the second reads.
double unfused_attention_bytes(Operation const& o, KernelRates const& rates, double queries_per_key) {
    double const ends = 2.0 * o.n * o.d + 2.0 * o.k * o.d / queries_per_key;
    return rates.element * o.m * (ends + 2.0 * o.n * o.k) * o.times;
}

/// A program counts logits where the loss reads each and writes its gradient, and one pass over scores that are read
/// and written.
double elementwise_bytes(Operation const& o, KernelRates const& rates) {
    switch (o.memory) {
    case MemoryClass::logits: return 2.0 * rates.element * o.bytes.base();
    case MemoryClass::scores: return 2.0 * o.bytes.base();
    default: return o.bytes.base();
    }
}

} // namespace

Demand demand_of(Operation const& operation, KernelRates const& rates, double queries_per_key) {
    auto const& o = operation;
    switch (o.kind) {
    case OperationKind::gemm:
    case OperationKind::grouped_gemm:
        return {Flops{2.0 * o.m * o.n * o.k * o.times}, Bytes{product_bytes(o, rates) * o.times}};
    case OperationKind::attention:
        return {Flops{fused_attention_work(o)}, Bytes{fused_attention_bytes(o, rates, queries_per_key)}};
    case OperationKind::unfused_attention:
        return {Flops{unfused_attention_work(o)}, Bytes{unfused_attention_bytes(o, rates, queries_per_key)}};
    case OperationKind::memory: {
        double const moved = elementwise_bytes(o, rates);
        return {Flops{moved / rates.element}, Bytes{moved}, true};
    }
    case OperationKind::collective:
    case OperationKind::exchange: break;
    }
    return {};
}

Seconds product_time(Operation const& operation, FlopsPerSecond rate, KernelRates const& rates) {
    auto const& o = operation;
    bool const grouped = o.kind == OperationKind::grouped_gemm;
    double const moved = product_bytes(o, rates);
    double const launched = grouped ? o.times : 1.0;
    double const seconds = tiled_product(launched, o.m, o.n, o.k, grouped ? rate * rates.grouped : rate, rates).seconds;
    double const one = smooth_maximum(seconds, launched * moved / rates.memory.base());
    return Seconds{grouped ? one : one * o.times};
}

Seconds attention_time(Operation const& operation, KernelRates const& rates) {
    bool const backward = operation.phase == Phase::backward;
    double const work = fused_attention_work(operation);
    double const reach = operation.k / (operation.k + rates.half_length);
    double const head = operation.d <= largest_small_head ? rates.small_head : 1.0;
    double const pass = backward ? rates.backward : 1.0;
    return Seconds{work / (rates.attention.base() * reach * head * pass)};
}

Seconds kernel_time(Operation const& operation, KernelRates const& rates) {
    switch (operation.kind) {
    case OperationKind::gemm:
    case OperationKind::grouped_gemm: return product_time(operation, rates.gemm, rates);
    case OperationKind::attention: return attention_time(operation, rates);
    case OperationKind::unfused_attention: return unfused_attention_time(operation, rates);
    case OperationKind::memory:
        return operation.bytes * rates.traffic[static_cast<std::size_t>(operation.memory)] / rates.memory;
    case OperationKind::collective:
    case OperationKind::exchange: return Seconds{};
    }
    return Seconds{};
}

// ---- explanation ----------------------------------------------------------------------------------------------------

namespace {

/// Name of the factor on the counted bytes of element-wise work in an explanation; empty: 1.
std::string traffic_factor(MemoryClass kind) {
    switch (kind) {
    case MemoryClass::hidden:
    case MemoryClass::sharded:
    case MemoryClass::feed_forward: return "elementwise_traffic";
    case MemoryClass::logits: return "logit_traffic";
    case MemoryClass::scores: return "unfused_passes";
    case MemoryClass::scan: return "scan_bytes";
    default: return {};
    }
}

void explain_traffic(TermBook& book, Framework const& framework, Calibration const& constants,
                     KernelRates const& rates) {
    std::string const fused = explain_elementwise(book, framework, constants);
    auto const add = [&](MemoryClass kind, std::string const& formula) {
        book.formula(traffic_factor(kind), "", formula, rates.traffic[static_cast<std::size_t>(kind)]);
    };
    add(MemoryClass::hidden, explain(book, constants, Constant::bytes_elementwise) + fused);
    if (framework.loss_bytes > 0.0) {
        book.add(TermKind::framework, "loss_bytes", "", framework.name, framework.loss_bytes);
        add(MemoryClass::logits, "loss_bytes");
    } else {
        add(MemoryClass::logits, explain(book, constants, Constant::bytes_logit));
    }
    for (Constant const id : {Constant::unfused_passes, Constant::scan_bytes}) { explain(book, constants, id); }
}

/// Terms of one operation: its name stands for each $ in a formula.
class OperationTerms {
public:
    OperationTerms(TermBook& book, std::string const& name) : book_{book}, name_{name} {}

    void shape(char const* part, double value, char const* unit = "") {
        book_.add(TermKind::shape, name_ + "_" + part, unit, "of the operation, from model and strategy", value);
    }
    /// Adds the time of a kernel as a priced step counts it.
    void kernel(std::string const& formula, Seconds time) {
        constexpr double picoseconds_per_second = 1e12;
        double const paced = std::round(time.base() * book_["pace"] * picoseconds_per_second);
        this->formula("seconds", "s", "picoseconds(pace * " + formula + ")", paced / picoseconds_per_second);
    }
    void formula(char const* part, char const* unit, std::string_view formula, double value) {
        std::string text;
        for (char const c : formula) { text += c == '$' ? name_ + "_" : std::string{c}; }
        book_.formula(name_ + "_" + part, unit, std::move(text), value);
    }

private:
    TermBook& book_;
    std::string const& name_;
};

void explain_product(OperationTerms& terms, Operation const& o, std::string const& of_rate, FlopsPerSecond plain,
                     KernelRates const& rates) {
    bool const grouped = o.kind == OperationKind::grouped_gemm;
    double const launched = grouped ? o.times : 1.0;
    auto const product = tiled_product(launched, o.m, o.n, o.k, grouped ? plain * rates.grouped : plain, rates);
    std::string const rate = grouped ? "(" + of_rate + " * grouped_gemm)" : of_rate;
    terms.shape("m", o.m), terms.shape("n", o.n), terms.shape("k", o.k), terms.shape("products", o.times);
    std::string const group = grouped ? "$products * " : "";
    if (product.tile == nullptr) {
        terms.formula("math_seconds", "s", group + "2 * $m * $n * $k / " + rate, product.seconds);
    } else {
        auto const whole = [](double x) { return std::to_string(static_cast<int>(x)); };
        std::string const m = whole(product.tile->m), n = whole(product.tile->n);
        terms.formula("tiles", "", group + "ceil($m / " + m + ") * ceil($n / " + n + ")", product.tiles);
        bool const split = product.tiles <= rates.units, few = product.tiles <= waves_that_quantise * rates.units;
        terms.formula("busy_tiles", "",
                      split ? "$tiles"
                      : few ? "ceil($tiles / units) * units"
                            : "($tiles / units + 0.5) * units",
                      product.busy);
        std::string const efficiency = "0." + whole(product.tile->efficiency * 100.0 + 0.5);
        terms.formula("math_seconds", "s",
                      "2 * $busy_tiles * " + m + " * " + n + " * $k / " +
                          (product.tile->efficiency == 1.0 ? rate : "(" + efficiency + " * " + rate + ")"),
                      product.seconds);
    }
    if (o.bytes.base() > 0.0) {
        terms.shape("bytes", o.bytes.base(), "B");
    } else {
        terms.formula("bytes", "B", "operand_bytes * ($m * $k + $k * $n) + element_bytes * $m * $n",
                      plain_bytes(o.m, o.n, o.k, rates));
    }
    terms.formula("memory_seconds", "s", group + "$bytes / memory_rate",
                  launched * product_bytes(o, rates) / rates.memory.base());
    terms.kernel(std::string{grouped || o.times == 1.0 ? "" : "$products * "} +
                     "($math_seconds ^ 3 + $memory_seconds ^ 3) ^ (1 / 3)",
                 product_time(o, plain, rates));
}

void explain_attention(OperationTerms& terms, Operation const& o, KernelRates const& rates) {
    bool const backward = o.phase == Phase::backward;
    terms.shape("heads", o.m), terms.shape("queries", o.n), terms.shape("keys_in_reach", o.k);
    terms.shape("head_dim", o.d);
    if (o.kind == OperationKind::unfused_attention) {
        terms.shape("products", o.times);
        bool const fills = std::fmod(o.d, fragment) == 0.0, fills_tile = std::fmod(o.d, tile_width) == 0.0;
        std::string const partial = !fills ? " * vector_share" : !fills_tile ? " * 0.72" : "";
        terms.kernel("4 * $heads * $queries * $keys_in_reach * $head_dim * $products / (unfused_rate * $head_dim / "
                     "($head_dim + 40)" +
                         partial + ")",
                     unfused_attention_time(o, rates));
        return;
    }
    terms.shape("keys_seen", o.keys);
    terms.kernel(std::string{"4 * $heads * $queries * $keys_seen * $head_dim"} + (backward ? " * 2.5" : "") +
                     " / (attention_rate * $keys_in_reach / ($keys_in_reach + attention_half_length)" +
                     (o.d <= largest_small_head ? " * attention_small_head" : "") +
                     (backward ? " * attention_backward" : "") + ")",
                 attention_time(o, rates));
}

} // namespace

void explain_rates(TermBook& book, Accelerator const& chip, Precision precision, Framework const& framework,
                   Calibration const& constants) {
    auto const rates = kernel_rates(chip, precision, framework, constants);
    auto const row = row_of(chip);
    auto const fact = [&](char const* name, char const* unit, double value) {
        book.add(TermKind::catalog, name, unit, "accelerator " + chip.name, value);
    };
    auto const constant = [&](Constant id) { return explain(book, constants, id); };
    fact("peak_flops", "FLOP/s", peak_rate(chip, precision).base());
    fact("peak_16_bit_flops", "FLOP/s", peak_rate(chip, plain_precision(precision)).base());
    fact("vector_share", "", rates.misaligned);
    fact("memory_bandwidth", "B/s", chip.memory_bandwidth.base());
    if (chip.units > 0) { fact("units", "", chip.units); }
    book.add(TermKind::option, "element_bytes", "B", "--precision", rates.element);
    book.add(TermKind::option, "operand_bytes", "B", "--precision", rates.operand);
    book.formula("gemm_fraction", "", explain_sustained_fraction(book, chip, precision, framework, constants),
                 sustained_fraction(chip, precision, framework, constants));
    std::string const share = explain_untuned(book, chip, precision, framework, constants);
    book.formula("gemm_rate", "FLOP/s",
                 "peak_flops * gemm_fraction" +
                     (precision == Precision::nvfp4 ? " * " + constant(Constant::nvfp4) : "") +
                     explain_recipe(book, precision, framework) + share,
                 rates.gemm.base());
    book.formula("head_gemm_rate", "FLOP/s", "peak_16_bit_flops * gemm_fraction" + share, rates.head_gemm.base());
    auto const kernel = attention_kernel_factor(framework.attention, chip.generation);
    book.formula("attention_rate", "FLOP/s",
                 "peak_16_bit_flops * " + constant(row.attention) +
                     explain_cut(book, chip, constants, row.attention, Constant::attention_consumer) +
                     (kernel ? " * " + constant(*kernel) : "") + share,
                 rates.attention.base());
    book.formula("unfused_rate", "FLOP/s", "head_gemm_rate * " + constant(Constant::unfused_gemm),
                 rates.unfused.base());
    book.formula("memory_rate", "B/s", "memory_bandwidth * " + constant(Constant::memory_fraction),
                 rates.memory.base());
    for (Constant const id : {Constant::attention_half_length, Constant::attention_small_head,
                              Constant::attention_backward, Constant::grouped_gemm}) {
        constant(id);
    }
    explain_traffic(book, framework, constants, rates);
}

void explain_kernel(TermBook& book, std::string const& name, Operation const& operation, std::string const& rate,
                    KernelRates const& rates) {
    OperationTerms terms{book, name};
    switch (operation.kind) {
    case OperationKind::gemm:
    case OperationKind::grouped_gemm: explain_product(terms, operation, rate, FlopsPerSecond{book[rate]}, rates); break;
    case OperationKind::attention:
    case OperationKind::unfused_attention: explain_attention(terms, operation, rates); break;
    case OperationKind::memory: {
        std::string const factor = traffic_factor(operation.memory);
        terms.shape("bytes", operation.bytes.base(), "B");
        terms.kernel((factor.empty() ? "$bytes" : "$bytes * " + factor) + " / memory_rate",
                     kernel_time(operation, rates));
        break;
    }
    case OperationKind::collective:
    case OperationKind::exchange: break;
    }
}

} // namespace headroom::training
