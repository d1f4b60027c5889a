#pragma once

#include "headroom/term.hpp"
#include "headroom/training/prediction.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::training {

/// Effects that the speed-up laws neglect. Each can be switched on and off by itself.
enum class LeftOut { imbalance, stragglers, congestion, failures, critical_batch };
inline constexpr std::array every_left_out{LeftOut::imbalance, LeftOut::stragglers, LeftOut::congestion,
                                           LeftOut::failures, LeftOut::critical_batch};
std::string_view name_of(LeftOut term);
/// Name in results: "critical_batch".
std::string key_of(LeftOut term);
/// Option that counts it, with a value: "--mtbf 50700h".
std::string_view example_option(LeftOut term);

/// One of them in one prediction.
struct LeftOutTerm {
    LeftOut term = LeftOut::imbalance;
    bool on = false;
    double value = 0.0; ///< largest over mean; share of a step; rate lost a doubling; share of time lost; B/Bc
    Seconds seconds;    ///< that it adds to a step, against the same without it; infinite: no progress
    std::optional<double> expected_maximum; ///< z_K, with a measured spread
    std::string explanation;
};

/// A question with one of the terms switched off.
Question without(Question question, LeftOut term);

/// All of them, in order, those that are off too. Failures and the batch add no time to a step as it is timed; their
/// seconds are the time of the run per step in excess of the step time.
std::vector<LeftOutTerm> left_out(Prediction const& prediction, CalibrationSet const& calibration);

/// Adds the formulas of the effects outside a step (congestion, goodput, critical batch) to the terms of an explanation,
/// for effects that are on.
void explain_left_out(TermBook& book, Prediction const& prediction);

} // namespace headroom::training
