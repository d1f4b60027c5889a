#include "validate/reports.hpp"

#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace headroom::cli {
namespace {

constexpr std::size_t worst_memories = 15;

std::string share_or_dash(std::optional<double> share) { return share ? percent(*share) : "-"; }

std::string gib(Bytes bytes) { return significant(bytes.in(units::GiB)); }

std::string verdict(MemoryValidation const& validation) {
    MemoryErrors const& all = validation.all;
    if (all.rows == 0) { return "No run states a memory that can be predicted."; }
    std::string text = "Median absolute error of the memory: " + percent(all.median_absolute_error) + " % over " +
                       counted(static_cast<std::size_t>(all.rows), "run") + ", " +
                       percent(all.families_median_absolute_error) + " % over " + std::to_string(all.families) +
                       (all.families == 1 ? " family" : " families weighed alike");
    if (all.left_out_coverage) {
        text += "; " + percent(*all.left_out_coverage) + " % lie inside intervals made without their family";
    }
    return text + ".";
}

Table group_table(std::string const& by, MemoryValidation const& validation) {
    static std::map<std::string, std::string> const titles{{"memory", "By kind of memory"},
                                                           {"family", "By family"},
                                                           {"framework", "By framework"},
                                                           {"recomputation", "By recomputation"},
                                                           {"trained", "By trained weights"}};
    Table table{.title = titles.at(by), .columns = {left(by), "runs"}};
    bool const family = by == "family";
    auto const add_row = [&](std::string const& name, MemoryErrors const& e) {
        std::vector<std::string> cells{name, std::to_string(e.rows)};
        if (!family) { cells.push_back(std::to_string(e.families)); }
        cells.push_back(percent(e.median_error));
        cells.push_back(percent(e.median_absolute_error));
        cells.push_back(percent(e.p90_absolute_error));
        if (!family) {
            cells.push_back(percent(e.families_median_absolute_error));
            cells.push_back(percent(e.families_p90_absolute_error));
        }
        cells.push_back(share_or_dash(e.left_out_coverage));
        cells.push_back(std::to_string(e.refused));
        table.rows.push_back(std::move(cells));
    };
    if (!family) { table.columns.push_back("fam"); }
    for (char const* name : {"sign %", "med %", "90th %"}) { table.columns.push_back(name); }
    if (!family) {
        for (char const* name : {"alike %", "90th %"}) { table.columns.push_back(name); }
    }
    for (char const* name : {"in %", "unfit"}) { table.columns.push_back(name); }
    for (MemoryGroup const& group : validation.groups) {
        if (group.by == by) { add_row(group.name, group.errors); }
    }
    if (by == "memory") { add_row("all", validation.all); }
    return table;
}

Table target_table(MemoryValidation const& validation) {
    Table table{.title = "Against the targets", .columns = {wrapped("figure"), "is %", "target %", left("met")}};
    auto const whole = [](double share) { return significant(100.0 * share); };
    for (MemoryTarget const& target : memory_targets(validation)) {
        std::string bar = target.at_least ? "at least " + whole(*target.at_least) : "at most " + whole(*target.at_most);
        if (target.at_least && target.at_most) { bar = whole(*target.at_least) + " to " + whole(*target.at_most); }
        table.rows.push_back({target.figure, share_or_dash(target.value), bar,
                              !target.value  ? "no run"
                              : target.met() ? "yes"
                                             : "no"});
    }
    return table;
}

/// Runs whose footprint exceeds the accelerator, the least probable first.
Table refused_table(MemoryValidation const& validation) {
    std::vector<MemoryComparison const*> rows;
    for (MemoryComparison const& row : validation.rows) {
        if (!row.fits()) { rows.push_back(&row); }
    }
    std::ranges::stable_sort(rows, {}, [](MemoryComparison const* row) { return row->probability.value_or(0.0); });
    Table table{.title = "Ran although predicted not to fit",
                .columns = {left("id"), wrapped("family"), wrapped("model"), "capacity GiB", "footprint GiB",
                            "measured GiB", "fits with %"}};
    for (MemoryComparison const* row : rows) {
        table.rows.push_back({row->run->id, row->run->source, row->question().model.name, gib(row->capacity),
                              gib(row->use.footprint()), gib(*row->run->measured_memory),
                              share_or_dash(row->probability)});
    }
    return table;
}

Table worst_table(MemoryValidation const& validation) {
    std::vector<MemoryComparison const*> rows;
    for (MemoryComparison const& row : validation.rows) { rows.push_back(&row); }
    std::ranges::stable_sort(rows, std::ranges::greater{},
                             [](MemoryComparison const* row) { return std::abs(std::log1p(row->error())); });
    rows.resize(std::min(rows.size(), worst_memories));
    Table table{.title = "Furthest from their measurement",
                .columns = {left("id"), wrapped("family"), wrapped("model"), wrapped("strategy"), left("memory"),
                            "measured GiB", "predicted GiB", "error %"}};
    for (MemoryComparison const* row : rows) {
        Strategy const& strategy = row->question().strategy;
        table.rows.push_back({row->run->id, row->run->source, row->question().model.name, short_name(strategy),
                              std::string{name_of(row->run->memory_kind)}, gib(*row->run->measured_memory),
                              gib(row->predicted), percent(row->error())});
    }
    return table;
}

Table skipped_table(MemoryValidation const& validation) {
    std::map<std::string, int> reasons;
    for (SkippedMemory const& one : validation.skipped) { ++reasons[one.run->skipped_reason]; }
    return reasons_table("Not predicted", "runs", reasons, false);
}

} // namespace

