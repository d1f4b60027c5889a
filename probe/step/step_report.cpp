#include "step_report.hpp"

#include "headroom/laws/laws.hpp"
#include "headroom/network/collective.hpp"
#include "headroom/quantity.hpp"
#include "headroom/training/prediction.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace headroom::step_example {

using namespace headroom::laws;
using namespace headroom::network;
using namespace headroom::training;

namespace {

using Json = nlohmann::ordered_json;

template <class... Values> std::string printed(char const* form, Values... values) {
    char text[160];
    std::snprintf(text, sizeof text, form, values...);
    return text;
}
std::string seconds(double value) { return format(Seconds{value}); }
std::string plural(std::size_t count, std::string const& word) {
    return std::to_string(count) + ' ' + word + (count == 1 ? "" : "s");
}

/// JSON has no word for what is not finite.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// The words that a run and a prediction have in common.
std::string opening_text(Options const& options, StepProfile const& profile) {
    NetworkShape const& shape = profile.shape;
    return format_count(static_cast<double>(shape.parameters())) + " parameters (" + plural(shape.layers, "layer") +
           " of width " + std::to_string(shape.hidden) + "), " + (profile.is_double ? "double" : "single") +
           " precision\n" + std::to_string(options.batch) +
           (options.local_batch ? " sequences of each worker, " : " sequences in all, ") +
           std::to_string(shape.sequence) + " tokens each\n";
}

/// Likewise the members.
Json opening_json(char const* kind, Options const& options, StepProfile const& profile) {
    return {{"schema", "headroom.training-step/2"},
            {"kind", kind},
            {"model",
             {{"layers", profile.shape.layers},
              {"hidden", profile.shape.hidden},
              {"sequence", profile.shape.sequence},
              {"parameters", profile.shape.parameters()},
              {"gradient_bytes", profile.gradient_bytes()}}},
            {"precision", profile.is_double ? "double" : "single"},
            {"batch", options.batch},
            {"batch_is_of", options.local_batch ? "each worker" : "all workers"},
            {"bucket_bytes", number(options.bucket_bytes)},
            {"overlap", options.overlap},
            {"all_reduce", options.algorithm}};
}

/// Ratios of the medians of steps that ran.
struct Ratios {
    double gamma;        ///< all-reduce over computing
    double serial_share; ///< (exposed all-reduce + optimizer) / step: Amdahl's share on these workers
};

Ratios ratios_of(RunResult const& result, int workers) {
    double const passes = result.median(forward) + result.median(backward), update = result.median(optimizer);
    Profile const parts{.compute = Seconds{passes},
                        .communication = Seconds{result.median(exposed) + update},
                        .workers = Ranks{workers}};
    return {
        communication_to_computation(Seconds{workers > 1 ? result.median(all_reduce) : 0.0}, Seconds{passes + update}),
        serial_share_at(parts, Ranks{workers})};
}

double least_step(RunResult const& result) {
    double least = result.steps.front()[whole_step];
    for (PhaseTimes const& one : result.steps) { least = std::min(least, one[whole_step]); }
    return least;
}

std::string run_text(Options const& options, RunResult const& result, int workers) {
    auto const ratios = ratios_of(result, workers);
    std::string text = opening_text(options, result.profile) + plural(static_cast<std::size_t>(workers), "worker") +
                       (options.replay.empty() ? "" : ", computing replayed") + "\n\n";
    auto const row = [&](std::string const& name, std::string const& value, std::string const& words = {}) {
        text += printed("  %-20s%10s%s", name.c_str(), value.c_str(), words.empty() ? "" : "  ") + words + '\n';
    };
    row("forward", seconds(result.median(forward)));
    row("backward", seconds(result.median(backward)));
    if (workers > 1) {
        row("exposed all-reduce", seconds(result.median(exposed)),
            "of " + seconds(result.median(all_reduce)) + "; " + plural(result.buckets, "bucket") +
                (options.all_reduce() == AllReduce::ring ? ", ring" : ", MPI's") +
                (options.overlap ? ", overlapping" : ", after backward"));
    }
    row("optimizer", seconds(result.median(optimizer)));
    row("step", seconds(result.median(whole_step)),
        "median of " + std::to_string(result.steps.size()) + ", least " + seconds(least_step(result)));
    if (workers > 1) { row("gamma", printed("%.3g", ratios.gamma), "all-reduce over computing"); }
    row("s on " + std::to_string(workers), printed("%.3g %%", 100.0 * ratios.serial_share),
        workers > 1 ? "of the step: exposed all-reduce and optimizer" : "of the step: optimizer");
    if (!result.losses.empty()) {
        row("loss", printed("%.4f", result.losses.front()), printed("at first, %.4f at last", result.losses.back()));
    }
    return text + printed("step_seconds = %.9g\n", result.median(whole_step));
}

std::string check_text(RunResult const& result, int workers) {
    bool const is_double = result.profile.is_double;
    return plural(static_cast<std::size_t>(workers), "worker") +
           printed(" against one process, %zu steps, %s precision\n"
                   "losses differ by %.2g, gradients by %.2g, rounding explains %.0g\ncheck = %s\n",
                   result.losses.size(), is_double ? "double" : "single", result.loss_difference,
                   result.gradient_difference, allowed_difference(is_double), agrees(result) ? "passed" : "failed");
}

Json run_json(Options const& options, RunResult const& result, int workers) {
    auto const ratios = ratios_of(result, workers);
    std::vector<double> steps;
    for (PhaseTimes const& one : result.steps) { steps.push_back(one[whole_step]); }
    Json finished = Json::array();
    for (auto const& mark : result.profile.marks) {
        finished.push_back({{"place", mark.place}, {"seconds", number(mark.seconds)}});
    }
    bool const known = options.all_reduce() == AllReduce::ring || workers == 1; // else the library's algorithm
    TotalBytes const gradients{Bytes{static_cast<double>(result.profile.gradient_bytes())}};
    Json object = opening_json(options.replay.empty() ? "run" : "replay", options, result.profile);
    object.update(
        {{"workers", workers},
         {"sequences_of_the_fullest", options.largest_share(static_cast<std::size_t>(workers))},
         {"buckets", result.buckets},
         {"bytes_sent_per_worker", known ? number(ring_all_reduce_bytes(gradients, Ranks{workers}).base()) : Json()},
         {"warm_up", options.warm_up},
         {"step_seconds", number(result.median(whole_step))},
         {"least_step_seconds", number(least_step(result))},
         {"phases",
          {{"forward_seconds", number(result.median(forward))},
           {"backward_seconds", number(result.median(backward))},
           {"exposed_all_reduce_seconds", number(result.median(exposed))},
           {"optimizer_seconds", number(result.median(optimizer))}}},
         {"finished", finished},
         {"all_reduce_seconds", workers > 1 ? number(result.median(all_reduce)) : Json(0)},
         {"gamma", number(ratios.gamma)},
         {"serial_share", number(ratios.serial_share)},
         {"steps_seconds", steps},
         {"losses", result.losses}});
    return object;
}

} // namespace

