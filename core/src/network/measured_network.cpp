#include "headroom/network/measured_network.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::network {
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

} // namespace headroom::network
