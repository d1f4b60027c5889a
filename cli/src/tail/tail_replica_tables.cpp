#include "tail/tail_report.hpp"

#include "headroom/document/text.hpp"

namespace headroom::cli {

using namespace headroom::serving;

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
    text += slo.service_from == ServiceFrom::samples
                ? "the samples as they are, as --service says"
                : "the samples are whole latencies, and waiting was taken out of their mean and variance by the queue "
                  "of " +
                      std::to_string(slo.now ? slo.now->replicas : 0) + " that would show them";
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
    if (!table.rows.empty()) { blocks.emplace_back(as(Part::answer, std::move(table))); }
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

} // namespace headroom::cli