Report run_report(Options const& options, RunResult const& result, int workers) {
    return {options.mode == Mode::check ? check_text(result, workers) : run_text(options, result, workers),
            run_json(options, result, workers).dump(2) + "\n"};
}

Report prediction_report(Options const& options, StepProfile const& profile, std::vector<PredictedStep> const& steps) {
    std::string text =
        opening_text(options, profile) + "from one worker's profile of " + plural(profile.batch, "sequence") + '\n' +
        options.algorithm + " all-reduce, " + seconds(*options.latency) + ", " +
        format(BytesPerSecond{*options.bandwidth}) + (options.overlap ? ", overlapping with" : ", after") +
        " the backward pass" +
        (options.overlap && options.load > 0.0 ? printed(", slowed by %.3g %%", 100.0 * options.load) : "") +
        "\n\nworkers computing all-reduce   exposed      step   gamma       s speedup ceiling\n";
    Json rows = Json::array();
    for (PredictedStep const& step : steps) {
        text += printed("%7d %9s %10s %9s %9s %7.3g %7s %7.3g %7s\n", step.workers,
                        seconds(step.forward + step.backward + step.slowed + step.optimizer).c_str(),
                        seconds(step.all_reduce).c_str(), seconds(step.exposed).c_str(), seconds(step.step).c_str(),
                        step.gamma, printed("%.3g %%", 100.0 * step.serial_share).c_str(), step.speedup,
                        step.ceiling ? printed("%.3g", *step.ceiling).c_str() : "-");
        rows.push_back({{"workers", step.workers},
                        {"sequences_of_the_fullest", step.share},
                        {"step_seconds", number(step.step)},
                        {"forward_seconds", number(step.forward)},
                        {"backward_seconds", number(step.backward)},
                        {"exposed_all_reduce_seconds", number(step.exposed)},
                        {"slowed_seconds", number(step.slowed)},
                        {"optimizer_seconds", number(step.optimizer)},
                        {"all_reduce_seconds", number(step.all_reduce)},
                        {"gamma", number(step.gamma)},
                        {"serial_share", number(step.serial_share)},
                        {"speedup", number(step.speedup)},
                        {"ceiling", step.ceiling ? number(*step.ceiling) : Json(nullptr)}});
    }
    text += "\ns: exposed all-reduce, the slowing of the backward pass, and optimizer, which\n"
            "do not divide, over the step on that many workers; ceiling: of the speedup, if\n"
            "they stayed as they are there\n";
    Json object = opening_json("prediction", options, profile);
    object.update({{"profiled_batch", profile.batch},
                   {"latency_seconds", number(*options.latency)},
                   {"bandwidth_bytes_per_second", number(*options.bandwidth)},
                   {"exchange_load", number(options.load)},
                   {"rows", rows}});
    return {text, object.dump(2) + "\n"};
}

bool agrees(RunResult const& result) {
    return std::max(result.loss_difference, result.gradient_difference) <= allowed_difference(result.profile.is_double);
}

} // namespace headroom::step_example
