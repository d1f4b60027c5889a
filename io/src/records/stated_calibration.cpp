#include "headroom/io/stated_calibration.hpp"

#include "records/band_section.hpp"
#include "records/pace_section.hpp"
#include "records/record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr double unstated = std::numeric_limits<double>::quiet_NaN();
constexpr int not_from_file = -1; // no file can state such a count of rows

/// A calibration in which nothing is a value that a file could state: what is one after reading is the file's.
CalibrationSet nothing_stated() {
    CalibrationSet set;
    for (CalibratedConstant& one : set.constant) { one.value = unstated; }
    for (Extrapolation const kind : extrapolations) { set.bands[kind] = Band{.rows = not_from_file}; }
    set.warm.dense.site = set.warm.mixtures.site = unstated;
    return set;
}

bool is_whole(std::string_view toml, std::string_view where) {
    Record record{toml, where};
    bool partial = false;
    record.root().read("partial", partial);
    return !partial;
}

/// A whole file that leaves likeness out has none.
std::optional<Likeness> stated(Likeness const& likeness) {
    bool const there = !std::isnan(likeness.site) && (likeness.total() > 0.0 || likeness.pairs > 0);
    return there ? std::optional{likeness} : std::nullopt;
}

} // namespace

StatedCalibration read_stated_calibration(std::string_view toml, std::string_view where) {
    CalibrationSet const set = read_calibration(toml, where, nothing_stated());
    StatedCalibration result{.states = {.name = set.name, .constants = {}, .network = set.network, .entries = {}},
                             .whole = is_whole(toml, where)};
    for (ConstantInfo const& info : constants()) {
        if (!std::isnan(set[info.id].value)) { result.states.constants.emplace_back(info.id, set[info.id]); }
    }
    result.states.entries = read_measured_entries(toml, where);
    bool kept_below = false;
    for (auto const& [kind, band] : set.bands) {
        if (band.rows == not_from_file) {
            kept_below = true;
        } else {
            result.bands[kind] = band;
        }
    }
    bool const seen_band = result.bands.contains(Extrapolation::seen);
    result.bands_alone = seen_band && !kept_below && result.bands.size() < extrapolations.size();
    result.seen = set.seen;
    result.pace = set.pace;
    result.dense = stated(set.warm.dense);
    result.mixtures = stated(set.warm.mixtures);
    return result;
}

std::string write_stated_calibration(StatedCalibration const& set, std::vector<std::string> const& header) {
    std::string text = write_partial_calibration(set.states, header);
    std::string bands = set.bands.empty() ? "" : "\n" + written_bands("bands", set.bands);
    std::string const usual = fmt::format("[bands.{}]", name_of(Extrapolation::seen));
    if (auto const at = bands.find(usual); set.bands_alone && at != std::string::npos) {
        bands.replace(at, usual.size(), "[bands.stated]");
    }
    text += bands;
    if (set.seen) { text += "\n" + written_seen("seen", *set.seen); }
    for (auto const& [framework, pace] : set.pace) { text += written_pace(framework, pace); }
    if (set.dense) { text += written_likeness("dense", *set.dense); }
    if (set.mixtures) { text += written_likeness("mixtures", *set.mixtures); }
    return text;
}

} // namespace headroom::io
