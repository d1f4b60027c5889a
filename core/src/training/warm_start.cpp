#include "headroom/training/warm_start.hpp"

#include "headroom/training/calibration.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>

namespace headroom::training {
namespace {

std::string words(std::initializer_list<double> numbers) {
    std::string text;
    for (double const number : numbers) {
        std::array<char, 32> digits{};
        text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr) += ' ';
    }
    return text;
}

std::string layout_of(Strategy const& s) {
    std::string text{name_of(s.recompute)};
    auto const add = [&text](bool used, char const* name) { text += used ? name : ""; };
    add(s.zero == 3, " zero3");
    add(s.tp > 1, " tp");
    add(s.pp > 1, " pp");
    add(s.cp > 1, " cp");
    add(s.ep > 1, " ep");
    return text;
}

std::string model_of(Model const& m) {
    if (!m.operators.empty()) { return m.name; }
    return words({double(m.layers), double(m.hidden), double(m.heads), double(m.kv_heads), double(m.ffn),
                  double(m.encoder_layers), double(m.moe.experts), double(m.moe.top_k), double(m.moe.ffn),
                  double(m.state_space.heads)});
}

} // namespace

StepTraits traits_of(Question const& question) {
    auto const& s = question.strategy;
    StepTraits traits;
    traits.site = question.framework.name + ", " + question.cluster.accelerator.name + ", " +
                  std::string{name_of(s.offload)} + " offloaded, " +
                  words({double(s.trained == Trained::all), double(s.trained == Trained::lora)});
    traits.model = model_of(question.model);
    traits.workload = std::string{name_of(s.precision)} + words({double(question.workload.sequence_length)});
    traits.layout = layout_of(s);
    traits.replica = traits.layout + words({double(s.zero), double(s.tp), double(s.pp), double(s.virtual_pp),
                                            double(s.cp), double(s.ep), double(s.etp), double(s.micro_batch),
                                            double(s.recompute_layers), double(s.sequence_parallel)});
    traits.mixture = question.model.moe.experts > 0;
    return traits;
}

MeasuredStep measured_step(Question const& question, Seconds measured, CalibrationSet const& calibration,
                           std::string name) {
    CalibrationSet alone = calibration;
    alone.warm.steps.clear();
    auto const prediction = predict(question, alone, Remedies::left_out);
    double const log_factor = std::log(measured / prediction.step());
    auto traits = traits_of(question);
    constexpr double of_twenty = 1.96; // standard deviations: one normal value in twenty lies beyond
    double const far = of_twenty * std::sqrt(calibration.warm.likeness(traits).total());
    double const low = std::min(-far, std::log(prediction.interval.low / prediction.step())),
                 high = std::max(far, std::log(prediction.interval.high / prediction.step()));
    double const clipped = std::clamp(log_factor, low, high);
    return {.name = std::move(name),
            .traits = std::move(traits),
            .measured = measured,
            .predicted = prediction.step(),
            .log_factor = clipped,
            .excess = std::abs(log_factor - clipped)};
}

WarmStart of_any_plan(WarmStart warm) {
    for (auto& step : warm.steps) { // with each other they still share both
        step.traits.layout = "measured " + step.traits.layout;
        step.traits.replica = "measured " + step.traits.replica;
    }
    return warm;
}

Interval narrowed(Interval interval, Seconds step, WarmPosterior const& posterior) {
    constexpr double ninety_per_cent = 1.6449; // of a normal distribution, in standard deviations to either side
    auto const moved = [&](Seconds end) {
        double const width = std::log(end / step);
        double const left = std::max(std::abs(width) * posterior.narrowing, ninety_per_cent * posterior.deviation);
        return step * std::exp(posterior.log_factor + std::copysign(std::min(std::abs(width), left), width));
    };
    interval.low = moved(interval.low);
    interval.high = moved(interval.high);
    return interval;
}

void apply_warm_start(Prediction& p, CalibrationSet const& calibration) {
    if (calibration.warm.steps.empty()) { return; }
    auto const traits = traits_of(p.question);
    auto const& likeness = calibration.warm.likeness(traits);
    auto const posterior = warm_posterior(traits, calibration.warm.steps, likeness);
    if (posterior.related == 0) { return; }
    WarmEffect effect{.factor = std::exp(posterior.log_factor),
                      .related = posterior.related,
                      .outside = 0,
                      .step_before = p.step(),
                      .interval_before = p.interval};
    for (auto const& step : calibration.warm.steps) {
        effect.outside += step.excess > 0.0 && likeness.shared(traits, step.traits) > 0.0 ? 1 : 0;
    }
    double const factor = effect.factor;
    p.interval = narrowed(p.interval, effect.step_before, posterior);
    auto& t = p.time;
    for (Seconds* const part :
         {&t.compute, &t.host, &t.tensor_communication, &t.context_communication, &t.expert_communication,
          &t.pipeline_communication, &t.data_communication, &t.pipeline_bubble, &t.optimizer, &t.offload, &t.imbalance,
          &t.stragglers, &t.overhead}) {
        *part *= factor;
    }
    for (auto& row : p.communication) {
        row.seconds *= factor;
        row.exposed *= factor;
    }
    for (auto& remedy : p.remedies) { remedy.step *= factor; }
    for (double* const rate : {&p.tokens_per_second, &p.mfu, &p.hfu, &p.mfu_full_attention}) { *rate /= factor; }
    p.warm = effect;
}

} // namespace headroom::training
