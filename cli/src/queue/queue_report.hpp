#pragma once

#include "dispatch.hpp"
#include "gate.hpp"
#include "output.hpp"

#include "headroom/assume.hpp"
#include "headroom/io/latency_samples.hpp"
#include "headroom/percentile.hpp"
#include "headroom/queue_choices.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom::cli {

inline constexpr std::array queue_quantiles{0.5, 0.9, 0.99, 0.999};

// ---- what is asked ------------------------------------------------------------------------------------------------

struct QueueQuestion {
    ServedQueue queue; ///< with the first count of replicas
    std::vector<int> replicas;
    bool stated_replicas = false;                           ///< else they were chosen around the load
    std::shared_ptr<io::LatencySamples const> samples = {}; ///< measured services; none: null
    std::string samples_file = {};
    std::optional<LatencyObjective> objective = {};
    std::optional<DollarsPerSecond> price = {}; ///< of one replica
    bool simulate = false;
    std::optional<Seconds> duration = {};
    std::optional<Seconds> hedge = {};
    std::optional<double> factor = {}; ///< of --scale-up
    std::uint64_t seed = 1;
    std::vector<Assumption> assumptions = {};
};
QueueQuestion read_queue_question(Arguments const& arguments);
/// A time above zero, of a size that a request may take.
Seconds read_queue_time(std::string const& text, std::string const& where);
/// --objective: `finite` where requests can be turned away.
std::optional<LatencyObjective> read_queue_objective(Arguments const& arguments, bool finite);
/// Of JSON and CSV.
std::string_view method_key(QueueMethod method);
/// The closed form, unless there is none or it is that of a mean batch: percentiles of that err by half and more, so what
/// it would answer is simulated.
std::optional<QueueAnswer> near_answer(ServedQueue const& queue);

// ---- what is answered ---------------------------------------------------------------------------------------------

/// One queue, settled: a count of replicas under one load.
struct QueueRow {
    int replicas = 1;
    double arrivals_per_second = 0.0, capacity_per_second = 0.0;
    QueueAnswer answer;
    std::string method;                                         ///< of `answer`, or "simulation"
    std::array<Seconds, queue_quantiles.size()> quantiles = {}; ///< in the order of `queue_quantiles`
    std::optional<bool> keeps = {};                             ///< the objective, where there is one
    std::optional<DollarsPerSecond> cost = {};

    [[nodiscard]] Seconds p50() const { return quantiles[0]; }
    [[nodiscard]] Seconds p99() const { return quantiles[2]; }
};

struct QueueDoubling {
    QueueRow now, same, other_lines, twice_traffic; ///< `other_lines`: twice as many, the line or lines the other way
    Seconds service_mean, service_p99;              ///< what no number of replicas shortens
};

/// A mean of the closed form beside the simulated one.
struct ComparedMean {
    std::string quantity, unit; ///< "wait", "seconds"
    double closed_form = 0.0;
    SimulatedMean simulated;
    bool intervals = true; ///< whether low and high are known
    bool agrees = true;
};

struct SimulationReport {
    Seconds duration, warm_up;
    SimulatedQueue run;
    std::array<Seconds, queue_quantiles.size()> quantiles = {};
    std::array<SimulatedQuantile, queue_quantiles.size()> intervals = {}; ///< of those, with the same values
    std::vector<ComparedMean> compared;                                   ///< none where there is no closed form
    bool agrees = true;
    std::vector<std::string> notes;
};

struct HedgingReport {
    SimulationReport with, without;
    double copies = 0.0; ///< a request, above 1
};

struct QueueReport {
    QueueQuestion question;
    QueueRow answer;
    std::vector<QueueRow> rows, curve, pooling;
    std::optional<QueueRow> knee;
    std::optional<QueueDoubling> doubling;
    std::optional<int> fewest; ///< that keep the objective
    std::optional<int> enough; ///< from which on p99 is within a tenth of the service's own
    std::optional<SimulationReport> simulation;
    std::optional<HedgingReport> hedging;
    std::vector<ScaleChoice> scale;
    std::optional<double> more_win_above; ///< variation of the service
    std::vector<Assumption> assumptions;
    std::vector<GateOutcome> gates;
    std::string catalog_footer;
    std::optional<double> wall_seconds;
};

inline constexpr double near_the_floor = 1.1; ///< of the service's own p99: more replicas shorten it no further

QueueReport queue_report(QueueQuestion question);
/// Of the service alone: below it no number of replicas brings a latency.
Seconds service_quantile(QueueQuestion const& question, double q);
/// Up to a million; nothing where no number keeps it.
std::optional<int> fewest_replicas(QueueQuestion const& question, LatencyObjective const& objective);
/// The count that the answer is about, and those that are listed beside it.
int answered_replicas(QueueReport const& report);
std::vector<int> listed_replicas(QueueReport const& report, int answered);
QueueRow queue_row(QueueQuestion const& question, int replicas, double arrivals_per_second);
/// The question with so many replicas, places along where each has its own.
ServedQueue queue_with(QueueQuestion const& question, int replicas, double arrivals_per_second);
SimulationReport simulate_report(ServedQueue const& queue, std::optional<Seconds> duration,
                                 std::optional<Seconds> hedge, std::uint64_t seed, double requests);
/// Sets what the closed form says beside it.
void compare_with(SimulationReport& simulation, QueueRow const& closed_form);
QueueRow row_of(SimulationReport const& simulation, ServedQueue const& queue);
std::vector<Metric> metrics_of(QueueReport const& report);

// ---- what is shown ------------------------------------------------------------------------------------------------

/// A number of three digits without zeros at its end.
std::string brief(double value);
/// A number of requests, or of services; one too small to matter is no more than that.
std::string times_words(double value, int digits = 3);
std::string rate_words(double per_second);
std::string time_words(Seconds time);
std::string replicas_words(std::int64_t count);
/// A compared figure in its unit.
std::string mean_words(ComparedMean const& mean, double value);
std::string objective_words(LatencyObjective const& objective);
std::string queue_verdict(QueueReport const& report);
std::string doubling_words(QueueReport const& report);
std::string knee_words(QueueReport const& report);
std::string pooling_words(QueueReport const& report);
std::string simulation_words(SimulationReport const& simulation, QueueRow const& closed_form);
std::string scale_words(QueueReport const& report);
std::string hedging_words(HedgingReport const& hedging, Seconds delay);
std::vector<Chart> queue_charts(QueueReport const& report);

Document document_of(QueueReport const& report);
Json json_of(QueueReport const& report, Json head);
Sheet sheet_of(QueueReport const& report);

} // namespace headroom::cli
