#pragma once

#include "gate.hpp"
#include "tail/tail_reading.hpp"
#include "tail/tail_words.hpp"

#include "headroom/fan_out.hpp"
#include "headroom/fit/tail_fit.hpp"
#include "headroom/latency_statistics.hpp"
#include "headroom/queue.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// The quantiles that every answer has.
inline constexpr std::array tail_quantiles{0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0};
/// A probability below which a difference is not put down to chance.
inline constexpr double tail_significance = 0.05;

/// A quantile as the answer shows it; 1 is the maximum.
struct TailPercentile {
    double q = 0.5;
    std::optional<double> value = {}, low = {},
                          high = {}; ///< value: empty where it would be the greatest sample and no more
    double coverage = 0.0;
    std::uint64_t samples_beyond = 0;
    std::uint64_t samples_needed = 0;     ///< for an interval with two ends
    std::optional<double> corrected = {}; ///< with what was left out put back
    bool stated = false;                  ///< by a report, without its samples
};

/// What one part is on its own.
struct TailSource {
    std::string name, format, column, unit_from, unit;
    std::uint64_t count = 0, rows = 0;
    double histogram_error = 0.0; ///< relative, that the file's own cells bring with them
    std::vector<TailPercentile> percentiles;
    double duration_seconds = 0.0; ///< 0: no times
    std::uint64_t times_backwards = 0;
    std::optional<std::uint64_t> first_backwards = {};
    SampleWorth worth = {};
    std::optional<OmissionFinding> omission = {};
    std::vector<ChangePoint> changes = {};
    bool changes_by_time = false; ///< at seconds, else at numbers of samples
    std::vector<io::LatencySamples::Dirt> dirt = {};
    std::vector<std::string> notes = {};
    std::optional<SynchronousSteps> steps = {};
};

/// Samples of all parts together.
struct TailSet {
    std::vector<TailSource> sources;
    LatencyHistogram values;
    std::optional<LatencyHistogram> corrected = {};
    SampleWorth worth = {};
    std::optional<double> arrivals_per_second = {}; ///< where every part has times
    std::optional<double> arrival_variation = {};   ///< c^2 of their gaps; of one part whose times are fine enough
    std::vector<TailPercentile> percentiles = {};
    std::vector<io::StatedQuantile> stated = {}; ///< of a report without samples
    std::uint64_t stated_count = 0;
    double stated_mean = 0.0;
    bool times = true;
};

/// The slowest of K workers.
struct TailFanOut {
    FanOut seen;                 ///< by the samples
    double each_must_keep = 0.0; ///< the quantile of each worker that is the p99 of all
    std::optional<FanOut> fitted = {};
    std::vector<BackupWorkers> backups = {};
    std::optional<BackupWorkers> best_backup = {}; ///< most useful work a second
};

/// What a simulated queue of so many replicas does.
struct SimulatedReplicas {
    int replicas = 1;
    bool stable = true;
    double utilization = 0.0;
    double mean = 0.0, wait = 0.0, wait_probability = 0.0; ///< seconds; of the wait: means
    double p50 = 0.0, p99 = 0.0, at_objective = 0.0;
};

/// Replicas that keep an objective.
struct ReplicasForSlo {
    TailObjective objective;
    double limit = 0.0;                    ///< seconds
    std::vector<std::string> missing = {}; ///< what it would take to answer
    std::string service_from = {};         ///< "samples", "deduced"
    std::string drawn_from = {};           ///< "samples" or "gamma": the simulation's times of service
    std::string arrivals_from = {};        ///< "--arrivals", "times"
    QueueLoad load = {};
    std::optional<double> utilization = {}; ///< now
    std::optional<double> wait_share = {};  ///< now: of the mean latency
    double measured = 0.0;                  ///< the quantile of the samples
    double floor = 0.0;                     ///< the quantile of service alone
    std::optional<int> by_formula = {}, by_simulation = {};
    std::optional<Doubling> doubling = {};
    std::optional<SimulatedReplicas> now = {}, doubled = {}, chosen = {};
    std::optional<Hedge> hedge = {}; ///< a second copy that keeps the objective where replicas do not

    [[nodiscard]] std::optional<int> replicas() const { return by_simulation; }
    [[nodiscard]] bool answered() const { return missing.empty(); }
};

struct TailAnswer {
    TailQuestion question;
    TailUnit unit;
    TailSet set;
    double slow = 0.0, slow_share = 0.0;
    std::vector<TailFanOut> fan_outs = {};
    std::vector<fit::TailFit> fits = {};
    std::optional<fit::TailFit> tail_fit = {}; ///< the generalised Pareto tail
    std::string why_no_fit = {};
    std::vector<Hedge> hedges = {}; ///< by their delay
    std::optional<Hedge> tied = {}; ///< the most that tying can bring
    std::optional<TailSet> baseline = {};
    std::optional<TailComparison> comparison = {};
    std::optional<ReplicasForSlo> slo = {};
    std::vector<GateOutcome> gates = {};
    std::optional<double> wall_seconds = {};

    [[nodiscard]] bool has_samples() const { return !set.values.empty(); }
    /// What extrapolates beyond the samples: the tail where one was fitted, else the best family.
    [[nodiscard]] fit::TailFit const* beyond() const {
        return tail_fit ? &*tail_fit : fits.empty() ? nullptr : &fits.front();
    }
};

/// Puts parts together. Errors: InputError{insufficient} for one sample.
TailSet set_of(std::vector<TailPart> parts, TailQuestion const& question);
/// Everything that was asked of samples. Errors: InputError.
TailAnswer answer_of(TailQuestion const& question, std::vector<TailPart> parts, std::vector<TailPart> baseline);

/// Rows of the percentiles of samples.
std::vector<TailPercentile> percentiles_of(LatencyHistogram const& values, double coverage, SampleWorth worth);
/// --objective. The samples are times.
ReplicasForSlo replicas_for(TailQuestion const& question, TailSet const& set);

/// Quantities that --require may ask about.
std::vector<Metric> metrics_of(TailAnswer const& answer);

} // namespace headroom::cli
