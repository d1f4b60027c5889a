#include "headroom/serving/tail_answer.hpp"

namespace headroom::serving {
namespace {

/// A time of a simulated queue; nothing of a queue that grows.
template <double SimulatedReplicas::*Time> std::optional<double> settled(SimulatedReplicas const& row) {
    return row.stable ? std::optional{row.*Time} : std::nullopt;
}

/// A figure that is known once the question is answered.
template <class F> auto answered(ReplicasForSlo const& slo, F figure) {
    return slo.answered() ? std::optional{figure(slo)} : std::nullopt;
}

} // namespace

FieldTable const& field_table_of(SimulatedReplicas const*) {
    using Row = SimulatedReplicas;
    static constexpr Field rows[] = {
        {"replicas", "Number of replicas.", member<&Row::replicas>},
        {"stable", "Whether they keep up with the load; else no time is known.", member<&Row::stable>},
        {"utilization", "Share of time that a replica works.", member<&Row::utilization>, Unit{"share"}},
        {"mean_seconds", "Mean latency.", [](Row const& row) { return settled<&Row::mean>(row); }},
        {"wait_seconds", "Mean wait.", [](Row const& row) { return settled<&Row::wait>(row); }},
        {"wait_probability", "Share of requests that wait.",
         [](Row const& row) { return settled<&Row::wait_probability>(row); }},
        {"p50_seconds", "Median latency.", [](Row const& row) { return settled<&Row::p50>(row); }},
        {"p99_seconds", "99th percentile of latency.", [](Row const& row) { return settled<&Row::p99>(row); }},
        {"at_objective_seconds", "Latency at the quantile of the objective.",
         [](Row const& row) { return settled<&Row::at_objective>(row); }},
    };
    static constexpr FieldTable table = field_table<Row>("simulated_replicas", rows);
    return table;
}

FieldTable const& field_table_of(ReplicasForSlo const*) {
    using Slo = ReplicasForSlo;
    static constexpr Field rows[] = {
        {"objective", "The objective as it was given.", [](Slo const& slo) { return slo.objective.text; }},
        {"quantile", "Share of requests that must keep it.", [](Slo const& slo) { return slo.objective.q; }},
        {"limit_seconds", "Latency that they must not exceed.", member<&Slo::limit>},
        {"measured_seconds", "Latency of the samples at that quantile.", member<&Slo::measured>},
        {"missing", "Facts without which there is no answer, in words.", member<&Slo::missing_words>},
        {"arrivals_per_second", "Rate of requests.",
         [](Slo const& slo) { return slo.arrivals_from ? std::optional{slo.load.arrivals_per_second} : std::nullopt; }},
        {"arrivals_from", "Origin of that rate: --arrivals, or the times of the samples.", member<&Slo::arrivals_from>},
        {"arrival_variation", "Squared coefficient of variation of the gaps between requests.",
         [](Slo const& slo) { return answered(slo, [](Slo const& s) { return s.load.arrival_variation; }); }},
        {"service_seconds", "Mean time of service.",
         [](Slo const& slo) { return answered(slo, [](Slo const& s) { return s.load.service; }); }},
        {"service_variation", "Squared coefficient of variation of the times of service.",
         [](Slo const& slo) { return answered(slo, [](Slo const& s) { return s.load.service_variation; }); }},
        {"service_from",
         "Origin of the times of service: the samples, rebuilt request by request from send times and latencies, or "
         "deduced from the latencies' mean and variance.",
         member<&Slo::service_from>},
        {"drawn_from", "Times of service of the simulation: the samples, rebuilt ones, or a gamma distribution.",
         member<&Slo::drawn_from>},
        {"floor_seconds", "Quantile of service alone, below which no number of replicas brings the latency.",
         [](Slo const& slo) { return answered(slo, [](Slo const& s) { return s.floor; }); }},
        {"utilization", "Share of time that a replica works now.", member<&Slo::utilization>, Unit{"share"}},
        {"wait_share", "Share of waiting in the mean latency now.", member<&Slo::wait_share>},
        {"replicas", "Fewest replicas that keep the objective.", [](Slo const& slo) { return slo.replicas(); }},
        {"by_formula", "That number by closed form.", member<&Slo::by_formula>},
        {"by_simulation", "That number by simulation.", member<&Slo::by_simulation>},
        {"chosen", "The simulated queue with that number.", member<&Slo::chosen>},
        {"now", "The simulated queue with the replicas of now.", member<&Slo::now>},
        {"doubled", "The simulated queue with twice as many.", member<&Slo::doubled>},
        {"doubling", "Twice the replicas, by closed form.", member<&Slo::doubling>},
        {"hedge", "A second copy that keeps the objective where no number of replicas does.", member<&Slo::hedge>},
        {"verdict", "The answer in words.", member<&Slo::verdict>},
    };
    static constexpr FieldTable table = field_table<Slo>("replicas_for_slo", rows);
    return table;
}

} // namespace headroom::serving
