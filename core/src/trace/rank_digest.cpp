#include "headroom/trace/rank_digest.hpp"

#include "trace/busy_intervals.hpp"
#include "trace/launches.hpp"
#include "trace/repetition.hpp"
#include "trace/run_pace.hpp"
#include "trace/shaped_kernels.hpp"
#include "trace/wide_time.hpp"
#include "trace/with_launches.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom::trace {
namespace {

struct Cut {
    Ticks from = 0, to = std::numeric_limits<Ticks>::max();
    [[nodiscard]] bool holds(Ticks begin, Ticks end) const { return begin < to && (end > from || begin >= from); }
};

[[noreturn]] void refuse_empty(RankTrace const& trace, std::string const& what, std::string const& why) {
    too_little(trace.source, what, why, "without this option the answer names steps and length");
}

/// Whether each interval stays.
std::vector<char> kept_spans(RankTrace const& trace, Cut const& cut) {
    std::vector<char> kept(trace.size());
    Launches const launches{trace};
    Launches::Walk launch_of(launches);
    auto const& timeline = trace.timeline;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        if (!cut.holds(timeline.begin[i], timeline.end[i])) { continue; }
        bool const inside = timeline.begin[i] >= cut.from && timeline.end[i] <= cut.to;
        bool const range = trace.kind[i] == SpanKind::annotation;
        kept[i] = inside || !range ? 1 : 0;
        if (!trace.lanes[timeline.lane[i]].device) { continue; }
        if (auto const call = launch_of[trace.correlation[i]]; call != none) { kept[call] = 1; }
    }
    return kept;
}

/// Keeps the entries of a table whose intervals stay, under their new numbers.
template <class Row> void keep_rows(std::vector<Row>& rows, std::vector<std::uint32_t> const& number) {
    std::erase_if(rows, [&](Row const& row) { return number[row.span] == none; });
    for (Row& row : rows) { row.span = number[row.span]; }
}

RankTrace part_of(RankTrace const& trace, Cut const& cut) {
    RankTrace part = trace;
    auto const kept = kept_spans(trace, cut);
    std::vector<std::uint32_t> number(trace.size(), none);
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        if (kept[i] == 0) { continue; }
        auto& line = part.timeline;
        line.begin[next] = std::clamp(line.begin[i], cut.from, cut.to);
        line.end[next] = std::clamp(line.end[i], cut.from, cut.to);
        line.lane[next] = line.lane[i];
        line.name[next] = line.name[i];
        part.kind[next] = part.kind[i];
        part.correlation[next] = part.correlation[i];
        if (!part.calls.empty()) { part.calls[next] = part.calls[i]; }
        number[i] = next++;
    }
    if (next == 0) {
        refuse_empty(trace, "nothing runs between --from and --to", "the window is outside of the trace");
    }
    for (auto* column : {&part.timeline.begin, &part.timeline.end}) { column->resize(next); }
    for (auto* column : {&part.timeline.lane, &part.timeline.name, &part.correlation}) { column->resize(next); }
    part.kind.resize(next);
    if (!part.calls.empty()) { part.calls.resize(next); }
    keep_rows(part.collectives, number);
    keep_rows(part.shapes, number);
    keep_rows(part.copies, number);
    keep_rows(part.counted, number);
    keep_rows(part.waits, number);
    for (auto* steps : {&part.steps, &part.device_steps}) {
        std::erase_if(*steps, [&](TraceStep const& step) { return step.begin < cut.from || step.end > cut.to; });
    }
    return part;
}

/// Counts times from a moment on.
void begin_at(RankTrace& trace, Ticks moment) {
    trace.epoch_ns = wide_sum(trace.epoch_ns, moment);
    for (auto* column : {&trace.timeline.begin, &trace.timeline.end}) {
        for (Ticks& time : *column) { time -= moment; }
    }
    for (auto* steps : {&trace.steps, &trace.device_steps}) {
        for (TraceStep& step : *steps) { step.begin -= moment, step.end -= moment; }
    }
}

/// Steps of the numbers that are asked for: annotated ones, else what repeats.
std::vector<TraceStep> asked_steps(RankTrace const& trace, DigestQuestion const& question) {
    auto steps = annotated_steps(trace, question.step_name);
    if (steps.empty() && question.step_name.empty()) { steps = repeated_steps(trace, busy_intervals(trace)); }
    std::erase_if(steps, [&](TraceStep const& step) {
        return step.number < question.window.first_step || step.number > question.window.last_step;
    });
    if (steps.empty()) {
        refuse_empty(trace,
                     "no step from " + std::to_string(question.window.first_step) + " to " +
                         std::to_string(question.window.last_step),
                     "--steps names others");
    }
    return steps;
}

/// The part of a trace in a window: intervals clipped to it, ranges that reach out of it dropped. Calls before the window
/// stay where they started work in it, as intervals of no length at its begin. O(n).
/// Errors: InputError{insufficient} where the window holds no interval, or no step of the numbers that it names.
RankTrace cut_trace(RankTrace const& trace, DigestQuestion const& question) {
    auto const& window = question.window;
    Cut cut{window.from, window.to};
    std::vector<TraceStep> steps;
    if (window.by_steps()) {
        steps = asked_steps(trace, question);
        Ticks end = steps.front().end;
        for (TraceStep const& step : steps) { end = std::max(end, step.end); }
        cut = {std::max(cut.from, steps.front().begin), std::min(cut.to, end)};
    }
    RankTrace part = part_of(trace, cut);
    if (window.by_steps()) {
        part.steps.clear();
        for (TraceStep const& step : steps) {
            if (step.begin >= cut.from && step.end <= cut.to) { part.steps.push_back(step); }
        }
    }
    begin_at(part, cut.from);
    return part;
}

