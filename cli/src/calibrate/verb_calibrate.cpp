#include "calibrate/calibrate_report.hpp"
#include "comm/comm_fit.hpp"
#include "measure/measure.hpp"
#include "measured_steps.hpp"
#include "setting.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/measured_system.hpp"
#include "headroom/io/processor.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace headroom::cli {
namespace {

constexpr char const* evidence_words = "EVIDENCE";
constexpr std::array positionals{
    Positional{
        evidence_words,
        "traces (folders or files, a rank each), logs of collective benchmarks, training logs, calibration files to "
        "be joined, "
        "campaigns of the store of measurements (store:3, store:last, store:comm)",
        true},
};
constexpr std::array options{
    Option{"--system", "NAME", "the machine that was measured, where the evidence does not say", "Evidence"},
    Option{"--store", "FILE", "measurements to take campaigns from (without --campaign: the latest of each kind)",
           "Evidence"},
    Option{"--campaign", "WHICH", "its number, last, or the latest of a kind: roofline, comm, scaling (again for more)",
           "Evidence", Takes::values},
    Option{"--explain", "", "every constant: what it rests on, and which are guesses", "Result", Takes::nothing},
    Option{"--save-machine", "FILE", "the machine of a roofline campaign, for roofline --machine", "Result"},
    Option{"--model", "MODEL", "what the traces or logs ran: with it and the options below their step is kept too",
           "Evidence"},
};
constexpr char const* examples = "  headroom calibrate examples/profiler --out machine.toml\n"
                                 "  headroom calibrate examples/profiler examples/all_reduce.log \\\n"
                                 "      --out machine.toml\n"
                                 "  headroom calibrate examples/profiler --cluster dgx-h100 --out machine.toml\n"
                                 "  headroom calibrate examples/profiler --model llama-3-8b --cluster dgx-h100 \\\n"
                                 "      --workers 8 --dp 8 --global-batch 64 --out machine.toml\n"
                                 "  headroom calibrate examples/train.log --model llama-3-8b --cluster dgx-h100 \\\n"
                                 "      --out machine.toml\n"
                                 "  headroom calibrate store:comm --nodes 2 --out machine.toml\n"
                                 "  headroom calibrate --store runs.sqlite --campaign roofline \\\n"
                                 "      --save-machine server.toml\n"
                                 "  headroom calibrate machine.toml --explain\n"
                                 "  headroom predict llama-3-8b --cluster dgx-h100 --workers 64 \\\n"
                                 "      --calibration machine.toml";

/// Options of the setting that say something of the evidence itself.
constexpr std::array always{"--cluster", "--network", "--nodes", "--catalog"};

/// Refuses options that describe a run where no run is described.
void check_description(Arguments const& arguments) {
    if (arguments.has("--model")) { return; }
    auto const check = [&](std::span<Option const> from) {
        for (Option const& option : from) {
            bool const fine = std::ranges::find(always, std::string_view{option.name}) != always.end();
            if (fine || !arguments.has(option.name)) { continue; }
            refuse(option.name, "has no effect without --model", "it describes what the traces ran",
                   "add --model NAME, or leave it out");
        }
    };
    check(setting_options());
    check(strategy_options());
}

/// The calibration goes to --out; the report of it, which other verbs write there, to standard output.
Output report_output(Arguments const& arguments) {
    Output output = read_output(arguments.without("--out"));
    auto const file = arguments.text("--out");
    if (file && *file == "-") { refuse("--out", "is where the report goes", "", "name a file: --out machine.toml"); }
    if (file && !output.html.empty() && same_file(*file, output.html)) {
        refuse("--out", headroom::quoted(*file) + " is where the page goes too", "they would run into each other",
               "give one of them another file");
    }
    auto const machine = arguments.text("--save-machine");
    if (!machine) { return output; }
    if (machine->empty() || *machine == "-") {
        refuse("--save-machine", "is a file of its own", "", "name one: server.toml");
    }
    if ((file && same_file(*machine, *file)) || (!output.html.empty() && same_file(*machine, output.html))) {
        refuse("--save-machine", headroom::quoted(*machine) + " is where something else goes", "", "name another file");
    }
    return output;
}

constexpr std::string_view from_store = "store:";

/// Files and folders, and campaigns.
NamedEvidence named_evidence(Arguments const& arguments, io::Catalog const& catalog) {
    NamedEvidence named{.files = {},
                        .store = {},
                        .campaigns = arguments.all("--campaign"),
                        .log = {.system = arguments.text("--system").value_or(""),
                                .nodes = arguments.count("--nodes").value_or(0),
                                .node_size = io::node_sizes(catalog, arguments.text("--cluster").value_or(""))},
                        .run = {.workers = arguments.count("--workers").value_or(0),
                                .global_batch = arguments.count("--global-batch").value_or(0),
                                .sequence_length = arguments.count("--sequence-length").value_or(0),
                                .accumulation = arguments.count("--grad-accum").value_or(0)}};
    for (std::string const& name : arguments.all(evidence_words)) {
        if (!name.starts_with(from_store)) {
            named.files.push_back(name);
        } else if (name.size() == from_store.size()) {
            refuse(name, "names no campaign", "", "store:3, store:last, store:roofline, store:comm or store:scaling");
        } else {
            named.campaigns.push_back(name.substr(from_store.size()));
        }
    }
    if (!named.campaigns.empty() || arguments.has("--store")) { named.store = store_path(arguments); }
    if (named.store.empty() && arguments.has("--store")) {
        refuse("--store", "none holds no campaign", "", "name the file, or leave --store out");
    }
    if (named.files.empty() && named.store.empty()) {
        refuse(evidence_words, "is missing", "",
               "name a folder of traces, a log, a calibration file, or --campaign last");
    }
    return named;
}

fit::CalibrationQuestion question_of(Arguments const& arguments, NamedEvidence const& named,
                                     io::Catalog const& catalog) {
    fit::CalibrationQuestion question{.system = named.log.system,
                                      .nodes = named.log.nodes,
                                      .store = named.store.filename().string(),
                                      .accelerator = {},
                                      .accelerators = catalog.names(io::RecordKind::accelerator),
                                      .catalog_name =
                                          [&catalog](std::string const& name) {
                                              return catalog.has_accelerator(name) ? catalog.accelerator(name).name
                                                                                   : "";
                                          },
                                      .known_links = known_links_of(arguments, catalog)};
    question.cluster = stated_cluster(arguments, catalog);
    if (question.cluster) {
        question.accelerator = question.cluster->accelerator;
        question.same_machine = [&catalog, cluster = *question.cluster](std::string const& system) {
            return io::names_machine(catalog, system, cluster);
        };
    }
    return question;
}

fit::CalibrationAnswer answer_of(fit::CalibrationQuestion const& asked, NamedEvidence const& named) {
    try {
        return fit::calibrate(asked, read_evidence(named));
    } catch (fit::CalibrationRefused const& refused) {
        refuse(evidence_words, "is of more than one system",
               headroom::quoted(refused.system) + " and " + headroom::quoted(refused.other),
               "give that of each on its own, or say --system NAME where both are one");
    }
}

/// A step that was measured, described like a call of predict. `workers`: of a campaign; 0: as the user says.
Question keep_step(Arguments const& arguments, MeasuredTime const& time, int workers, std::string name,
                   fit::CalibrationAnswer& answer) {
    Arguments call = arguments;
    for (char const* option :
         {"--out", "--model", "--system", "--require", "--store", "--campaign", "--explain", "--save-machine"}) {
        call = call.without(option);
    }
    call.add("MODEL", {*arguments.text("--model")});
    if (workers > 0) {
        call = call.without("--nodes");
        call.add("--workers", {std::to_string(workers)});
    }
    Setting setting = read_setting(call);
    Question question = make_question(call, setting);
    answer.states.entries.push_back(keep_measured_step(call, question, time, std::move(name), setting));
    auto const known = words_of(answer.notes);
    for (std::string const& text : setting.notes) {
        if (std::ranges::find(known, text) == known.end()) { answer.notes.push_back({.names = {text}}); }
    }
    return question;
}

/// Notes where options and a log contradict each other: here the options say what ran.
void note_contradictions(LogAnswer const& log, Arguments const& arguments, fit::CalibrationAnswer& answer) {
    if (!arguments.has("--cluster")) { return; } // what describes the run is refused later
    Arguments call = arguments;
    call.add("MODEL", {*arguments.text("--model")});
    Setting const setting = read_setting(call);
    refuse_other_model(log, setting.model);
    for (Contradiction const& one : contradictions(log, arguments, setting)) {
        answer.notes.push_back({.names = {log.file + ": it states " + one.fact.option + " " + one.fact.value + "; " +
                                          one.given + " is taken, as you say"}});
    }
}

/// Keeps the steps of training logs, each described by the options and, where they say nothing, by the log.
void keep_logged(Arguments const& arguments, io::Catalog const& catalog, fit::CalibrationAnswer& answer) {
    for (LogAnswer& log : answer.logs) {
        note_contradictions(log, arguments, answer);
        SteadyStep const& steady = log.steady;
        Arguments const call = completed_by(log, arguments, catalog);
        require_batch(log, call);
        Question const run = keep_step(call, {steady.step, steady.low, steady.high}, 0, log.file, answer);
        set_rate(log, run.workload, call.has("--global-batch"));
        io::check_rates(log, run);
        for (std::string const& warning : log.warnings) {
            answer.notes.push_back({.names = {log.file + ": " + warning}});
        }
        if (std::string const assumed = assumed_words(run); !assumed.empty()) {
            answer.notes.push_back({.names = {log.file + ": assumed of its run: " + assumed}});
        }
    }
}

/// Keeps steps of campaigns: those on the workers that were asked for, else all of them.
bool keep_scaling(Arguments const& arguments, fit::CalibrationAnswer& answer) {
    bool any = false;
    for (fit::ScalingSteps& one : answer.scaling) {
        for (fit::MeasuredWorkers const& step : steps_to_keep(one, arguments.count("--workers"), answer)) {
            keep_step(arguments, {Seconds{step.seconds.value}, Seconds{step.seconds.low}, Seconds{step.seconds.high}},
                      step.workers, one.name, answer);
        }
        any |= one.kept;
        if (one.kept && one.measured.whole_command) {
            answer.notes.push_back({.remark = fit::CalibrationRemark::whole_command, .names = {one.name}});
        }
    }
    return any;
}

void keep_steps(Arguments const& arguments, io::Catalog const& catalog, fit::CalibrationAnswer& answer) {
    if (!arguments.has("--model")) {
        for (LogAnswer const& log : answer.logs) {
            answer.missing.push_back({.remark = fit::CalibrationRemark::undescribed, .names = {log.file}});
        }
        for (fit::ScalingSteps const& one : answer.scaling) {
            answer.missing.push_back({.remark = fit::CalibrationRemark::untrained, .names = {one.name}});
        }
        return;
    }
    bool const traced = answer.facts && answer.facts->step_seconds;
    if (traced && !answer.traced_elsewhere.empty()) {
        refuse("--cluster", "is another machine than the one that was traced", answer.traced_elsewhere,
               "name the cluster that ran, or leave --model out");
    }
    if (traced) {
        Seconds const step{*answer.facts->step_seconds};
        add_slowdown(keep_step(arguments, {step, step, step}, 0, "traces", answer).strategy, answer);
    }
    keep_logged(arguments, catalog, answer);
    bool const scaled = keep_scaling(arguments, answer);
    if (!traced && !scaled && answer.logs.empty()) {
        refuse("--model", "no step was measured", "no trace among the evidence has steps, no campaign times of workers",
               "leave it out, or give traces with steps, training logs, or a campaign of headroom measure scaling");
    }
}

void require_something(fit::CalibrationAnswer const& answer, bool wants_machine) {
    if (answer.states_anything() || (wants_machine && !answer.machines.empty())) { return; }
    constexpr std::size_t most_reasons = 3;
    auto const elsewhere = [](fit::CalibrationNote const& one) {
        return one.remark == fit::CalibrationRemark::link_elsewhere ||
               one.remark == fit::CalibrationRemark::other_machine;
    };
    std::vector<fit::CalibrationNote> decisive;
    std::ranges::copy_if(answer.missing, std::back_inserter(decisive), elsewhere);
    auto why = words_of(!decisive.empty() ? decisive : answer.missing.empty() ? answer.notes : answer.missing);
    why.resize(std::min(why.size(), most_reasons));
    too_little("calibrate", "the evidence gives nothing to calibrate with", join(why, "; "),
               decisive.empty() ? "links need the traces of all ranks of a group and three sizes of a "
                                  "collective or more; a step needs --model"
                                : "");
}

/// Where the machine of a campaign goes; one machine a file.
std::string machine_to_save(Arguments const& arguments, fit::CalibrationAnswer const& answer) {
    if (!arguments.has("--save-machine")) { return {}; }
    if (answer.machines.empty()) {
        refuse("--save-machine", "no machine was measured", "no roofline campaign is among the evidence",
               "add --campaign roofline");
    }
    if (answer.machines.size() > 1) {
        refuse("--save-machine", std::to_string(answer.machines.size()) + " campaigns measured a machine",
               "a file is of one", "name one of them");
    }
    return io::machine_file(MeasuredRooflineAnswer{answer.machines.front()}, "headroom " HEADROOM_VERSION);
}

int run(Arguments const& arguments) {
    Output const output = report_output(arguments);
    check_description(arguments);
    io::Catalog const catalog = open_catalog(arguments);
    NamedEvidence const named = named_evidence(arguments, catalog);
    fit::CalibrationQuestion const asked = question_of(arguments, named, catalog);
    fit::CalibrationAnswer answer = answer_of(asked, named);
    keep_steps(arguments, catalog, answer);
    join_constants(answer);
    require_something(answer, arguments.has("--save-machine"));
    if (arguments.has("--explain")) { answer.effective = effective(answer, catalog.calibration("training")); }
    std::string const machine = machine_to_save(arguments, answer);
    auto const saved_machine = arguments.text("--save-machine");
    auto const file = arguments.text("--out");
    if (file && !answer.states_anything()) {
        refuse("--out", "there is nothing to write", "the evidence gives a machine and no calibration", "leave it out");
    }
    if (result_has_place(output)) {
        if (saved_machine) {
            io::write_file(*saved_machine, machine);
            answer.saved_machine = *saved_machine;
            note(output, "written: " + printable(*saved_machine));
        }
        if (file) {
            io::write_file(*file, calibration_text(answer));
            answer.saved = *file;
            note(output, "written: " + printable(*file));
        }
    }
    write_result(output, result_of(
                             head_of("calibrate", catalog, ""), answer, [&] { return document_of(answer, catalog); },
                             {{}, stats_of(output)},
                             [&] {
                                 return answer.effective ? row_sheet(explained_constants(answer))
                                                         : row_sheet(fit_summaries(answer));
                             }));
    return Exit::done;
}

} // namespace

Verb calibrate_verb() {
    Verb verb{"calibrate", "a calibration file from measurements, traces and logs", positionals, examples, run};
    verb.options = {options, setting_options(), strategy_options(), output_options()};
    verb.answers = tables_of<fit::CalibrationAnswer>();
    return verb;
}

} // namespace headroom::cli
