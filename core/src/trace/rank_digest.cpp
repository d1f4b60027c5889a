#include "headroom/rank_digest.hpp"

#include "trace/shaped_kernels.hpp"
#include "trace/with_launches.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <string>

namespace headroom {
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

void add_path(RankTrace const& trace, DigestQuestion const& question, trace::Launches const& launches,
              RankDigest& digest) {
    if (auto const step = chosen_step(trace, digest.breakdown, question.step)) {
        digest.graph = trace::step_graph(trace, *step, digest.runs, launches);
        digest.graph->rank = digest.rank;
    } else {
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

RankDigest digest_of(RankTrace const& trace, DigestQuestion const& question) {
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
    trace::Launches const launches{trace};
    digest.breakdown = trace::breakdown_of(trace, launches, question.step_name);
    if (!question.step_name.empty() && digest.breakdown.steps.empty()) {
        count_issue(digest.issues, "no range of the name that steps should have",
                    trace.source + ": " + quoted(question.step_name));
    }
    digest.kernels = shaped_kernels(trace);
    bool const knows_when = !trace.only_sums && !trace.no_times;
    if (!trace.only_sums) { digest.runs = collective_runs(trace); } // a sum over calls is no run of a collective
    if (question.wants_slowdown) { digest.beside = kernels_beside_communication(trace); }
    if (question.wants_path && knows_when) { add_path(trace, question, launches, digest); }
    return digest;
}

} // namespace headroom
