#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::fit {

// ---- what was measured ------------------------------------------------------------------------------------------

/// Quantity of the measured values. Laws are fitted to the values as they are: rows are never converted, a law of times
/// is turned into one of rates (or back) instead, so that every law of a table answers for the same errors.
enum class Measured {
    seconds,    ///< time of a step: work / rate
    throughput, ///< work a second
    speedup,    ///< throughput in units of some baseline
    sync,       ///< time of a synchronisation alone: there is no work in it
    value,      ///< anything else: only growth is fitted
};
std::string_view name_of(Measured measured);
/// Whether more of it is better.
bool is_rate(Measured measured);

/// Whether the work grows with the workers. Unsaid: times are of a fixed problem, rates are fitted both ways.
enum class Scaling { unsaid, strong, weak };
std::string_view name_of(Scaling scaling);

/// One measurement. A weight is an inverse variance up to a common factor: 2 counts as two equal repeats.
struct ScalingSample {
    double workers = 1.0;
    double value = 0.0;
    double weight = 1.0;
};

/// Centre of repeats: their mean, or their median.
enum class Centre { mean, median };

struct ScalingData {
    std::vector<ScalingSample> samples;
    Measured measured = Measured::seconds;
    Scaling scaling = Scaling::unsaid;
    std::string mixed = {};       ///< series that the rows hold, in words; empty for one series
    Centre centre = Centre::mean; ///< of repeats, for measured values and speedups
};

/// Mean of the samples of each worker count, in rising order; `weight` is their sum.
std::vector<ScalingSample> means_of(std::span<ScalingSample const> samples);

/// Centre of the measurements at each count, as `data.centre` says, in rising order.
std::vector<ScalingSample> measured_centres(ScalingData const& data);

/// Whether the values are of steps, so that a speedup has a meaning.
bool of_steps(Measured measured);
/// Rate of work that a value means: 1 / T, K / T where the work grows with the workers, the value itself where it is a rate.
double rate_of(ScalingData const& data, double workers, double value);
/// Number of workers that speedups and efficiencies are over: the smallest measured count. Stated speedups are over one worker,
/// unless the smallest count itself has a speedup of 1, within 2 %.
double base_workers(ScalingData const& data);
/// Centre of the measurements at each count as a speedup over `base_workers`.
std::vector<ScalingSample> measured_speedups(ScalingData const& data);

// ---- the laws ---------------------------------------------------------------------------------------------------

inline constexpr std::size_t most_coefficients = 3;
using Coefficients = std::array<double, most_coefficients>;

/// Exponents of a term p^(numerator/denominator) log2(p)^logarithm.
struct TermExponents {
    int numerator = 0, denominator = 1, logarithm = 0;
    [[nodiscard]] bool constant() const { return numerator == 0 && logarithm == 0; }
    bool operator==(TermExponents const&) const = default;
};

struct LawCoefficient {
    char const* name;
    double low, high;
    char const* meaning;
};

/// Quantity of the curve of a law: a rate, a time, or the measured value itself.
enum class Gives { rate, time, value };

/// One law. `curve` returns its value at K workers and writes the derivatives by the coefficients.
struct ScalingLaw {
    char const* name;
    char const* formula;
    Gives gives;
    std::span<LawCoefficient const> coefficients;
    double (*curve)(double workers, Coefficients const& c, Coefficients& gradient, TermExponents const& term);
    /// Starting values, given the curve's own values at some counts.
    std::vector<Coefficients> (*starts)(std::span<ScalingSample const> native);
    /// The count at which the rate is highest; empty without one.
    std::optional<double> (*peak)(Coefficients const& c);
    /// The speed-up over one worker that is approached as K grows; empty when there is no end.
    std::optional<double> (*limit)(Coefficients const& c);
    bool (*applies)(Measured measured, Scaling scaling);
    bool fixed_scale = false; ///< the first coefficient is X(1) as measured
    char const* source = "";
    bool saturates = false; ///< rises to its limit whatever the coefficients, so that the ceiling is the value far out
};

/// Every law, in the order in which ties are decided. A new law is a row.
std::span<ScalingLaw const> scaling_laws();
/// Null when there is none of that name.
ScalingLaw const* scaling_law(std::string_view name);

// ---- the question and the answer --------------------------------------------------------------------------------

enum class Intervals {
    profile,         ///< where the residuals' sum of squares, refitted, rises by the F quantile
    asymptotic,      ///< value +- t quantile x standard error
    bootstrap,       ///< refits to the curve plus residuals drawn with replacement
    bootstrap_pairs, ///< refits to measurements drawn with replacement
};
std::string_view name_of(Intervals intervals);

