#pragma once

#include "laws/laws_report.hpp"

#include <functional>

namespace headroom::cli {

/// One faster machine (--faster, --faster-price) asked about against more of the present ones (--price).
struct ScaleUpQuestion {
    double factor = 1.0;
    std::optional<DollarsPerSecond> faster_price, price;
};

/// Empty without --faster. Errors: InputError{usage} for prices without it.
std::optional<ScaleUpQuestion> read_scale_up(Arguments const& arguments);

/// A curve that scales out, over one worker.
struct ScaleOut {
    LawCurve curve;
    std::optional<double> serial_fraction;
    std::optional<std::int64_t> to_match; ///< the smallest K as fast as the faster machine
};

/// Adds the comparison to an answer: the key `scale_up` (null without a question), a verdict and a table.
void add_scale_up(LawsAnswer& answer, std::optional<ScaleUpQuestion> const& question,
                  std::vector<ScaleOut> const& curves);

} // namespace headroom::cli
