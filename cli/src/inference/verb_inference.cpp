#include "arguments.hpp"
#include "inference/inference_report.hpp"
#include "launch_files.hpp"
#include "setting.hpp"
#include "watch.hpp"

#include "headroom/io/executor.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/launch_emit.hpp"
#include "headroom/io/words.hpp"
#include "headroom/text.hpp"

#include <array>

namespace headroom::cli {
namespace {

/// Options of the question that are passed on as they were given.
constexpr std::array passed_on{"--objective",
                               "--price",
                               "--layers",
                               "--arrivals",
                               "--burst",
                               "--concurrency",
                               "--burstiness",
                               "--prompt-tokens",
                               "--output-tokens",
                               "--prompt-variation",
                               "--output-variation",
                               "--prefix-hits",
                               "--requests",
                               "--time-column",
                               "--prompt-column",
                               "--output-column",
                               "--time-unit",
                               "--duration",
                               "--seed",
                               "--acceptance",
                               "--dispatch",
                               "--prefill-replicas",
                               "--framework",
                               "--calibration",
                               "--catalog"};

/// The question that has this plan as its answer.
std::string inference_command(Arguments const& arguments, InferenceAnswer const& report,
                              io::LaunchOptions const& options) {
    auto const word = [](std::string const& text) { return io::words::shell_word(text); };
    std::string text = "headroom inference " + word(arguments.text("MODEL").value_or("")) + " --cluster " +
                       word(arguments.text("--cluster").value_or("")) + " --engine " + report.question.engine.name;
    for (auto const& [option, value] : options) {
        if (option != "MODEL") { text += " " + option + " " + word(value); }
    }
    if (report.choice()) { text += " --replicas " + std::to_string(report.choice()->replicas); }
    for (char const* option : passed_on) {
        if (auto const value = arguments.text(option)) { text += std::string{" "} + option + " " + word(*value); }
    }
    return text;
}

/// Name under which engines find the model: that of the hub, among the names of the record, where it was given by another.
std::string name_for_engines(std::string const& given, io::Catalog const& catalog) {
    using enum io::RecordKind;
    if (given.find('/') != std::string::npos || !catalog.has_model(given)) { return given; }
    auto const* const record = &catalog.text(model, given);
    for (std::string const& name : catalog.names_and_aliases(model)) {
        if (name.find('/') != std::string::npos && &catalog.text(model, name) == record) { return name; }
    }
    return given;
}

} // namespace

bool write_command(Arguments const& arguments, InferenceAnswer const& report, io::Catalog const& catalog,
                   Output const& output) {
    auto const name = arguments.text("--emit");
    if (!name) { return false; }
    if (report.row() == nullptr) { refuse("--emit", "there is no replica to start", report.verdict); }
    std::string const model = name_for_engines(arguments.text("MODEL").value_or(""), catalog);
    auto const options = io::options_of(report.row()->plan, model);
    io::ServingLaunch const launch{.options = options,
                                   .replicas = report.choice() ? report.choice()->replicas : 1,
                                   .command = inference_command(arguments, report, options)};
    io::EmittedLaunch const command = io::emit_serving(io::serving_target(*name, "--emit"), launch);
    io::write_file(output.file, command.text);
    for (std::string const& option : command.not_expressed) {
        note(output, "note: --emit " + *name + ": " + option + " is set elsewhere: this command has no option for it");
    }
    note(output, "note: predicted by " + launch.command);
    return true;
}

namespace {

constexpr std::array positionals{
    Positional{"MODEL", "a catalog name (llama-3-70b), a Hugging Face config.json (file or folder), or a .toml file"},
};

constexpr std::array own_options{
    Option{"--threads", "N", "replicas that are simulated side by side (default: 1)", "Output"},
};

constexpr char const* examples = "  headroom inference llama-3-8b --cluster dgx-h100\n"
                                 "  headroom inference llama-3-70b --cluster dgx-h100 --arrivals 20/s\n"
                                 "  headroom inference llama-3-70b --cluster dgx-h100 --arrivals 20/s \\\n"
                                 "      --objective 'ttft_p99<=500ms,tpot_p99<=50ms' --output-variation 1\n"
                                 "  headroom inference llama-3-8b --cluster dgx-a100 --tp 1,2 --replicas 4,8 \\\n"
                                 "      --requests examples/requests.csv --time-unit ms --html page.html\n"
                                 "  headroom inference llama-3-8b --cluster dgx-h100 --burst 1000 --engine vllm\n"
                                 "  headroom inference llama-3-70b --cluster dgx-h100 --from examples/vllm.sh \\\n"
                                 "      --concurrency 64 --replicas 1,2,4\n"
                                 "  headroom inference llama-3-70b --cluster dgx-h100 --precision fp8 --tp 2,4 \\\n"
                                 "      --arrivals 5/s --require 'ttft_p99<=1s,cost<=5'";

int verdict_code(InferenceAnswer const& report, std::vector<GateOutcome> const& gates) {
    if (!report.feasible()) {
        refusal("inference", report.verdict);
        return Exit::infeasible;
    }
    return report_gates(gates) ? Exit::done : Exit::gate;
}

int run(Arguments const& arguments) {
    Output const output = read_output(arguments, screen_lines);
    check_gates(arguments, [&] { return metrics_of(nullptr); }); // a wrong condition is refused before any work
    InferenceRequest request = read_inference(arguments);
    Setting const& setting = request.setting;
    Watch const watch{"inference: " + std::to_string(request.question.requests.size()) + " requests", output.quiet};
    request.question.experiment.stop = watch.token();
    InferenceAnswer report =
        answer_inference(std::move(request.question), io::executor(arguments.count("--threads").value_or(1)));
    report.notes = setting.notes;
    add_words(report);
    if (write_command(arguments, report, setting.catalog, output)) {
        return report.feasible() ? Exit::done : Exit::infeasible;
    }
    auto const gates = check_gates(arguments, [&] { return metrics_of(&report); });
    auto const stats = stats_of(output);
    for (std::string const& text : setting.notes) { note(output, "note: " + text); }
    Result result = result_of(
        head_of("inference", setting.catalog, setting.calibration.name), report,
        [&] { return document_of(report, setting, stats, false); }, {gates, stats},
        [&] { return report.question.simulates() ? row_sheet(served_rows(report)) : row_sheet(decoded_rows(report)); });
    result.page = [&] { return document_of(report, setting, stats, true); };
    write_result(output, result);
    if (!report.complete) {
        refusal("inference", "interrupted (" + text::counted(report.choices.size(), "choice") +
                                 " finished). the result covers those");
        return Exit::interrupted;
    }
    return verdict_code(report, gates);
}

} // namespace

Verb inference_verb() {
    Verb verb{"inference", "serving a language model: time to a token, replicas, cost", positionals, examples, run};
    verb.options = {inference_options(), serving_launch_options(), own_options, length_options(), output_options()};
    verb.answers = tables_of<InferenceAnswer>();
    return verb;
}

} // namespace headroom::cli
