#include "headroom/fit/scaling_answer.hpp"

#include "headroom/laws/laws.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>

namespace headroom::fit {

using namespace headroom::laws;

double FitAnswer::smallest_measured() const {
    return std::ranges::min_element(data.samples, {}, &ScalingSample::workers)->workers;
}

double FitAnswer::largest_measured() const {
    return std::ranges::max_element(data.samples, {}, &ScalingSample::workers)->workers;
}

std::optional<double> knee_of(FitAnswer const& answer) {
    bool const rate = is_rate(answer.data.measured);
    if (!answer.of_steps() || answer.data.scaling == Scaling::weak || answer.best().withheld != Withheld::nothing) {
        return std::nullopt;
    }
    double k = answer.smallest_measured();
    for (double value = curve_at(answer.best(), answer.data, k); k < answer.largest_measured(); k *= 2.0) {
        double const next = curve_at(answer.best(), answer.data, 2.0 * k);
        double const gain = rate ? next / value : value / next;
        if (!(gain >= knee_gain)) { return k; } // also where the curve has no value
        value = next;
    }
    return std::nullopt; // every doubling up to the largest measured count was worth it
}

bool draws(Intervals intervals) { return intervals == Intervals::bootstrap || intervals == Intervals::bootstrap_pairs; }

std::string share_words(double share) { return format_count(100.0 * share) + " %"; }

std::string conversion_words(FitAnswer const& answer) {
    std::string const work = answer.data.scaling == Scaling::weak ? "K / " : "1 / ";
    switch (answer.data.measured) {
    case Measured::seconds:
        return "no row is converted: the times are fitted as they are, laws of rates as T = " + work + "X" +
               (answer.data.scaling == Scaling::unsaid ? "; the problem is taken to stay the same" : "");
    case Measured::throughput:
        return "no row is converted: the throughputs are fitted as they are, laws of times as X = " + work + "T";
    case Measured::speedup:
        return "no row is converted: the speedups are fitted as they are, laws of times as X = " + work + "T";
    case Measured::sync: return "no row is converted: the times of synchronisation are fitted as they are";
    case Measured::value: break;
    }
    return "no row is converted: the values are fitted as they are";
}

std::string band_words(FitAnswer const& answer) {
    return "low and high: where one more measurement of average weight lies; curve_low and curve_high: where the curve "
           "lies; each in " +
           share_words(answer.question.coverage) + " of cases, if the law holds";
}

std::vector<PredictionByLaw> predictions_by_law(FitAnswer const& answer) {
    std::vector<PredictionByLaw> rows;
    for (ScalingPrediction const& row : answer.report.predictions) { rows.push_back({answer.best().law->name, row}); }
    return rows;
}

} // namespace headroom::fit
