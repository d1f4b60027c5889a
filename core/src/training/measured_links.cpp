#include "headroom/training/calibration.hpp"
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

} // namespace

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
