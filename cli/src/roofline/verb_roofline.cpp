#include "arguments.hpp"
#include "roofline/roofline_report.hpp"
#include "setting.hpp"

#include "headroom/document/text.hpp"
#include "headroom/io/processor.hpp"
#include "headroom/io/words.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli {
namespace {

constexpr double least_occupancy = 1e-6;
constexpr char const* model_group = "A training step (headroom chooses and lists the fields you do not give)";

constexpr std::array options{
    Option{"--machine", "NAME|FILE", "an accelerator, node or host of the catalog, or a .toml file", "Question"},
    Option{"--precision", "NAME", "fp64, fp32, tf32, bf16, fp16, fp8 or fp4 (default: bf16, where there is one)",
           "Question"},
    Option{"--kernel", "SPEC",
           "NAME:flops=2TFLOP,bytes=3GB[,l2=9GB] or one that is counted: gemm:4096x4096x4096, dot:1000000:fp32 "
           "(again for more)",
           "Question", Takes::values},
    Option{"--kernel-file", "FILE", "the same as a CSV table: name, flops, bytes [, precision, count, levels]",
           "Question"},
    Option{"--against", "NAME|FILE", "another machine: which kernels it speeds up", "Question"},
    Option{"--divergence", "WAYS", "lanes that share an instruction branch so many ways", "Question"},
    Option{"--occupancy", "SHARE", "of the threads that can be resident: 25%", "Question"},
    Option{"--model", "MODEL", "kernels of a training step: llama-3-8b, a config.json or a .toml", model_group},
    Option{"--batch", "N", "sequences a micro-batch (default: 1)", model_group},
    Option{"--global-batch", "SEQUENCES", "sequences a step (default: one micro-batch for each replica)", model_group},
    Option{"--calibration", "FILE", "constants of your own (TOML)", "Data"},
    Option{"--catalog", "DIR", "records that replace or extend the built-in ones", "Data"},
};

constexpr char const* examples = "  headroom roofline --machine h100\n"
                                 "  headroom roofline --machine a100 --kernel dot:1000000:fp32\n"
                                 "      --kernel gemm:4096x4096x4096 --kernel mine:flops=2TFLOP,bytes=90GB\n"
                                 "  headroom roofline --machine h100 --model llama-3-8b --batch 2\n"
                                 "      --sequence-length 8192 --tp 2\n"
                                 "  headroom roofline --machine a100 --model llama-3-8b --against h200\n"
                                 "  headroom roofline --machine examples/server.toml --precision fp64\n"
                                 "      --kernel-file examples/kernels.csv --format csv\n"
                                 "  headroom roofline --machine a100 --divergence 2 --occupancy 25%";

/// Options of `predict` that shape the kernels of a step; the others would be ignored.
std::span<Option const> step_options() {
    static std::vector<Option> const all = [] {
        constexpr std::array<std::string_view, 6> of_setting{"--sequence-length", "--documents", "--fill",
                                                             "--expert-skew",     "--layers",    "--framework"};
        constexpr std::array<std::string_view, 14> of_strategy{"--dp",
                                                               "--tp",
                                                               "--cp",
                                                               "--exchange",
                                                               "--ep",
                                                               "--etp",
                                                               "--capacity",
                                                               "--zero",
                                                               "--shard",
                                                               "--micro-batch",
                                                               "--sequence-parallel",
                                                               "--recompute",
                                                               "--recompute-layers",
                                                               "--train"};
        std::vector<Option> found;
        auto const add = [&found](std::span<Option const> from, auto const& wanted) {
            for (Option option : from) {
                if (std::ranges::find(wanted, option.name) == wanted.end()) { continue; }
                option.group = model_group;
                found.push_back(option);
            }
        };
        add(setting_options(), of_setting);
        add(strategy_options(), of_strategy);
        return found;
    }();
    return all;
}

void check_options(Arguments const& arguments) {
    bool const model = arguments.has("--model");
    for (char const* option : {"--kernel", "--kernel-file"}) {
        if (model && arguments.has(option)) {
            refuse(option, "given with --model", "the kernels are given or those of a model", "keep one");
        }
    }
    auto const belongs = [&](char const* option) {
        if (!model && arguments.has(option)) {
            refuse(option, "belongs to --model", "it would be ignored", "name a model, or leave it out");
        }
    };
    belongs("--batch");
    belongs("--global-batch");
    for (Option const& option : step_options()) { belongs(option.name); }
    if (arguments.has("--batch") && arguments.has("--micro-batch")) {
        refuse("--batch", "given with --micro-batch", "they mean the same", "keep one");
    }
}

// ---- a model ------------------------------------------------------------------------------------------------------

/// The cluster of a machine; of a file that describes one accelerator, that accelerator alone.
Cluster cluster_of(NamedMachine const& machine, std::string const& option) {
    if (machine.cluster) { return *machine.cluster; }
    auto const& chip = machine.processor.accelerator;
    if (!chip) {
        refuse(option, machine.processor.name + " has no generation", "kernels are priced by the generation of a chip",
               "name an accelerator, or write generation = \"hopper\" (whose kernels it is like) into the file");
    }
    Cluster alone;
    alone.name = chip->name;
    alone.accelerator = *chip;
    alone.accelerators_per_node = alone.domain = 1;
    return alone;
}

/// One micro-batch a step on as few accelerators as the degrees take, by default.
Arguments complete(Arguments const& arguments) {
    Arguments full = arguments;
    full.add("MODEL", {*arguments.text("--model")});
    full.add("--pp", {"1"});
    for (char const* degree : {"--dp", "--tp", "--cp"}) {
        if (!full.has(degree)) { full.add(degree, {"1"}); }
    }
    if (auto const batch = arguments.text("--batch")) { full.add("--micro-batch", {*batch}); }
    if (!full.has("--micro-batch")) { full.add("--micro-batch", {"1"}); }
    if (!full.has("--global-batch")) {
        std::int64_t const sequences =
            std::int64_t{full.count("--dp").value_or(1)} * full.count("--micro-batch").value_or(1);
        full.add("--global-batch", {std::to_string(sequences)});
    }
    return full;
}

std::vector<Assumption> defaults_of(Arguments const& arguments, Setting const& setting) {
    std::vector<Assumption> found;
    if (!arguments.has("--batch") && !arguments.has("--micro-batch")) {
        found.push_back({"micro_batch", "1", "default; sequences a micro-batch", true});
    }
    if (!arguments.has("--global-batch")) {
        found.push_back({"global_batch", std::to_string(setting.workload.global_batch),
                         "one micro-batch a step: the optimizer runs after each", false});
    }
    for (Assumption const& one : setting.assumptions) {
        if (one.field != "price") { found.push_back(one); }
    }
    return found;
}

constexpr double most_workers = 1e6;

RooflineModel read_model(Arguments const& arguments, NamedMachine const& machine, Output const& output) {
    Arguments const full = complete(arguments);
    Setting const setting = read_setting(full, cluster_of(machine, "--machine"));
    for (std::string const& text : setting.notes) { note(output, "note: " + text); }
    PartialStrategy const& given = setting.given;
    double const workers = static_cast<double>(*given.dp) * *given.tp * *given.cp;
    if (workers > most_workers) {
        refuse("--dp", "dp x tp x cp make " + scaled(workers) + " workers", "at most 1000000 are modelled",
               "give smaller degrees");
    }
    if (workers > 1.0 && !machine.cluster) {
        refuse("--machine", machine.processor.name + " is one accelerator",
               "nothing says how " + scaled(workers) + " of them are linked",
               "describe a cluster in the file, or leave the degrees out");
    }
    AssumedStrategy assumed =
        assume(given, setting.model, setting.cluster, setting.framework, setting.workload, static_cast<int>(workers));
    std::string const illegal = illegal_because(assumed.strategy, setting.model, setting.workload);
    if (!illegal.empty()) {
        refuse("strategy", "not possible for " + setting.model.name, illegal,
               "change it, or leave it out and it is chosen");
    }
    RooflineModel model{.question = {.model = setting.model,
                                     .cluster = setting.cluster,
                                     .framework = setting.framework,
                                     .workload = setting.workload,
                                     .strategy = assumed.strategy,
                                     .assumptions = {},
                                     .tokens = {}},
                        .calibration = setting.calibration,
                        .assumptions = defaults_of(arguments, setting)};
    add_assumptions(model.assumptions, assumed.assumptions);
    return model;
}

// ---- the question -------------------------------------------------------------------------------------------------

Conditions read_conditions(Arguments const& arguments, Processor const& processor) {
    Conditions conditions;
    if (auto const ways = arguments.count("--divergence")) {
        if (processor.lanes == 0) {
            refuse("--divergence", processor.name + " has no lanes that share an instruction",
                   "none are known of its kind", "write lanes under [compute] of a machine file");
        }
        if (*ways > processor.lanes) {
            refuse("--divergence", std::to_string(*ways) + " ways are too many",
                   std::to_string(processor.lanes) + " lanes share an instruction", "give at most that many");
        }
        conditions.divergence = *ways;
    }
    if (auto const share = arguments.text("--occupancy")) {
        conditions.occupancy =
            io::parse_between(*share, least_occupancy, 1.0, "share of the resident threads", "--occupancy");
    }
    return conditions;
}

NumberFormat read_format(Arguments const& arguments, RooflineQuestion const& question) {
    if (question.model) { return number_format_of(question.model->question.strategy.precision); }
    if (auto const given = arguments.text("--precision")) { return parse_format(*given, "--precision"); }
    return usual_format(question.machine.processor).value_or(NumberFormat::fp32);
}

void read_kernels(Arguments const& arguments, RooflineQuestion& question) {
    Processor const& processor = question.machine.processor;
    for (std::string const& text : arguments.all("--kernel")) {
        question.kernels.push_back(parse_kernel(text, processor, question.format, "--kernel"));
        question.counts.push_back(1.0);
    }
    auto const file = arguments.text("--kernel-file");
    if (!file) { return; }
    GivenKernels table = read_kernel_table(*file, processor, question.format);
    std::ranges::move(table.kernels, std::back_inserter(question.kernels));
    std::ranges::move(table.counts, std::back_inserter(question.counts));
}

RooflineQuestion read_question(Arguments const& arguments, io::Catalog const& catalog, Output const& output) {
    check_options(arguments);
    std::string const machine =
        arguments.required("--machine", "name the machine: --machine h100, a node, a host or a .toml file");
    RooflineQuestion question;
    question.machine = io::load_machine(catalog, machine, "--machine");
    question.conditions = read_conditions(arguments, question.machine.processor);
    if (auto const other = arguments.text("--against")) {
        question.against = io::load_machine(catalog, *other, "--against");
    }
    if (arguments.has("--model")) {
        question.model = read_model(arguments, question.machine, output);
        if (question.against) { question.against->cluster = cluster_of(*question.against, "--against"); }
    }
    question.format = read_format(arguments, question);
    read_kernels(arguments, question);
    return question;
}

/// Kernels, or the ceilings where there are none.
Sheet sheet_of(RooflineAnswer const& answer) {
    return answer.rows.empty() ? row_sheet(ceiling_parts(answer)) : row_sheet(kernel_parts(answer));
}

int run(Arguments const& arguments) {
    Output const output = read_output(arguments, screen_lines);
    io::Catalog const catalog = open_catalog(arguments);
    RooflineQuestion question = read_question(arguments, catalog, output);
    CalibrationSet const calibration = read_calibration(arguments, catalog);
    if (question.against) { refuse_other_machine(calibration, "--against"); }
    RooflineAnswer answer = answer_of(std::move(question), calibration);
    add_words(answer);
    write_result(output, result_of(
                             head_of("roofline", catalog, answer.calibration), answer,
                             [&] { return document_of(answer, catalog); }, {{}, stats_of(output)},
                             [&] { return sheet_of(answer); }));
    return Exit::done;
}

} // namespace

Verb roofline_verb() {
    Verb verb{"roofline", "what bounds each kernel of a machine, and what would move it", {}, examples, run};
    verb.options = {options, step_options(), length_options(), output_options()};
    verb.answers = tables_of<RooflineAnswer>();
    return verb;
}

} // namespace headroom::cli
