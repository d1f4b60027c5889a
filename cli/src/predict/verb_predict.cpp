#include "arguments.hpp"
#include "launch_files.hpp"
#include "left_out.hpp"
#include "measured_steps.hpp"
#include "predict/prediction_report.hpp"
#include "several.hpp"
#include "watch.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/what_if.hpp"
#include "headroom/training/left_out.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace headroom::cli::verb_predict {
namespace {

constexpr std::array positionals{
    Positional{"MODEL", "a catalog name (llama-3-70b), a Hugging Face config.json (file or folder), or a .toml file; "
                        "several: llama-3-8b,llama-3-70b; so for --cluster"},
};

constexpr std::array options{
    Option{"--explain", "TERM",
           "open a number of the step or of memory (compute_seconds, total_bytes, any name that this shows) into its "
           "formula, down to the catalog, options and constants; alone: the parts of step and memory",
           "Answer", Takes::perhaps_value},
    Option{"--what-if", "CHANGES", "effect of changes on the step: bandwidth=2x,latency=0.5x,overlap=off", "Answer",
           Takes::perhaps_value},
    Option{"--gantt", "", "draw the passes and the bubble of each pipeline stage (--schedule NAME does, too)", "Answer",
           Takes::nothing},
    Option{
        "--simulate", "COLLECTIVES",
        "run the step task by task as a check of its price, with its critical path; collectives as one operation, or "
        "by messages: all groups of a dimension at once on the links of the cluster",
        "Answer", Takes::perhaps_value},
    Option{"--measured-step", "TIME",
           "measured time of this step, 12.3s: corrects the prediction; --save-calibration keeps it", "Data"},
    Option{"--log", "FILE",
           "training log of a run (Megatron-LM, NeMo, torchtitan, DeepSpeed, Trainer, Lightning, litgpt, torchtune, "
           "nanoGPT, "
           "llm.c, MaxText, MLPerf and more; W&B or TensorBoard CSV): its steady step corrects the prediction, and it "
           "states what you "
           "leave out (again for more)",
           "Data", Takes::values},
    Option{"--save-calibration", "FILE", "add the measured steps to a calibration file, which --calibration reads",
           "Data"},
    Option{"--timeline", "FILE", "write the simulated step as a Chrome trace (up to a million tasks)", "Output"},
    Option{"--memory-timeline", "FILE", "write the memory of each stage over the step as counters of a Chrome trace",
           "Output"},
};

constexpr char const* examples = "  headroom predict llama-3-8b --cluster dgx-h100 --workers 8\n"
                                 "  headroom predict llama-3-70b --cluster dgx-h100 --workers 64 --tp 8 --pp 2 \\\n"
                                 "      --global-batch 512 --sequence-length 8192 --recompute selective\n"
                                 "  headroom predict examples/config.json --cluster dgx-a100 --nodes 4 --what-if\n"
                                 "  headroom predict gpt3-175b --cluster dgx-h100 --workers 512 --explain\n"
                                 "  headroom predict llama-3-70b --cluster dgx-h100 --workers 64 --pp 4 \\\n"
                                 "      --schedule all\n"
                                 "  headroom predict llama-3-70b --cluster dgx-h100 --workers 64 --pp 4 \\\n"
                                 "      --global-batch 64 --schedule zb-h1 --gantt --timeline step.json\n"
                                 "  headroom predict llama-3-8b --cluster dgx-h100 --workers 16 --strategy fsdp\n"
                                 "  headroom predict llama-3-8b --cluster dgx-h100 --workers 8 \\\n"
                                 "      --measured-step 12.3s --save-calibration mine.toml\n"
                                 "  headroom predict llama-3-8b --cluster dgx-h100 --log examples/train.log\n"
                                 "  headroom predict llama-3-8b --cluster dgx-a100,dgx-h100 --workers 8\n"
                                 "  headroom predict llama-3-8b --cluster dgx-h100 --workers 8 \\\n"
                                 "      --sweep sequence-length=4k..32k --sweep micro-batch=1,2,4\n"
                                 "  headroom predict llama-3-70b --cluster dgx-h100 --workers 64 --tp 8 --pp 4 \\\n"
                                 "      --against-plan tp=8,pp=2\n"
                                 "  headroom predict llama-3-8b --cluster dgx-h100 --nodes 1 --require 'mfu>=0.4'";

/// The terms that --explain asks for: an overview, those of an effect that laws leave out, or one with all below it.
std::vector<Term> explained(Prediction const& prediction, CalibrationSet const& calibration,
                            std::string const& wanted) {
    std::vector<Term> terms = explain(prediction, calibration);
    if (wanted.empty()) { return overview(terms); }
    if (auto opened = explain_left_out(prediction, terms, wanted); !opened.empty()) { return opened; }
    std::vector<std::string> names;
    for (Term const& term : terms) {
        if (normalised(term.name) == normalised(wanted)) { return opened(terms, {term.name}, to_the_facts); }
        names.push_back(term.name);
    }
    std::string const near = nearest(wanted, names);
    std::string hint = near.empty() ? "" : "did you mean '" + near + "'?";
    std::string const word = normalised(wanted.substr(0, wanted.find_first_of(" _.-")));
    std::erase_if(names, [&](std::string const& name) {
        return name == near || normalised(name).find(word) == std::string::npos;
    });
    if (!names.empty() && !word.empty()) {
        names.resize(std::min<std::size_t>(names.size(), 3));
        hint += (hint.empty() ? "" : " ") + std::string{"close: "} + join(names, ", ");
    }
    refuse("--explain", "unknown term " + headroom::quoted(wanted), "",
           hint.empty() ? "--explain alone lists the parts of the step and of memory" : hint);
}

/// The exit code of an answer that was written.
int verdict_of(PredictionReport const& report, std::vector<GateOutcome> const& gates, bool complete) {
    Prediction const& p = report.answer.prediction;
    if (!complete) {
        refusal("predict", "interrupted: the priced step is kept; the rest of a log, or the simulation, is left out");
        return Exit::interrupted;
    }
    if (!p.fits) {
        refusal("strategy", "does not fit: " + p.why_not);
        return Exit::infeasible;
    }
    if (!p.progresses()) {
        refusal("failures", p.goodput->why_not);
        return Exit::infeasible;
    }
    return report_gates(gates) ? Exit::done : Exit::gate;
}

/// Note where whole nodes would hold more than the accelerators that are paid for.
std::optional<std::string> spare_of_nodes(Question const& question) {
    int const workers = question.strategy.workers();
    int const size = question.cluster.accelerators_per_node;
    if (size < 1 || workers < size || workers % size == 0) { return std::nullopt; }
    int const nodes = (workers + size - 1) / size;
    return "costs are those of " + std::to_string(workers) + " accelerators; " + std::to_string(nodes) +
           " whole nodes hold " + std::to_string(std::int64_t{nodes} * size);
}

PredictAnswer answer_of(Arguments const& arguments, Setting const& setting, Question const& question,
                        std::vector<LogAnswer> const& logs) {
    PredictAnswer answer{.prediction = predict(question, setting.calibration),
                         .strategy_record = setting.strategy_record,
                         .constants = constant_values(setting.calibration)};
    answer.logs = logs;
    answer.left_out = left_out(answer.prediction, setting.calibration);
    answer.narrows = narrowings(answer.prediction, setting.calibration);
    answer.guessed = guess_effects(answer.prediction, setting.calibration);
    if (auto const changes = arguments.text("--what-if")) {
        for (io::Lever const& lever : io::levers(question, *changes)) {
            answer.what_if.push_back(
                {lever.name, answer.prediction.step(), predict(lever.question, setting.calibration)});
        }
    }
    if (auto const term = arguments.text("--explain")) {
        answer.terms = explained(answer.prediction, setting.calibration, *term);
    }
    return answer;
}

/// Reads the logs of --log. Errors: those of the readers; where reading is interrupted, what was read counts.
MeasuredLogs logs_of(Arguments const& arguments, Output const& output) {
    if (!arguments.has("--log")) { return {.arguments = arguments, .logs = {}}; }
    Watch watch{"reading logs", output.quiet};
    return read_logs(arguments, read_setting(arguments), watch.token());
}

bool is_whole(MeasuredLogs const& logs) { return std::ranges::all_of(logs.logs, &LogAnswer::complete); }

/// The measured steps that --save-calibration keeps.
std::optional<SavedStep> measured_of(MeasuredLogs& logs, Arguments const& given, Question const& question,
                                     std::vector<io::MeasuredEntry> entries, Setting& setting) {
    auto saved = read_measured_step(logs.arguments, question, setting);
    auto const file = given.text("--save-calibration");
    if (!file || entries.empty()) { return saved; }
    if (saved) { entries.push_back(std::move(saved->entries.front())); }
    return SavedStep{.file = *file, .entries = std::move(entries)};
}

/// Options of one configuration.
constexpr std::array alone{"--explain", "--what-if",          "--gantt",    "--simulate",       "--measured-step",
                           "--log",     "--save-calibration", "--timeline", "--memory-timeline"};

int answer_combinations(Arguments const& arguments) {
    auto const answer = [](Arguments const& of_one, std::stop_token const&, std::vector<std::string>& notes) {
        require_question(of_one, false, true);
        Setting setting = read_setting(of_one);
        use_measured_steps(of_one, setting);
        Question const question = make_question(of_one, setting);
        PredictAnswer whole{.prediction = predict(question, setting.calibration),
                            .strategy_record = setting.strategy_record};
        AnsweredCombination one{.combination = {}, .metrics = metrics_of(&whole)};
        one.combination = combination_of(std::move(whole.prediction));
        one.combination.command = predict_command(of_one, question);
        notes.insert(notes.end(), setting.notes.begin(), setting.notes.end());
        return one;
    };
    return answer_several({.verb = predict_verb(),
                           .arguments = arguments,
                           .answer = answer,
                           .alone = alone,
                           .metrics = metrics_of(static_cast<PredictAnswer const*>(nullptr))});
}

Result result_of(std::shared_ptr<PredictionReport const> const& report, std::vector<GateOutcome> const& gates,
                 ScreenSize screen) {
    Setting const& setting = report->setting;
    Result result = kept_result_of(head_of("predict", setting.catalog, setting.calibration.name),
                                   std::shared_ptr<PredictAnswer const>{report, &report->answer},
                                   [report] { return document_of(*report); }, {gates, report->stats});
    result.screen = [report, screen] { return screen_document(*report, screen); };
    result.line = [report] { return verdict_of(*report); };
    result.page = [report] { return document_of(*report, Medium::page); };
    return result;
}

int run(Arguments const& given) {
    if (asks_several(given)) { return answer_combinations(given); }
    Arguments arguments = given;
    Output const output = read_output(arguments, screen_lines);
    Views const views = read_views(arguments, output);
    check_gates(arguments, [&] { return metrics_of(static_cast<PredictAnswer const*>(nullptr)); }); // before any work
    MeasuredLogs logs = logs_of(arguments, output);
    require_question(logs.arguments, false, true);
    Setting setting = read_setting(logs.arguments);
    use_measured_steps(logs.arguments, setting);
    auto entries = use_logs(logs, arguments, setting);
    Question const question = make_question(logs.arguments, setting);
    auto const saved = measured_of(logs, arguments, question, std::move(entries), setting);
    PredictAnswer answer = answer_of(arguments, setting, question, logs.logs);
    auto const report = std::make_shared<PredictionReport>(
        PredictionReport{.setting = std::move(setting), .answer = std::move(answer), .stats = {}});
    auto& notes = report->setting.notes;
    if (auto const spare = spare_of_nodes(question)) { notes.push_back(*spare); }
    auto const gates = check_gates(arguments, [&] { return metrics_of(&report->answer); });
    bool const complete = is_whole(logs) && fill_views(*report, views, output);
    report->answer.notes = notes;
    report->stats = stats_of(output);
    for (std::string const& text : notes) { note(output, "note: " + text); }
    if (saved) { save_measured_step(*saved, output); }
    bool const traces = views.timeline && complete && result_has_place(output);
    if (traces) { io::write_file(*views.timeline, step_trace(report->answer.simulation->step)); }
    bool const remembers = views.memory_timeline && complete && result_has_place(output);
    if (remembers) {
        io::write_file(*views.memory_timeline, memory_timeline(report->answer.prediction, report->setting.calibration));
    }
    if (!write_launch(arguments, question, output)) { write_result(output, result_of(report, gates, output.screen)); }
    return verdict_of(*report, gates, complete);
}

Verb described() {
    Verb verb{"predict", "one configuration: step time, memory, cost, its parts", positionals, examples, run};
    verb.options = {setting_options(), launch_options(),   strategy_options(), options,
                    sweep_options(),   left_out_options(), length_options(),   output_options()};
    verb.answers = tables_of<PredictAnswer, CombinationsAnswer, PlanPairAnswer>();
    return verb;
}

} // namespace
} // namespace headroom::cli::verb_predict

headroom::cli::Verb headroom::cli::predict_verb() { return verb_predict::described(); }
