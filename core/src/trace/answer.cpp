#include "trace/answer.hpp"

#include "trace/run_pace.hpp"
#include "trace/wide_time.hpp"

#include "headroom/laws/laws.hpp"
#include "headroom/order_statistics.hpp"
#include "headroom/text.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace headroom::trace {

using namespace headroom::laws;

namespace {

/// Sums over ranks that state times.
struct SplitSums {
    Ticks window = 0, compute = 0, communication = 0, exposed = 0, overlap = 0;
    bool only_sums = false, any = false;
};

SplitSums sums_of(std::vector<RankDigest> const& ranks) {
    SplitSums sums;
    for (auto const& rank : ranks) {
        auto const& whole = rank.breakdown.whole;
        sums.window = wide_sum(sums.window, whole.window);
        sums.compute = wide_sum(sums.compute, whole.compute);
        sums.communication = wide_sum(sums.communication, whole.communication);
        sums.exposed = wide_sum(sums.exposed, whole.exposed);
        sums.overlap = wide_sum(sums.overlap, whole.overlap);
        sums.only_sums = sums.only_sums || rank.breakdown.only_sums;
        sums.any = sums.any || whole.busy > 0;
    }
    return sums;
}

Profile profile_of(Ticks compute, Ticks rest, Ranks workers) {
    return {.compute = static_cast<double>(compute) * units::ns,
            .communication = static_cast<double>(rest) * units::ns,
            .workers = workers};
}

/// Time on `times` as many workers: computation is shared out, and cannot hide communication for longer than it lasts.
double time_at(SplitSums const& sums, double times) {
    return static_cast<double>(sums.window - sums.compute) +
           std::max(static_cast<double>(sums.compute) / times, static_cast<double>(sums.overlap));
}

/// The ceiling over the present workers holds for any number of them; what is over one worker needs their number.
void add_speedups(TraceAnswer& answer, SplitSums const& sums) {
    auto const least = static_cast<double>(sums.window - sums.compute + sums.overlap), now = time_at(sums, 1.0);
    if (least > 0.0) { answer.ceiling = now / least; }
    if (!answer.workers) { return; }
    auto const workers = *answer.workers;
    if (least > 0.0) { answer.ceiling_over_one_worker = time_at(sums, 1.0 / static_cast<double>(workers)) / least; }
    for (int const times : {2, 4, 8, 16}) {
        double const speedup = now / time_at(sums, times);
        answer.expected.push_back({workers * times, speedup, speedup / times});
    }
}

} // namespace

void add_split(TraceAnswer& answer) {
    auto const sums = sums_of(answer.ranks);
    if (!sums.any) { return; }
    if (answer.work_missing) {
        answer.notes.emplace_back(
            "device work is missing: what follows from its sums (serial fraction, gamma, ceiling, "
            "stragglers, changes of the step) is not given");
        return;
    }
    Ranks const workers{static_cast<int>(answer.workers.value_or(1))};
    if (sums.compute > 0) {
        answer.gamma = static_cast<double>(sums.communication) / static_cast<double>(sums.compute);
    }
    if (sums.compute > 0 || sums.exposed > 0) {
        answer.serial = {serial_share_at(profile_of(sums.compute, sums.exposed, workers), workers), answer.workers};
        // No table of totals states the duration of the rest of a step, idle time included.
        if (!sums.only_sums) { add_speedups(answer, sums); }
    }
    if (sums.only_sums) {
        answer.notes.emplace_back(
            "times of day are not stated: all communication counts as exposed, so that the serial "
            "fraction is an upper bound; overlap, idle time and with them the ceiling are not known");
    } else if (sums.communication > 0) {
        answer.overlap_fraction = static_cast<double>(sums.overlap) / static_cast<double>(sums.communication);
    }
    bool const hosts_exchange = std::any_of(answer.ranks.begin(), answer.ranks.end(),
                                            [](RankDigest const& rank) { return !rank.runs.empty(); });
    if (sums.communication == 0 && hosts_exchange) {
        answer.notes.emplace_back(
            "no communication on devices: what hosts exchange is among the collectives and on the "
            "critical path, and in no share of device time");
    } else if (sums.communication == 0) {
        answer.notes.emplace_back("no communication in these traces: they do not say what more workers would cost");
    }
}

std::optional<Percentiles> step_percentiles(std::vector<RankDigest> const& ranks) {
    std::map<std::pair<std::int64_t, std::int64_t>, Ticks> slowest; // by number, and by which of that number
    for (auto const& rank : ranks) {
        std::map<std::int64_t, std::int64_t> seen;
        for (auto const& step : rank.breakdown.steps) {
            auto& time = slowest[{step.step.number, seen[step.step.number]++}];
            time = std::max(time, step.shares.window);
        }
    }
    if (slowest.empty()) { return {}; }
    std::vector<double> times;
    for (auto const& [step, time] : slowest) { times.push_back(static_cast<double>(time)); }
    return Percentiles{quantile(times, 0.50), quantile(times, 0.90), quantile(times, 0.95), quantile(times, 0.99),
                       quantile(times, 1.0)};
}

