#include "trace/trace_report.hpp"
#include "trace/trace_words.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>

namespace headroom::cli {

using namespace headroom::trace;

namespace {

constexpr std::size_t most_names = 8, most_notes = 3, most_levers = 12;

std::string work_words(PathAnswer const& path) {
    return "W " + time_words(static_cast<double>(path.work)) + " in all, D " +
           time_words(static_cast<double>(path.depth)) + " on the longest chain, W/D " + significant(path.parallelism) +
           "; it took " + time_words(static_cast<double>(path.measured)) + " (" + counted(path.tasks, "task") + ", " +
           counted(path.edges, "edge") + ")";
}

/// Name of the time between tasks on the path, by the reason for which the second waited.
std::string_view delay_words(TraceEdge edge) {
    switch (edge) {
    case TraceEdge::program: return "host between calls";
    case TraceEdge::launch: return "from launch to start";
    case TraceEdge::stream: return "between kernels";
    case TraceEdge::wait: return "events, synchronization";
    case TraceEdge::handover: return "between threads";
    case TraceEdge::collective: return "collectives";
    }
    return "other";
}

Table kind_table(PathAnswer const& path) {
    TimeUnit const unit = unit_for(static_cast<double>(path.depth));
    auto const depth = static_cast<double>(std::max<Ticks>(1, path.depth));
    Table table{.title = path_kinds_title, .columns = {left("kind"), unit.name, "% of path"}};
    auto const add = [&](std::string const& name, Ticks time) {
        if (time <= 0) { return; }
        table.rows.push_back(
            {name, in_unit(static_cast<double>(time), unit), percent(static_cast<double>(time) / depth)});
    };
    for (SpanKind const kind : span_kinds) {
        add(std::string{kind_words(kind)}, path.by_kind[static_cast<std::size_t>(kind)]);
    }
    for (TraceEdge const edge : trace_edges) {
        add("delay: " + std::string{delay_words(edge)}, path.delays_by[static_cast<std::size_t>(edge)]);
    }
    return table;
}

/// Names that hold most of the path.
Table name_table(PathAnswer const& path) {
    TimeUnit const unit = unit_for(static_cast<double>(path.depth));
    auto const depth = static_cast<double>(std::max<Ticks>(1, path.depth));
    Table table{.title = "What the critical path runs through",
                .columns = {wrapped("task"), left("kind"), "count", unit.name, "% of path"}};
    for (PathName const& one : path.names) {
        if (table.rows.size() == most_names || one.duration == 0) { break; }
        auto const time = static_cast<double>(one.duration);
        table.rows.push_back({kernel_words(one.name, 34), std::string{kind_words(one.kind)}, std::to_string(one.count),
                              in_unit(time, unit), percent(time / depth)});
    }
    return table;
}

Table lever_table(PathAnswer const& path) {
    TimeUnit const unit = unit_for(static_cast<double>(path.depth));
    Table table{.title = what_if_title, .columns = {wrapped("change"), std::string{"step "} + unit.name, "speedup"}};
    std::vector<StepIf> levers = path.what_if;
    std::ranges::stable_sort(levers, std::ranges::greater{}, &StepIf::speedup);
    levers.resize(std::min(levers.size(), most_levers));
    for (StepIf const& one : levers) {
        table.rows.push_back({kernel_words(words_of(one), 52), in_unit(static_cast<double>(one.step), unit),
                              significant(one.speedup, 4) + "x"});
    }
    return table;
}

} // namespace

std::vector<Block> path_blocks(TraceAnswer const& answer) {
    std::vector<Block> blocks;
    if (!answer.path || answer.path->depth <= 0) { return blocks; }
    PathAnswer const& path = *answer.path;
    blocks.emplace_back(Paragraph{work_words(path), "critical path"});
    blocks.emplace_back(kind_table(path));
    blocks.emplace_back(name_table(path));
    if (!path.what_if.empty()) { blocks.emplace_back(lever_table(path)); }
    std::vector<std::string> notes = path.notes;
    if (notes.size() > most_notes + 1) {
        std::string const more = std::to_string(notes.size() - most_notes) + " more notes of this kind are in json";
        notes.resize(most_notes);
        notes.push_back(more);
    }
    if (!notes.empty()) { blocks.emplace_back(Items{"What the path rests on", std::move(notes)}); }
    return blocks;
}

} // namespace headroom::cli
