#include "headroom/io/catalog.hpp"
#include "headroom/io/measured_system.hpp"
#include "headroom/training/measured_links.hpp"

#include <fmt/format.h>

namespace headroom::io {

using namespace headroom::network;
using namespace headroom::training;

namespace {

std::string origin_of(MeasuredLink const& link, std::string_view level, MeasuredNetwork const& network,
                      std::string const& file) {
    std::string rate;
    if (link.bytes_per_second) { rate = format(BytesPerSecond{link.bytes_per_second->value}) + ", "; }
    return fmt::format("link {}: {}{}, measured{} ({}{})", level, rate, format(Seconds{link.latency_seconds.value}),
                       network.system.empty() ? " on a machine that is not named" : " on " + network.system, file,
                       link.source.empty() ? "" : ": " + link.source);
}

} // namespace

std::vector<std::string> fit_links_to(Catalog const& catalog, Cluster const& cluster, CalibrationSet& calibration) {
    MeasuredNetwork const measured = std::move(calibration.network);
    FittingLinks links = fitting_links(measured, cluster, names_machine(catalog, measured.system, cluster));
    calibration.network = std::move(links.network);
    std::vector<std::string> notes;
    for (LinkMisfit const misfit : links.misfits) {
        notes.push_back(words_of(misfit, measured, cluster, calibration.name));
    }
    MeasuredNetwork const& kept = calibration.network;
    if (kept.scale_up) { notes.push_back(origin_of(*kept.scale_up, "inside a node", kept, calibration.name)); }
    if (kept.scale_out) { notes.push_back(origin_of(*kept.scale_out, "between nodes", kept, calibration.name)); }
    return notes;
}

} // namespace headroom::io
