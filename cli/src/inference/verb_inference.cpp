#include "arguments.hpp"
#include "inference/inference_report.hpp"
#include "setting.hpp"
#include "watch.hpp"

#include "headroom/io/executor.hpp"

#include <array>

namespace headroom::cli {
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
                                 "      --requests trace.csv --time-unit ms --html page.html\n"
                                 "  headroom inference llama-3-70b --cluster dgx-h100 --precision fp8 --tp 2,4 \\\n"
                                 "      --arrivals 5/s --require 'ttft_p99<=1s,cost<=5'";

int verdict_code(InferenceReport const& report) {
    if (!report.feasible()) {
        refusal("inference", verdict_of(report));
        return Exit::infeasible;
    }
    return report_gates(report.gates) ? Exit::done : Exit::gate;
}

int run(Arguments const& arguments) {
    Stopwatch const stopwatch;
    Output const output = read_output(arguments);
    check_gates(arguments, metrics_of(nullptr)); // a wrong condition is told before any work
    InferenceQuestion question = read_inference(arguments);
    Watch const watch{"simulating " + std::to_string(question.requests.size()) + " requests", output.quiet};
    InferenceReport report =
        answer_inference(std::move(question), io::executor(arguments.count("--threads").value_or(1)));
    report.gates = check_gates(arguments, metrics_of(&report));
    if (output.stats) { report.wall_seconds = stopwatch.seconds(); }
    for (std::string const& text : report.question.setting.notes) { note(output, "note: " + text); }
    write_result(output, {.document = [&] { return document_of(report, false); },
                          .json = [&] { return json_of(report); },
                          .sheet = [&] { return sheet_of(report); },
                          .page = [&] { return document_of(report, true); }});
    return verdict_code(report);
}

} // namespace

Verb inference_verb() {
    return {"inference", "serving a language model: time to a token, replicas, cost",
            positionals, {inference_options(), own_options, output_options()},
            examples,    run};
}

} // namespace headroom::cli
