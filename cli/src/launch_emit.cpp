#include "launch_emit.hpp"

#include "headroom/io/file.hpp"
#include "headroom/io/launch_emit.hpp"
#include "headroom/io/words.hpp"

#include <array>

namespace headroom::cli {

using namespace headroom::training;

namespace {

/// Options of a question that are passed on as they were given.
constexpr std::array passed_on{"--network",
                               "--accelerators-per-node",
                               "--documents",
                               "--fill",
                               "--expert-skew",
                               "--layers",
                               "--tokens",
                               "--steps",
                               "--price",
                               "--optimizer",
                               "--base",
                               "--pure-bf16",
                               "--calibration",
                               "--catalog",
                               "--imbalance",
                               "--step-spread",
                               "--congestion",
                               "--mtbf",
                               "--cluster-mtbf",
                               "--checkpoint",
                               "--checkpoint-rate",
                               "--checkpoint-blocking",
                               "--checkpoint-interval",
                               "--restart",
                               "--critical-batch",
                               "--gradient-norms",
                               "--power-limit",
                               "--compile",
                               "--attention-kernel",
                               "--fp8-recipe"};

} // namespace

std::string predict_command(Arguments const& arguments, Question const& question) {
    std::string text = "headroom predict " + io::words::shell_word(arguments.text("MODEL").value_or("")) +
                       " --cluster " + io::words::shell_word(arguments.text("--cluster").value_or(""));
    text += " --workers " + std::to_string(question.strategy.workers());
    for (auto const& [option, value] : io::options_of(question.strategy, question.workload)) {
        text += " " + option + " " + io::words::shell_word(value);
    }
    text += " --framework " + io::words::shell_word(question.framework.name);
    for (char const* option : passed_on) {
        if (auto const value = arguments.text(option)) {
            text += std::string{" "} + option + " " + io::words::shell_word(*value);
        }
    }
    return text;
}

bool write_launch(Arguments const& arguments, Question const& question, Output const& output) {
    auto const name = arguments.text("--emit");
    if (!name) { return false; }
    io::LaunchPlan const plan{.accelerators_per_node = question.cluster.accelerators_per_node,
                              .workers = question.strategy.workers(),
                              .options = io::options_of(question.strategy, question.workload),
                              .command = predict_command(arguments, question)};
    io::EmittedLaunch const launch = io::emit_launch(io::launch_target(*name, "--emit"), plan);
    io::write_file(output.file, launch.text);
    for (std::string const& option : launch.not_expressed) {
        note(output, "note: --emit " + *name + ": " + option + " is set elsewhere: this file has no key for it");
    }
    note(output, "note: predicted by " + plan.command);
    return true;
}

} // namespace headroom::cli
