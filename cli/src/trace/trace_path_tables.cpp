#include "document/text.hpp"
#include "trace/trace_report.hpp"
#include "trace/trace_words.hpp"

#include <algorithm>
#include <map>

namespace headroom::cli {
namespace {

constexpr std::size_t most_names = 8, most_levers = 8;

std::string work_words(PathAnswer const& path) {
    return "W " + time_words(static_cast<double>(path.work)) + " in all, D " +
           time_words(static_cast<double>(path.depth)) + " on the longest chain, W/D " + significant(path.parallelism) +
           "; the step took " + time_words(static_cast<double>(path.measured)) + " (" + counted(path.tasks, "task") +
           ", " + counted(path.edges, "edge") + ")";
}

Table kind_table(PathAnswer const& path) {
    TimeUnit const unit = unit_for(static_cast<double>(path.depth));
    auto const depth = static_cast<double>(std::max<Ticks>(1, path.depth));
    Table table{.title = "The critical path by kind",
                .columns = {{"kind", Align::left}, {unit.name}, {"% of path"}},
                .rows = {}};
    auto const add = [&](std::string const& name, Ticks time) {
        if (time <= 0) { return; }
        table.rows.push_back(
            {name, in_unit(static_cast<double>(time), unit), percent(static_cast<double>(time) / depth)});
    };
    for (SpanKind const kind : span_kinds) {
        add(std::string{kind_words(kind)}, path.by_kind[static_cast<std::size_t>(kind)]);
    }
    add("delays between tasks", path.delays);
    return table;
}

/// Names that hold most of the path.
Table name_table(PathAnswer const& path) {
    struct Sum {
        Ticks time = 0;
        std::int64_t count = 0;
    };
    std::map<std::string_view, Sum> sums;
    for (PathPiece const& piece : path.pieces) {
        Sum& sum = sums[piece.name];
        sum.time += piece.duration;
        ++sum.count;
    }
    std::vector<std::pair<std::string_view, Sum>> rows{sums.begin(), sums.end()};
    std::ranges::stable_sort(rows, [](auto const& a, auto const& b) { return a.second.time > b.second.time; });
    TimeUnit const unit = unit_for(static_cast<double>(path.depth));
    auto const depth = static_cast<double>(std::max<Ticks>(1, path.depth));
    Table table{.title = "What the critical path runs through",
                .columns = {{"task", Align::left, true}, {"count"}, {unit.name}, {"% of path"}},
                .rows = {}};
    for (auto const& [name, sum] : rows) {
        if (table.rows.size() == most_names || sum.time == 0) { break; }
        auto const time = static_cast<double>(sum.time);
        table.rows.push_back({kernel_words(std::string{name}, 48), std::to_string(sum.count), in_unit(time, unit),
                              percent(time / depth)});
    }
    return table;
}

Table lever_table(PathAnswer const& path) {
    TimeUnit const unit = unit_for(static_cast<double>(path.depth));
    Table table{.title = "What if",
                .columns = {{"change", Align::left, true}, {std::string{"step "} + unit.name}, {"speedup"}},
                .rows = {}};
    for (StepIf const& one : path.what_if) {
        if (table.rows.size() == most_levers) { break; }
        table.rows.push_back({kernel_words(one.what, 52), in_unit(static_cast<double>(one.step), unit),
                              significant(one.speedup, 4) + "x"});
    }
    return table;
}

} // namespace

std::vector<Block> path_blocks(TraceAnswer const& answer) {
    std::vector<Block> blocks;
    if (!answer.path || answer.path->tasks == 0) { return blocks; }
    PathAnswer const& path = *answer.path;
    blocks.emplace_back(Paragraph{work_words(path), "critical path"});
    blocks.emplace_back(kind_table(path));
    blocks.emplace_back(name_table(path));
    if (!path.what_if.empty()) { blocks.emplace_back(lever_table(path)); }
    for (std::string const& note : path.notes) { blocks.emplace_back(Paragraph{note, "path"}); }
    return blocks;
}

} // namespace headroom::cli
