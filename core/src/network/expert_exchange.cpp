#include "headroom/network/expert_exchange.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::network {

namespace {

Seconds carry(Bytes volume, BytesPerSecond bandwidth) { return volume.base() > 0.0 ? volume / bandwidth : Seconds{}; }

/// p ranks in k domains of g, the last of which holds s.
struct Shape {
    double p, k, g, s;
};

Shape shape_of(Group group) {
    double const p = group.size, g = std::clamp(group.per_domain, 1, group.size);
    double const k = std::ceil(p / g);
    return {.p = p, .k = k, .g = g, .s = p - (k - 1.0) * g};
}

struct Volumes {
    Bytes inside, crossing;
};

Volumes plain(ExpertExchange const& exchange, Shape shape) {
    Bytes const held = exchange.tokens * exchange.top_k * exchange.token;
    return {(shape.g - 1.0) / shape.p * held, (shape.p - shape.s) / shape.p * held};
}

Volumes deduplicated(ExpertExchange const& exchange, Shape shape) {
    double const domains = shape.p / shape.g, k = exchange.top_k;
    double const reachable = exchange.group_limit > 0 ? std::min<double>(exchange.group_limit, domains) : domains;
    double const experts = exchange.experts * reachable / domains;
    double const reached = expected_places(reachable, experts, k);
    double const ranks = expected_places(reachable * shape.g, experts, k);
    Bytes const once = exchange.tokens * exchange.token;
    return {(shape.g - 1.0) / shape.g * ranks * once, (shape.p - shape.s) / shape.p * reached * once};
}

/// The network latency of one message to each partner.
Seconds rounds(Shape shape, bool once_a_domain, Fabric fabric) {
    double const partners = once_a_domain ? shape.k - 1.0 : shape.p - shape.s;
    return (shape.g - 1.0) * fabric.scale_up.latency + partners * fabric.scale_out.latency;
}

} // namespace

double expected_places(double places, double experts, double top_k) {
    double const drawn = std::min(top_k, experts), elsewhere = experts - experts / places;
    if (drawn > elsewhere) { return std::min(places, drawn); } // none can be missed
    // C(elsewhere, k) / C(experts, k)
    double const missed = std::exp(std::lgamma(elsewhere + 1.0) - std::lgamma(elsewhere - drawn + 1.0) -
                                   std::lgamma(experts + 1.0) + std::lgamma(experts - drawn + 1.0));
    return std::min(drawn, places * (1.0 - missed));
}

ExpertTraffic expert_exchange(ExpertExchange const& exchange, Group group, Fabric fabric) {
    if (group.size <= 1) { return {}; }
    Shape const shape = shape_of(group);
    Volumes const volumes = exchange.deduplicated ? deduplicated(exchange, shape) : plain(exchange, shape);
    Seconds const inside = carry(volumes.inside, fabric.scale_up.bandwidth);
    Seconds const across = carry(volumes.crossing, fabric.scale_out.bandwidth);
    return {.time = {rounds(shape, exchange.deduplicated, fabric),
                     exchange.pipelined ? std::max(inside, across) : inside + across},
            .sent = volumes.inside + volumes.crossing,
            .crossing = volumes.crossing};
}

} // namespace headroom::network
