#pragma once

#include "headroom/io/catalog.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// What a calibration file itself states, with nothing below it.
struct StatedCalibration {
    PartialCalibration states; ///< constants, links, measured steps
    bool whole = false;        ///< every constant; such a file is no change to another one, it takes its place
    Bands bands = {};
    bool bands_alone = false; ///< these are all: those of the catalog do not hold beside them (`[bands.stated]`)
    std::optional<Seen> seen = {};
    std::map<std::string, Pace> pace = {};
    std::optional<Likeness> dense = {}, mixtures = {};
};
/// Errors: those of `read_calibration`.
StatedCalibration read_stated_calibration(std::string_view toml, std::string_view where);
/// As a partial calibration, whether it is whole or not.
std::string write_stated_calibration(StatedCalibration const& set, std::vector<std::string> const& header);

} // namespace headroom::io
