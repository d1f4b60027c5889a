#pragma once

#include "headroom/fields.hpp"
#include "headroom/serving/fan_out.hpp"
#include "headroom/serving/latency_samples.hpp"
#include "headroom/serving/latency_statistics.hpp"
#include "headroom/serving/queue.hpp"
#include "headroom/serving/queue_simulation.hpp"
#include "headroom/serving/tail_distribution.hpp"
#include "headroom/trace/trace_answer.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::serving {

// Answers about latencies: percentiles of one or several files of samples, the slowest of K, second copies, a comparison
// with another run, and the replicas that keep an objective. Values are seconds where the samples are times.

/// The quantiles that every answer has.
inline constexpr std::array tail_quantiles{0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0};
/// Probability below which a difference is not put down to chance.
inline constexpr double tail_significance = 0.05;

// ---- the question -------------------------------------------------------------------------------------------------

/// A place in a distribution: a quantile, or a value as it was written, with its unit or without.
struct TailPoint {
    std::string text = {};
    std::optional<double> q = {}, seconds = {}, number = {}; ///< one of them
};

/// A share q of all samples keeps a limit: 'p99<=200ms'.
struct TailObjective {
    std::string text;
    double q = 0.99;
    TailPoint limit = {};
};

struct TailQuestion {
    bool each = false, fit = false;
    bool service = false; ///< the samples are times of service, without any waiting
    double coverage = 0.95;
    std::optional<double> interval = {}; ///< intended seconds between requests
    std::vector<int> fan_out{1, 8, 64, 512};
    std::optional<TailPoint> slow = {}, hedge = {};
    bool wants_backups = false;
    std::vector<int> backups{1, 2, 4, 8};
    std::optional<TailObjective> objective = {};
    std::optional<double> arrivals_per_second = {};
    std::optional<int> replicas = {};
    Dispatch dispatch = Dispatch::shared_line;
    std::uint64_t seed = 1;

    /// Whether the times of service are to be found in send times and whole latencies.
    [[nodiscard]] bool rebuilds_service() const {
        return objective && replicas && !service && dispatch == Dispatch::shared_line;
    }
};

/// A rank that was the slowest more often than chance makes one.
struct SlowRank {
    std::int64_t rank = 0;
    std::uint64_t slowest = 0; ///< steps in which no other rank took longer
    double probability = 1.0;  ///< of so many by chance, were all alike, corrected for all ranks
    double mean_seconds = 0.0; ///< of its steps
};

/// Steps that all ranks of a run took together: the cost of waiting for the slowest.
struct SynchronousSteps {
    int ranks = 0;
    std::uint64_t steps = 0;           ///< that every rank has
    double mean_seconds = 0.0;         ///< of one rank's step
    double slowest_seconds = 0.0;      ///< mean over steps of the slowest rank
    double slowdown = 1.0;             ///< the one over the other
    double independent_slowdown = 1.0; ///< if each step of each rank were drawn anew from all of them
    std::vector<SlowRank> slow;        ///< only those that chance does not explain, the worst first
};

/// Samples of one file, of all traces together, or of a stored measurement.
struct TailPart {
    std::string name;
    LatencySamples samples;
    std::optional<SynchronousSteps> steps = {};

    [[nodiscard]] bool times() const { return samples.unit != "1"; }
};

/// Steps of ranks as samples. Errors: InputError{insufficient} where no rank has steps.
TailPart steps_of(trace::TraceAnswer const& answer);

// ---- the answer ---------------------------------------------------------------------------------------------------

/// A quantile of samples; 1 is the maximum.
struct TailPercentile {
    double q = 0.5;
    std::optional<double> value = {}; ///< empty where it would be the greatest sample and no more
    std::optional<double> low = {}, high = {};
    double coverage = 0.0;
    std::uint64_t samples_beyond = 0;
    std::uint64_t samples_needed = 0;     ///< for an interval with two ends
    std::optional<double> corrected = {}; ///< with the requests put back that were never sent
    bool stated = false;                  ///< by a report, without its samples
    std::optional<double> known_low = {},
                          known_high = {}; ///< values that a file states next to it, where it states none
};
using TailPercentiles = std::vector<TailPercentile>;

