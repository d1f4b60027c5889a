#include "step_report.hpp"

#include "headroom/collective.hpp"
#include "headroom/laws.hpp"
#include "headroom/prediction.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <cstdio>

namespace headroom::training {
namespace {

std::string seconds(double value) { return format(Seconds{value}); }

std::string number(char const* form, double value) {
    char text[48];
    std::snprintf(text, sizeof text, form, value);
    return text;
}

std::string percent(double value) { return number("%.3g %%", 100.0 * value); }

std::string shape_words(TransformerShape const& shape, bool is_double) {
    return format_count(static_cast<double>(shape.parameters())) + " parameters (" + std::to_string(shape.layers) +
           " x " + std::to_string(shape.hidden) + ", " + std::to_string(shape.heads) + " heads, vocabulary " +
           std::to_string(shape.vocabulary) + (shape.tied ? ", tied" : "") + "), " + (is_double ? "double" : "single") +
           " precision\n";
}

std::string batch_words(Division const& division, std::size_t sequence) {
    return std::to_string(division.batch) + (division.local ? " sequences of each worker, " : " sequences in all, ") +
           std::to_string(sequence) + " tokens each\n";
}

std::string row(std::string name, std::string value, std::string const& words) {
    name.resize(std::max<std::size_t>(name.size(), 20), ' ');
    value.insert(0, value.size() < 10 ? 10 - value.size() : 0, ' ');
    return "  " + name + value + (words.empty() ? "" : "  " + words) + '\n';
}

std::string all_reduce_words(RunReport const& report) {
    Options const& options = report.options;
    return std::to_string(report.result.buckets) + (report.result.buckets == 1 ? " bucket" : " buckets") +
           (options.all_reduce == AllReduce::ring ? ", ring" : ", MPI's") +
           (options.overlap ? ", beside backward" : ", after backward");
}

} // namespace

double RunReport::middle(double PhaseTimes::*phase) const {
    std::vector<double> values;
    for (PhaseTimes const& one : result.steps) { values.push_back(one.*phase); }
    return median(values);
}

double RunReport::least_step() const {
    double least = result.steps.front().step;
    for (PhaseTimes const& one : result.steps) { least = std::min(least, one.step); }
    return least;
}

Division RunReport::division() const {
    return {.batch = options.batch,
            .local = options.local_batch,
            .bucket_bytes = options.bucket_bytes,
            .overlap = options.overlap,
            .algorithm = options.algorithm};
}

double RunReport::gamma() const {
    double const computing =
        middle(&PhaseTimes::forward) + middle(&PhaseTimes::backward) + middle(&PhaseTimes::optimizer);
    return communication_to_computation(Seconds{workers > 1 ? middle(&PhaseTimes::all_reduce) : 0.0},
                                        Seconds{computing});
}

double RunReport::serial_share() const {
    Profile const parts{.compute = Seconds{middle(&PhaseTimes::forward) + middle(&PhaseTimes::backward)},
                        .communication = Seconds{middle(&PhaseTimes::exposed) + middle(&PhaseTimes::optimizer)},
                        .workers = Ranks{workers}};
    return serial_share_at(parts, Ranks{workers});
}

std::string run_text(RunReport const& report) {
    RunResult const& result = report.result;
    std::string text = shape_words(result.profile.shape, result.profile.is_double);
    text += batch_words(report.division(), result.profile.shape.sequence);
    text += std::to_string(report.workers) + (report.workers == 1 ? " worker, " : " workers, ") +
            (report.is_replay ? "computing replayed (sleeps end " + seconds(result.overshoot) + " early)"
                              : "matrix products: " + result.profile.gemm) +
            "\n\n";
    text += row("forward", seconds(report.middle(&PhaseTimes::forward)), "");
    text += row("backward", seconds(report.middle(&PhaseTimes::backward)), "");
    if (report.workers > 1) {
        text += row("exposed all-reduce", seconds(report.middle(&PhaseTimes::exposed)),
                    "of " + seconds(report.middle(&PhaseTimes::all_reduce)) + "; " + all_reduce_words(report));
    }
    text += row("optimizer", seconds(report.middle(&PhaseTimes::optimizer)), "");
    text += row("step", seconds(report.middle(&PhaseTimes::step)),
                "median of " + std::to_string(result.steps.size()) + ", least " + seconds(report.least_step()));
    if (report.workers > 1) { text += row("gamma", number("%.3g", report.gamma()), "all-reduce over computing"); }
    text += row("s on " + std::to_string(report.workers), percent(report.serial_share()),
                report.workers > 1 ? "of the step: exposed all-reduce and optimizer" : "of the step: optimizer");
    if (!result.losses.empty()) {
        text += row("loss", number("%.4f", result.losses.front()),
                    "at first, " + number("%.4f", result.losses.back()) + " at last");
    }
    return text + "step_seconds = " + number("%.9g", report.middle(&PhaseTimes::step)) + '\n';
}

std::string check_text(RunReport const& report) {
    RunResult const& result = report.result;
    bool const is_double = result.profile.is_double;
    bool const holds = std::max(result.loss_difference, result.gradient_difference) <= allowed_difference(is_double);
    return std::to_string(report.workers) + (report.workers == 1 ? " worker" : " workers") + " against one process, " +
           std::to_string(result.losses.size()) + " steps, " + (is_double ? "double" : "single") + " precision\n" +
           "losses differ by " + number("%.2g", result.loss_difference) + ", gradients by " +
           number("%.2g", result.gradient_difference) + ", rounding explains " +
           number("%.0g", allowed_difference(is_double)) + (holds ? "\ncheck = passed\n" : "\ncheck = failed\n");
}

std::string prediction_text(StepProfile const& profile, Division const& division,
                            std::vector<PredictedStep> const& steps) {
    std::string text = shape_words(profile.shape, profile.is_double) + batch_words(division, profile.shape.sequence);
    text += "from one worker's profile of " + std::to_string(profile.batch) + " sequences\n" + division.algorithm +
            " all-reduce, " + format(division.link.latency) + ", " + format(division.link.bandwidth) +
            (division.overlap ? ", beside" : ", after") + " the backward pass" +
            (division.overlap && division.load > 0.0 ? ", slowed by " + percent(division.load) : "") + "\n\n" +
            "workers computing all-reduce   exposed      step   gamma       s speedup ceiling\n";
    for (PredictedStep const& step : steps) {
        char line[160];
        std::snprintf(line, sizeof line, "%7d %9s %10s %9s %9s %7.3g %7s %7.3g %7s\n", step.workers,
                      seconds(step.forward + step.backward + step.slowed + step.optimizer).c_str(),
                      seconds(step.all_reduce).c_str(), seconds(step.exposed).c_str(), seconds(step.step).c_str(),
                      step.gamma, percent(step.serial_share).c_str(), step.speedup,
                      step.ceiling ? number("%.3g", *step.ceiling).c_str() : "-");
        text += line;
    }
    text += "\ns: exposed all-reduce, what it slows beside it, and optimizer, which do not\n"
            "divide, over the step on that many workers; ceiling: of the speedup, if they\n"
            "stayed as they are there\n";
    return text;
}

} // namespace headroom::training
