#include "document/gantt_pieces.hpp"
#include "document/text.hpp"
#include "trace/trace_report.hpp"
#include "trace/trace_words.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

constexpr std::size_t most_rows = 16, most_bars = 32;

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
    Table table{
        .title = "Ranks, " + std::string{unit.name},
        .columns =
            {{"rank"}, {"steps"}, {"wall"}, {"compute"}, {"comm."}, {"exposed"}, {"memory"}, {"idle"}, {"% idle"}},
        .rows = {}};
    for (std::size_t const i : drawn_lanes(answer.ranks.size(), most_rows)) {
        table.rows.push_back(rank_row(answer.ranks[i], unit));
    }
    return table;
}

std::string rank_notes(TraceAnswer const& answer) {
    bool const totals = std::ranges::none_of(answer.ranks, [](RankDigest const& rank) { return knows_when(rank); });
    if (totals) { return "Sums of durations. What is - would need the times of day of what ran."; }
    std::string words =
        "Wall is the whole file, from the first to the last device work. Exposed is communication beside "
        "no computation; memory is what only copies and fills cover. compute + exposed + memory + idle "
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
        .title = "Where each rank's time goes",
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

/// All steps of all ranks: of each step the slowest rank, its split, and who it was.
Table step_table(TraceAnswer const& answer) {
    struct Slowest {
        std::int64_t rank = 0;
        StepShares const* step = nullptr;
    };
    std::vector<std::pair<std::int64_t, Slowest>> slowest; // by number
    for (RankDigest const& rank : answer.ranks) {
        for (StepShares const& step : rank.breakdown.steps) {
            auto const at =
                std::ranges::lower_bound(slowest, step.step.number, {}, [](auto const& one) { return one.first; });
            bool const is_new = at == slowest.end() || at->first != step.step.number;
            if (is_new) {
                slowest.insert(at, {step.step.number, {rank.rank, &step}});
            } else if (step.shares.window > at->second.step->shares.window) {
                at->second = {rank.rank, &step};
            }
        }
    }
    Ticks longest = 0;
    for (auto const& [number, one] : slowest) { longest = std::max(longest, one.step->shares.window); }
    TimeUnit const unit = unit_for(static_cast<double>(longest));
    Table table{.title = "Steps on the host's clock, each of its slowest rank, " + std::string{unit.name},
                .columns = {{"step"}, {"slowest rank"}, {"wall"}, {"compute"}, {"exposed"}, {"memory"}, {"idle"}},
                .rows = {}};
    for (std::size_t const i : drawn_lanes(slowest.size(), 10)) {
        auto const& [number, one] = slowest[i];
        DeviceTimes const& shares = one.step->shares;
        table.rows.push_back({std::to_string(number), std::to_string(one.rank)});
        for (Ticks const time : {shares.window, shares.compute, shares.exposed, shares.memory_only, shares.idle}) {
            table.rows.back().push_back(in_unit(static_cast<double>(time), unit));
        }
    }
    return table;
}

std::string step_words(TraceAnswer const& answer) {
    Percentiles const& ns = *answer.step_ns;
    bool const detected =
        std::ranges::any_of(answer.ranks, [](RankDigest const& rank) { return rank.breakdown.steps_detected; });
    return "of the slowest rank: p50 " + time_words(ns.p50) + ", p90 " + time_words(ns.p90) + ", p99 " +
           time_words(ns.p99) + ", longest " + time_words(ns.max) +
           (detected ? "; no annotation names them: they are detected by what repeats" : "");
}

} // namespace

std::vector<Block> rank_blocks(TraceReport const& report) {
    TraceAnswer const& answer = report.answer();
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

} // namespace headroom::cli
