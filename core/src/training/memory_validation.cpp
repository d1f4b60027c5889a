#include "headroom/training/memory_validation.hpp"

#include "headroom/family_errors.hpp"
#include "headroom/order_statistics.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace headroom::training {
namespace {

MemoryComparison compare(PublishedRun const& run) {
    auto const& question = *run.asks_memory();
    Calibration const unused{}; // memory does not depend on time constants
    MemoryComparison row{.run = &run,
                         .use = memory_use(step_setting(question, question.cluster, unused), question.strategy),
                         .predicted = {},
                         .capacity = question.cluster.accelerator.memory};
    row.predicted = memory_of_kind(row.use, run.memory_kind);
    return row;
}

MemoryRange range_of(MemoryComparison const& row, MemorySpread const& spread) {
    auto const& scale = spread.of(row.question().framework.name, row.run->framework_assumed);
    return memory_range(scale, row.predicted, uncertain_bytes(spread, row.predicted, row.use.state()));
}

double probability_of(MemoryComparison const& row, MemorySpread const& spread) {
    auto const& scale = spread.of(row.question().framework.name, row.run->framework_assumed);
    Bytes const footprint = row.use.footprint();
    return probability_within(scale, footprint, uncertain_bytes(spread, footprint, row.use.state()), row.capacity);
}

/// Intervals by the spread of the other families' runs.
void leave_families_out(std::vector<MemoryComparison>& rows, std::span<MemorySample const> samples) {
    std::map<std::string, MemorySpread> without;
    for (auto& row : rows) {
        auto const [found, is_new] = without.try_emplace(row.run->source);
        if (is_new) {
            std::vector<MemorySample> others{samples.begin(), samples.end()};
            std::erase_if(others, [&](MemorySample const& one) { return one.family == row.run->source; });
            if (!others.empty()) { found->second = fit_memory_spread(others); }
        }
        if (found->second.unseen.rows == 0) { continue; } // no other family
        row.left_out = range_of(row, found->second);
        row.probability = probability_of(row, found->second);
    }
}

using KeyOf = std::function<std::string(MemoryComparison const&)>;

void add_groups(std::vector<MemoryGroup>& groups, std::string const& by, std::span<MemoryComparison const> rows,
                KeyOf const& key) {
    std::map<std::string, std::vector<MemoryComparison>> parts;
    for (auto const& row : rows) { parts[key(row)].push_back(row); }
    for (auto const& [name, part] : parts) { groups.push_back({by, name, memory_errors(part)}); }
}

std::vector<MemoryGroup> groups_of(std::span<MemoryComparison const> rows) {
    std::vector<MemoryGroup> groups;
    auto const text = [](auto value) { return std::string{name_of(value)}; };
    add_groups(groups, "memory", rows, [&](MemoryComparison const& row) { return text(row.run->memory_kind); });
    add_groups(groups, "family", rows, [](MemoryComparison const& row) { return row.run->source; });
    add_groups(groups, "framework", rows, [](MemoryComparison const& row) {
        return row.run->framework_assumed ? "not recognised" : row.question().framework.name;
    });
    add_groups(groups, "recomputation", rows,
               [&](MemoryComparison const& row) { return text(row.question().strategy.recompute); });
    add_groups(groups, "trained", rows, [](MemoryComparison const& row) {
        return row.question().strategy.trained == Trained::lora ? "LoRA" : "all weights";
    });
    return groups;
}

} // namespace

MemoryErrors memory_errors(std::span<MemoryComparison const> rows) {
    MemoryErrors errors;
    errors.rows = static_cast<int>(rows.size());
    if (rows.empty()) { return errors; }
    std::vector<FamilyError> all;
    int inside = 0, ranges = 0, inside_left_out = 0, ranges_left_out = 0;
    for (auto const& row : rows) {
        Bytes const measured = *row.run->measured_memory;
        all.push_back({row.run->source, row.error()});
        errors.refused += row.fits() ? 0 : 1;
        ranges += row.range ? 1 : 0;
        inside += row.range && row.range->holds(measured) ? 1 : 0;
        ranges_left_out += row.left_out ? 1 : 0;
        inside_left_out += row.left_out && row.left_out->holds(measured) ? 1 : 0;
    }
    FamilyErrors const of = family_errors(all);
    errors.families = of.families;
    errors.median_error = of.median;
    errors.median_absolute_error = of.median_absolute;
    errors.p90_absolute_error = of.p90_absolute;
    errors.families_median_absolute_error = of.families_median_absolute;
    errors.families_p90_absolute_error = of.families_p90_absolute;
    if (ranges > 0) { errors.coverage = static_cast<double>(inside) / ranges; }
    if (ranges_left_out > 0) { errors.left_out_coverage = static_cast<double>(inside_left_out) / ranges_left_out; }
    return errors;
}