Paragraph memory_words(Validation const& validation) {
    return {"median absolute error " + percent(validation.memory.median_absolute_error) + " % over " +
                counted(static_cast<std::size_t>(validation.memory.rows), "run") +
                " with a time and a memory; validate --memory has all that state a memory",
            "memory"};
}

std::vector<Metric> metrics_of(MemoryValidationAnswer const* answer) {
    std::vector<Metric> metrics =
        metrics_of(field_table_of(answer), answer,
                   {{"median_absolute_error", "summary.median_absolute_error"},
                    {"p90_absolute_error", "summary.p90_absolute_error"},
                    {"families_median_absolute_error", "summary.families_median_absolute_error"},
                    {"families_p90_absolute_error", "summary.families_p90_absolute_error"},
                    {"interval_coverage", "summary.interval_coverage"},
                    {"left_out_interval_coverage", "summary.left_out_interval_coverage"},
                    {"predicted_not_to_fit", "summary.predicted_not_to_fit"}});
    for (MemoryKind const kind : memory_kinds) { // "reserved_median_absolute_error": families weighed alike
        MemoryErrors const* errors = nullptr;
        if (answer != nullptr) {
            for (MemoryGroup const& group : answer->validation.groups) {
                if (group.by == "memory" && group.name == name_of(kind)) { errors = &group.errors; }
            }
        }
        std::string const name{kind == MemoryKind::unstated ? "not_stated" : name_of(kind)};
        auto const known = [errors](double MemoryErrors::*value) {
            return errors != nullptr ? std::optional{errors->*value} : std::nullopt;
        };
        for (auto const& [of, value] :
             {std::pair{"_median_absolute_error", &MemoryErrors::families_median_absolute_error},
              {"_p90_absolute_error", &MemoryErrors::families_p90_absolute_error}}) {
            metrics.push_back({.name = name + of, .value = known(value), .share = true});
        }
    }
    return metrics;
}

Document document_of(MemoryReport const& report) {
    MemoryValidationAnswer const& answer = report.answer;
    MemoryValidation const& validation = answer.validation;
    Document document{"Memory of published runs: " + answer.runs_name, {}, footer(report.catalog, report.calibration)};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict(validation), "", true});
    if (validation.all.rows > 0) {
        blocks.emplace_back(target_table(validation));
        for (char const* by : {"memory", "family", "framework", "recomputation", "trained"}) {
            blocks.emplace_back(group_table(by, validation));
        }
        blocks.emplace_back(Paragraph{
            "predicted over measured memory, less 1: allocated is compared with what tensors hold, reserved and not "
            "stated with fragmentation added, process with runtime, too. Sign: median with its sign, below zero where "
            "predictions are too low. Alike: families weighed alike, the median of their medians, and the 90th "
            "percentile "
            "with each run weighed by 1 / runs of its family. In: share of runs within the 90 % interval made without "
            "their family. Unfit: runs whose predicted footprint exceeds the accelerator",
            "columns"});
    }
    add_table(blocks, refused_table(validation));
    add_table(blocks, worst_table(validation));
    add_table(blocks, skipped_table(validation));
    add_issues(blocks, answer.issues);
    return document;
}

} // namespace headroom::cli
