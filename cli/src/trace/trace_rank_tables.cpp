#include "trace/trace_report.hpp"

#include "headroom/document/gantt_pieces.hpp"
#include "headroom/document/text.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

constexpr std::size_t most_rows = 16, most_bars = 32, most_steps = 10;

TimeUnit unit_of_ranks(TraceAnswer const& answer) {
    Ticks longest = 0;
    for (RankDigest const& rank : answer.ranks) { longest = std::max(longest, rank.breakdown.whole.window); }
    return unit_for(static_cast<double>(longest));
}

std::vector<std::string> rank_row(RankDigest const& rank, TimeUnit unit) {
    DeviceTimes const& whole = rank.breakdown.whole;
    bool const known = knows_when(rank);
    auto const time = [&](Ticks ns) { return in_unit(static_cast<double>(ns), unit); };
    auto const when = [&](Ticks ns) { return known ? time(ns) : std::string{"-"}; };
    double const idle = whole.window > 0 ? static_cast<double>(whole.idle) / static_cast<double>(whole.window) : 0.0;
    return {std::to_string(rank.rank),
            known ? std::to_string(rank.breakdown.steps.size()) : "-",
            when(whole.window),
            time(whole.compute),
            time(whole.communication),
            when(whole.exposed),
            when(whole.memory_only),
            when(whole.idle),
            known ? percent(idle, 2) : "-"};
}

Table rank_table(TraceAnswer const& answer) {
    TimeUnit const unit = unit_of_ranks(answer);
    Table table{.title = "Ranks, " + std::string{unit.name},
                .columns = {"rank", "steps", "wall", "compute", "comm.", "exposed", "memory", "idle", "% idle"}};
    for (std::size_t const i : drawn_lanes(answer.ranks.size(), most_rows)) {
        table.rows.push_back(rank_row(answer.ranks[i], unit));
    }
    return table;
}

std::string rank_notes(TraceAnswer const& answer) {
    bool const totals = std::ranges::none_of(answer.ranks, [](RankDigest const& rank) { return knows_when(rank); });
    if (totals) { return "Sums of durations. What is - would need the times of day of what ran."; }
    std::string words =
        "Wall is the whole file, from the first to the last device work. Exposed is communication without "
        "computation at the same time; memory is what only copies and fills cover. compute + exposed + memory + idle "
        "= wall.";
    if (std::ranges::any_of(answer.ranks, [](RankDigest const& rank) { return rank.breakdown.on_host; })) {
        words += " Ranks without device work are measured by the threads of their host.";
    }
    if (answer.ranks.size() > most_rows) {
        words += " " + std::to_string(most_rows) + " of " + std::to_string(answer.ranks.size()) +
                 " ranks are shown; json and csv have all.";
    }
    return words;
}

/// Bars of ranks whose times are known; idle time by its reason where one is.
StackedBars rank_bars(TraceAnswer const& answer) {
    TimeUnit const unit = unit_of_ranks(answer);
    StackedBars bars{
        .title = rank_bars_title,
        .unit = unit.name,
        .parts = {"compute", "exposed communication", "memory", "idle: host-bound", "idle: waiting", "idle: other"},
        .labels = {},
        .values = {}};
    for (std::size_t const i : drawn_lanes(answer.ranks.size(), most_bars)) {
        RankDigest const& rank = answer.ranks[i];
        if (!knows_when(rank)) { continue; }
        DeviceTimes const& whole = rank.breakdown.whole;
        IdleShares const& idle = rank.breakdown.idle;
        bars.labels.push_back("rank " + std::to_string(rank.rank));
        auto& row = bars.values.emplace_back();
        for (Ticks const time :
             {whole.compute, whole.exposed, whole.memory_only, idle.host_bound, idle.waiting, idle.other}) {
            row.push_back(static_cast<double>(time) / unit.ns);
        }
    }
    bars.caption = "Idle time is host-bound where the next launch came after the device had fallen idle, waiting where "
                   "what was launched in time waits for another stream, an event or another rank.";
    return bars;
}

