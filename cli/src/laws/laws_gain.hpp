#pragma once

#include "laws/laws_curve.hpp"

namespace headroom::cli {

/// A gain that was measured between two worker counts, beside what the profile gives for it.
struct MeasuredGain {
    int from = 1, to = 1;
    double gain = 1.0;    ///< T(from) / T(to), measured
    double profile = 1.0; ///< the same of the curve
    bool contradicts = false;
    bool super_linear = false;          ///< more than to / from
    double compute_alone = 1.0;         ///< T(from) / T(to) if nothing were communicated on `from` workers
    std::optional<double> share_needed; ///< communication at K0 that would give this gain, if it stayed as it is
};

/// --measured-speedup GAIN --from-workers K [--to-workers K]; empty without it.
std::optional<MeasuredGain> read_gain(Arguments const& arguments, CurveResult const& result);

/// The key `measured`, and what is said about it.
Json gain_json(std::optional<MeasuredGain> const& gain);
std::string gain_words(MeasuredGain const& gain, CurveResult const& result);

} // namespace headroom::cli
