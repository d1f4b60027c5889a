#include "left_out.hpp"
#include "predict/prediction_quantities.hpp"
#include "predict/prediction_report.hpp"
#include "setting_parts.hpp"

namespace headroom::cli {

Sheet sheet_of(PredictionReport const& report) {
    Prediction const& p = report.prediction;
    Sheet sheet{{"quantity", "value"}, {}};
    auto const row = [&sheet](std::string name, double value) {
        sheet.rows.push_back({std::move(name), exact(value)});
    };
    auto const maybe = [&sheet](std::string name, std::optional<double> value) {
        sheet.rows.push_back({std::move(name), value ? exact(*value) : ""});
    };
    sheet.rows.push_back({"strategy", short_name(p.question.strategy)});
    sheet.rows.push_back({"fits", p.fits ? "true" : "false"});
    row("workers", p.workers);
    row("step_seconds", p.step().base());
    row("interval_low_seconds", p.interval.low.base());
    row("interval_high_seconds", p.interval.high.base());
    row("tokens_per_second", p.tokens_per_second);
    row("tokens_per_second_per_accelerator", p.tokens_per_second / accelerators(p));
    row("samples_per_second", samples_per_second(p));
    row("model_flops_per_second_per_accelerator", model_rate(p).base());
    row("mfu", p.mfu);
    row("hfu", p.hfu);
    row("compute_seconds", p.time.compute.base());
    row("host_seconds", p.time.host.base());
    row("exposed_communication_seconds", p.time.exposed_communication().base());
    row("pipeline_bubble_seconds", p.time.pipeline_bubble.base());
    row("optimizer_seconds", p.time.optimizer.base());
    row("offload_seconds", p.time.offload.base());
    row("imbalance_seconds", p.time.imbalance.base());
    row("stragglers_seconds", p.time.stragglers.base());
    row("overhead_seconds", p.time.overhead.base());
    for (auto const& [name, size] : parts_of(p.memory)) { row("memory_" + name + "_bytes", size.base()); }
    row("memory_bytes", p.memory.total().base());
    row("memory_capacity_bytes", p.memory_capacity.base());
    row("gamma", p.gamma);
    row("serial_fraction", p.serial.value);
    maybe("speedup_ceiling", ceiling_of(p));
    auto const duration = duration_of(p);
    auto const cost = cost_of(p);
    maybe("days", duration ? std::optional{duration->in(units::day)} : std::nullopt);
    maybe("cost_dollars", cost ? std::optional{cost->base()} : std::nullopt);
    maybe("dollars_per_million_tokens", dollars_per_million(p));
    add_left_out(sheet, p, report.setting.calibration);
    for (ScheduleOutcome const& outcome : report.schedules) {
        std::string const name = "schedule " + std::string{schedule_row(outcome.schedule).name};
        auto const& other = outcome.prediction;
        maybe(name + " step_seconds", other ? std::optional{other->step().base()} : std::nullopt);
        maybe(name + " bubble_seconds", other ? std::optional{other->time.pipeline_bubble.base()} : std::nullopt);
        maybe(name + " memory_bytes", other ? std::optional{other->memory.total().base()} : std::nullopt);
    }
    if (report.tells_simulation && report.simulation && report.simulation->ran()) {
        row("simulation step_seconds", report.simulation->step.step().base());
    }
    for (LeverOutcome const& lever : report.what_if) {
        row("what_if " + lever.name + " step_seconds", lever.prediction.step().base());
    }
    return sheet;
}

} // namespace headroom::cli
