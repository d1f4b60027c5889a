#include "launch_files.hpp"

#include "headroom/document/text.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/launch_emit.hpp"
#include "headroom/io/launch_file.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/io/training_options.hpp"
#include "headroom/io/words.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace headroom::cli {
namespace {

using io::LaunchFile;
using io::LaunchKey;

constexpr std::size_t largest_file = 4u << 20;

constexpr std::array launch_option_rows{
    Option{"--from", "FILE",
           "take what is not given here from a launch file: a script of Megatron-LM, NeMo or Slurm, DeepSpeed or "
           "TrainingArguments JSON, torchtitan TOML, YAML of Accelerate, axolotl, LLaMA-Factory, MaxText or NeMo",
           "Question", Takes::values},
    Option{"--emit", "NAME",
           "write a launch file in the place of the result: megatron, torchtitan, deepspeed, accelerate, nemo or slurm",
           "Output"},
};

constexpr std::array serving_options{
    Option{"--from", "FILE", "take what is not given here from a command that starts vLLM, SGLang or TensorRT-LLM",
           "Question", Takes::values},
    Option{"--emit", "NAME",
           "write the command that starts a replica in the place of the result: vllm, sglang or trtllm", "Output"},
};

/// Options that state one thing: where the command line has one of them, a file's others would contradict it.
constexpr std::array<std::array<char const*, 4>, 5> groups{{
    {"--workers", "--nodes", "--accelerators-per-node", "--dp"},
    {"--tokens", "--steps", "", ""},
    {"--global-batch", "--grad-accum", "--batch-per-worker", ""},
    {"--virtual-pp", "--layers-per-chunk", "", ""},
    {"--method", "--train", "--base", ""},
}};

/// Options of the command line, the fields of --fix among them.
std::set<std::string> given_options(Arguments const& arguments, Verb const& verb) {
    std::set<std::string> given;
    for (Option const& option : verb.all_options()) {
        if (arguments.has(option.name)) { given.insert(option.name); }
    }
    if (auto const fixed = arguments.text("--fix")) {
        for (auto const& [name, value] : parse_pairs(*fixed, "--fix")) {
            given.insert(io::known_strategy_field(name, "--fix").option);
        }
    }
    if (arguments.has("MODEL")) { given.insert("MODEL"); }
    return given;
}

/// The option of the command line that goes before one of a file; empty where none does.
std::string stronger(std::string const& option, std::set<std::string> const& given) {
    if (given.contains(option)) { return option; }
    for (auto const& group : groups) {
        if (std::ranges::find(group, option) == group.end()) { continue; }
        for (std::string const name : group) {
            if (given.contains(name)) { return name; }
        }
    }
    return {};
}

std::string place_of(LaunchFile const& file, std::string const& option) {
    for (LaunchKey const& key : file.read) {
        if (key.option == option) { return key.key + (key.line > 0 ? ", line " + std::to_string(key.line) : ""); }
    }
    return "what " + file.format + " implies";
}

/// "--lr (line 5), --seed (line 6): no effect on the step", for each reason.
std::vector<std::string> ignored_lines(LaunchFile const& file) {
    std::map<std::string, std::vector<std::string>> by_reason;
    for (LaunchKey const& key : file.ignored) {
        by_reason[key.note].push_back(key.key + (key.line > 0 ? " (line " + std::to_string(key.line) + ")" : ""));
    }
    std::vector<std::string> lines;
    for (auto const& [reason, keys] : by_reason) {
        lines.push_back(file.path + ": not used: " + join(keys, ", ") + ": " + reason);
    }
    return lines;
}

bool takes(Verb const& verb, std::string const& name) {
    return name == "MODEL" || verb.option_spelled(name) != nullptr;
}

/// "job.sh:12" of the last key that sets an option.
std::string place_in(LaunchFile const& file, std::string const& option) {
    for (auto key = file.read.rbegin(); key != file.read.rend(); ++key) {
        if (key->option == option && key->line > 0) { return file.path + ":" + std::to_string(key->line); }
    }
    return file.path;
}

void add_file(Arguments& arguments, Verb const& verb, std::set<std::string> const& given,
              std::map<std::string, std::string>& before, std::map<std::string, std::string>& places,
              LaunchFile const& file) {
    std::vector<std::string> used;
    for (auto const& [option, value] : file.options) {
        std::string const winner = stronger(option, given);
        if (!winner.empty()) {
            bool const same = winner == option && arguments.text(option) == value;
            if (!same) {
                arguments.note(file.path + ": " + option + " " + value + " (" + place_of(file, option) +
                               ") is not used: the command line has " + winner + " " +
                               arguments.text(winner).value_or(""));
            }
            continue;
        }
        bool const taken = takes(verb, option);
        if (!taken) {
            bool const epochs = option == "--epochs";
            arguments.note(
                file.path + ": " + option + " " + value + " is not used: " +
                (epochs ? "days and dollars need --tokens or --steps" : std::string{verb.name} + " does not take it"));
            continue;
        }
        if (auto const earlier = before.find(option); earlier != before.end() && arguments.text(option) != value) {
            arguments.note(file.path + ": " + option + " " + value + " goes before " + *arguments.text(option) +
                           " of " + earlier->second);
        }
        before[option] = file.path;
        places[option] = place_in(file, option);
        arguments.add(option, {value});
        used.push_back(option + " " + value + " (" + place_of(file, option) + ")");
    }
    arguments.note(file.path + ": " + file.format +
                   (file.sets_variables ? "" : ", read as " + (used.empty() ? "nothing" : join(used, ", "))));
    for (std::string const& text : file.contradictions) { arguments.note(file.path + ": " + text); }
    for (std::string& text : ignored_lines(file)) { arguments.note(std::move(text)); }
}

/// Refuses a key of two meanings where nothing says which it has.
void require_decided(LaunchFile const& file, std::set<std::string> const& given) {
    for (LaunchKey const& key : file.ignored) {
        std::vector<std::string> const any = io::words::split(key.needed, ' ');
        bool const decided =
            key.needed.empty() || std::ranges::any_of(any, [&](std::string const& one) { return given.contains(one); });
        if (decided) { continue; }
        throw InputError{Fault::usage,
                         {.where = file.path + ":" + std::to_string(key.line),
                          .problem = key.key + " " + key.value + ": its meaning is not in the file",
                          .why = {},
                          .hint = key.note}};
    }
}

/// A whole number; 0 for another text ("8..256") and for none.
int one_number(std::optional<std::string> const& text) {
    bool const digits =
        text && !text->empty() && text->size() < 8 && text->find_first_not_of("0123456789") == std::string::npos;
    return digits ? std::stoi(*text) : 0;
}

/// Layers of the model that is named on the command line or in a file; 0 where it is not known.
int layers_of(Arguments const& arguments, std::vector<LaunchFile> const& files) {
    auto model = arguments.text("MODEL");
    for (LaunchFile const& file : files) {
        auto const named =
            std::ranges::find(file.options, std::string{"MODEL"}, &std::pair<std::string, std::string>::first);
        if (!model && named != file.options.end()) { model = named->second; }
    }
    return model ? io::layers_of_model(io::open_catalog(arguments), *model) : 0;
}

/// Defaults of the software, where nothing says otherwise.
void add_implied(Arguments& arguments, Verb const& verb, std::set<std::string>& given, LaunchFile const& file) {
    std::vector<std::string> used;
    for (auto const& [option, value] : file.implied) {
        bool const layers = option == "--virtual-pp" && given.contains("--layers-per-chunk");
        bool const batch =
            option == "--grad-accum" && given.contains("--global-batch") && given.contains("--micro-batch");
        bool const curve = option == "--grad-accum" && std::string_view{verb.name} == "plan"; // one batch for all sizes
        if (batch || curve) { continue; }
        if (layers || given.contains(option) || !takes(verb, option)) { continue; }
        given.insert(option);
        arguments.add(option, {value});
        used.push_back(option + " " + value);
    }
    if (!used.empty()) { arguments.note(file.path + ": defaults of the software: " + join(used, ", ")); }
}

/// States the framework of the file that --emit writes: its plan is priced for it. Fine-tuning has defaults of its own, which
/// train by files of DeepSpeed and Accelerate.
void add_framework_of_emitted(Arguments& arguments, Verb const& verb) {
    auto const name = arguments.text("--emit");
    auto const sweeps = arguments.all("--sweep");
    bool const swept = std::ranges::any_of(sweeps, [](auto const& one) { return one.starts_with("framework"); });
    if (!name || swept) { return; }
    io::LaunchTarget const target = io::launch_target(*name, "--emit");
    bool const shared = target == io::LaunchTarget::deepspeed || target == io::LaunchTarget::accelerate;
    if (shared && takes(verb, "--method")) { return; }
    bool const stated = arguments.has("--framework");
    if (!stated) {
        bool const splits = one_number(arguments.text("--tp")) > 1 || one_number(arguments.text("--pp")) > 1;
        arguments.add("--framework", {std::string{io::framework_of(target, splits, arguments.text("--zero"))}});
    }
    arguments.note("--emit " + *name + ": priced for --framework " + *arguments.text("--framework") +
                   (stated ? ", which is stated" : ", the software of such a file"));
}

std::map<std::string, std::string> add_files(Arguments& arguments, Verb const& verb, bool serves) {
    std::vector<std::string> const files = arguments.all("--from");
    if (files.empty()) { return {}; }
    std::set<std::string> given = given_options(arguments, verb);
    std::map<std::string, std::string> before, places;
    std::vector<io::LaunchText> texts;
    for (std::string const& name : files) {
        texts.push_back({.path = name, .text = io::read_file(name, largest_file)});
    }
    std::vector<LaunchFile> read = io::read_launch_files(texts);
    bool const degrees = given.contains("--tp") || given.contains("--pp") || given.contains("--cp");
    io::LaunchContext const context{.layers = serves ? 0 : layers_of(arguments, read),
                                    .workers = degrees ? 0 : one_number(arguments.text("--workers"))};
    read = io::read_launch_files(texts, context);
    bool const trains = given.contains("--train") || given.contains("--base");
    for (LaunchFile const& file : read) { add_file(arguments, verb, given, before, places, file); }
    if (trains) { given.insert("--method"); }
    for (auto const& [option, file] : before) { given.insert(option); }
    for (LaunchFile const& file : read) { require_decided(file, given); }
    std::ranges::stable_sort(read, {}, [](LaunchFile const& file) { return file.format.starts_with("DeepSpeed"); });
    for (LaunchFile const& file : read) { add_implied(arguments, verb, given, file); }
    if (auto const model = arguments.text("MODEL")) {
        io::Catalog const catalog = io::open_catalog(arguments);
        for (LaunchFile const& file : read) {
            for (std::string const& text : io::differences_of_model(file, catalog, *model)) {
                arguments.note(file.path + ": " + text);
            }
        }
    }
    return places;
}

} // namespace

