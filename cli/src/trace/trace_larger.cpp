#include "measured_steps.hpp"
#include "setting.hpp"
#include "trace/trace_question.hpp"
#include "trace/trace_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/training/prediction.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace headroom::cli {
namespace {

constexpr double nanosecond = 1e-9;

/// Options of the question that `predict` is asked, apart from the number of workers.
constexpr std::array asked_options{"--cluster",   "--network",   "--global-batch", "--sequence-length",
                                   "--framework", "--precision", "--strategy"};

/// Fields of a strategy but for those whose names are options of `trace` itself (--shard).
std::vector<Option> strategy_of_run() {
    std::vector<Option> fields(strategy_options().begin(), strategy_options().end());
    std::erase_if(fields, [](Option const& field) {
        return std::ranges::any_of(trace_options(),
                                   [&](Option const& one) { return std::string_view{one.name} == field.name; });
    });
    return fields;
}

Arguments call_of(Arguments const& arguments, std::int64_t workers) {
    Arguments call;
    call.add("MODEL", {arguments.text("--plan").value_or("")});
    call.add("--workers", {std::to_string(workers)});
    auto const take = [&](char const* name) {
        if (auto const value = arguments.text(name)) { call.add(name, {*value}); }
    };
    for (char const* name : asked_options) { take(name); }
    for (Option const& option : strategy_of_run()) { take(option.name); }
    return call;
}

LargerRun larger_run(Arguments const& arguments, std::int64_t workers, double measured, std::int64_t now,
                     CalibrationSet const& calibration, std::string& words) {
    LargerRun run{.workers = workers};
    Arguments const call = call_of(arguments, workers);
    Setting setting = read_setting(call);
    Prediction const p = predict(make_question(call, setting), calibration);
    run.step_seconds = p.step().base();
    run.low_seconds = p.interval.low.base();
    run.high_seconds = p.interval.high.base();
    run.speedup = measured / run.step_seconds;
    run.efficiency = run.speedup * static_cast<double>(now) / static_cast<double>(workers);
    if (!p.fits) { run.why_not = p.why_not; }
    if (words.empty()) { words = warm_words(p); }
    return run;
}

/// "Predicted from this run (llama-3-8b, same batch): 16 workers 1.82x (1.5 to 2.1x), 32 workers ..."
std::string larger_sentence(TraceReport const& report, CalibrationSet const& calibration) {
    double const measured = report.answer.step_ns->p50 * nanosecond;
    std::vector<std::string> sizes;
    for (LargerRun const& one : report.larger) {
        sizes.push_back(std::to_string(one.workers) + " workers " + significant(one.speedup) + "x (" +
                        significant(measured / one.high_seconds) + " to " + significant(measured / one.low_seconds) +
                        (one.why_not.empty() ? "x)" : "x, does not fit)"));
    }
    bool const fits_description = calibration.warm.steps.empty() || calibration.warm.steps.back().excess <= 0.0;
    return "Predicted at the same batch, calibrated by these traces: " + join(sizes, ", ") + "." +
           (fits_description ? ""
                             : " The measured step lies outside of what is predicted for this run: check its "
                               "description (batch, strategy, framework).");
}

std::string seconds_words(double seconds) { return time_words(seconds / nanosecond); }

} // namespace

std::vector<Option> larger_options() {
    constexpr char const* group = "More machines (--plan)";
    std::vector<Option> options{
        {"--plan", "MODEL", "the run's model: predicts 2, 4 and 8 times the workers, calibrated by the measured step",
         group},
        {"--cluster", "NAME|FILE", "the run's machines: dgx-h100", group},
        {"--network", "TEXT", "network between the nodes, instead of the catalog's", group},
        {"--global-batch", "SEQUENCES", "sequences a step", group},
        {"--sequence-length", "N", "tokens a sequence", group},
        {"--framework", "NAME", "the training software", group},
        {"--precision", "NAME", "bf16, fp16, fp8, fp32", group},
        {"--strategy", "NAME", "a strategy of the catalog, for the fields you do not give", group},
    };
    for (Option option : strategy_of_run()) {
        option.group = group;
        options.push_back(option);
    }
    return options;
}

void require_larger(Arguments const& arguments) {
    if (!arguments.has("--plan")) {
        for (Option const& option : larger_options()) {
            if (arguments.has(option.name)) {
                refuse(option.name, "given without --plan", "", "--plan MODEL predicts larger sizes with it");
            }
        }
        return;
    }
    if (!arguments.has("--cluster")) {
        refuse("--plan", "--cluster is missing", "", "write it like --cluster dgx-h100");
    }
}

void predict_larger(TraceReport& report, Arguments const& arguments) {
    TraceAnswer const& answer = report.answer;
    if (!answer.step_ns) { refuse("--plan", "the traces have no steps", "", "name their ranges with --step-name"); }
    if (!answer.workers) {
        refuse("--plan", "the number of workers is not known", "the traces do not state it", "add --workers N");
    }
    if (answer.work_missing) {
        refuse("--plan", "device work is missing in the traces", "their step is not the run's", "record them again");
    }
    std::int64_t const now = *answer.workers;
    double const measured = answer.step_ns->p50 * nanosecond;
    Arguments const call = call_of(arguments, now);
    Setting setting = read_setting(call);
    Question const question = make_question(call, setting);
    keep_measured_step(call, question, {Seconds{measured}, Seconds{measured}, Seconds{measured}}, "the traces",
                       setting);
    for (std::int64_t const factor : {2, 4, 8}) {
        report.larger.push_back(
            larger_run(arguments, now * factor, measured, now, setting.calibration, report.calibrated));
    }
    report.verdict.push_back(larger_sentence(report, setting.calibration));
    for (std::string const& text : setting.notes) { report.answer.notes.push_back("--plan: " + text); }
}

std::vector<Block> larger_blocks(TraceReport const& report) {
    std::vector<Block> blocks;
    if (report.larger.empty()) { return blocks; }
    Table table{.title = "The same batch on more workers, predicted and calibrated by these traces",
                .columns = {"workers", "step", "90 % interval", "speedup", "efficiency %", wrapped("")}};
    for (LargerRun const& one : report.larger) {
        table.rows.push_back({std::to_string(one.workers), seconds_words(one.step_seconds),
                              seconds_words(one.low_seconds) + " to " + seconds_words(one.high_seconds),
                              significant(one.speedup) + "x", percent(one.efficiency),
                              one.why_not.empty() ? "" : "does not fit: " + one.why_not});
    }
    blocks.emplace_back(std::move(table));
    if (!report.calibrated.empty()) { blocks.emplace_back(Paragraph{report.calibrated, "calibration"}); }
    return blocks;
}

} // namespace headroom::cli
