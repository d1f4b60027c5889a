#include "arguments.hpp"
#include "comm/comm_fit_report.hpp"
#include "document/text.hpp"

#include "headroom/error.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

constexpr double unbounded_rate = 1e18; ///< bytes a second: what the file can hold

MeasuredValue value_of(fit::Fitted const& fitted) { return {fitted.value, fitted.low, fitted.high}; }

std::string source_words(CommFitAnswer const& answer, std::vector<std::size_t> const& fits) {
    std::vector<std::string> files;
    std::size_t rows = 0;
    for (std::size_t const one : fits) {
        for (fit::FitResidual const& residual : answer.result.fits[one].residuals) {
            std::string const& file = answer.rows[residual.row].file;
            if (std::ranges::find(files, file) == files.end()) { files.push_back(file); }
            ++rows;
        }
    }
    for (std::string& file : files) { file = file.substr(file.find_last_of('/') + 1); }
    constexpr std::size_t shown = 4;
    std::string const more = files.size() > shown ? " and " + std::to_string(files.size() - shown) + " more" : "";
    files.resize(std::min(files.size(), shown));
    return std::to_string(rows) + " rows of " + join(files, ", ") + more;
}

} // namespace

MeasuredNetwork measured_network(CommFitAnswer const& answer) {
    MeasuredNetwork network;
    network.system = answer.result.fits.front().system;
    for (std::size_t i = 0; i < answer.result.fits.size(); ++i) {
        fit::CommunicationFit const& one = answer.result.fits[i];
        if (one.system != network.system) {
            refuse("--save", "the logs are of more than one system",
                   headroom::quoted(network.system) + " and " + headroom::quoted(one.system),
                   "a calibration is of one: give the logs of each on their own");
        }
        MeasuredCurve curve = one.curve();
        curve.source = source_words(answer, {i});
        network.curves.push_back(std::move(curve));
    }
    for (fit::FittedLevel const& level : answer.result.levels) {
        MeasuredLink link{.latency_seconds = value_of(level.latency_seconds),
                          .bytes_per_second = {},
                          .source = source_words(answer, level.fits)};
        double const rate = level.bytes_per_second.value;
        if (rate > 0.0) {
            link.bytes_per_second = value_of(level.bytes_per_second);
            if (!(link.bytes_per_second->high > 0.0)) { link.bytes_per_second->high = unbounded_rate; } // beta may be 0
        }
        (level.scale_out ? network.scale_out : network.scale_up) = std::move(link);
    }
    return network;
}

std::vector<std::string> saved_header(CommFitAnswer const& answer) {
    std::vector<std::string> lines{"Measured links, fitted by headroom comm --fit; intervals are of 90 %.",
                                   "Partial: constants that are not stated are those of the catalog."};
    for (CommFitFile const& file : answer.files) {
        lines.push_back(file.name + ": " + std::to_string(file.rows) + " rows");
    }
    return lines;
}

} // namespace headroom::cli