/// Steps, each on its slowest rank; of many evenly spread ones.
Table step_table(TraceAnswer const& answer) {
    std::vector<TraceTimesRow> const slowest = slowest_steps(answer);
    std::vector<TraceTimesRow> rows;
    for (std::size_t const i : drawn_lanes(slowest.size(), most_steps)) { rows.push_back(slowest[i]); }
    return field_rows("Steps on the host's clock, each of its slowest rank", rows,
                      {{"step"},
                       {"rank", "slowest rank"},
                       {"wall_seconds"},
                       {"compute_seconds"},
                       {"exposed_communication_seconds", "exposed"},
                       {"memory_seconds"},
                       {"idle_seconds"}});
}

std::string step_words(TraceAnswer const& answer) {
    Percentiles const& ns = *answer.step_ns;
    bool const detected =
        std::ranges::any_of(answer.ranks, [](RankDigest const& rank) { return rank.breakdown.steps_detected; });
    return "of the slowest rank: p50 " + time_words(ns.p50) + ", p90 " + time_words(ns.p90) + ", p99 " +
           time_words(ns.p99) + ", longest " + time_words(ns.max) +
           (detected ? "; no annotation names them: they are detected by what repeats" : "");
}

std::string serial_words(TraceAnswer const& answer) {
    std::string const at = answer.workers ? " at " + counted(static_cast<std::size_t>(*answer.workers), "worker")
                                          : std::string{" at an unknown number of workers (--workers N states it)"};
    std::vector<std::string> parts;
    if (answer.serial) {
        parts.push_back("serial fraction " + significant(answer.serial->value, 4) + at +
                        (knows_when(answer) ? " (exposed communication over that and computation)"
                                            : " at most (all communication over that and computation)"));
    } else {
        parts.push_back("the serial fraction" + at + " is not known");
    }
    if (answer.gamma) {
        auto const pure = gamma_without_waiting(answer);
        parts.push_back("gamma " + significant(*answer.gamma) + " (communication over computation" +
                        (pure ? "; " + significant(*pure) + " without waiting for late ranks)" : ")"));
    }
    if (answer.overlap_fraction) {
        parts.push_back(percent(*answer.overlap_fraction) + " % of communication is hidden");
    }
    if (answer.ceiling) {
        parts.push_back("ceiling " + significant(*answer.ceiling) + "x over now" +
                        (answer.ceiling_over_one_worker
                             ? ", " + significant(*answer.ceiling_over_one_worker) + "x over one worker"
                             : std::string{}));
    }
    return join(parts, "; ");
}

} // namespace

std::vector<Block> rank_blocks(TraceAnswer const& answer) {
    std::vector<Block> blocks;
    blocks.emplace_back(rank_table(answer));
    StackedBars bars = rank_bars(answer);
    if (!bars.labels.empty()) { blocks.emplace_back(std::move(bars)); }
    blocks.emplace_back(Paragraph{rank_notes(answer)});
    if (answer.step_ns) {
        blocks.emplace_back(step_table(answer));
        bool const alike = answer.step_ns->max == answer.step_ns->p50; // one step: the table says it
        if (!alike) { blocks.emplace_back(Paragraph{step_words(answer), "steps"}); }
    }
    return blocks;
}

std::vector<Block> scaling_blocks(TraceAnswer const& answer) {
    std::vector<Block> blocks;
    blocks.emplace_back(Paragraph{serial_words(answer), "scaling"});
    if (answer.expected.empty()) { return blocks; }
    blocks.emplace_back(field_rows(sharing_title, answer.expected,
                                   {{"workers"}, {"speedup", "speedup over now"}, {"efficiency", {}, Shown::percent}}));
    blocks.emplace_back(
        Paragraph{"From this split alone: collectives of more ranks take longer, and kernels of a smaller "
                  "share are less efficient; `headroom predict` knows both."});
    return blocks;
}

} // namespace headroom::cli