struct FitQuestion {
    double coverage = 0.9;
    Intervals intervals = Intervals::profile;
    std::uint64_t seed = 1;
    int resamples = 999;
    bool normalise = false;           ///< fixes gamma of every law of rates to X(1) as measured
    Centre centre = Centre::mean;     ///< mean: repeats are fitted one by one; median: reduced to it first
    bool relative_errors = false;     ///< an error is a share of the value: weights are divided by the squared mean
    std::vector<std::string> laws;    ///< empty: every law that applies
    std::vector<double> predict;      ///< empty: the measured counts, and two doublings beyond
    std::optional<double> efficiency; ///< to hold: the largest count with it is asked
    bool negative_exponents = false;  ///< of the normal form: also terms that fall
};

struct FittedCoefficient {
    std::string name = {};
    double value = 0.0;
    std::optional<double> low = {}, high = {},
                          standard_error = {}; ///< empty: not known (no degrees of freedom; at a bound)
    bool at_bound = false;
    bool fixed = false; ///< given, not fitted
};

/// Leave-one-count-out figures, as Extra-P prints them.
struct CrossValidation {
    double rss = 0.0, smape = 0.0, adjusted_r2 = 0.0, relative_rss = 0.0;
};

/// Reason for which a law gives no peak, no ceiling and nothing outside of the measured counts.
enum class Withheld {
    nothing,  ///< it gives them
    series,   ///< the rows are of several series
    smape,    ///< it misses by `most_smape` or more
    interval, ///< its interval leaves out too many measurements
    ceiling,  ///< measurements lie beyond its ceiling
    scaling,  ///< times that rise or hardly change, and nobody stated whether the work grows
};

struct LawFit {
    ScalingLaw const* law = nullptr;
    std::string formula = {}; ///< with the exponents, where the law chooses them
    TermExponents term = {};
    Coefficients c{};
    std::vector<FittedCoefficient> coefficients = {};
    int fitted = 0;   ///< coefficients that were fitted
    int counted = 0;  ///< parameters in the information criterion: chosen exponents too
    double rss = 0.0; ///< weighted, weights of mean 1
    int degrees_of_freedom = 0;
    std::optional<double> residual_standard_error = {}, adjusted_r2 = {}, aicc = {}, leave_last_out_error = {};
    double smape = 0.0; ///< percent, of the sum of both: 200 |e| / (|a| + |p|)
    /// Peak and ceiling are over `base_workers`; empty where they are withheld.
    std::optional<double> peak_workers = {}, ceiling = {}, ceiling_value = {};
    std::optional<double> limit = {}, limit_value = {}; ///< ceiling without the term that makes it fall again
    std::string normalisation = {};
    Withheld withheld = Withheld::nothing; ///< whether peak, ceiling and predictions beyond the measured counts are
    std::string withheld_because = {};
    std::optional<CrossValidation> cross_validation = {};
};

/// Where a further measurement would lie (low, high) and where the curve does (curve_low, curve_high).
struct ScalingPrediction {
    double workers = 1.0, value = 0.0;
    std::optional<double> low = {}, high = {}, curve_low = {}, curve_high = {};
    std::optional<double> speedup =
        {}; ///< of the curve over its own value at `base_workers`; a stated speedup as it is
    std::optional<double> efficiency = {};   ///< that speedup over the ideal one
    std::optional<double> ideal = {};        ///< value if nothing were lost from the smallest measured count on
    std::optional<double> ratio = {};        ///< value over the ideal: measured where it was, else of the curve
    std::optional<double> worker_hours = {}; ///< workers x that time, in hours; empty for rates
    bool beyond = false;                     ///< of the largest measured count
};

/// Largest count up to which an efficiency holds: of the curve, or of the measurements where the curve is withheld.
struct HeldEfficiency {
    double efficiency = 0.0;
    std::optional<double> workers = {}; ///< empty where it holds at no count, or at all that were searched (`endless`)
    bool endless = false, measured = false;
};

struct LeftOutLaw {
    std::string law = {}, why = {};
};

struct KarpFlattPoint {
    double workers = 1.0, speedup = 1.0, serial_fraction = 0.0;
};

/// Experimentally determined serial fraction at each count above `base_workers`.
struct KarpFlatt {
    double baseline = 1.0; ///< the count that speed-ups are over
    std::vector<KarpFlattPoint> points = {};
    std::string trend = {}; ///< rising, flat, falling, unclear
    std::string verdict = {};
};

struct NextMeasurement {
    double workers = 1.0, target = 1.0;
    double band_now = 0.0, band_then = 0.0; ///< half of the curve's band over its value, at the target
    std::string why = {};
};