/// A change of the level of samples, at seconds where they have times, else at a number of samples.
struct LevelChange {
    std::optional<double> at_seconds = {}, at_sample = {};
    double before = 0.0, after = 0.0; ///< means of the samples on both sides
    double probability = 1.0;         ///< of so clear a change by chance
};

/// Properties of one source of samples, without the others.
struct TailSource {
    std::string name, format, column, unit_from, unit;
    std::uint64_t count = 0, rows = 0;
    double histogram_error = 0.0;  ///< relative, that the file's own cells bring with them
    double duration_seconds = 0.0; ///< 0: no times
    std::uint64_t times_backwards = 0;
    std::optional<std::uint64_t> first_backwards = {};
    SampleWorth worth = {};
    std::optional<OmissionFinding> omission = {};
    std::vector<LevelChange> changes = {};
    std::vector<Issue> issues = {};
    std::vector<std::string> notes = {};
    std::optional<SynchronousSteps> steps = {};
    TailPercentiles percentiles = {};
};

/// Samples of all parts together.
struct TailSet {
    std::vector<TailSource> sources;
    LatencyHistogram values;
    std::optional<LatencyHistogram> corrected = {};
    SampleWorth worth = {};
    std::optional<double> arrivals_per_second = {}; ///< where every part has times
    std::optional<double> arrival_variation = {};   ///< c^2 of their gaps; of one part whose times are fine enough
    std::optional<LatencyHistogram> service = {};   ///< rebuilt from send times and latencies, where asked for
    TailPercentiles percentiles = {};
    std::uint64_t stated_count = 0; ///< of a report without samples
    double stated_mean = 0.0;       ///< of such a report, or of one file that states points of its distribution
    bool times = true;

    [[nodiscard]] double mean() const { return stated_mean > 0.0 ? stated_mean : values.mean(); }
};

/// Percentiles of one part, or of all together.
struct NamedPercentiles {
    std::string name;
    std::uint64_t samples = 0;
    TailPercentiles percentiles = {};
};

struct SlowShare {
    double threshold = 0.0, share = 0.0; ///< share of samples above it
};

/// The slowest of K where a fitted distribution goes on beyond the samples.
struct FittedFanOut {
    double probability_slow = 0.0;
    double p50 = 0.0, p90 = 0.0, p99 = 0.0, p999 = 0.0;
    double mean = 0.0; ///< infinite where the tail has none
};

/// The slowest of K workers.
struct TailFanOut {
    FanOut seen;                 ///< by the samples
    double each_must_keep = 0.0; ///< quantile of each worker that is the p99 of all
    std::optional<FittedFanOut> fitted = {};
    std::vector<BackupWorkers> backups = {};
    std::optional<int> best_backups = {}; ///< with the most useful work a second
};

/// Second copies of a request after several delays.
struct HedgingAnswer {
    std::vector<Hedge> delays; ///< by delay
    Hedge best;                ///< the least p99
    std::optional<Hedge> tied = {};
};

/// Samples against those of another run.
struct BaselineComparison {
    TailSet baseline;
    TailComparison runs;
    std::string verdict = {}; ///< in words; left to whoever shows it
};

/// Steady state of a simulated queue of so many replicas.
struct SimulatedReplicas {
    int replicas = 1;
    bool stable = true;
    double utilization = 0.0;
    double mean = 0.0, wait = 0.0, wait_probability = 0.0; ///< seconds; of the wait: means
    double p50 = 0.0, p99 = 0.0, at_objective = 0.0;
};

/// Facts without which the number of replicas is not known.
enum class ReplicaInput {
    samples_above_zero,
    arrivals,
    replicas_or_service, ///< the replicas that served the samples, or that these are service alone
    matching_load,       ///< no queue of so many replicas has these latencies at that load
    service,             ///< deduced from whole latencies it is too uncertain to say that no number is enough
};

enum class ArrivalsFrom { option, times };
std::string_view name_of(ArrivalsFrom from);
/// rebuilt: request by request from send times; gamma: a distribution with the mean and variation deduced
enum class ServiceFrom { samples, rebuilt, deduced, gamma };
std::string_view name_of(ServiceFrom from);

