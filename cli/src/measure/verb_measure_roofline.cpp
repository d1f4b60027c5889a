#include "headroom/document/text.hpp"
#include "measure/measure.hpp"
#include "measure/roofline_gpu.hpp"
#include "measure/roofline_points.hpp"
#include "measure/roofline_report.hpp"
#include "measure/roofline_run.hpp"
#include "output.hpp"
#include "verb.hpp"

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli {

using namespace headroom::measure;

namespace {

constexpr double usual_budget = 60.0, quick_budget = 10.0, least_budget = 1.0, most_budget = 86400.0;
constexpr std::array<char const*, 5> known_precisions{"fp64", "fp32", "fp16", "bf16", "int8"};

constexpr std::array options{
    Option{"--threads", "1|all|N", "one core, one and all (default), or one and N", "Question"},
    Option{"--precision", "NAMES", "fp64, fp32, fp16, bf16, int8: some of them (default: all that there are)",
           "Question"},
    Option{"--kernels", "NAMES",
           "triad, sum, softmax, layer_norm, gemm_small, gemm_large, attention_unfused, attention_tiled, or none "
           "(default: all)",
           "Question"},
    Option{"--time", "BUDGET", "about how long it takes: 90s, 5min (default: 60 s)", "Question"},
    Option{"--quick", "", "smaller problems and 10 s", "Question", Takes::nothing},
    Option{"--seed", "N", "of the order in which things are timed (default: 1)", "Question"},
    Option{"--save", "FILE", "the ceilings as a machine file, for `headroom roofline --machine FILE`", "Output"},
};

constexpr char const* examples = "  headroom measure roofline\n"
                                 "  headroom measure roofline --quick --threads 1 --kernels none\n"
                                 "  headroom measure roofline --time 5min --save here.toml --html here.html\n"
                                 "  headroom roofline --machine here.toml --precision fp32\n"
                                 "      --kernel gemm:4096x4096x4096";

// ---- the question -------------------------------------------------------------------------------------------------

std::vector<int> read_threads(Arguments const& arguments, probe::MachineShape const& shape) {
    int const all = std::max(1, shape.cores);
    std::string const given = arguments.text("--threads").value_or("all");
    int const wanted = given == "all" ? all : parse_whole(given, "--threads");
    if (wanted > all) {
        refuse("--threads", std::to_string(wanted) + " are too many", "this process may use " + cores_words(all),
               "give at most that many, or all");
    }
    return wanted == 1 ? std::vector<int>{1} : std::vector<int>{1, wanted};
}

/// Names out of a list, separated by commas, each once, in the order of the list.
template <class Known>
std::vector<std::string> read_names(Arguments const& arguments, char const* option, Known const& known) {
    auto const given = arguments.text(option);
    if (!given) { return {}; }
    std::vector<std::string> const names{known.begin(), known.end()};
    std::vector<std::string> wanted, found;
    for (std::string const& part : split(*given, ',')) { wanted.push_back(io::parse_choice(part, names, option)); }
    std::ranges::copy_if(names, std::back_inserter(found),
                         [&](std::string const& one) { return std::ranges::find(wanted, one) != wanted.end(); });
    return found;
}

double read_budget(Arguments const& arguments) {
    auto const given = arguments.quantity<Seconds>("--time");
    if (!given) { return arguments.has("--quick") ? quick_budget : usual_budget; }
    double const seconds = given->base();
    if (seconds < least_budget || seconds > most_budget) {
        refuse("--time", format(*given) + " is no budget", "from 1 s to a day are possible", "give 60s or 5min");
    }
    return seconds;
}

RooflineTask read_task(Arguments const& arguments, probe::MachineShape const& shape) {
    RooflineTask task;
    task.threads = read_threads(arguments, shape);
    task.precisions = read_names(arguments, "--precision", known_precisions);
    auto const kernels = probe::roofline_kernel_names();
    if (!arguments.has("--kernels")) {
        task.kernels.assign(kernels.begin(), kernels.end());
    } else if (arguments.text("--kernels") != "none") {
        task.kernels = read_names(arguments, "--kernels", kernels);
    }
    bool const fp32 = task.precisions.empty() || std::ranges::find(task.precisions, "fp32") != task.precisions.end();
    if (arguments.has("--kernels") && !task.kernels.empty() && !fp32) {
        refuse("--kernels", "they compute in fp32", "--precision leaves it out", "add fp32, or leave the kernels out");
    }
    if (!fp32) { task.kernels.clear(); }
    task.budget_seconds = read_budget(arguments);
    task.quick = arguments.has("--quick");
    if (auto const seed = arguments.text("--seed")) {
        task.seed = static_cast<std::uint64_t>(parse_whole(*seed, "--seed"));
    }
    return task;
}

/// Two campaigns with the same settings measure the same.
Facts settings_of(RooflineTask const& task) {
    std::vector<std::string> threads;
    for (int const one : task.threads) { threads.push_back(std::to_string(one)); }
    return {{"threads", join(threads, ",")},
            {"precision", task.precisions.empty() ? "all" : join(task.precisions, ",")},
            {"kernels", task.kernels.empty() ? "none" : join(task.kernels, ",")},
            {"seconds", exact(task.budget_seconds)},
            {"sizes", task.quick ? "quick" : "usual"},
            {"seed", std::to_string(task.seed)}};
}

// ---- the measurement ----------------------------------------------------------------------------------------------

Campaign head_of(RooflineTask const& task, RooflineBench const& bench) {
    Campaign head;
    head.kind = "roofline";
    head.settings = settings_of(task);
    head.machine = probe::machine_facts();
    head.machine.insert(head.machine.end(), bench.facts.begin(), bench.facts.end());
    for (TimedPoint const& timed : bench.points) { head.points.push_back(timed.point); }
    return head;
}

/// What was taken, and whether that is all.
struct Taken {
    Campaign campaign;
    std::size_t resumed = 0;
    std::vector<std::string> absent;
    io::GpuAnswer gpu;
    bool complete = false;
};

Taken measure(RooflineTask const& task, probe::MachineShape const& shape, Arguments const& arguments,
              Output const& output) {
    RooflineBench bench{task, shape};
    Recorder recorder{arguments, head_of(task, bench)};
    if (recorder.resumed() > 0) {
        note(output, "measure roofline: goes on, " + counted(recorder.resumed(), "sample") + " were there");
    }
    Watch watch{"measuring " + counted(bench.points.size(), "point"), output.quiet};
    bool const complete = take_samples(bench, task, recorder, watch);
    io::GpuAnswer gpu;
    if (complete) {
        gpu = ask_gpu();
        keep(gpu, recorder);
    } else {
        gpu.why = "interrupted before its turn";
    }
    recorder.finish(complete ? CampaignState::done : CampaignState::interrupted);
    return {recorder.campaign(), recorder.resumed(), std::move(bench.absent), std::move(gpu), complete};
}

bool has_answer(Campaign const& campaign) {
    return std::ranges::any_of(campaign.samples,
                               [](Sample const& one) { return one.outcome == SampleOutcome::measured; });
}

/// Samples that gave no value, with the first reason.
void add_failures(MeasuredRooflineReport& report) {
    std::size_t failed = 0;
    std::string first;
    for (Sample const& one : report.campaign.samples) {
        if (one.outcome == SampleOutcome::measured || one.outcome == SampleOutcome::warm_up) { continue; }
        if (failed++ == 0) { first = report.campaign.points.at(one.point).label + ": " + one.message; }
    }
    if (failed > 0) {
        report.warnings.push_back("failed: " + counted(failed, "repetition") + " gave no value (" + first + ")");
    }
}

int run(Arguments const& arguments) {
    Stopwatch const stopwatch;
    Output const output = read_output(arguments);
    probe::MachineShape const shape = probe::machine_shape();
    RooflineTask const task = read_task(arguments, shape);
    auto const save = arguments.text("--save");
    if (save && save->empty()) { refuse("--save", "names no file"); }
    if (save) { io::require_place(*save); }
    std::string const store = store_path(arguments).string();
    Taken taken = measure(task, shape, arguments, output);
    if (!taken.complete) {
        note(output, "measure roofline: interrupted (" + counted(taken.campaign.samples.size(), "sample") + " kept" +
                         (store.empty() ? " nowhere" : ", the same command goes on") + ")");
        if (!has_answer(taken.campaign)) { return Exit::interrupted; }
    }
    MeasuredRooflineReport report{std::move(taken.campaign)};
    report.absent = std::move(taken.absent);
    report.complete = taken.complete;
    report.resumed = taken.resumed;
    report.gpu = taken.gpu.device;
    report.gpu_why = taken.gpu.why;
    report.campaign.machine.insert(report.campaign.machine.end(), taken.gpu.facts.begin(), taken.gpu.facts.end());
    report.store = store;
    report.warnings = warnings_of(report);
    add_failures(report);
    if (output.stats) { report.wall_seconds = stopwatch.seconds(); }
    write_result(output, {[&] { return document_of(report, false); }, [&] { return json_of(report); },
                          [&] { return sheet_of(report); }, [&] { return document_of(report, true); }});
    if (save && report.complete) { io::write_file(*save, machine_file(report)); }
    return report.complete ? Exit::done : Exit::interrupted;
}

} // namespace

Verb measure_roofline_verb() {
    return {"measure roofline",
            "what this machine can do: peaks, bandwidths, latencies, kernels",
            {},
            {options, store_options(), output_options()},
            examples,
            run};
}

} // namespace headroom::cli