std::vector<MemorySample> memory_samples(std::span<MemoryComparison const> rows) {
    std::vector<MemorySample> samples;
    for (auto const& row : rows) {
        samples.push_back({.family = row.run->source,
                           .framework = row.question().framework.name,
                           .guessed = row.run->framework_assumed,
                           .measured = *row.run->measured_memory,
                           .predicted = row.predicted,
                           .state = row.use.state()});
    }
    return samples;
}

std::vector<MemoryTarget> memory_targets(MemoryValidation const& validation) {
    constexpr double tight = 0.05, tight_tail = 0.15, usual = 0.08, tail = 0.2, left_out_tail = 0.25;
    std::vector<MemoryTarget> targets;
    auto const errors = [&](std::string const& of, MemoryErrors const* e, double median, double p90) {
        bool const any = e != nullptr && e->rows > 0;
        targets.push_back({.figure = "median error of " + of,
                           .value = any ? std::optional{e->families_median_absolute_error} : std::nullopt,
                           .at_least = {},
                           .at_most = median});
        targets.push_back({.figure = "90th percentile of " + of,
                           .value = any ? std::optional{e->families_p90_absolute_error} : std::nullopt,
                           .at_least = {},
                           .at_most = p90});
    };
    for (MemoryKind const kind : memory_kinds) {
        auto const group = std::ranges::find_if(
            validation.groups, [&](MemoryGroup const& one) { return one.by == "memory" && one.name == name_of(kind); });
        bool const allocated = kind == MemoryKind::allocated;
        std::string const words =
            kind == MemoryKind::unstated ? "memory of a kind not stated" : std::string{name_of(kind)} + " memory";
        errors(words, group == validation.groups.end() ? nullptr : &group->errors, allocated ? tight : usual,
               allocated ? tight_tail : tail);
    }
    errors("all kinds, each family left out", &validation.all, usual, left_out_tail);
    auto const add = [&](char const* figure, std::optional<double> value, std::optional<double> least,
                         std::optional<double> most) {
        targets.push_back({.figure = figure, .value = value, .at_least = least, .at_most = most});
    };
    add("runs inside the 90 % interval", validation.all.left_out_coverage, 0.85, 0.95);
    add("the same, least family with 8 runs", validation.least_family_coverage, 0.75, {});
    add("least probability of a run that ran", validation.least_probability, 0.1, {});
    add("greatest probability of a run that ran out", validation.greatest_probability, {}, 0.5);
    return targets;
}

MemoryValidation validate_memory(std::span<PublishedRun const> runs, std::optional<MemorySpread> const& spread) {
    constexpr int enough_rows = 8;
    MemoryValidation validation;
    for (auto const& run : runs) {
        if ((!run.measured_memory && !run.ran_out) || !run.counts()) { continue; }
        if (run.asks_memory() == nullptr) {
            validation.skipped.push_back({&run});
        } else {
            (run.ran_out ? validation.ran_out : validation.rows).push_back(compare(run));
        }
    }
    auto& rows = validation.rows;
    for (auto& row : rows) {
        if (spread) { row.range = range_of(row, *spread); }
    }
    auto const samples = memory_samples(rows);
    leave_families_out(rows, samples);
    leave_families_out(validation.ran_out, samples);
    validation.all = memory_errors(rows);
    validation.groups = groups_of(rows);
    auto const lower = [](std::optional<double>& least, std::optional<double> value) {
        if (value && (!least || *value < *least)) { least = value; }
    };
    for (auto const& row : rows) { lower(validation.least_probability, row.probability); }
    for (auto const& row : validation.ran_out) {
        auto& greatest = validation.greatest_probability;
        if (row.probability && (!greatest || *row.probability > *greatest)) { greatest = row.probability; }
    }
    for (auto const& group : validation.groups) {
        bool const whole = group.by == "family" && group.errors.rows >= enough_rows;
        if (whole) { lower(validation.least_family_coverage, group.errors.left_out_coverage); }
    }
    return validation;
}

} // namespace headroom::training
