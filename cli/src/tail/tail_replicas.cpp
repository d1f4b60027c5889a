#include "tail/tail_report.hpp"

#include "headroom/document/text.hpp"

#include <fmt/format.h>

namespace headroom::cli {
namespace {

std::vector<std::string> simulated_row(std::string what, SimulatedReplicas const& row, std::string const& formula,
                                       TailUnit unit) {
    if (!row.stable) {
        return {std::move(what), std::to_string(row.replicas), percent(row.utilization), "grows", "-", "-", "-"};
    }
    return {std::move(what),
            std::to_string(row.replicas),
            percent(row.utilization),
            percent(row.wait / row.mean, 2),
            unit.words(row.p50),
            unit.words(row.p99),
            formula};
}

std::string service_words(ReplicasForSlo const& slo, TailUnit unit) {
    std::string text = unit.words(slo.load.service.base()) +
                       " on average, c^2 = " + significant(slo.load.service_variation) + ", " +
                       percentile_name(slo.objective.q) + " " + unit.words(slo.floor) + "; ";
    std::string const servers = std::to_string(slo.now ? slo.now->replicas : 0);
    switch (*slo.service_from) {
    case ServiceFrom::samples: text += "the samples as they are, as --service says"; break;
    case ServiceFrom::rebuilt:
        text += "rebuilt request by request: one starts when it is sent, or when the first of " + servers +
                " behind one line is free";
        break;
    default:
        text += "the samples are whole latencies, and waiting was taken out of their mean and variance by the queue "
                "of " +
                servers + " that would show them";
    }
    text += slo.drawn_from == ServiceFrom::gamma ? ". A gamma distribution of these stands for it"
                                                 : ". The formula takes a gamma distribution of these instead";
    return text;
}

} // namespace

std::vector<Block> replica_blocks(TailAnswer const& answer) {
    if (!answer.slo || !answer.slo->answered()) { return {}; }
    ReplicasForSlo const& slo = *answer.slo;
    TailUnit const unit = unit_of(answer);
    std::string const name = percentile_name(slo.objective.q);
    Table table{.title = "Replicas at " + significant(slo.load.arrivals_per_second) + " requests/s, simulated",
                .columns = {left(""), "replicas", "busy %", "waiting %", "p50", "p99", "p99 by formula"}};
    auto const formula = [&](LoadPoint const* point) { return point ? unit.words(point->p99.base()) : "-"; };
    if (slo.now) {
        table.rows.push_back(
            simulated_row("now", *slo.now, formula(slo.doubling ? &slo.doubling->now : nullptr), unit));
    }
    if (slo.doubled) {
        table.rows.push_back(
            simulated_row("twice", *slo.doubled, formula(slo.doubling ? &slo.doubling->shared_line : nullptr), unit));
    }
    bool const is_now = slo.chosen && slo.now && slo.chosen->replicas == slo.now->replicas;
    if (slo.chosen && !is_now) {
        table.rows.push_back(simulated_row("keeps it", *slo.chosen, "-", unit));
        table.marked = table.rows.size() - 1;
    }
    if (is_now) { table.marked = 0; }
    std::vector<Block> blocks;
    add_table(blocks, as(Part::answer, std::move(table)));
    blocks.emplace_back(Paragraph{service_words(slo, unit), "service"});
    if (slo.now && slo.now->stable) {
        double const miss = slo.now->at_objective / slo.measured - 1.0;
        blocks.emplace_back(Paragraph{"simulated " + name + " of the present " + std::to_string(slo.now->replicas) +
                                          " is " + unit.words(slo.now->at_objective) + ", measured " +
                                          unit.words(slo.measured) + " (" + signed_percent(miss) + ")",
                                      "check"});
    }
    return blocks;
}

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
        return "other --arrivals or --replicas, or --service with times of service: no queue of " +
               replicas_counted(question.replicas.value_or(1)) + " at " + significant(slo.load.arrivals_per_second) +
               " requests/s has these latencies";
    case ReplicaInput::service:
        return "--service with times of service: those deduced from whole latencies are too uncertain to say that no "
               "number of replicas is enough";
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
    if (slo.careful()) {
        text += ". Careful: the service was deduced from whole latencies, " + percent(*slo.wait_share, 2) +
                " % of them waiting; send times, or a column of service times with --service, give it exactly";
    }
    return text + ".";
}

std::string doubling_words(ReplicasForSlo const& slo, TailUnit unit) {
    if (!slo.answered() || !slo.now || !slo.doubled || !slo.now->stable) { return {}; }
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
