#include "headroom/fit/communication_fit_answer.hpp"

#include <algorithm>

namespace headroom::fit {

using namespace headroom::network;

namespace {

constexpr double unbounded_rate = 1e18; ///< bytes a second, the largest that a calibration file can hold

MeasuredValue value_of(Fitted const& fitted) { return {fitted.value, fitted.low, fitted.high}; }

/// Number of rows and names of the files that some fits rest on.
std::string source_of(CommunicationFitAnswer const& answer, std::vector<std::size_t> const& fits) {
    std::vector<std::string> files;
    std::size_t rows = 0;
    for (std::size_t const one : fits) {
        for (FitResidual const& residual : answer.result.fits[one].residuals) {
            std::string const& file = answer.rows[residual.row].file;
            if (std::ranges::find(files, file) == files.end()) { files.push_back(file); }
            ++rows;
        }
    }
    constexpr std::size_t most_named = 4;
    std::string text = std::to_string(rows) + " rows of ";
    for (std::size_t i = 0; i < std::min(files.size(), most_named); ++i) {
        text += (i > 0 ? ", " : "") + files[i].substr(files[i].find_last_of('/') + 1);
    }
    return files.size() > most_named ? text + " and " + std::to_string(files.size() - most_named) + " more" : text;
}

MeasuredLink link_of(CommunicationFitAnswer const& answer, FittedLevel const& level) {
    MeasuredLink link{.latency_seconds = value_of(level.latency_seconds),
                      .bytes_per_second = {},
                      .interconnect = level.interconnect,
                      .source = source_of(answer, level.fits)};
    if (level.bytes_per_second.value > 0.0) {
        link.bytes_per_second = value_of(level.bytes_per_second);
        if (!(link.bytes_per_second->high > 0.0)) { link.bytes_per_second->high = unbounded_rate; } // beta may be 0
    }
    return link;
}

} // namespace

std::vector<FittedRow> fitted_rows(CommunicationFitAnswer const& answer) {
    std::vector<FittedRow> all;
    for (CommunicationFit const& fit : answer.result.fits) {
        for (FitResidual const& one : fit.residuals) { all.push_back({&fit, {&answer.rows[one.row], &one}}); }
    }
    return all;
}

std::optional<BytesPerSecond> known_bus_bandwidth(CommunicationFit const& fit) {
    auto const rate = fit.bus_bandwidth();
    return rate && rate->base() > 0.0 ? rate : std::nullopt;
}

std::optional<std::pair<std::string, std::string>> different_systems(CommunicationFitAnswer const& answer) {
    for (CommunicationFit const& one : answer.result.fits) {
        std::string const& first = answer.result.fits.front().system;
        if (one.system != first) { return std::pair{first, one.system}; }
    }
    return std::nullopt;
}

MeasuredNetwork measured_network(CommunicationFitAnswer const& answer) {
    MeasuredNetwork network;
    network.system = answer.result.fits.front().system;
    for (std::size_t i = 0; i < answer.result.fits.size(); ++i) {
        MeasuredCurve curve = answer.result.fits[i].curve();
        curve.source = source_of(answer, {i});
        auto const same = [&](MeasuredCurve const& one) {
            return one.collective == curve.collective && one.algorithm == curve.algorithm && one.ranks == curve.ranks &&
                   one.nodes == curve.nodes;
        };
        if (std::ranges::none_of(network.curves, same)) { network.curves.push_back(std::move(curve)); }
    }
    for (FittedLevel const& level : answer.result.levels) {
        (level.scale_out ? network.scale_out : network.scale_up) = link_of(answer, level);
    }
    return network;
}

} // namespace headroom::fit
