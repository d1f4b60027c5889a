#pragma once

#include "headroom/fields.hpp"
#include "headroom/issue.hpp"
#include "headroom/serving/percentile.hpp"
#include "headroom/serving/queue_choices.hpp"
#include "headroom/training/assume.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headroom::serving {

inline constexpr std::array queue_quantiles{0.5, 0.9, 0.99, 0.999};
inline constexpr double near_the_floor = 1.1; ///< of the service's own p99: more replicas shorten it no further

// ---- the question -------------------------------------------------------------------------------------------------

/// Measured times of service.
struct ServiceSamples {
    std::string file, unit, format;
    LatencyHistogram values;
    std::vector<Issue> issues = {}; ///< content of the file that was not used
};

struct QueueQuestion {
    ServedQueue queue; ///< with the first count of replicas
    std::vector<int> replicas;
    bool stated_replicas = false; ///< else they were chosen around the load
    std::shared_ptr<ServiceSamples const> samples = {};
    std::optional<LatencyObjective> objective = {};
    std::optional<DollarsPerSecond> price = {}; ///< of one replica
    bool simulate = false;
    std::optional<Seconds> duration = {};
    std::optional<Seconds> hedge = {};
    std::optional<double> factor = {}; ///< of faster replicas against more
    std::uint64_t seed = 1;
    std::vector<training::Assumption> assumptions = {};
};

// ---- the answer ---------------------------------------------------------------------------------------------------

/// Steady state of so many replicas under one load.
struct QueueRow {
    int replicas = 1;
    double arrivals_per_second = 0.0, capacity_per_second = 0.0;
    QueueAnswer answer;
    std::array<Seconds, queue_quantiles.size()> quantiles = {}; ///< in the order of `queue_quantiles`
    std::optional<bool> keeps = {};                             ///< the objective, where there is one
    std::optional<DollarsPerSecond> cost = {};

    [[nodiscard]] Seconds p50() const { return quantiles[0]; }
    [[nodiscard]] Seconds p99() const { return quantiles[2]; }
};

/// Twice the replicas.
struct QueueDoubling {
    QueueRow now, same, twice_traffic;
    std::optional<QueueRow> two_lines = {}; ///< of a shared line: one of two, each before half of the replicas
    std::optional<QueueRow> one_line = {};  ///< of a line each: one before all
    Seconds service_mean, service_p99;      ///< no number of replicas shortens them
    std::string verdict = {};               ///< in words; left to whoever shows it, as all verdicts here

    [[nodiscard]] QueueRow const& other_lines() const { return two_lines ? *two_lines : *one_line; }
};

/// A mean of the closed form against the simulated one.
struct ComparedMean {
    std::string quantity, unit; ///< "wait", "seconds"
    double closed_form = 0.0;
    SimulatedMean simulated;
    bool agrees = true;
};

/// Interval that a percentile of a simulated queue lies in 95 times of 100; an end is missing where requests are too few.
struct PercentileInterval {
    double q = 0.5;
    std::optional<double> low = {}, high = {};
};

struct SimulationReport {
    Seconds duration, warm_up;
    SimulatedQueue run;
    std::array<Seconds, queue_quantiles.size()> quantiles = {};
    std::vector<PercentileInterval> intervals = {};
    std::vector<ComparedMean> compared = {}; ///< none where there is no closed form
    std::optional<bool> agrees = {};
    std::optional<Seconds> memory = {}; ///< of the queue, where the run is too short for it: intervals are too narrow
    std::vector<std::string> notes = {};
    std::string verdict = {};
};

struct HedgingReport {
    Seconds delay;
    SimulationReport with, without;
    double copies = 0.0; ///< a request, above 1
    std::string verdict = {};
};

struct QueueReport {
    QueueQuestion question;
    QueueRow answer;
    std::vector<QueueRow> rows = {}, curve = {}, pooling = {};
    std::optional<QueueRow> knee = {};
    std::optional<QueueDoubling> doubling = {};
    std::optional<int> fewest = {}; ///< that keep the objective
    std::optional<int> enough = {}; ///< from which on p99 is within a tenth of the service's own
    std::optional<SimulationReport> simulation = {};
    std::optional<HedgingReport> hedging = {};
    std::vector<ScaleChoice> scale = {};
    std::optional<double> more_win_above = {}; ///< variation of the service
    std::vector<training::Assumption> assumptions = {};
    std::string verdict = {}, scale_verdict = {};
    bool complete = true; ///< false after an interruption: parts that were not finished are missing
};
FieldTable const& field_table_of(QueueReport const*);
FieldTable const& field_table_of(QueueRow const*);

/// Everything that was asked, by closed form where there is one, else simulated.
/// Errors: InputError{usage} where the question contradicts itself; Interrupted where a stop was requested before the
/// answer was found. Of a later one the report is what was finished.
QueueReport queue_report(QueueQuestion question);
/// Content of the file of service times that was not used; empty without one.
std::vector<Issue> issues_of(QueueReport const& report);
/// Quantile of the service alone: below it no number of replicas brings a latency.
Seconds service_quantile(QueueQuestion const& question, double q);

} // namespace headroom::serving