std::span<Option const> launch_options() { return launch_option_rows; }
std::span<Option const> serving_launch_options() { return serving_options; }

bool takes_launch_files(Verb const& verb) { return takes(verb, "--emit"); }

std::map<std::string, std::string> add_launch_files(Arguments& arguments, Verb const& verb) {
    if (!takes_launch_files(verb)) { return {}; }
    bool const serves = takes(verb, "--engine");
    if (auto const target = arguments.text("--emit")) { // before any work
        serves ? static_cast<void>(io::serving_target(*target, "--emit"))
               : static_cast<void>(io::launch_target(*target, "--emit"));
    }
    auto places = add_files(arguments, verb, serves);
    if (!serves) { add_framework_of_emitted(arguments, verb); }
    return places;
}

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
                               "--host-memory",
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
    bool const guessed = framework_is_guessed_again(question);
    text += guessed ? "" : " --framework " + io::words::shell_word(question.framework.name);
    for (char const* option : passed_on) {
        if (auto const value = arguments.text(option)) {
            text += std::string{" "} + option + " " + io::words::shell_word(*value);
        }
    }
    return text;
}

std::string assumed_framework_note(Question const& question) {
    if (!framework_is_guessed(question) || framework_is_guessed_again(question)) { return {}; }
    return "the command states --framework " + question.framework.name +
           ", which is assumed here: predict gives the same step, and the narrower interval of software that is named";
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
