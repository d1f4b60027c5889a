#include "trace/trace_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

constexpr std::size_t most_rows = 12;

std::string rate_words(std::optional<double> const& rate) { return rate ? format(BytesPerSecond{*rate}) : "-"; }

Table summary_table(CollectiveAnswer const& collectives) {
    Table table{
        .title = "Collectives, most time first",
        .columns = {wrapped("collective"), "ranks", "size", "count", "mean", "waiting", "bus bandwidth", "alone"}};
    for (CollectiveSummary const& one : collectives.summaries) {
        if (table.rows.size() == most_rows) { break; }
        auto const runs = static_cast<double>(std::max<std::int64_t>(1, one.count) * std::max(1, one.ranks));
        double const mean = static_cast<double>(one.seconds_of_ranks) / runs;
        double const transfer =
            static_cast<double>(one.transfer) / static_cast<double>(std::max<std::int64_t>(1, one.count));
        bool const known = one.transfer > 0 && mean > 0.0;
        table.rows.push_back({kernel_words(one.name, 28), std::to_string(one.ranks),
                              one.bytes > 0 ? format(Bytes{static_cast<double>(one.bytes)}) : "-",
                              std::to_string(one.count), time_words(mean),
                              known ? percent(std::max(0.0, 1.0 - transfer / mean), 2) + " %" : "-",
                              rate_words(one.bus_bandwidth), rate_words(one.transfer_bandwidth)});
    }
    return table;
}

std::string summary_words(CollectiveAnswer const& collectives) {
    std::string words =
        "Mean is what a rank spends, waiting for late ranks included; alone is the bus bandwidth from the "
        "last arrival on. Both bandwidths are medians of single runs.";
    if (collectives.summaries.size() > most_rows) {
        words += " " + std::to_string(collectives.summaries.size() - most_rows) + " more rows are in json.";
    }
    if (collectives.unmatched > 0) {
        words +=
            " " + counted(static_cast<std::size_t>(collectives.unmatched), "run") + " had no partner on another rank.";
    }
    return words;
}

std::string skew_words(CollectiveAnswer const& collectives) {
    auto const words = [](Percentiles const& one) {
        return "p50 " + time_words(one.p50) + ", p95 " + time_words(one.p95) + ", p99 " + time_words(one.p99) +
               ", most " + time_words(one.max);
    };
    return "first to last arrival: " + words(collectives.start_skew_ns) +
           "; first to last end: " + words(collectives.end_skew_ns);
}

Table waiting_table(CollectiveAnswer const& collectives) {
    std::vector<RankWaiting> rows = collectives.waiting;
    std::ranges::stable_sort(rows, std::ranges::greater{}, &RankWaiting::last);
    rows.resize(std::min(rows.size(), most_rows));
    return field_rows(arrivals_title, rows,
                      {{"rank"},
                       {"last", "last in"},
                       {"kept_waiting_seconds", "kept others waiting"},
                       {"waited_seconds", "waited itself"}});
}

std::string clock_words(CollectiveAnswer const& collectives) {
    std::vector<std::int64_t> ranks;
    Ticks most = 0;
    for (ClockOffset const& one : collectives.clocks) {
        if (!one.corrected) { continue; }
        ranks.push_back(one.rank);
        most = std::max({most, one.offset, -one.offset});
    }
    return ranks.empty() ? std::string{}
                         : "of " + rank_words(ranks) + " moved by up to " + time_words(static_cast<double>(most)) +
                               ", so that collectives end together";
}

std::vector<std::string> straggler_items(TraceAnswer const& answer) {
    std::vector<std::string> items;
    for (Straggler const& one : answer.stragglers) {
        std::string const cost =
            one.cost > 0 ? ", which costs the others " + time_words(static_cast<double>(one.cost)) : std::string{};
        items.push_back("rank " + std::to_string(one.rank) + " " + words_of(one) + cost);
    }
    return items;
}

} // namespace

std::vector<Block> collective_blocks(TraceAnswer const& answer) {
    std::vector<Block> blocks;
    CollectiveAnswer const& collectives = answer.collectives;
    if (!collectives.summaries.empty()) {
        blocks.emplace_back(summary_table(collectives));
        blocks.emplace_back(Paragraph{summary_words(collectives)});
    }
    if (!collectives.matched.empty()) {
        blocks.emplace_back(waiting_table(collectives));
        blocks.emplace_back(Paragraph{skew_words(collectives), "skew"});
    }
    if (!answer.stragglers.empty()) { blocks.emplace_back(Items{"Stragglers", straggler_items(answer)}); }
    if (std::string words = clock_words(collectives); !words.empty()) {
        blocks.emplace_back(Paragraph{std::move(words), "clocks"});
    }
    return blocks;
}

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

namespace {

std::vector<std::string> shaped_row(ShapedKernel const& one, std::optional<Processor> const& machine) {
    double const mean = mean_seconds(one);
    std::vector<std::string> row{kernel_words(one.name, 16),
                                 one.shape.empty() ? "counted" : kernel_words(one.shape, 20),
                                 std::to_string(one.count),
                                 one.flops > 0.0 ? significant(one.flops / mean / 1e9) : "-",
                                 one.bytes > 0.0 ? significant(one.bytes / mean / 1e9) : "-",
                                 one.flops > 0.0 && one.bytes > 0.0 ? significant(one.flops / one.bytes) : "-"};
    if (machine) {
        auto const share = share_of_roof(one, *machine);
        row.push_back(share ? percent(*share) : "-");
    }
    return row;
}

std::string shaped_words(std::vector<ShapedKernel> const& kernels, std::optional<Processor> const& machine) {
    bool const profiled = std::ranges::all_of(kernels, [](ShapedKernel const& one) { return one.shape.empty(); });
    std::string words = profiled ? "Work and traffic of main memory are those that the profiler counted."
                                 : "Work and the least traffic follow from recorded shapes: each input read and each "
                                   "result written once, so that true traffic is at least this.";
    if (!machine) { return words + " With --machine NAME: how near each kernel is to that machine's roofline."; }
    words += " % of roof: the least time on " + printable(machine->name) + " over the time taken";
    auto const usual = usual_format(*machine);
    bool const stated =
        std::ranges::all_of(kernels, [](ShapedKernel const& one) { return !!stated_format(one.shape); });
    return words + (stated || !usual
                        ? "."
                        : "; where no type is recorded, at its rate of " + std::string{name_of(*usual)} + ".");
}

} // namespace

std::vector<Block> shaped_blocks(TraceReport const& report) {
    std::vector<ShapedKernel> const kernels = shaped_kernel_totals(report.answer.ranks);
    if (kernels.empty() || report.question.top == 0) { return {}; }
    Table table{.title = "Kernels whose work is known",
                .columns = {wrapped("kernel"), wrapped("shape"), "count", "GFLOP/s", "GB/s", "FLOP/B"}};
    if (report.question.machine) { table.columns.push_back("% of roof"); }
    for (std::size_t i = 0; i < std::min(kernels.size(), report.question.top); ++i) {
        table.rows.push_back(shaped_row(kernels[i], report.question.machine));
    }
    std::vector<Block> blocks;
    blocks.emplace_back(std::move(table));
    blocks.emplace_back(Paragraph{shaped_words(kernels, report.question.machine)});
    return blocks;
}

} // namespace headroom::cli
