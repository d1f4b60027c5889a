#include "headroom/training/measured_links.hpp"

#include "headroom/error.hpp"
#include "headroom/network/link_class.hpp"
#include "headroom/training/step.hpp"

namespace headroom::training {

using namespace headroom::network;

namespace {

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

std::string interconnect_words(std::string const& interconnect) {
    return interconnect.empty() ? "of an unknown class" : interconnect;
}

} // namespace

FittingLinks fitting_links(MeasuredNetwork measured, Cluster const& cluster, bool same_machine) {
    if (measured.empty()) { return {}; }
    if (!same_machine) { return {.network = {}, .misfits = {LinkMisfit::machine}}; }
    FittingLinks links{.network = std::move(measured), .misfits = {}};
    LinkClass const expected = scale_up_class(cluster);
    bool const named = cluster.scale_up_service.wire != Wire::unknown || expected != LinkClass::unknown;
    auto const inside_misfits = [&](std::string const& interconnect) {
        LinkClass const found = link_class(interconnect);
        if (found == LinkClass::unknown || found == LinkClass::network || !named) { return false; }
        return found != expected;
    };
    auto& [network, misfits] = links;
    bool const up = network.scale_up && inside_misfits(network.scale_up->interconnect);
    auto const is_other = [&](MeasuredCurve const& curve) {
        return curve.ranks > curve.nodes && inside_misfits(curve.interconnect);
    };
    if (up) { network.scale_up.reset(); }
    std::size_t const curves = std::erase_if(network.curves, is_other);
    if (up || curves > 0) { misfits.push_back(LinkMisfit::inside); }
    if (network.scale_out && link_class(network.scale_out->interconnect) == LinkClass::host_memory) {
        network.scale_out.reset();
        misfits.push_back(LinkMisfit::between);
    }
    return links;
}

std::string words_of(LinkMisfit misfit, MeasuredNetwork const& measured, Cluster const& cluster,
                     std::string_view file) {
    std::string const links = "measured links", origin = file.empty() ? "" : " (" + std::string{file} + ")";
    switch (misfit) {
    case LinkMisfit::machine:
        return links + origin + " are not used: they are of " + quoted(measured.system) + ", not of " + cluster.name +
               " (calibrate --system " + cluster.name + " where both are one)";
    case LinkMisfit::inside: {
        std::string const found = measured.scale_up         ? measured.scale_up->interconnect
                                  : measured.curves.empty() ? ""
                                                            : measured.curves.front().interconnect;
        return links + " inside a node" + origin + " are not used: they are " + interconnect_words(found) +
               ", and those of " + cluster.name + " " + cluster.scale_up_name;
    }
    case LinkMisfit::between:
        return links + " between nodes" + origin +
               " are not used: they were measured inside one host, through its memory";
    }
    return {};
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

} // namespace headroom::training
