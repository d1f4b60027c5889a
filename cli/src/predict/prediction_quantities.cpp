#include "predict/prediction_quantities.hpp"

#include "left_out.hpp"
#include "predict/prediction_report.hpp"

namespace headroom::cli {

double accelerators(Prediction const& prediction) { return static_cast<double>(prediction.workers); }

FlopsPerSecond model_rate(Prediction const& prediction) {
    return prediction.model_flops / (prediction.step() * accelerators(prediction));
}

std::optional<double> dollars_per_million(Prediction const& prediction) {
    if (!prediction.question.cluster.price || !prediction.progresses()) { return std::nullopt; }
    double const lost = prediction.goodput ? prediction.goodput->time_over_work : 1.0;
    return prediction.question.cluster.price->base() * accelerators(prediction) / prediction.tokens_per_second * 1e6 *
           lost;
}

std::optional<double> ceiling_of(Prediction const& prediction) {
    return prediction.serial.value > 0.0 ? std::optional{prediction.speedup_ceiling} : std::nullopt;
}

std::vector<MemoryUse> stages_of(Prediction const& p) {
    static constexpr Calibration unused{}; // memory asks no constants
    return memory_by_stage(step_setting(p.question, p.question.cluster, unused), p.question.strategy);
}

std::optional<Seconds> duration_of(Prediction const& prediction) { return run_time(prediction); }

std::optional<Dollars> cost_of(Prediction const& prediction) {
    auto const duration = duration_of(prediction);
    if (!duration || !prediction.question.cluster.price) { return std::nullopt; }
    return *prediction.question.cluster.price * *duration * accelerators(prediction);
}

double samples_per_second(Prediction const& prediction) {
    return prediction.question.workload.global_batch / prediction.step().base();
}

std::vector<Metric> metrics_of(Prediction const& p) {
    Dimension const seconds{.seconds = 1}, bytes{.bytes = 1}, dollars{.dollars = 1};
    auto const base = [](auto const& quantity) { return quantity ? std::optional{quantity->base()} : std::nullopt; };
    std::vector<Metric> metrics = left_out_metrics(p);
    metrics.insert(metrics.begin(), {{"step", p.step().base(), seconds},
                                     {"mfu", p.mfu},
                                     {"hfu", p.hfu},
                                     {"gamma", p.gamma},
                                     {"tokens_per_second", p.tokens_per_second},
                                     {"tokens_per_second_per_accelerator", p.tokens_per_second / accelerators(p)},
                                     {"memory", p.memory.total().base(), bytes},
                                     {"exposed_communication", p.time.exposed_communication().base(), seconds},
                                     {"time", base(duration_of(p)), seconds},
                                     {"cost", base(cost_of(p)), dollars},
                                     {"dollars_per_million_tokens", dollars_per_million(p)}});
    return metrics;
}

std::vector<std::pair<std::string, Seconds>> parts_of(StepTime const& time) {
    return {{"compute", time.compute},
            {"host", time.host},
            {"tensor communication", time.tensor_communication},
            {"context communication", time.context_communication},
            {"expert communication", time.expert_communication},
            {"pipeline communication", time.pipeline_communication},
            {"data communication", time.data_communication},
            {"pipeline bubble", time.pipeline_bubble},
            {"optimizer", time.optimizer},
            {"offload", time.offload},
            {"imbalance", time.imbalance},
            {"stragglers", time.stragglers},
            {"overhead", time.overhead}};
}

std::vector<std::pair<std::string, Bytes>> parts_of(MemoryUse const& memory) {
    return {{"weights", memory.weights},         {"gradients", memory.gradients}, {"optimizer", memory.optimizer},
            {"activations", memory.activations}, {"logits", memory.logits},       {"temporaries", memory.temporaries},
            {"buffers", memory.buffers}};
}

} // namespace headroom::cli
