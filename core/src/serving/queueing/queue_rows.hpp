#pragma once

#include "headroom/serving/queue_report.hpp"

namespace headroom::serving {

/// The closed form, unless there is none, or it is that of a mean batch (percentiles err by half and more) or Erlang's
/// losses of arrivals that are not Poisson: these are simulated instead.
std::optional<QueueAnswer> near_answer(ServedQueue const& queue);
/// The fewest replicas that keep an objective, up to a million: by closed form, or by halving over simulated queues from
/// the number that a closed form of chance or of mean batches gives.
std::optional<int> fewest_replicas(QueueQuestion const& question, LatencyObjective const& objective);
/// The count that the answer is about: the one that was stated; of several the fewest that keep the objective, or without
/// one those from which on more replicas shorten p99 no further. Where none of the list does, its last.
int answered_replicas(QueueReport const& report);
/// Counts that are listed: as stated when several were, else around the answer.
std::vector<int> listed_replicas(QueueReport const& report, int answered);
QueueRow queue_row(QueueQuestion const& question, int replicas, double arrivals_per_second);
/// The question with so many replicas, places along where each has its own.
ServedQueue queue_with(QueueQuestion const& question, int replicas, double arrivals_per_second);
SimulationReport simulate_report(ServedQueue const& queue, std::optional<Seconds> duration,
                                 std::optional<Seconds> hedge, std::uint64_t seed, double requests);
/// Adds the closed form to compare with.
void compare_with(SimulationReport& simulation, QueueRow const& closed_form);
QueueRow row_of(SimulationReport const& simulation, ServedQueue const& queue);

} // namespace headroom::serving
