#include "measure/measure.hpp"
#include "output.hpp"
#include "verb.hpp"
#include "watch.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/gpu_answer.hpp"
#include "headroom/io/processor.hpp"
#include "headroom/probe/roofline_bench.hpp"
#include "headroom/probe/run_command.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <stop_token>

namespace headroom::cli {
namespace {

constexpr double usual_budget = 60.0, quick_budget = 10.0, least_budget = 1.0;
constexpr std::array<char const*, 5> known_precisions{"fp64", "fp32", "fp16", "bf16", "int8"};

constexpr std::array options{
    Option{"--threads", "1|all|N", "one core, one and all (default), or one and N", "Question"},
    Option{"--precision", "NAMES", "fp64, fp32, fp16, bf16, int8: some of them (default: all that there are)",
           "Question"},
    Option{"--kernels", "NAMES",
           "triad, sum, softmax, layer_norm, gemm_small, gemm_large, attention_unfused, attention_tiled, or none "
           "(default: all)",
           "Question"},
    Option{"--time", "BUDGET", "how long it takes at most, set-up included: 90s, 5min (default: 60 s)", "Question"},
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

probe::RooflineTask read_task(Arguments const& arguments, probe::MachineShape const& shape) {
    probe::RooflineTask task;
    task.threads = read_threads(arguments, shape);
    task.precisions = read_names(arguments, "--precision", {known_precisions.begin(), known_precisions.end()});
    auto const kernels = probe::roofline_kernel_names();
    if (!arguments.has("--kernels")) {
        task.kernels.assign(kernels.begin(), kernels.end());
    } else if (arguments.text("--kernels") != "none") {
        task.kernels = read_names(arguments, "--kernels", {kernels.begin(), kernels.end()});
    }
    bool const fp32 = task.precisions.empty() || std::ranges::find(task.precisions, "fp32") != task.precisions.end();
    if (arguments.has("--kernels") && !task.kernels.empty() && !fp32) {
        refuse("--kernels", "they compute in fp32", "--precision leaves it out", "add fp32, or leave the kernels out");
    }
    if (!fp32) { task.kernels.clear(); }
    task.quick = arguments.has("--quick");
    task.budget_seconds =
        read_seconds(arguments, "--time", least_budget).value_or(task.quick ? quick_budget : usual_budget);
    if (auto const seed = arguments.text("--seed")) {
        task.seed = static_cast<std::uint64_t>(parse_whole(*seed, "--seed"));
    }
    return task;
}

/// Two campaigns with the same settings measure the same.
Facts settings_of(probe::RooflineTask const& task) {
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

Campaign campaign_of(probe::RooflineTask const& task, probe::RooflineBench const& bench) {
    Campaign head;
    head.kind = "roofline";
    head.settings = settings_of(task);
    head.machine = probe::machine_facts();
    head.machine.insert(head.machine.end(), bench.facts.begin(), bench.facts.end());
    for (probe::TimedPoint const& timed : bench.points) { head.points.push_back(timed.point); }
    return head;
}

/// Answer of headroom-gpu in the folder of this program; without a device and with the reason where it is not there or fails.
io::GpuAnswer ask_gpu(std::stop_token stop) {
    constexpr char const* helper = "headroom-gpu";
    std::error_code none;
    auto const path = (std::filesystem::read_symlink("/proc/self/exe", none).parent_path() / helper).string();
    if (none || !io::is_there(path)) {
        return {.why = "headroom-gpu is not next to this program: it is built where there is a CUDA toolkit"};
    }
    constexpr std::size_t most_bytes = std::size_t{64} << 20U;
    probe::CommandQuestion const question{.words = {path}, .keep_bytes = most_bytes, .stop = std::move(stop)};
    probe::CommandRun const run = probe::run_command(question);
    if (run.end != probe::CommandEnd::exited || run.status != 0) {
        return {.why = "headroom-gpu ended with " + probe::end_words(run, question)};
    }
    try {
        return io::read_gpu_answer(run.output, helper);
    } catch (InputError const& error) { return {.why = error.what()}; }
}

/// Keeps its repetitions as points of the campaign, unless they are there from an earlier call.
void keep(io::GpuAnswer const& answer, Recorder& recorder) {
    auto const& points = recorder.campaign().points;
    for (auto const& [point, samples] : answer.points) {
        bool const known = std::ranges::find(points, point.label, &MeasuredPoint::label) != points.end();
        if (samples.empty() || known) { continue; }
        auto const index = static_cast<std::uint32_t>(points.size());
        recorder.add_points({point});
        std::uint32_t repetition = 0;
        for (double const value : samples) {
            recorder.add({.point = index,
                          .repetition = repetition++,
                          .value = value,
                          .began_ns = probe::now_ns(),
                          .load = probe::load_now()});
        }
    }
}

void say_interrupted(Output const& output, std::size_t samples, std::string const& store) {
    note(output, "measure roofline: interrupted (" + counted(samples, "sample") + " kept" +
                     (store.empty() ? " nowhere" : ", the same command goes on") + ")");
}

/// Null where no repetition counts.
std::unique_ptr<MeasuredRooflineAnswer> measure(probe::RooflineTask task, probe::MachineShape const& shape,
                                                Arguments const& arguments, Output const& output) {
    Watch watch{"measuring this machine", output.quiet};
    std::string const store = store_path(arguments).string();
    if (auto const found = unfinished_campaign(arguments, "roofline", settings_of(task))) {
        task.last_cache = probe::last_cache_from(fact(found->machine, probe::last_cache_fact).value_or(""));
    }
    probe::RooflineBench bench{task, shape, watch.token()};
    if (watch.interrupted()) {
        say_interrupted(output, 0, store);
        return nullptr;
    }
    Recorder recorder{arguments, campaign_of(task, bench)};
    if (recorder.resumed() > 0) {
        note(output, "measure roofline: goes on, " + counted(recorder.resumed(), "sample") + " were there");
    }
    std::vector<Sample> const earlier = recorder.campaign().samples;
    probe::RooflineTime const time{.budget_seconds = task.budget_seconds,
                                   .now = [&] { return output.since.seconds(); }};
    probe::RooflineSampling const sampling = take_samples(
        bench.points, time, task.seed, earlier, [&](Sample const& one) { recorder.add(one); },
        [&](double share) { watch.progress(share); }, watch.token());
    bool const complete = !sampling.interrupted;
    io::GpuAnswer gpu{.why = "interrupted before its turn"};
    if (complete) {
        gpu = ask_gpu(watch.token());
        keep(gpu, recorder);
    }
    recorder.finish(complete ? CampaignState::done : CampaignState::interrupted);
    Campaign const& taken = recorder.campaign();
    if (!complete) {
        say_interrupted(output, taken.samples.size(), store);
        auto const counts = [](Sample const& one) { return one.outcome == SampleOutcome::measured; };
        if (std::ranges::none_of(taken.samples, counts)) { return nullptr; }
    }
    auto answer = std::make_unique<MeasuredRooflineAnswer>(taken);
    answer->absent = std::move(bench.absent);
    answer->absent.insert(answer->absent.end(), sampling.left_out.begin(), sampling.left_out.end());
    answer->complete = complete;
    answer->resumed = recorder.resumed();
    answer->gpu = gpu.device;
    answer->gpu_why = gpu.why;
    answer->campaign.machine.insert(answer->campaign.machine.end(), gpu.facts.begin(), gpu.facts.end());
    answer->store = store;
    answer->warnings = warnings_of(*answer);
    return answer;
}

int run(Arguments const& arguments) {
    Output const output = read_output(arguments);
    probe::MachineShape const shape = probe::machine_shape();
    probe::RooflineTask const task = read_task(arguments, shape);
    std::string const save = read_save(arguments, output);
    auto const answer = measure(task, shape, arguments, output);
    if (!answer) { return Exit::interrupted; }
    io::Catalog const catalog;
    Result result = result_of(
        head_of("measure_roofline", catalog, ""), *answer, [&] { return document_of(*answer, false); },
        {.stats = stats_of(output)}, [&] { return row_sheet(answer->roofline.figures); });
    result.page = [&] { return document_of(*answer, true); };
    write_result(output, result);
    if (!save.empty() && answer->complete) {
        io::write_file(save, io::machine_file(*answer, "headroom " HEADROOM_VERSION));
    }
    return answer->complete ? Exit::done : Exit::interrupted;
}

} // namespace

Verb measure_roofline_verb() {
    Verb verb{"measure roofline", "what this machine can do: peaks, bandwidths, latencies, kernels", {}, examples, run};
    verb.options = {options, store_options(), output_options()};
    verb.answers = tables_of<MeasuredRooflineAnswer>();
    return verb;
}

} // namespace headroom::cli