/// The step that is asked for, else the one in the middle.
std::optional<TraceStep> chosen_step(RankTrace const& trace, RankBreakdown const& breakdown,
                                     std::optional<std::int64_t> asked) {
    if (!asked) { return middle_step(trace, breakdown); }
    auto const& steps = breakdown.steps;
    auto const found =
        std::find_if(steps.begin(), steps.end(), [&](StepShares const& step) { return step.step.number == *asked; });
    return found == steps.end() ? std::nullopt : std::optional{found->step};
}

/// Adds the slow parts of a digest. Launches, work in steps and collectives come first; then the answers that need
/// them.
void add_answers(RankTrace const& trace, DigestQuestion const& question, Executor const& run, RankDigest& digest) {
    std::optional<Launches> launches;
    BreakdownDraft draft;
    auto const find_kernels = [&] {
        digest.kernels = shaped_kernels(trace);
        if (!trace.only_sums) { digest.runs = collective_runs(trace); } // a sum over calls is no run of a collective
    };
    run_beside(run, {[&] { launches.emplace(trace); }, [&] { draft = draft_breakdown(trace, question.step_name); },
                     find_kernels});
    number_steps(trace, *launches, digest.runs);
    bool const wants_path = question.wants_path && !trace.only_sums && !trace.no_times;
    auto const step = wants_path ? chosen_step(trace, draft.breakdown, question.step) : std::nullopt;
    std::vector<std::function<void()>> rest;
    if (step) {
        rest.emplace_back([&] { digest.graph = step_graph(trace, *step, digest.runs, *launches); });
    }
    rest.emplace_back([&] { finish_breakdown(trace, *launches, draft); });
    digest.pace = run_pace(trace, draft.busy, draft.breakdown.steps);
    if (question.wants_slowdown) {
        rest.emplace_back([&] { digest.beside = kernels_beside_communication(trace); });
    }
    run_beside(run, rest);
    digest.breakdown = std::move(draft.breakdown);
    if (digest.breakdown.outside_share >= much_outside) {
        count_issue(digest.issues, "device work outside of all steps", trace.source,
                    static_cast<std::uint64_t>(std::max<std::int64_t>(1, digest.breakdown.outside_steps)));
    }
    if (auto const lost = digest.breakdown.without_work; lost > 0) {
        count_issue(digest.issues, "launches without device work", trace.source, static_cast<std::uint64_t>(lost));
    }
    if (digest.graph) { digest.graph->rank = digest.rank; }
    if (wants_path && !step) {
        count_issue(digest.issues, "step not in the trace", trace.source + ": step " + std::to_string(*question.step));
    }
}

/// Number of the step nearest the middle that is not `long_step` times as long as the median one, or longer.
std::size_t usual_step(std::vector<TraceStep> const& steps) {
    std::vector<Ticks> times;
    for (TraceStep const& step : steps) { times.push_back(step.end - step.begin); }
    auto const middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
    std::vector<Ticks> const in_order = times;
    std::ranges::nth_element(times, middle);
    double const most = long_step * static_cast<double>(*middle);
    std::size_t const at = steps.size() / 2;
    for (std::size_t apart = 0; apart <= at; ++apart) {
        for (std::size_t const one : {at - apart, at + apart}) {
            if (one < steps.size() && static_cast<double>(in_order[one]) < most) { return one; }
        }
    }
    return at;
}

} // namespace

TraceStep middle_step(RankTrace const& trace, RankBreakdown const& breakdown) {
    std::vector<TraceStep> steps;
    for (auto const& step : breakdown.steps) {
        if (step.shares.busy > 0) { steps.push_back(step.step); }
    }
    if (steps.empty()) {
        for (auto const& step : breakdown.steps) { steps.push_back(step.step); }
    }
    if (!steps.empty()) { return steps[usual_step(steps)]; }
    auto const& ends = trace.timeline.end;
    return TraceStep{0, 0, ends.empty() ? 0 : *std::max_element(ends.begin(), ends.end())};
}

RankDigest digest_of(RankTrace const& trace, DigestQuestion const& question, Executor const& run) {
    if (!question.window.is_whole() && !trace.only_sums && !trace.no_times) {
        DigestQuestion rest = question;
        rest.window = {};
        if (question.window.by_steps()) { rest.step_name.clear(); }
        return digest_of(cut_trace(trace, question), rest, run);
    }
    RankDigest digest;
    digest.source = trace.source;
    digest.format = trace.format;
    digest.host_name = trace.host_name;
    digest.rank_from = trace.rank_from;
    digest.rank = trace.rank.value_or(0);
    digest.stated_rank = trace.rank;
    digest.world_size = trace.world_size;
    digest.device = trace.device;
    digest.epoch_ns = trace.epoch_ns;
    digest.clock_is_absolute = trace.clock_is_absolute;
    digest.bytes_read = trace.bytes_read;
    digest.text_bytes = trace.text_bytes;
    digest.events = trace.events;
    digest.spans = trace.size();
    digest.issues = trace.issues;
    add_answers(trace, question, run, digest);
    if (!question.step_name.empty() && digest.breakdown.steps.empty()) {
        count_issue(digest.issues, "no range of the name that steps should have",
                    trace.source + ": " + quoted(question.step_name));
    }
    return digest;
}

} // namespace headroom::trace
