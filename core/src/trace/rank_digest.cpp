#include "headroom/trace/rank_digest.hpp"

#include "trace/run_pace.hpp"
#include "trace/shaped_kernels.hpp"
#include "trace/trace_cut.hpp"
#include "trace/with_launches.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom::trace {
namespace {

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

} // namespace

TraceStep middle_step(RankTrace const& trace, RankBreakdown const& breakdown) {
    auto const& steps = breakdown.steps;
    std::vector<TraceStep> with_work;
    for (auto const& step : steps) {
        if (step.shares.busy > 0) { with_work.push_back(step.step); }
    }
    if (!with_work.empty()) { return with_work[with_work.size() / 2]; }
    if (!steps.empty()) { return steps[steps.size() / 2].step; }
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
