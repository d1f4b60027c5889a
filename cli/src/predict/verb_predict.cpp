#include "arguments.hpp"
#include "document/text.hpp"
#include "left_out.hpp"
#include "measured_steps.hpp"
#include "predict/predict_question.hpp"
#include "predict/prediction_report.hpp"
#include "predict/step_trace.hpp"
#include "predict/views.hpp"
#include "predict/what_if.hpp"

#include "headroom/consequences.hpp"
#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/left_out.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>

namespace headroom::cli {
namespace {

constexpr std::array positionals{
    Positional{"MODEL", "a catalog name (llama-3-70b), a Hugging Face config.json (file or folder), or a .toml file"},
};

constexpr std::array options{
    Option{"--explain", "TERM", "open the numbers into their formulas", "Answer", Takes::perhaps_value},
    Option{"--what-if", "CHANGES", "bandwidth=2x,latency=0.5x,overlap=off: which lever moves the step", "Answer",
           Takes::perhaps_value},
    Option{"--gantt", "", "draw what each pipeline stage does when, the bubble marked (so does --schedule NAME)",
           "Answer", Takes::nothing},
    Option{
        "--simulate", "COLLECTIVES",
        "run the step task by task beside the closed form: agreement, critical path; collectives as one operation, or "
        "by messages: all groups of a dimension at once on the links of the cluster",
        "Answer", Takes::perhaps_value},
    Option{"--measured-step", "TIME",
           "this step was measured, 12.3s: what it changes, and with --save-calibration kept", "Data"},
    Option{"--save-calibration", "FILE", "add the measured step to a calibration file, which --calibration reads",
           "Data"},
    Option{"--timeline", "FILE", "write the simulated step as a Chrome trace (up to a million tasks)", "Output"},
};

constexpr char const* examples = "  headroom predict llama-3-8b --cluster dgx-h100 --workers 8\n"
                                 "  headroom predict llama-3-70b --cluster dgx-h100 --workers 64 --tp 8 --pp 2 \\\n"
                                 "      --global-batch 512 --sequence-length 8192 --recompute selective\n"
                                 "  headroom predict ./config.json --cluster dgx-a100 --nodes 4 --what-if\n"
                                 "  headroom predict gpt3-175b --cluster dgx-h100 --workers 512 --explain\n"
                                 "  headroom predict llama-3-70b --cluster dgx-h100 --workers 64 --pp 4 \\\n"
                                 "      --schedule all\n"
                                 "  headroom predict llama-3-70b --cluster dgx-h100 --workers 64 --pp 4 \\\n"
                                 "      --schedule zb-h1 --gantt --timeline step.json\n"
                                 "  headroom predict llama-3-8b --cluster dgx-h100 --workers 16 --strategy fsdp\n"
                                 "  headroom predict llama-3-8b --cluster dgx-h100 --workers 8 \\\n"
                                 "      --measured-step 12.3s --save-calibration mine.toml\n"
                                 "  headroom predict llama-3-8b --cluster dgx-h100 --nodes 1 --require 'mfu>=0.4'";

std::vector<Term> explain(Prediction const& prediction, CalibrationSet const& calibration, std::string const& wanted) {
    Calibration const values = calibration.values();
    Question const& question = prediction.question;
    Cluster const cluster = congested(question.cluster, question.disturbance.congestion, prediction.workers);
    StepSetting const step = step_setting(question, cluster, values);
    std::vector<Term> terms = explain_step(step, question.strategy, prediction.costs);
    std::ranges::move(explain_left_out(prediction), std::back_inserter(terms));
    if (wanted.empty()) { return terms; }
    if (auto opened = explain_left_out(prediction, terms, wanted); !opened.empty()) { return opened; }
    std::vector<std::string> names;
    for (Term const& term : terms) {
        if (normalised(term.name) == normalised(wanted)) { return {term}; }
        names.push_back(term.name);
    }
    std::string const near = nearest(wanted, names);
    throw InputError{Fault::usage,
                     {.where = "--explain",
                      .problem = "unknown term " + headroom::quoted(wanted),
                      .why = "",
                      .hint = near.empty() ? "choose from " + join(names, ", ") : "did you mean '" + near + "'?"}};
}

/// The exit code of an answer that was written.
int verdict_of(PredictionReport const& report, bool complete) {
    if (!complete) {
        refusal("predict", "interrupted: the closed form is kept, the simulation is left out");
        return Exit::interrupted;
    }
    if (!report.prediction.fits) {
        refusal("strategy", "does not fit: " + report.prediction.why_not);
        return Exit::infeasible;
    }
    if (!report.prediction.progresses()) {
        refusal("failures", report.prediction.goodput->why_not);
        return Exit::infeasible;
    }
    return report_gates(report.gates) ? Exit::done : Exit::gate;
}

/// What is told where whole nodes would hold more than the accelerators that are paid for.
std::optional<std::string> spare_of_nodes(Question const& question) {
    int const workers = question.strategy.workers();
    int const size = question.cluster.accelerators_per_node;
    if (size < 1 || workers < size || workers % size == 0) { return std::nullopt; }
    int const nodes = (workers + size - 1) / size;
    return "costs are those of " + std::to_string(workers) + " accelerators; " + std::to_string(nodes) +
           " whole nodes hold " + std::to_string(std::int64_t{nodes} * size);
}

int run(Arguments const& given) {
    Stopwatch const stopwatch;
    Arguments arguments = given;
    Output const output = read_output(arguments);
    Views const views = read_views(arguments, output);
    check_gates(arguments, metrics_of(Prediction{})); // a wrong condition is told before any work
    Setting setting = read_setting(arguments);
    use_measured_steps(arguments, setting);
    Question const question = make_question(arguments, setting);
    auto const saved = read_measured_step(arguments, question, setting);
    Prediction const prediction = predict(question, setting.calibration);
    if (auto const doubt = views.simulates ? std::nullopt : doubt_of(prediction, setting.calibration)) {
        setting.notes.push_back(*doubt);
    }
    if (auto const spare = spare_of_nodes(question)) { setting.notes.push_back(*spare); }
    PredictionReport report{setting, prediction, question.assumptions, {}, {}, {}, {}};
    if (auto const changes = arguments.text("--what-if")) {
        for (Lever const& lever : levers(question, *changes)) {
            report.what_if.push_back({lever.name, predict(lever.question, setting.calibration)});
        }
    }
    if (auto const term = arguments.text("--explain")) {
        report.terms = explain(report.prediction, setting.calibration, *term);
    }
    report.gates = check_gates(arguments, metrics_of(report.prediction));
    bool const complete = fill_views(report, views, output);
    if (output.stats) { report.wall_seconds = stopwatch.seconds(); }
    for (std::string const& text : setting.notes) { note(output, "note: " + text); }
    if (saved) { save_measured_step(*saved, output); }
    bool const traces = views.timeline && complete && result_has_place(output);
    if (traces) { io::write_file(*views.timeline, step_trace(report.simulation->step)); }
    write_result(output, {.document = [&] { return document_of(report); },
                          .json = [&] { return json_of(report); },
                          .sheet = [&] { return sheet_of(report); },
                          .page = [&] { return document_of(report, Medium::page); }});
    return verdict_of(report, complete);
}

} // namespace

Verb predict_verb() {
    return {"predict",   "one configuration: step time, memory, cost, its parts",
            positionals, {setting_options(), strategy_options(), options, left_out_options(), output_options()},
            examples,    run};
}

} // namespace headroom::cli
