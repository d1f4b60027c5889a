#include "document/fields.hpp"
#include "roofline/roofline_report.hpp"
#include "setting.hpp"
#include "setting_parts.hpp"

#include "headroom/training_answers.hpp"

#include <cmath>

namespace headroom::cli {
namespace {

template <class Q> Json maybe(std::optional<Q> const& quantity) { return quantity ? Json{quantity->base()} : Json{}; }

Json positive(double value) { return value > 0.0 ? Json{value} : Json{}; }

Json machine_json(io::Machine const& machine) {
    Processor const& processor = machine.processor;
    Json levels = Json::array();
    for (MemoryLevel const& level : processor.levels) {
        levels.push(Json::object()
                        .set("name", level.name)
                        .set("bandwidth_bytes_per_second", level.bandwidth.base())
                        .set("capacity_bytes", positive(level.capacity.base())));
    }
    auto const& chip = processor.accelerator;
    return Json::object()
        .set("name", processor.name)
        .set("origin", machine.origin)
        .set("generation", chip ? Json{name_of(chip->generation)} : Json{})
        .set("levels", levels)
        .set("simd_width_bytes", positive(processor.simd_width.base()))
        .set("lanes", processor.lanes > 0 ? Json{processor.lanes} : Json{});
}

Json ceilings_json(RooflineReport const& report) {
    Json all = Json::array();
    for (Ceiling const& one : report.ceilings) {
        bool const sloped = one.level.has_value();
        all.push(Json::object()
                     .set("name", one.name)
                     .set("kind", name_of(one.kind))
                     .set("limits", sloped ? "memory" : "compute")
                     .set("precision", one.format ? Json{name_of(*one.format)} : Json{})
                     .set("level", sloped ? Json{report.processor().levels.at(*one.level).name} : Json{})
                     .set("flops_per_second", sloped ? Json{} : Json{one.rate.base()})
                     .set("bytes_per_second", sloped ? Json{one.bandwidth.base()} : Json{})
                     .set("of_roof", one.of_roof)
                     .set("note", one.note));
    }
    return all;
}

Json ridges_json(Processor const& processor) {
    Json all = Json::array();
    for (NumberFormat const one : number_formats) {
        if (processor.peak[one].base() <= 0.0) { continue; }
        for (MemoryLevel const& level : processor.levels) {
            all.push(Json::object()
                         .set("precision", name_of(one))
                         .set("level", level.name)
                         .set("flops_per_byte", ridge_point(processor.peak[one], level.bandwidth).base()));
        }
    }
    return all;
}

Json gain_json(Gain const& gain) {
    return Json::object()
        .set("by", name_of(gain.by))
        .set("speedup", gain.speedup)
        .set("at_most", gain.at_most)
        .set("precision", gain.format ? Json{name_of(*gain.format)} : Json{})
        .set("rows_at_ridge", gain.rows)
        .set("saved_bytes", gain.by == GainBy::fusion ? Json{gain.saved.base()} : Json{});
}

Json levels_json(Kernel const& kernel, Processor const& processor) {
    Json all = Json::array();
    auto const add = [&](std::size_t i, Bytes moved) {
        MemoryLevel const& level = processor.levels.at(i);
        all.push(Json::object()
                     .set("level", level.name)
                     .set("bytes", moved.base())
                     .set("intensity_flops_per_byte", moved.base() > 0.0 ? Json{(kernel.work / moved).base()} : Json{})
                     .set("seconds", (moved / level.bandwidth).base()));
    };
    add(0, kernel.moved);
    for (auto const& [level, moved] : kernel.nearer) { add(level, moved); }
    return all;
}

std::string_view phase_name(Phase phase) {
    switch (phase) {
    case Phase::forward: return "forward";
    case Phase::recompute: return "recompute";
    case Phase::backward: return "backward";
    }
    return "";
}

void add_step_keys(Json& json, RooflineRow const& row) {
    bool const step = row.in_step;
    json.set("part", step ? Json{row.of.part} : Json{})
        .set("group", step ? Json{row.of.group} : Json{})
        .set("phase", step ? Json{phase_name(row.of.phase)} : Json{})
        .set("predicted_seconds", step ? Json{row.of.predicted.base()} : Json{})
        .set("share_of_time", row.share);
}

Json kernel_json(RooflineRow const& row, RooflineReport const& report) {
    Kernel const& kernel = row.of.kernel;
    Json gains = Json::array();
    for (Gain const& gain : row.gains) { gains.push(gain_json(gain)); }
    Json json = Json::object()
                    .set("name", row.of.name)
                    .set("precision", name_of(kernel.format))
                    .set("count", row.of.count)
                    .set("flops", kernel.work.base())
                    .set("flops_counted", !kernel.nominal)
                    .set("bytes", kernel.moved.base())
                    .set("intensity_flops_per_byte", row.at.intensity.base())
                    .set("ridge_flops_per_byte", row.at.ridge.base())
                    .set("bound", name_of(row.at.bound))
                    .set("bound_by", binding_name(row, report.processor()))
                    .set("attainable_flops_per_second", row.at.rate.base())
                    .set("of_peak", row.at.of_peak)
                    .set("seconds", row.at.time.base());
    add_step_keys(json, row);
    return json.set("levels", levels_json(kernel, report.processor()))
        .set("gains", gains)
        .set("advice", advice_for(row, report));
}

Json step_json(RooflineReport const& report) {
    if (!report.step) { return {}; }
    Question const& question = report.question.model->question;
    StepTime const& time = report.step->prediction.time;
    Json groups = Json::array();
    for (GroupTime const& group : report.groups) {
        groups.push(Json::object()
                        .set("group", group.group)
                        .set("attainable_seconds", group.attainable.base())
                        .set("predicted_seconds", group.predicted.base()));
    }
    return Json::object()
        .set("model", model_json(question.model))
        .set("framework", question.framework.name)
        .set("workload", to_json(WorkloadOfRun{question.workload, std::nullopt}))
        .set("strategy", to_json(StrategyInUse{question.strategy, question.workload}))
        .set("tokens_per_micro_batch", report.step->tokens)
        .set("attainable_seconds", report.totals.attainable.base())
        .set("kernels_seconds", report.totals.predicted.base())
        .set("compute_seconds", time.compute.base())
        .set("optimizer_seconds", time.optimizer.base())
        .set("step_seconds", time.total().base())
        .set("groups", groups)
        .set("assumed", assumptions_json(report.question.model->assumptions));
}

Json levers_json(RooflineReport const& report) {
    Json all = Json::array();
    for (RooflineLever const& lever : report.levers) {
        all.push(Json::object()
                     .set("by", name_of(lever.by))
                     .set("attainable_seconds", lever.attainable.base())
                     .set("speedup", report.totals.attainable / lever.attainable)
                     .set("predicted_seconds", report.step ? Json{lever.seconds.base()} : Json{}));
    }
    return all;
}

Json against_kernel_json(RooflineRow const& row) {
    return Json::object()
        .set("name", row.of.name)
        .set("bound", name_of(row.other->bound))
        .set("seconds", row.at.time.base())
        .set("seconds2", row.other->time.base())
        .set("speedup", row.at.time / row.other->time)
        .set("predicted_speedup", row.other_predicted ? Json{row.of.predicted / *row.other_predicted} : Json{});
}

Json against_json(RooflineReport const& report) {
    if (!report.question.against) { return {}; }
    Processor const& here = report.processor();
    Processor const& there = report.question.against->processor;
    NumberFormat const asked = report.question.format;
    Json kernels = Json::array(), words = Json::array_of(comparison_words(report));
    for (RooflineRow const& row : report.rows) {
        if (row.other) { kernels.push(against_kernel_json(row)); }
    }
    bool const any = report.other_totals && report.totals.attainable.base() > 0.0;
    Json total = any ? Json{report.totals.attainable / report.other_totals->attainable} : Json{};
    bool const step = any && report.step;
    Json predicted = step ? Json{report.totals.predicted / report.other_totals->predicted} : Json{};
    return Json::object()
        .set("machine", machine_json(*report.question.against))
        .set("bandwidth_ratio", there.memory().bandwidth / here.memory().bandwidth)
        .set("peak_ratio", there.peak[asked].base() > 0.0 ? Json{there.peak[asked] / here.peak[asked]} : Json{})
        .set("speedup", total)
        .set("predicted_speedup", predicted)
        .set("kernels", kernels)
        .set("verdict", words);
}

} // namespace

Json json_of(RooflineReport const& report) {
    auto const& conditions = report.question.conditions;
    Json kernels = Json::array();
    for (RooflineRow const& row : report.rows) { kernels.push(kernel_json(row, report)); }
    Json divergence;
    if (conditions.divergence) {
        divergence = Json::object()
                         .set("ways", *conditions.divergence)
                         .set("throughput", divergence_throughput(*conditions.divergence));
    }
    Json json = result_head("roofline", report.catalog, report.calibration);
    json.set("machine", machine_json(report.question.machine))
        .set("precision", name_of(report.question.format))
        .set("ridge_flops_per_byte", report.ridge.base())
        .set("ridges", ridges_json(report.processor()))
        .set("ceilings", ceilings_json(report))
        .set("divergence", divergence)
        .set("occupancy", conditions.occupancy)
        .set("kernels", kernels)
        .set("attainable_seconds", report.rows.empty() ? Json{} : Json{report.totals.attainable.base()})
        .set("levers", levers_json(report))
        .set("step", step_json(report))
        .set("against", against_json(report))
        .set("verdict", roofline_verdict(report))
        .set("notes", Json::array_of(report.notes));
    if (report.wall_seconds) { json.set("stats", stats_json(*report.wall_seconds)); }
    return json;
}

Sheet sheet_of(RooflineReport const& report) {
    if (report.rows.empty()) {
        Sheet sheet{{"ceiling", "kind", "limits", "flops_per_second", "bytes_per_second", "of_roof"}, {}};
        for (Ceiling const& one : report.ceilings) {
            sheet.rows.push_back({one.name, std::string{name_of(one.kind)}, one.level ? "memory" : "compute",
                                  one.level ? "" : exact(one.rate.base()), one.level ? exact(one.bandwidth.base()) : "",
                                  exact(one.of_roof)});
        }
        return sheet;
    }
    Sheet sheet{{"name", "part", "group", "phase", "precision", "count", "flops", "bytes", "intensity_flops_per_byte",
                 "bound", "bound_by", "attainable_flops_per_second", "of_peak", "seconds", "predicted_seconds",
                 "share_of_time"},
                {}};
    for (RooflineRow const& row : report.rows) {
        sheet.rows.push_back(
            {row.of.name, row.of.part, row.of.group, row.in_step ? std::string{phase_name(row.of.phase)} : "",
             std::string{name_of(row.of.kernel.format)}, exact(row.of.count), exact(row.of.kernel.work.base()),
             exact(row.of.kernel.moved.base()), exact(row.at.intensity.base()), std::string{name_of(row.at.bound)},
             binding_name(row, report.processor()), exact(row.at.rate.base()), exact(row.at.of_peak),
             exact(row.at.time.base()), row.in_step ? exact(row.of.predicted.base()) : "", exact(row.share)});
    }
    return sheet;
}

} // namespace headroom::cli
