#pragma once

#include "headroom/training/calibration.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom::training {

/// One [[measured]] table of a calibration file: options of `headroom predict` without their dashes, and
/// step_seconds.
struct MeasuredEntry {
    std::vector<std::pair<std::string, std::string>> words; ///< key and value, in the order of the file
    std::string place;                                      ///< "path:line", for errors
};

/// Constants, links and measured steps; the catalog has the remaining ones.
struct PartialCalibration {
    std::string name;
    std::vector<std::pair<Constant, CalibratedConstant>> constants;
    network::MeasuredNetwork network;
    std::vector<MeasuredEntry> entries;
};

/// Contents of a calibration file, without any defaults.
struct StatedCalibration {
    PartialCalibration states; ///< constants, links, measured steps
    bool whole = false;        ///< every constant; such a file replaces another one instead of changing it
    Bands bands = {};
    bool bands_alone = false; ///< these are all: the catalog's bands do not hold (`[bands.stated]`)
    std::optional<Seen> seen = {};
    std::map<std::string, Pace> pace = {};
    std::optional<Likeness> dense = {}, mixtures = {};
};

} // namespace headroom::training