struct Finding {
    std::string kind = {}, text = {};
    std::optional<double> workers = {};
};

/// Whether synchronisation grows as a chain's does, or as a tree's.
///
///     odds = (RSS_worse / RSS_better)^((n-2)/2)
///
/// The likelihood ratio with coefficients and variance integrated out, which is the fair one of few measurements.
/// Called from 20 to 1. Source: [BatesWatts1988]
struct SyncGrowth {
    std::string growth = {};       ///< linear, logarithmic, none, neither, unclear
    double aicc_difference = 0.0;  ///< logarithmic less linear: above zero speaks for a chain
    double likelihood_ratio = 1.0; ///< the odds for the better
    double workers = 1.0, linear_seconds = 0.0, logarithmic_seconds = 0.0; ///< both at the largest count
    std::string sentence = {};
};

struct ScalingReport {
    std::vector<LawFit> fits = {}; ///< in the order of the laws
    std::vector<LeftOutLaw> left_out = {};
    std::size_t best = 0;
    std::string chosen_because = {};
    std::vector<ScalingPrediction> predictions = {}; ///< of the best
    /// Interval of the best's ceiling, in what was measured, where its law saturates. An end is missing where the
    /// measurements set none: they allow a curve without a ceiling.
    std::optional<double> ceiling_low = {}, ceiling_high = {};
    std::optional<HeldEfficiency> held = {}; ///< where an efficiency was asked
    std::optional<KarpFlatt> karp_flatt = {};
    std::optional<NextMeasurement> next_measurement = {};
    std::optional<SyncGrowth> sync = {};
    std::vector<Finding> findings = {};
};

/// SMAPE in percent from which a fit is not called one.
inline constexpr double most_smape = 25.0;

/// Fits every law that applies to the measurements, by least squares under the bounds of its coefficients.
///
///     minimise  sum_i w_i (y_i - f(K_i; c))^2   over  low <= c <= high,   weights of mean 1
///
/// Best is, of the laws whose AICc is within 4 of the least, the one that predicts the measurements at the largest
/// count best from all others; equals go to fewer coefficients, then to the order of the laws. A law with too few
/// measurements for its AICc (fewer than its coefficients + 4) is best only if its prediction misses by less than half
/// as much. A law whose X(1) is a measurement is listed with the one that fits X(1), and is no candidate; a law of a
/// problem that grows is one where the scaling is stated as weak, or where no other law is within 4 of the least.
/// A law gives no peak, no ceiling and nothing beyond the measured counts (`LawFit::withheld`) where its SMAPE is `most_smape` or
/// more, its interval leaves out more measurements than it may, its ceiling is below what was measured, the rows are of several
/// series, or the times hardly change and nobody stated whether the work grows.
/// Holds for:  independent errors of the same spread, or of spreads that the weights state.
/// Assumes:    the law; bands know nothing of a wrong one.
/// Errors:     InputError{insufficient} with fewer counts than the smallest asked law needs.
/// Source:     [HurvichTsai1989], [More1978], [BatesWatts1988]
ScalingReport fit_scaling(ScalingData const& data, FitQuestion const& question);

/// One law, with figures and intervals. Errors: InputError{insufficient} with fewer than coefficients + 1 counts.
LawFit fit_law(ScalingLaw const& law, ScalingData const& data, FitQuestion const& question);

/// The fitted curve at K workers, in what was measured; the derivatives by the coefficients, where asked for.
double curve_at(LawFit const& fit, ScalingData const& data, double workers, Coefficients* gradient = nullptr);

/// Bands of a fitted curve at each of `workers`.
std::vector<ScalingPrediction> predict(LawFit const& fit, ScalingData const& data, FitQuestion const& question,
                                       std::span<double const> workers);

/// e = (1/S - 1/k) / (1 - 1/k) with k = K / K0 and S the speed-up over K0 = `base_workers`.
/// Flat with K: a part that does not divide. Rising: overhead that grows.
/// Holds for:  at least two counts. Assumes: the means. Source: [KarpFlatt1990]
KarpFlatt karp_flatt(ScalingData const& data);

/// The count whose measurement would narrow the band at `target` most, among the measured ones, powers of two and
/// counts between, and one doubling beyond: the variance of the curve there is g' M^-1 g, and a measurement at K adds
/// g(K) g(K)' to the information M.
/// Holds for:  a fit with at least one degree of freedom. Assumes: errors as those measured. Source: [BatesWatts1988]
std::optional<NextMeasurement> next_measurement(LawFit const& fit, ScalingData const& data, FitQuestion const& question,
                                                double target);

} // namespace headroom::fit
