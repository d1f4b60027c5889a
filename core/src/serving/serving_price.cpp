#include "serving/serving_price.hpp"

#include "headroom/training/smooth_maximum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headroom::serving {

using namespace headroom::network;
using namespace headroom::training;

namespace {

constexpr double sixteen_bits = 2.0;
/// Rows of the smallest tile that `product_time` knows.
constexpr double smallest_tile = 64.0;

constexpr std::array<ServingGuess, 3> guesses{{
    {"thin_columns", thin_columns, "tokens",
     "products of fewer tokens than a tile has rows compute on multiples of this many"},
    {"logit_traffic", logit_traffic, "bytes",
     "that sampling moves for each logit: a 16-bit read, a 32-bit copy, its read"},
    {"scan_state_bytes", scan_state_bytes, "bytes", "of an element of a scan's state, which is not kept in 16 bits"},
}};

/// Experts of E that m tokens of k each touch, where all are as likely.
double experts_touched(double experts, double top_k, double tokens) {
    return experts * (1.0 - std::pow(1.0 - std::min(1.0, top_k / experts), tokens));
}

/// A product of few rows swaps its operands: weights fill the tile's rows, and tokens are its columns, eight by eight.
double product_compute(Operation o, FlopsPerSecond rate, KernelRates const& rates) {
    KernelRates unbound = rates;
    unbound.memory = BytesPerSecond{std::numeric_limits<double>::infinity()};
    double share = 1.0;
    if (rates.units > 0.0 && o.m < smallest_tile) {
        share = std::ceil(o.m / thin_columns) * thin_columns / smallest_tile;
        o.m = smallest_tile;
    }
    return share * product_time(o, rate, unbound).base();
}

void add_product(ServingParts& parts, Operation const& o, FlopsPerSecond rate, KernelRates const& rates,
                 double weight_element) {
    double const weights = weight_element * o.n * o.k * o.times;
    double const moved = weights + o.times * (rates.operand * o.m * o.k + rates.element * o.m * o.n);
    double const compute = product_compute(o, rate, rates);
    double const memory = moved / rates.memory.base();
    double const seconds = smooth_maximum(compute, memory);
    parts.products += seconds;
    (compute > memory ? parts.by_compute : parts.by_memory) += seconds;
    parts.read += weights;
    parts.flops += 2.0 * o.m * o.n * o.k * o.times;
}

void add_operation(ServingParts& parts, ServingPricer::Tables const& tables, Operation o, double tokens) {
    double const weights = weight_bytes(tables.plan);
    switch (o.kind) {
    case OperationKind::gemm: o.m *= tokens; return add_product(parts, o, tables.rates.gemm, tables.rates, weights);
    case OperationKind::grouped_gemm: {
        double const pairs = o.m * o.times * tokens;
        double const top_k = o.m * o.times;
        o.times = experts_touched(o.times, top_k, tokens);
        o.m = pairs / o.times;
        return add_product(parts, o, tables.rates.gemm, tables.rates, weights);
    }
    default: break;
    }
    bool const exchange = o.kind == OperationKind::collective;
    double const floor = exchange ? tables.pricer.price(o, true).time.base() : 0.0;
    o.bytes *= tokens;
    double const time = tables.pricer.price(o, true).time.base();
    (exchange ? parts.communication : parts.memory) += time;
    if (exchange && tables.own_exchanges) { parts.exchange_floors += floor, parts.exchanges += 1.0; }
    if (exchange && tables.peer_share > 0.0) {
        parts.peer_traffic += time - floor;
        parts.peer_rate += tables.peer_share * (time - floor);
    }
}

/// Ranks that have parts of the vocabulary add up what they found.
ServingParts embedding_parts(ServingPricer::Tables const& tables, double tokens) {
    ServingParts parts;
    double const vector = tables.hidden * tables.element;
    Operation look_up{.name = "look-up", .kind = OperationKind::memory, .bytes = Bytes{2.0 * vector}};
    add_operation(parts, tables, look_up, tokens);
    if (tables.plan.tp > 1) {
        add_operation(parts, tables,
                      {.name = "vocabulary-parallel look-up",
                       .kind = OperationKind::collective,
                       .bytes = Bytes{vector},
                       .collective = Collective::all_reduce,
                       .traffic = Traffic::tensor},
                      tokens);
    }
    return parts;
}

/// Hidden states go from each stage to the next, every rank's share of them on a link of its own.
double stage_sends(ServingPricer::Tables const& tables, double tokens) {
    double const sends = tables.plan.pp - 1.0, share = tables.hidden * tables.element / tables.plan.tp;
    if (sends <= 0.0) { return 0.0; }
    return sends * (tables.stage_link.latency.base() + tokens * share / tables.stage_link.bandwidth.base());
}

} // namespace

std::span<ServingGuess const> serving_guesses() { return guesses; }

void ServingParts::add(ServingParts const& other, double times) {
    for (auto const part :
         {&ServingParts::products, &ServingParts::memory, &ServingParts::communication, &ServingParts::exchange_floors,
          &ServingParts::exchanges, &ServingParts::peer_traffic, &ServingParts::peer_rate, &ServingParts::read,
          &ServingParts::flops, &ServingParts::by_compute, &ServingParts::by_memory}) {
        this->*part += times * (other.*part);
    }
}

double exchanged_seconds(ServingLoad const& load, ServingFactors const& factors) {
    double const floors = load.exchange_floors.base(), traffic = load.peer_traffic.base();
    double const own = factors.exchange ? load.exchanges * factors.exchange->base() : floors;
    double const peers = factors.peer_share ? load.peer_rate.base() / *factors.peer_share : traffic;
    return load.communication.base() - std::max(0.0, floors - own) - (traffic - peers);
}

double ServingParts::exchanged(ServingFactors const& factors) const {
    ServingLoad load;
    load.communication = Seconds{communication};
    load.exchange_floors = Seconds{exchange_floors}, load.exchanges = exchanges;
    load.peer_traffic = Seconds{peer_traffic}, load.peer_rate = Seconds{peer_rate};
    return exchanged_seconds(load, factors);
}

ServingParts linear_parts(ServingPricer::Tables const& tables, double tokens) {
    ServingParts all;
    if (tokens <= 0.0) { return all; }
    for (auto const& block : tables.served.blocks) {
        ServingParts one;
        for (auto const& operation : block.linear) { add_operation(one, tables, operation, tokens); }
        all.add(one, block.count);
    }
    all.add(embedding_parts(tables, tokens), 1.0);
    all.communication += stage_sends(tables, tokens);
    return all;
}

ServingParts head_parts(ServingPricer::Tables const& tables, double sequences) {
    ServingParts parts;
    if (sequences <= 0.0) { return parts; }
    double const words = tables.served.vocabulary;
    Operation const projection{
        .name = "output projection", .m = sequences, .n = words / tables.plan.tp, .k = tables.hidden};
    add_product(parts, projection, tables.rates.head_gemm, tables.rates, sixteen_bits);
    parts.memory += sequences * words * logit_traffic / tables.rates.memory.base();
    if (tables.plan.tp > 1) {
        add_operation(parts, tables,
                      {.name = "gather logits",
                       .kind = OperationKind::collective,
                       .bytes = Bytes{words * sixteen_bits},
                       .collective = Collective::all_gather,
                       .traffic = Traffic::tensor},
                      sequences);
    }
    return parts;
}

double scan_seconds(ServingPricer::Tables const& tables, ServedBlock const& block) {
    double seconds = 0.0;
    for (auto const& operation : block.scans) { seconds += tables.pricer.price(operation, true).time.base(); }
    return seconds;
}

} // namespace headroom::serving
