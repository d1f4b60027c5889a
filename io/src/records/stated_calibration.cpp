#include "records/record.hpp"

#include "headroom/io/catalog.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::io {
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
    PartialCalibration& states = result.states;
    for (ConstantInfo const& info : constants()) {
        if (!std::isnan(set[info.id].value)) { states.constants.emplace_back(info.id, set[info.id]); }
    }
    states.entries = read_measured_entries(toml, where);
    bool kept_below = false;
    for (auto const& [kind, band] : set.bands) {
        if (band.rows == not_from_file) {
            kept_below = true;
        } else {
            states.bands[kind] = band;
        }
    }
    bool const seen_band = states.bands.contains(Extrapolation::seen);
    states.bands_alone = seen_band && !kept_below && states.bands.size() < extrapolations.size();
    states.seen = set.seen;
    states.pace = set.pace;
    states.dense = stated(set.warm.dense);
    states.mixtures = stated(set.warm.mixtures);
    return result;
}

} // namespace headroom::io
