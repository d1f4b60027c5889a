#include "calibrate/calibrate_evidence.hpp"
#include "document/text.hpp"
#include "measured_steps.hpp"
#include "predict/predict_question.hpp"
#include "setting.hpp"

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli {
namespace {

constexpr char const* evidence_words = "EVIDENCE";
constexpr std::array positionals{
    Positional{evidence_words,
               "traces (folders or files, a rank each), logs of collective benchmarks, calibration files to be joined",
               true},
};
constexpr std::array options{
    Option{"--system", "NAME", "the machine that was measured, where the evidence does not say", "Evidence"},
    Option{"--model", "MODEL", "what the traces ran: with it and the options below their step is kept too", "Evidence"},
};
constexpr char const* examples =
    "  headroom calibrate ./profiler --out machine.toml\n"
    "  headroom calibrate ./profiler all_reduce.log --nodes 2 --out machine.toml\n"
    "  headroom calibrate ./profiler --cluster dgx-h100 --out machine.toml\n"
    "  headroom calibrate ./profiler --model llama-3-8b --cluster dgx-h100 --workers 8 --dp 8 \\\n"
    "      --global-batch 64 --out machine.toml\n"
    "  headroom predict llama-3-8b --cluster dgx-h100 --workers 64 --calibration machine.toml";

/// Options of the setting that say something of the evidence itself.
constexpr std::array always{"--cluster", "--nodes", "--catalog"};

/// What describes a run is of no use where no run is described.
void check_description(Arguments const& arguments) {
    if (arguments.has("--model")) { return; }
    auto const check = [&](std::span<Option const> from) {
        for (Option const& option : from) {
            bool const fine = std::ranges::find(always, std::string_view{option.name}) != always.end();
            if (fine || !arguments.has(option.name)) { continue; }
            refuse(option.name, "says nothing without --model", "it describes what the traces ran",
                   "add --model NAME, or leave it out");
        }
    };
    check(setting_options());
    check(strategy_options());
}

/// The calibration goes to --out; the report of it, which other verbs write there, to standard output.
Output report_output(Arguments const& arguments) {
    Output const output = read_output(arguments.without("--out"));
    auto const file = arguments.text("--out");
    if (file && *file == "-") { refuse("--out", "is where the report goes", "", "name a file: --out machine.toml"); }
    if (file && !output.html.empty() && same_file(*file, output.html)) {
        refuse("--out", headroom::quoted(*file) + " is where the page goes too", "they would run into each other",
               "give one of them another file");
    }
    return output;
}

CalibrateQuestion question_of(Arguments const& arguments, io::Catalog const& catalog) {
    CalibrateQuestion question{
        .evidence = arguments.all(evidence_words),
        .log = {.system = arguments.text("--system").value_or(""), .nodes = arguments.count("--nodes").value_or(0)},
        .accelerator = {}};
    if (question.evidence.empty()) {
        refuse(evidence_words, "is missing", "", "name a folder of traces, a log, or a calibration file");
    }
    if (auto const cluster = arguments.text("--cluster")) {
        question.accelerator = io::load_cluster(catalog, *cluster).accelerator;
    }
    return question;
}

/// The step of the traces, described like a call of predict.
void keep_step(Arguments const& arguments, CalibrateAnswer& answer) {
    auto const model = arguments.text("--model");
    if (!model) { return; }
    if (!answer.facts || !answer.facts->step_seconds) {
        refuse("--model", "no step was measured", "no trace among the evidence has steps",
               "leave it out, or give traces with steps");
    }
    Arguments call = arguments.without("--out").without("--model").without("--system").without("--require");
    call.add("MODEL", {*model});
    call.add("--measured-step", {exact(*answer.facts->step_seconds) + " s"});
    call.add("--save-calibration", {"-"}); // makes the entry; it is written here, with the rest
    Setting setting = read_setting(call);
    Question const question = make_question(call, setting);
    if (auto saved = read_measured_step(call, question, setting)) { answer.entries.push_back(std::move(saved->entry)); }
    answer.notes.insert(answer.notes.end(), setting.notes.begin(), setting.notes.end());
}

void require_something(CalibrateAnswer const& answer) {
    if (!answer.network.empty() || !answer.constants.empty() || !answer.entries.empty()) { return; }
    throw InputError{Fault::insufficient,
                     {.where = "calibrate",
                      .problem = "the evidence gives nothing to calibrate with",
                      .why = answer.notes.empty() ? "" : answer.notes.front(),
                      .hint = "links need the traces of all ranks of a group and three sizes of a collective or more; "
                              "a step needs --model"}};
}

int run(Arguments const& arguments) {
    Stopwatch const stopwatch;
    Output const output = report_output(arguments);
    check_description(arguments);
    io::Catalog const catalog = open_catalog(arguments);
    CalibrateAnswer answer = read_evidence(question_of(arguments, catalog), catalog);
    keep_step(arguments, answer);
    require_something(answer);
    if (auto const file = arguments.text("--out"); file && result_has_place(output)) {
        io::write_file(*file, calibration_text(answer));
        answer.saved = *file;
        note(output, "written: " + printable(*file));
    }
    if (output.stats) { answer.wall_seconds = stopwatch.seconds(); }
    write_result(output, {[&] { return document_of(answer, catalog); }, [&] { return json_of(answer, catalog); },
                          [&] { return sheet_of(answer); }});
    return Exit::done;
}

} // namespace

Verb calibrate_verb() {
    return {"calibrate", "a calibration file from traces, benchmark logs and others",
            positionals, {options, setting_options(), strategy_options(), output_options()},
            examples,    run};
}

} // namespace headroom::cli
