// Results for machines.

#include "step_report.hpp"

#include "headroom/collective.hpp"

#include <charconv>
#include <cmath>
#include <string_view>

namespace headroom::training {
namespace {

std::string digits(double value) {
    if (!std::isfinite(value)) { return "null"; }
    char text[32];
    auto const [end, error] = std::to_chars(text, text + sizeof text, value);
    return error == std::errc{} ? std::string{text, end} : std::string{"null"};
}
std::string digits(std::size_t value) { return std::to_string(value); }
std::string word(std::string_view text) {
    std::string result = "\"";
    for (char const c : text) {
        if (c == '"' || c == '\\') { result += '\\'; }
        result += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
    return result + '"';
}
std::string truth(bool value) { return value ? "true" : "false"; }

/// Members of an object, line by line.
class Object {
public:
    explicit Object(std::string indent) : indent_{std::move(indent)} {}
    Object& set(std::string_view key, std::string const& value) {
        text_ += (text_.empty() ? "" : ",") + std::string{"\n"} + indent_ + "  \"" + std::string{key} + "\": " + value;
        return *this;
    }
    [[nodiscard]] std::string text() const { return "{" + text_ + "\n" + indent_ + "}"; }

private:
    std::string indent_, text_;
};

std::string model_json(StepProfile const& profile) {
    TransformerShape const& shape = profile.shape;
    return Object{"  "}
        .set("layers", digits(shape.layers))
        .set("hidden", digits(shape.hidden))
        .set("heads", digits(shape.heads))
        .set("sequence", digits(shape.sequence))
        .set("vocabulary", digits(shape.vocabulary))
        .set("tied", truth(shape.tied))
        .set("parameters", digits(shape.parameters()))
        .set("gradient_bytes", digits(shape.parameters() * profile.element_bytes()))
        .text();
}

/// What a run and a prediction have alike.
Object opening(char const* kind, StepProfile const& profile, Division const& division) {
    Object object{""};
    object.set("schema", word("headroom.training-step/1"))
        .set("kind", word(kind))
        .set("model", model_json(profile))
        .set("precision", word(profile.is_double ? "double" : "single"))
        .set("gemm", word(profile.gemm))
        .set("batch", digits(division.batch))
        .set("batch_is_of", word(division.local ? "each worker" : "all workers"))
        .set("bucket_bytes", digits(division.bucket_bytes))
        .set("overlap", truth(division.overlap))
        .set("all_reduce", word(division.algorithm));
    return object;
}

std::string list(std::vector<double> const& values) {
    std::string text;
    for (double const value : values) { text += (text.empty() ? "" : ", ") + digits(value); }
    return "[" + text + "]";
}

std::string phases_json(RunReport const& report) {
    return Object{"  "}
        .set("forward_seconds", digits(report.middle(&PhaseTimes::forward)))
        .set("backward_seconds", digits(report.middle(&PhaseTimes::backward)))
        .set("exposed_all_reduce_seconds", digits(report.middle(&PhaseTimes::exposed)))
        .set("optimizer_seconds", digits(report.middle(&PhaseTimes::optimizer)))
        .text();
}

/// What each worker sends in a step, where the algorithm is known.
std::string sent(RunReport const& report) {
    if (report.options.all_reduce != AllReduce::ring && report.workers > 1) { return "null"; }
    StepProfile const& profile = report.result.profile;
    double const bytes = static_cast<double>(profile.shape.parameters() * profile.element_bytes());
    return digits(ring_all_reduce_bytes(TotalBytes{Bytes{bytes}}, Ranks{report.workers}).base());
}

std::string row_json(PredictedStep const& step) {
    return Object{"    "}
        .set("workers", std::to_string(step.workers))
        .set("sequences_of_the_fullest", digits(step.share))
        .set("step_seconds", digits(step.step))
        .set("forward_seconds", digits(step.forward))
        .set("backward_seconds", digits(step.backward))
        .set("exposed_all_reduce_seconds", digits(step.exposed))
        .set("optimizer_seconds", digits(step.optimizer))
        .set("all_reduce_seconds", digits(step.all_reduce))
        .set("gamma", digits(step.gamma))
        .set("serial_share", digits(step.serial_share))
        .set("speedup", digits(step.speedup))
        .set("ceiling", step.ceiling ? digits(*step.ceiling) : "null")
        .text();
}

} // namespace

std::string run_json(RunReport const& report) {
    std::vector<double> steps;
    for (PhaseTimes const& one : report.result.steps) { steps.push_back(one.step); }
    Object object = opening(report.is_replay ? "replay" : "run", report.result.profile, report.division());
    object.set("workers", std::to_string(report.workers))
        .set("sequences_of_the_fullest",
             digits(report.division().largest_share(static_cast<std::size_t>(report.workers))))
        .set("buckets", digits(report.result.buckets))
        .set("bytes_sent_per_worker", sent(report))
        .set("warm_up", digits(report.options.warm_up))
        .set("step_seconds", digits(report.middle(&PhaseTimes::step)))
        .set("least_step_seconds", digits(report.least_step()))
        .set("phases", phases_json(report))
        .set("all_reduce_seconds", report.workers > 1 ? digits(report.middle(&PhaseTimes::all_reduce)) : "0")
        .set("gamma", digits(report.gamma()))
        .set("serial_share", digits(report.serial_share()))
        .set("steps_seconds", list(steps))
        .set("losses", list(report.result.losses));
    return object.text() + "\n";
}

std::string prediction_json(StepProfile const& profile, Division const& division,
                            std::vector<PredictedStep> const& steps) {
    std::string rows;
    for (PredictedStep const& step : steps) { rows += (rows.empty() ? "" : ", ") + row_json(step); }
    Object object = opening("prediction", profile, division);
    object.set("profiled_batch", digits(profile.batch))
        .set("latency_seconds", digits(division.link.latency.base()))
        .set("bandwidth_bytes_per_second", digits(division.link.bandwidth.base()))
        .set("rows", "[" + rows + "]");
    return object.text() + "\n";
}

} // namespace headroom::training
