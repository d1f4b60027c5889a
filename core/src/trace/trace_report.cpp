#include "headroom/trace/trace_report.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace headroom::trace {

bool knows_when(RankDigest const& rank) { return !rank.breakdown.only_sums; }

bool knows_when(TraceAnswer const& answer) {
    return std::ranges::all_of(answer.ranks, [](RankDigest const& rank) { return knows_when(rank); });
}

DeviceTimes time_sum(std::vector<RankDigest> const& ranks) {
    DeviceTimes sum;
    for (RankDigest const& rank : ranks) {
        DeviceTimes const& one = rank.breakdown.whole;
        for (auto const member : {&DeviceTimes::window, &DeviceTimes::busy, &DeviceTimes::idle, &DeviceTimes::compute,
                                  &DeviceTimes::communication, &DeviceTimes::memory, &DeviceTimes::overlap,
                                  &DeviceTimes::exposed, &DeviceTimes::memory_only}) {
            sum.*member += one.*member;
        }
    }
    return sum;
}

IdleShares idle_sum(std::vector<RankDigest> const& ranks) {
    IdleShares sum;
    for (RankDigest const& rank : ranks) {
        sum.host_bound += rank.breakdown.idle.host_bound;
        sum.waiting += rank.breakdown.idle.waiting;
        sum.other += rank.breakdown.idle.other;
    }
    return sum;
}

std::optional<DeviceShares> device_shares_of(TraceAnswer const& answer) {
    DeviceTimes const sum = time_sum(answer.ranks);
    if (sum.window <= 0 || !knows_when(answer)) { return std::nullopt; }
    auto const share = [&sum](Ticks time) { return static_cast<double>(time) / static_cast<double>(sum.window); };
    return DeviceShares{share(sum.compute), share(sum.exposed), share(sum.memory_only), share(sum.idle)};
}

std::vector<NameTotal> kernel_totals(std::vector<RankDigest> const& ranks) {
    std::map<std::pair<std::string_view, SpanKind>, NameTotal> all;
    for (RankDigest const& rank : ranks) {
        for (NameTotal const& one : rank.breakdown.names) {
            auto const [at, is_new] = all.try_emplace({one.name, one.kind}, one);
            if (is_new) { continue; }
            NameTotal& sum = at->second;
            sum.count += one.count;
            sum.total += one.total;
            sum.shortest = std::min(sum.shortest, one.shortest);
            sum.longest = std::max(sum.longest, one.longest);
        }
    }
    std::vector<NameTotal> list;
    list.reserve(all.size());
    for (auto& [key, total] : all) { list.push_back(std::move(total)); }
    std::ranges::stable_sort(list, std::ranges::greater{}, &NameTotal::total);
    return list;
}

std::vector<TraceTimesRow> slowest_steps(TraceAnswer const& answer) {
    std::map<std::int64_t, TraceTimesRow> slowest;
    for (RankDigest const& rank : answer.ranks) {
        for (StepShares const& step : rank.breakdown.steps) {
            auto const [at, is_new] = slowest.try_emplace(step.step.number);
            if (!is_new && step.shares.window <= at->second.step->shares.window) { continue; }
            at->second = {&rank, &step};
        }
    }
    std::vector<TraceTimesRow> list;
    for (auto const& [number, one] : slowest) { list.push_back(one); }
    return list;
}

TraceReport trace_report(TraceReportQuestion question, ReadTraces read, Executor const& run) {
    auto const workers = question.workers;
    auto const machine = question.machine;
    TraceReport report{.question = std::move(question),
                       .verdict = {},
                       .complete = read.complete && read.unread.empty(),
                       .answer = trace_answer(std::move(read.ranks), run, workers, machine),
                       .kernels = {},
                       .unread = std::move(read.unread),
                       .left_out = std::move(read.left_out),
                       .baseline = {},
                       .larger = {},
                       .calibrated = {}};
    std::ranges::sort(report.question.paths);
    if (!report.unread.empty()) {
        count_issue(report.answer.issues, "file that could not be read", report.unread.front(), report.unread.size());
    }
    report.kernels = kernel_totals(report.answer.ranks);
    return report;
}

std::vector<TraceTimesRow> times_rows(TraceAnswer const& answer) {
    std::vector<TraceTimesRow> rows;
    for (RankDigest const& rank : answer.ranks) {
        rows.push_back({&rank, nullptr});
        for (StepShares const& step : rank.breakdown.steps) { rows.push_back({&rank, &step}); }
    }
    return rows;
}

} // namespace headroom::trace
