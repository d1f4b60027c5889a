#include "arguments.hpp"
#include "inference/inference_command.hpp"
#include "inference/inference_report.hpp"
#include "launch_files.hpp"
#include "setting.hpp"
#include "watch.hpp"

#include "headroom/io/executor.hpp"
#include "headroom/text.hpp"

#include <array>

namespace headroom::cli {

using namespace headroom::serving;

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
