#include "tail/tail_report.hpp"

#include "headroom/document/text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace headroom::cli {

using namespace headroom::serving;

namespace {

std::string replicas_counted(int count) { return counted(static_cast<std::size_t>(count), "replica"); }

std::string load_words(ReplicasForSlo const& slo) {
    return "at " + significant(slo.load.arrivals_per_second) + " requests/s";
}

/// The quantile of a simulated queue; a queue that grows has none.
std::string reached(SimulatedReplicas const& row, TailUnit unit) {
    return row.stable ? unit.words(row.at_objective) : "without end, since requests come faster than they are served";
}

std::string infeasible_words(ReplicasForSlo const& slo, TailUnit unit) {
    std::string const name = percentile_name(slo.objective.q);
    std::string text = "No number of replicas keeps " + printable(slo.objective.text) + ": ";
    text += slo.floor > slo.limit
                ? "a request that never waits takes " + unit.words(slo.floor) + " at " + name + " already."
                : "none of those tried does.";
    if (slo.hedge) {
        text += " A second copy after " + unit.words(slo.hedge->delay) + " brings " + name + " to " +
                unit.words(slo.objective.q == 0.5     ? slo.hedge->p50
                           : slo.objective.q == 0.999 ? slo.hedge->p999
                                                      : slo.hedge->p99) +
                " for " + percent(slo.hedge->extra_load) +
                " % more requests, if what makes one slow is the server and not the request.";
    } else {
        text += " What makes single requests slow has to go, or the limit.";
    }
    return text;
}

} // namespace

std::string missing_words(ReplicaInput input, ReplicasForSlo const& slo, TailQuestion const& question) {
    switch (input) {
    case ReplicaInput::samples_above_zero: return "samples above zero: a service that takes no time needs no replica";
    case ReplicaInput::arrivals: return "--arrivals RATE: the samples do not say how many requests a second came";
    case ReplicaInput::replicas_or_service:
        return "--replicas N that served these samples, or --service: they are whole latencies, and how much of them "
               "is "
               "waiting has to be known";
    case ReplicaInput::matching_load:
        return "other --arrivals or --replicas: no queue of " + replicas_counted(question.replicas.value_or(1)) +
               " at " + significant(slo.load.arrivals_per_second) + " requests/s has these latencies";
    }
    return {};
}

std::string replicas_words(ReplicasForSlo const& slo, TailUnit unit) {
    if (!slo.answered()) {
        return "How many replicas keep " + printable(slo.objective.text) + " is not known. It takes " +
               join(slo.missing_words, "; and ") + ".";
    }
    if (!slo.by_simulation) { return infeasible_words(slo, unit); }
    std::string text = fmt::format("{} {} {} {}: simulated {} is {}", replicas_counted(*slo.by_simulation),
                                   *slo.by_simulation == 1 ? "keeps" : "keep", printable(slo.objective.text),
                                   load_words(slo), percentile_name(slo.objective.q), reached(*slo.chosen, unit));
    text += ", " + percent(slo.chosen->utilization) + " % busy";
    if (slo.by_formula && *slo.by_formula != *slo.by_simulation) {
        text += " (by formula " + std::to_string(*slo.by_formula) + ")";
    }
    if (slo.now && slo.now->replicas < *slo.by_simulation) {
        text += "; " + std::to_string(slo.now->replicas) + " have " + reached(*slo.now, unit);
    }
    return text + ".";
}

std::string doubling_words(ReplicasForSlo const& slo, TailUnit unit) {
    if (!slo.now || !slo.doubled || !slo.now->stable) { return {}; }
    std::string const name = percentile_name(slo.objective.q);
    std::string text = fmt::format("Doubling {} to {} moves {} from {} to {}: ", replicas_counted(slo.now->replicas),
                                   slo.doubled->replicas, name, unit.words(slo.now->at_objective),
                                   unit.words(slo.doubled->at_objective));
    double const wait_share = slo.now->wait / slo.now->mean;
    double const gain = 1.0 - slo.doubled->at_objective / slo.now->at_objective;
    text += "waiting is " + percent(wait_share, 2) + " % of the mean now, and service alone has a " + name + " of " +
            unit.words(slo.floor);
    if (gain < 0.05) { return text + ". This tail is service's, not the queue's: more replicas do not shorten it."; }
    if (slo.doubled->at_objective < 1.1 * slo.floor) { return text + ". More than that would bring no more."; }
    return text + ".";
}

} // namespace headroom::cli
