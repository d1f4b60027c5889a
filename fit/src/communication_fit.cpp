#include "headroom/fit/communication_fit.hpp"

#include "communication_group.hpp"
#include "communication_links.hpp"

#include "headroom/network/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace headroom::fit {

using namespace headroom::network;

namespace {

/// Rows that agree in all of it are one group.
using GroupKey =
    std::tuple<std::string, std::string, std::string, Collective, std::string, std::string, std::string, int, int>;

/// An id that only one row has is of the row, not of a table.
GroupKey key_of(MeasuredCollective const& row, std::map<std::string, std::size_t> const& ids) {
    return {ids.at(row.id) > 1 ? row.id : "",
            row.system,
            row.interconnect,
            row.collective,
            row.algorithm,
            row.protocol,
            row.data_type,
            row.ranks,
            row.nodes};
}

bool usable(MeasuredCollective const& row) {
    double const bytes = row.size.size.base(), seconds = row.time.base();
    return std::isfinite(bytes) && bytes >= 0.0 && std::isfinite(seconds) && seconds > 0.0;
}

CommunicationFit fit_of(std::span<TimedSize const> rows, MeasuredCollective const& like, std::string const& id) {
    CommunicationFit fit;
    fit.id = id;
    fit.system = like.system;
    fit.collective = like.collective;
    fit.algorithm = like.algorithm;
    fit.protocol = like.protocol;
    fit.data_type = like.data_type;
    fit.interconnect = like.interconnect;
    fit.ranks = like.ranks;
    fit.nodes = like.nodes;
    fit_group(rows, fit);
    return fit;
}

std::map<GroupKey, std::vector<TimedSize>> groups_of(std::span<MeasuredCollective const> rows) {
    std::map<std::string, std::size_t> ids;
    for (MeasuredCollective const& row : rows) { ++ids[row.id]; }
    std::map<GroupKey, std::vector<TimedSize>> groups;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (usable(rows[i])) {
            groups[key_of(rows[i], ids)].push_back(
                {.bytes = rows[i].size.size.base(), .seconds = rows[i].time.base(), .row = i});
        }
    }
    for (auto& [key, group] : groups) {
        std::sort(group.begin(), group.end(), [](TimedSize const& a, TimedSize const& b) {
            return std::tie(a.bytes, a.seconds, a.row) < std::tie(b.bytes, b.seconds, b.row);
        });
    }
    return groups;
}

} // namespace

MeasuredCurve CommunicationFit::curve() const {
    MeasuredCurve curve{.collective = collective,
                        .algorithm = algorithm,
                        .ranks = ranks,
                        .nodes = nodes,
                        .segments = {},
                        .interconnect = interconnect,
                        .source = {}};
    for (FittedSegment const& one : segments) {
        curve.segments.push_back(
            {one.from, one.to, Seconds{one.alpha_seconds.value}, SecondsPerByte{one.beta_seconds_per_byte.value}});
    }
    return curve;
}

Seconds CommunicationFit::time(TotalBytes n) const { return curve().time(n); }

std::optional<BytesPerSecond> CommunicationFit::bus_bandwidth() const {
    if (segments.empty() || !(segments.back().beta_seconds_per_byte.value > 0.0)) { return std::nullopt; }
    return BytesPerSecond{bus_bandwidth_factor(collective, Ranks{std::max(ranks, 1)}) /
                          segments.back().beta_seconds_per_byte.value};
}

CommunicationFits fit_communication(std::span<MeasuredCollective const> rows,
                                    CommunicationFitSettings const& settings) {
    CommunicationFits fits;
    for (auto const& [key, group] : groups_of(rows)) {
        MeasuredCollective const& like = rows[group.front().row];
        std::size_t const sizes = size_starts(group).size() - 1;
        if (sizes < settings.least_sizes) {
            fits.skipped.push_back(
                {like.system, like.collective, like.ranks, like.nodes, group.size(), sizes, settings.least_sizes});
            continue;
        }
        fits.fits.push_back(fit_of(group, like, std::get<0>(key)));
    }
    fit_levels(rows, settings, fits);
    return fits;
}

} // namespace headroom::fit
