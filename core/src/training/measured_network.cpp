#include "headroom/measured_network.hpp"

#include "headroom/calibration.hpp"
#include "headroom/step.hpp"

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

double at(MeasuredSegment const& segment, double bytes) { return segment.alpha.base() + bytes * segment.beta.base(); }

double between(MeasuredSegment const& low, MeasuredSegment const& high, double bytes) {
    double const slopes = low.beta.base() - high.beta.base();
    double const meet = slopes == 0.0 ? -1.0 : (high.alpha.base() - low.alpha.base()) / slopes;
    double const from = low.to.base(), to = high.from.base();
    if (meet >= from && meet <= to) { return at(bytes < meet ? low : high, bytes); }
    double const begin = at(low, from), end = at(high, to);
    if (from <= 0.0 || begin <= 0.0 || end <= 0.0) { return begin + (end - begin) * (bytes - from) / (to - from); }
    return begin * std::pow(end / begin, std::log(bytes / from) / std::log(to / from));
}

CalibratedConstant& constant_of(CalibrationSet& calibration, Constant id) {
    return calibration.constant[static_cast<std::size_t>(id)];
}

void use_link(MeasuredLink const& measured, Constant fraction, Link& link, CalibrationSet& calibration) {
    link.latency = Seconds{measured.latency_seconds.value};
    if (!measured.bytes_per_second) { return; }
    double const rate = link.bandwidth.base();
    CalibratedConstant& constant = constant_of(calibration, fraction);
    constant = {.value = measured.bytes_per_second->value / rate,
                .low = measured.bytes_per_second->low / rate,
                .high = measured.bytes_per_second->high / rate,
                .independent = measured.bytes_per_second->value / rate,
                .provenance = Provenance::measured,
                .source = measured.source,
                .sources = 1};
}

} // namespace

Seconds MeasuredCurve::time(TotalBytes n) const {
    double const bytes = n.size.base();
    for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
        if (bytes <= segments[i].to.base()) { return Seconds{at(segments[i], bytes)}; }
        if (bytes < segments[i + 1].from.base()) { return Seconds{between(segments[i], segments[i + 1], bytes)}; }
    }
    return segments.empty() ? Seconds{} : Seconds{at(segments.back(), bytes)};
}

MeasuredCurve const* MeasuredNetwork::curve(Collective collective, int ranks, int nodes) const {
    auto const found = std::ranges::find_if(curves, [&](MeasuredCurve const& one) {
        return one.collective == collective && one.ranks == ranks && one.nodes == nodes;
    });
    return found == curves.end() ? nullptr : &*found;
}

void use_measured_links(MeasuredNetwork const& network, Cluster& cluster, CalibrationSet& calibration) {
    bool const has_up = cluster.domain > 1 && cluster.scale_up.bandwidth > BytesPerSecond{};
    bool const has_out = cluster.scale_out.bandwidth > BytesPerSecond{};
    bool const up = has_up && network.scale_up, out = has_out && network.scale_out;
    if (up) { use_link(*network.scale_up, scale_up_constant(cluster), cluster.scale_up, calibration); }
    if (out) { use_link(*network.scale_out, Constant::scale_out, cluster.scale_out, calibration); }
    if ((up || out) && up == has_up && out == has_out) {
        CalibratedConstant& start = constant_of(calibration, Constant::base_latency);
        start = {.provenance = Provenance::measured,
                 .source = (up ? *network.scale_up : *network.scale_out).source,
                 .sources = 1};
    }
}

} // namespace headroom