/// Replicas that keep an objective.
struct ReplicasForSlo {
    TailObjective objective;
    double limit = 0.0; ///< seconds
    std::vector<ReplicaInput> missing = {};
    std::optional<ServiceFrom> service_from = {}, drawn_from = {}; ///< drawn_from: the simulation's times of service
    std::optional<ArrivalsFrom> arrivals_from = {};
    QueueLoad load = {};
    std::optional<double> utilization = {}; ///< now
    std::optional<double> wait_share = {};  ///< now: of the mean latency
    double measured = 0.0;                  ///< the quantile of the samples
    double floor = 0.0;                     ///< the quantile of service alone
    std::optional<int> by_formula = {}, by_simulation = {};
    std::optional<Doubling> doubling = {};
    std::optional<SimulatedReplicas> now = {}, doubled = {}, chosen = {};
    std::optional<Hedge> hedge = {}; ///< a second copy that keeps the objective where replicas do not
    std::vector<std::string> missing_words = {};
    std::string verdict = {}; ///< in words; left to whoever shows it, as are those of `missing`

    [[nodiscard]] std::optional<int> replicas() const { return by_simulation; }
    [[nodiscard]] bool answered() const { return missing.empty(); }
    /// Whether waiting that nobody measured was taken out of the latencies to a degree that matters.
    [[nodiscard]] bool careful() const { return service_from == ServiceFrom::deduced && wait_share > 0.05; }
};

struct TailAnswer {
    TailQuestion question;
    TailSet set;
    std::vector<NamedPercentiles> each = {};
    std::optional<SlowShare> slow = {};
    std::vector<TailFanOut> fan_outs = {};
    std::vector<TailFit> fits = {}; ///< families, best first; then the generalised Pareto tail where one was found
    std::string why_no_fit = {};
    std::optional<HedgingAnswer> hedging = {};
    std::optional<BaselineComparison> comparison = {};
    std::optional<ReplicasForSlo> slo = {};
    std::vector<std::string> verdict = {}, warnings = {}; ///< in words; left to whoever shows them
    bool complete = true;                                 ///< false where reading was interrupted

    [[nodiscard]] bool has_samples() const { return !set.values.empty(); }
    /// Extrapolates beyond the samples: the tail where one was fitted, else the best family.
    [[nodiscard]] TailFit const* beyond() const;
};

/// Content of all files that was not used, and rows with a fault; those of the baseline after those of the samples.
std::vector<Issue> issues_of(TailAnswer const& answer);

/// Puts parts together. Errors: InputError{insufficient} for one sample.
TailSet set_of(std::vector<TailPart> const& parts, TailQuestion const& question);
/// Replicas that keep the objective of the question. Errors: InputError{usage} where the samples are no times.
ReplicasForSlo replicas_for(TailQuestion const& question, TailSet const& set);

/// Fits of samples: families, best first, then the generalised Pareto tail. Throws InputError where none can be fitted.
using TailFitter = std::vector<TailFit> (*)(LatencyHistogram const& samples);

/// Everything that was asked of samples; `fitter` is called where fits are asked for. Errors: InputError.
TailAnswer tail_answer(TailQuestion const& question, std::vector<TailPart> const& parts,
                       std::vector<TailPart> const& baseline, TailFitter fitter);

// ---- its fields ---------------------------------------------------------------------------------------------------

/// Values of a struct that are plain numbers: their keys lack the "_seconds" of times.
template <class T> struct PlainNumbers { T const* of = nullptr; };

FieldTable const& field_table_of(Hedge const*);
FieldTable const& field_table_of(TailAnswer const*);
template <class T> FieldTable const& field_table_of(PlainNumbers<T> const*); ///< of TailAnswer and TailRow

/// A row of CSV: a percentile of one part, or of all.
struct TailRow {
    std::string samples;
    TailPercentile row = {};
};
FieldTable const& field_table_of(TailRow const*);
/// Rows of each source if asked for, then of all together.
std::vector<TailRow> rows_of(TailAnswer const& answer);

} // namespace headroom::serving
