#include "inference/inference_command.hpp"

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/launch_emit.hpp"
#include "headroom/io/words.hpp"

#include <array>

namespace headroom::cli {

using namespace headroom::serving;

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

} // namespace headroom::cli