std::vector<PhaseSummary> phases_of(std::vector<RankDigest> const& ranks) {
    auto const has_steps = [](RankDigest const& rank) { return !rank.breakdown.steps.empty(); };
    auto const first = std::ranges::find_if(ranks, has_steps);
    std::vector<PhaseSummary> phases;
    for (PhaseKind const kind : phase_kinds) {
        if (kind == PhaseKind::none || first == ranks.end()) { continue; }
        PhaseSummary phase{.kind = kind};
        std::vector<double> times;
        double tokens = 0.0, all = 0.0;
        for (StepShares const& one : first->breakdown.steps) {
            if (one.step.phase.kind != kind) { continue; }
            times.push_back(static_cast<double>(one.step.end - one.step.begin));
            all += times.back();
            tokens += static_cast<double>(one.step.phase.tokens);
            phase.requests += static_cast<double>(one.step.phase.requests);
        }
        if (times.empty()) { continue; }
        phase.steps = static_cast<std::int64_t>(times.size());
        phase.requests /= static_cast<double>(times.size());
        phase.step_ns = quantile(times, 0.50);
        if (tokens > 0.0 && all > 0.0) { phase.tokens_per_second = tokens / all * 1e9; }
        phases.push_back(phase);
    }
    return phases;
}

namespace {

void sort_ranks(std::vector<RankDigest>& ranks) {
    std::stable_sort(ranks.begin(), ranks.end(), [](RankDigest const& a, RankDigest const& b) {
        return std::tie(a.rank, a.source, a.epoch_ns, a.spans, a.events) <
               std::tie(b.rank, b.source, b.epoch_ns, b.spans, b.events);
    });
}

void add_counts(TraceAnswer& answer) {
    for (auto const& rank : answer.ranks) {
        answer.bytes_read += rank.bytes_read;
        answer.text_bytes += rank.text_bytes;
        answer.events += rank.events;
        answer.launches += rank.breakdown.launches;
        answer.without_work += rank.breakdown.without_work;
        answer.work_missing = answer.work_missing || rank.breakdown.work_missing;
        for (auto const& issue : rank.issues) { count_issue(answer.issues, issue.kind, issue.first_at, issue.count); }
    }
}

void add_outside_notes(TraceAnswer& answer) {
    double most = 0.0;
    for (auto const& rank : answer.ranks) { most = std::max(most, rank.breakdown.outside_share); }
    if (most >= much_outside) {
        answer.notes.push_back(std::to_string(static_cast<int>(most * 100.0 + 0.5)) +
                               " % of the device's work lies outside of all steps: times of steps and the "
                               "critical path do not hold it");
    }
}

/// Sums are of whole files: a first step that compiles or warms up may decide them.
void add_first_step_note(TraceAnswer& answer) {
    constexpr double much_longer = 3.0;
    std::map<std::int64_t, Ticks> slowest;
    for (auto const& rank : answer.ranks) {
        for (auto const& step : rank.breakdown.steps) {
            Ticks& time = slowest[step.step.number];
            time = std::max(time, step.shares.window);
        }
    }
    if (slowest.size() < least_steps || !answer.step_ns) { return; }
    auto const [number, time] = *slowest.begin();
    double const times = static_cast<double>(time) / answer.step_ns->p50;
    if (times < much_longer) { return; }
    answer.notes.push_back("step " + std::to_string(number) + " takes " + text::significant(times, 2) +
                           " times the median step and is in all sums and shares; --steps " +
                           std::to_string(std::next(slowest.begin())->first) + ".." +
                           std::to_string(slowest.rbegin()->first) + " leaves it out");
}

} // namespace

TraceAnswer trace_answer(std::vector<RankDigest> ranks, Executor const& run, std::optional<std::int64_t> workers,
                         std::optional<Processor> const& machine) {
    TraceAnswer answer;
    sort_ranks(ranks);
    answer.ranks = std::move(ranks);
    add_counts(answer);
    answer.workers = workers_of(answer.ranks, workers, answer.issues);
    add_meeting_issues(answer.ranks, answer.workers, answer.issues);
    add_split(answer);
    add_outside_notes(answer);
    answer.step_ns = step_percentiles(answer.ranks);
    add_first_step_note(answer);
    answer.phases = phases_of(answer.ranks);
    add_collectives(answer);
    if (!answer.work_missing) { answer.stragglers = stragglers_of(answer.ranks, answer.collectives); }
    add_path(answer, run, run_signs(answer, machine));
    if (answer.work_missing && answer.path) { answer.path->what_if.clear(); }
    return answer;
}

} // namespace headroom::trace
