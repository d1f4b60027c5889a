#include "headroom/fit/communication_fit.hpp"

#include "communication_group.hpp"
#include "communication_links.hpp"

#include "headroom/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace headroom::fit {
namespace {

/// Rows that agree in all of it are one group.
using GroupKey = std::tuple<std::string, std::string, Collective, std::string, std::string, std::string, int, int>;

GroupKey key_of(MeasuredCollective const& row) {
    return {row.id, row.system, row.collective, row.algorithm, row.protocol, row.data_type, row.ranks, row.nodes};
}

bool usable(MeasuredCollective const& row) {
    double const bytes = row.size.size.base(), seconds = row.time.base();
    return std::isfinite(bytes) && bytes >= 0.0 && std::isfinite(seconds) && seconds > 0.0;
}

double at(FittedSegment const& segment, double bytes) {
    return segment.alpha_seconds.value + bytes * segment.beta_seconds_per_byte.value;
}

/// Between the last size of one segment and the first of the next.
double between(FittedSegment const& low, FittedSegment const& high, double bytes) {
    double const slopes = low.beta_seconds_per_byte.value - high.beta_seconds_per_byte.value;
    double const meet = slopes == 0.0 ? -1.0 : (high.alpha_seconds.value - low.alpha_seconds.value) / slopes;
    double const from = low.to.base(), to = high.from.base();
    if (meet >= from && meet <= to) { return at(bytes < meet ? low : high, bytes); }
    double const begin = at(low, from), end = at(high, to);
    if (from <= 0.0 || begin <= 0.0 || end <= 0.0) { return begin + (end - begin) * (bytes - from) / (to - from); }
    return begin * std::pow(end / begin, std::log(bytes / from) / std::log(to / from));
}

CommunicationFit fit_of(std::span<TimedSize const> rows, MeasuredCollective const& like) {
    CommunicationFit fit;
    fit.id = like.id;
    fit.system = like.system;
    fit.collective = like.collective;
    fit.algorithm = like.algorithm;
    fit.protocol = like.protocol;
    fit.data_type = like.data_type;
    fit.ranks = like.ranks;
    fit.nodes = like.nodes;
    fit_group(rows, fit);
    return fit;
}

std::map<GroupKey, std::vector<TimedSize>> groups_of(std::span<MeasuredCollective const> rows) {
    std::map<GroupKey, std::vector<TimedSize>> groups;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (usable(rows[i])) {
            groups[key_of(rows[i])].push_back(
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

Seconds CommunicationFit::time(TotalBytes n) const {
    double const bytes = n.size.base();
    for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
        if (bytes <= segments[i].to.base()) { return Seconds{at(segments[i], bytes)}; }
        if (bytes < segments[i + 1].from.base()) { return Seconds{between(segments[i], segments[i + 1], bytes)}; }
    }
    return segments.empty() ? Seconds{} : Seconds{at(segments.back(), bytes)};
}

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
            fits.skipped.push_back({like.system, like.collective, like.ranks, like.nodes, group.size(), sizes,
                                    "fewer than " + std::to_string(settings.least_sizes) + " sizes"});
            continue;
        }
        fits.fits.push_back(fit_of(group, like));
    }
    fits.levels = fit_levels(rows, fits.fits);
    return fits;
}

} // namespace headroom::fit
