#include "headroom/quantity.hpp"
#include "headroom/trace/trace_answer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string>

namespace headroom::trace {
namespace {

constexpr std::array part_names{"step", "compute", "exposed communication", "memory", "idle"};
constexpr std::size_t idle_part = part_names.size() - 1;

/// Sums over the steps compared, or over the files where there are none.
struct ComparedUnits {
    std::int64_t count = 0;
    std::array<double, part_names.size()> parts{}; ///< sums
    std::array<double, 3> idle{};                  ///< by reason
    bool knows_idle = true;
};

void add(ComparedUnits& units, DeviceTimes const& times, IdleShares const& idle) {
    std::array const parts{times.window, times.compute, times.exposed, times.memory_only, times.idle};
    for (std::size_t i = 0; i < parts.size(); ++i) { units.parts[i] += static_cast<double>(parts[i]); }
    std::array const reasons{idle.host_bound, idle.waiting, idle.other};
    for (std::size_t i = 0; i < reasons.size(); ++i) { units.idle[i] += static_cast<double>(reasons[i]); }
    ++units.count;
}

using StepNumbers = std::set<std::int64_t>;

StepNumbers step_numbers(TraceAnswer const& answer) {
    StepNumbers numbers;
    for (auto const& rank : answer.ranks) {
        for (auto const& step : rank.breakdown.steps) { numbers.insert(step.step.number); }
    }
    return numbers;
}

/// Numbers that both have; empty where there are none, or no other.
StepNumbers matched_steps(TraceAnswer const& before, TraceAnswer const& after) {
    StepNumbers const a = step_numbers(before), b = step_numbers(after);
    StepNumbers both;
    std::ranges::set_intersection(a, b, std::inserter(both, both.end()));
    return both.size() == std::max(a.size(), b.size()) ? StepNumbers{} : both;
}

ComparedUnits units_of(TraceAnswer const& answer, bool per_step, StepNumbers const& matched) {
    ComparedUnits units;
    for (auto const& rank : answer.ranks) {
        units.knows_idle = units.knows_idle && !rank.breakdown.only_sums;
        if (!per_step) {
            add(units, rank.breakdown.whole, rank.breakdown.idle);
            continue;
        }
        for (auto const& step : rank.breakdown.steps) {
            if (matched.empty() || matched.contains(step.step.number)) { add(units, step.shares, step.idle); }
        }
    }
    return units;
}

bool has_steps(TraceAnswer const& answer) {
    return std::any_of(answer.ranks.begin(), answer.ranks.end(),
                       [](auto const& rank) { return !rank.breakdown.steps.empty(); });
}

double mean(double sum, std::int64_t count) { return count > 0 ? sum / static_cast<double>(count) : 0.0; }

std::vector<TraceChange> parts_of(ComparedUnits const& before, ComparedUnits const& after, bool per_step) {
    std::vector<TraceChange> parts;
    for (std::size_t i = 0; i < part_names.size(); ++i) {
        if (i == idle_part && !(before.knows_idle && after.knows_idle)) { continue; }
        parts.push_back({i == 0 && !per_step ? "whole" : part_names[i], before.count, after.count,
                         mean(before.parts[i], before.count), mean(after.parts[i], after.count)});
    }
    return parts;
}

std::vector<TraceChange> idle_of(ComparedUnits const& before, ComparedUnits const& after) {
    if (!before.knows_idle || !after.knows_idle) { return {}; }
    constexpr std::array reasons{"launch-bound", "waiting", "other"};
    std::vector<TraceChange> changes;
    for (std::size_t i = 0; i < reasons.size(); ++i) {
        changes.push_back({reasons[i], before.count, after.count, mean(before.idle[i], before.count),
                           mean(after.idle[i], after.count)});
    }
    return changes;
}

/// Sums of the kernels of all ranks, by name.
struct KernelSum {
    std::int64_t count = 0;
    double total = 0.0;
};
using KernelSums = std::map<std::string, KernelSum, std::less<>>;

KernelSums kernels_of(TraceAnswer const& answer) {
    KernelSums sums;
    for (auto const& rank : answer.ranks) {
        for (auto const& name : rank.breakdown.names) {
            auto& sum = sums[name.name];
            sum.count += name.count;
            sum.total += static_cast<double>(name.total);
        }
    }
    return sums;
}

/// Collectives by name, ranks and size: runs of all ranks, and the time of a rank in all of them.
KernelSums collectives_of(TraceAnswer const& answer) {
    KernelSums sums;
    for (auto const& one : answer.collectives.summaries) {
        std::string name = one.name;
        if (one.ranks > 1) { name += " of " + std::to_string(one.ranks) + " ranks"; }
        if (one.bytes > 0) { name += ", " + format(Bytes{static_cast<double>(one.bytes)}); }
        auto& sum = sums[name];
        sum.count += one.count;
        sum.total += static_cast<double>(one.seconds_of_ranks);
    }
    return sums;
}

/// Changes of sums over whole files: mean of a unit, which is a step or a file of a rank.
std::vector<TraceChange> changes_of(KernelSums const& before, double units_before, KernelSums const& after,
                                    double units_after) {
    std::map<std::string, TraceChange, std::less<>> changes;
    auto const of_unit = [](double sum, double units) { return units > 0.0 ? sum / units : 0.0; };
    for (auto const& [name, sum] : before) {
        auto& change = changes[name];
        change.count_before = sum.count;
        change.before_ns = of_unit(sum.total, units_before);
    }
    for (auto const& [name, sum] : after) {
        auto& change = changes[name];
        change.count_after = sum.count;
        change.after_ns = of_unit(sum.total, units_after);
    }
    std::vector<TraceChange> sorted;
    for (auto& [name, change] : changes) {
        change.name = name;
        sorted.push_back(std::move(change));
    }
    std::stable_sort(sorted.begin(), sorted.end(), [](auto const& a, auto const& b) {
        return std::abs(a.after_ns - a.before_ns) > std::abs(b.after_ns - b.before_ns);
    });
    return sorted;
}

std::int64_t workers_in(TraceAnswer const& answer) {
    return answer.workers.value_or(static_cast<std::int64_t>(answer.ranks.size()));
}

} // namespace

TraceComparison compare(TraceAnswer const& before, TraceAnswer const& after) {
    TraceComparison comparison;
    comparison.per_step = has_steps(before) && has_steps(after);
    StepNumbers const matched = comparison.per_step ? matched_steps(before, after) : StepNumbers{};
    comparison.matched_steps = static_cast<std::int64_t>(matched.size());
    comparison.ranks_before = workers_in(before);
    comparison.ranks_after = workers_in(after);
    auto const units_before = units_of(before, comparison.per_step, matched);
    auto const units_after = units_of(after, comparison.per_step, matched);
    comparison.parts = parts_of(units_before, units_after, comparison.per_step);
    comparison.idle = idle_of(units_before, units_after);
    // kernels and collectives are summed over whole files, so that all of their steps divide them
    auto const all_before = static_cast<double>(units_of(before, comparison.per_step, {}).count);
    auto const all_after = static_cast<double>(units_of(after, comparison.per_step, {}).count);
    comparison.kernels = changes_of(kernels_of(before), all_before, kernels_of(after), all_after);
    comparison.collectives = changes_of(collectives_of(before), all_before, collectives_of(after), all_after);
    TraceChange const& whole = comparison.parts.front();
    bool const alike = comparison.ranks_before == comparison.ranks_after && before.ranks.size() == after.ranks.size();
    if (alike && whole.before_ns > 0.0 && whole.after_ns > 0.0) {
        comparison.speedup = whole.before_ns / whole.after_ns;
    }
    return comparison;
}

} // namespace headroom::trace
