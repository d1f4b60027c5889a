#include "headroom/trace/trace_answer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

namespace headroom::trace {
namespace {

constexpr std::array part_names{"step", "compute", "exposed communication", "memory", "idle"};
constexpr std::size_t idle_part = part_names.size() - 1;

/// Sums over the steps compared, or over the files where there are none.
struct ComparedUnits {
    std::int64_t count = 0;
    std::array<double, part_names.size()> parts{}; ///< sums
    bool knows_idle = true;
};

void add(ComparedUnits& units, DeviceTimes const& times) {
    std::array const parts{times.window, times.compute, times.exposed, times.memory_only, times.idle};
    for (std::size_t i = 0; i < parts.size(); ++i) { units.parts[i] += static_cast<double>(parts[i]); }
    ++units.count;
}

ComparedUnits units_of(TraceAnswer const& answer, bool per_step) {
    ComparedUnits units;
    for (auto const& rank : answer.ranks) {
        units.knows_idle = units.knows_idle && !rank.breakdown.only_sums;
        if (!per_step) {
            add(units, rank.breakdown.whole);
            continue;
        }
        for (auto const& step : rank.breakdown.steps) { add(units, step.shares); }
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

std::vector<TraceChange> changes_of(TraceAnswer const& before, ComparedUnits const& units_before,
                                    TraceAnswer const& after, ComparedUnits const& units_after) {
    std::map<std::string, TraceChange, std::less<>> changes;
    for (auto const& [name, sum] : kernels_of(before)) {
        auto& change = changes[name];
        change.count_before = sum.count;
        change.before_ns = mean(sum.total, units_before.count);
    }
    for (auto const& [name, sum] : kernels_of(after)) {
        auto& change = changes[name];
        change.count_after = sum.count;
        change.after_ns = mean(sum.total, units_after.count);
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

} // namespace

TraceComparison compare(TraceAnswer const& before, TraceAnswer const& after) {
    TraceComparison comparison;
    comparison.per_step = has_steps(before) && has_steps(after);
    auto const units_before = units_of(before, comparison.per_step);
    auto const units_after = units_of(after, comparison.per_step);
    comparison.parts = parts_of(units_before, units_after, comparison.per_step);
    comparison.kernels = changes_of(before, units_before, after, units_after);
    return comparison;
}

} // namespace headroom::trace
