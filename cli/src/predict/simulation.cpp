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

/// "tensor communication": what a kind is called beside others.
std::string words_of(WorkKind kind) {
    return std::string{name_of(kind)} + (communicates(kind) ? " communication" : "");
}

/// Where the closed form stood in for messages.
std::string stood_in_words(SimulatedStep const& step) {
    return "not all collectives are priced by their messages, the closed form stands in for " +
           join(step.stood_in, "; ") + ".";
}

std::string times_words(Seconds time) {
    TimeScale const scale = scale_of(time);
    return significant(time.in(scale.unit), 4) + " " + scale.name;
}

std::string agreement_words(Simulation const& simulation) {
    double const difference = simulation.difference();
    std::string text = "closed form " + times_words(simulation.closed.total()) + ", simulated " +
                       times_words(simulation.step.step()) + ", " + percent(std::abs(difference), 2) + " % apart; ";
    if (simulation.limits.empty()) {
        bool const kept = std::abs(difference) <= agreement_bar;
        return text + "the closed form claims to hold here, within 1 %" + (kept ? "" : ", and does not");
    }
    std::vector<std::string> names;
    for (ClosedFormLimit const& limit : simulation.limits) { names.emplace_back(limit.name); }
    return text + "the closed form does not claim to hold here: " + join(names, ", ");
}

/// Parts of the step by the closed form and by the simulation, those that either has.
Table beside_table(Simulation const& simulation) {
    TimeScale const scale = scale_of(simulation.closed.total());
    Table table{.title = "The step in closed form and simulated",
                .columns = {{"part", Align::left},
                            {"closed form " + scale.name},
                            {"simulated " + scale.name},
                            {"difference " + scale.name}},
                .rows = {}};
    double const least = 1e-6 * simulation.closed.total().base(); // less is the rounding to whole ticks
    auto const row = [&](std::string const& name, Seconds closed, Seconds simulated) {
        Seconds const more = simulated - closed;
        table.rows.push_back({name, significant(closed.in(scale.unit)), significant(simulated.in(scale.unit)),
                              std::abs(more.base()) > least ? significant(more.in(scale.unit)) : "0"});
    };
    auto const closed = parts_of(simulation.closed), simulated = parts_of(simulation.step.time);
    for (std::size_t i = 0; i < closed.size(); ++i) {
        bool const any = std::max(closed[i].second.base(), simulated[i].second.base()) > least;
        if (any) { row(closed[i].first, closed[i].second, simulated[i].second); }
    }
    row("step", simulation.closed.total(), simulation.step.step());
    return table;
}

/// Bars of the critical path by kind of task.
StackedBars critical_bars(SimulatedStep const& step) {
    StackedBars bars{
        .title = "The critical path by kind", .unit = "%", .parts = {}, .labels = {"critical path"}, .values = {{}}};
    bars.caption =
        "The chain of tasks that decides how long the step takes, by what they are: only what is on it makes "
        "the step shorter when it gets faster.";
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
    std::vector<Block> blocks{Paragraph{agreement_words(simulation) + ".", "simulation"}};
    for (ClosedFormLimit const& limit : simulation.limits) {
        blocks.emplace_back(Paragraph{std::string{limit.reason}, std::string{limit.name}});
    }
    if (!simulation.step.stood_in.empty()) {
        blocks.emplace_back(Paragraph{stood_in_words(simulation.step), "stood in"});
    }
    blocks.emplace_back(beside_table(simulation));
    if (StackedBars bars = critical_bars(simulation.step); !bars.parts.empty()) {
        blocks.emplace_back(std::move(bars));
    }
    return blocks;
}

} // namespace headroom::cli
