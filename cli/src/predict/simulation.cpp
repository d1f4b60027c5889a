#include "predict/simulation.hpp"

#include "predict/prediction_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/training/simulation_agreement.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {

using namespace headroom::training;

namespace {

WorkKind kind_at(std::size_t index) { return static_cast<WorkKind>(index); }

/// Name of a kind of work in text: "tensor communication".
std::string words_of(WorkKind kind) {
    return std::string{name_of(kind)} + (communicates(kind) ? " communication" : "");
}

/// Collectives that have one time instead of messages.
std::string stood_in_words(SimulatedStep const& step) {
    return "Not all collectives are simulated by messages; one time each for " + join(step.stood_in, "; ") + ".";
}

std::string times_words(Seconds time) {
    TimeScale const scale = scale_of(time);
    return significant(time.in(scale.unit), 4) + " " + scale.name;
}

std::string agreement_words(Simulation const& simulation) {
    double const difference = std::abs(simulation.difference());
    std::string const text = "Priced " + times_words(simulation.priced.total()) + ", simulated " +
                             times_words(simulation.step.step()) + ": " + percent(difference, 2) + " % apart";
    if (difference <= agreement_bar) { return text + "."; }
    if (simulation.collectives == CollectiveDetail::messages) {
        return text + ". The price spreads each group evenly over its nodes; messages take the NICs as they are.";
    }
    return text + ". The price lets two transfers at a time share a NIC; here three do.";
}

/// Parts of the step as priced and as simulated, those that either has.
Table comparison_table(Simulation const& simulation) {
    TimeScale const scale = scale_of(simulation.priced.total());
    Table table{
        .title = "The step priced and simulated",
        .columns = {left("part"), "priced " + scale.name, "simulated " + scale.name, "difference " + scale.name}};
    double const least = 1e-6 * simulation.priced.total().base(); // less is the rounding to whole ticks
    auto const row = [&](std::string const& name, Seconds priced, Seconds simulated) {
        Seconds const more = simulated - priced;
        table.rows.push_back({name, significant(priced.in(scale.unit)), significant(simulated.in(scale.unit)),
                              std::abs(more.base()) > least ? significant(more.in(scale.unit)) : "0"});
    };
    auto const priced = named_parts(simulation.priced), simulated = named_parts(simulation.step.time);
    for (std::size_t i = 0; i < priced.size(); ++i) {
        bool const any = std::max(priced[i].second.base(), simulated[i].second.base()) > least;
        if (any) { row(priced[i].first, priced[i].second, simulated[i].second); }
    }
    row("step", simulation.priced.total(), simulation.step.step());
    return table;
}

/// Bars of the critical path by kind of task.
StackedBars critical_bars(SimulatedStep const& step) {
    StackedBars bars{
        .title = "The critical path by kind", .unit = "%", .parts = {}, .labels = {"critical path"}, .values = {{}}};
    bars.caption =
        "The chain of tasks that determines the step time, by kind of work: only a faster task on it shortens the "
        "step.";
    Seconds all;
    for (Seconds const time : step.critical) { all += time; }
    auto const add = [&](std::string const& name, Seconds time) {
        if (!(all.base() > 0.0) || time / all < 1e-6) { return; }
        bars.parts.push_back(name);
        bars.values[0].push_back(100.0 * (time / all));
    };
    for (std::size_t kind = 0; kind < step.critical.size(); ++kind) {
        add(words_of(kind_at(kind)), step.critical[kind]);
    }
    return bars;
}

} // namespace

std::vector<Block> simulation_blocks(Simulation const& simulation) {
    if (!simulation.ran()) { return {Paragraph{"not simulated: " + simulation.step.refused + ".", "simulation"}}; }
    std::vector<Block> blocks{Paragraph{agreement_words(simulation), "simulation"}};
    if (!simulation.step.stood_in.empty()) {
        blocks.emplace_back(Paragraph{stood_in_words(simulation.step), "stood in"});
    }
    blocks.emplace_back(comparison_table(simulation));
    if (StackedBars bars = critical_bars(simulation.step); !bars.parts.empty()) {
        blocks.emplace_back(std::move(bars));
    }
    return blocks;
}

} // namespace headroom::cli
