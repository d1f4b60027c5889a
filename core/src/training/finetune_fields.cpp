#include "prediction_views.hpp"

namespace headroom::training {
namespace {

double minutes_of(double dataset_tokens, Prediction const& prediction) {
    return dataset_tokens / prediction.tokens_per_second / 60.0;
}

std::optional<double> probability_of(Prediction const& prediction) {
    return prediction.odds ? std::optional{prediction.odds->fits} : std::nullopt;
}

/// Value of a size's prediction by `get`, empty without one.
template <class Get> auto of_size(FinetuneSize const& size, Get get) {
    return size.prediction ? std::optional{get(*size.prediction)} : std::nullopt;
}

constexpr Field tuned_size_rows[] = {
    {"workers", "Accelerators.", member<&FinetuneSize::workers>},
    {"recommended", "Whether the fields of the answer describe this size.", member<&FinetuneSize::recommended>},
    {"fits", "Whether it fits in memory, with a probability of one half at least.",
     [](FinetuneSize const& s) { return s.fits(); }},
    {"probability_fits", "Probability that it fits; null where the spread of measured memory is not known.",
     [](FinetuneSize const& s) { return s.prediction ? probability_of(*s.prediction) : std::nullopt; }},
    {"why_not", "Reason why it does not fit or cannot run; null where it fits.",
     [](FinetuneSize const& s) {
         return if_stated(s.fits() ? std::string{} : s.prediction ? s.prediction->why_not : s.refused);
     }},
    {"strategy", "Parallelism and the other choices; null where none is possible.",
     [](FinetuneSize const& s) { return of_size(s, strategy_of); }},
    {"global_batch", "Sequences of a step; null where no strategy is possible.",
     [](FinetuneSize const& s) {
         return of_size(s, [](Prediction const& p) { return p.question.workload.global_batch; });
     }},
    {"memory_bytes", "Memory of the fullest accelerator.",
     [](FinetuneSize const& s) { return of_size(s, [](Prediction const& p) { return p.memory.total(); }); }},
    {"step_seconds", "Time of one training step.",
     [](FinetuneSize const& s) { return of_size(s, [](Prediction const& p) { return p.step(); }); }},
    {"interval_seconds", "90 % interval of the step.",
     [](FinetuneSize const& s) { return of_size(s, [](Prediction const& p) { return ends_of(p.interval); }); }},
    {"tokens_per_second", "Tokens that the whole job processes in a second.",
     [](FinetuneSize const& s) { return of_size(s, [](Prediction const& p) { return p.tokens_per_second; }); }},
    {"minutes_per_epoch", "Time of one pass over the data set.", from<epoch_minutes>, Unit{"min"}},
    {"cost_dollars", "Cost of all epochs; null without a price.",
     [](FinetuneSize const& s) { return s.prediction ? cost_of(*s.prediction) : std::nullopt; }},
};
constexpr FieldTable tuned_size_table = field_table<FinetuneSize>("finetune_size", tuned_size_rows);

constexpr Question const& asked(FinetuneAnswer const& answer) { return answer.prediction.question; }

constexpr Field finetune_answer_rows[] = {
    {"model", "Model.", [](FinetuneAnswer const& a) -> Model const& { return asked(a).model; }},
    {"cluster", "Cluster.", [](FinetuneAnswer const& a) -> Cluster const& { return asked(a).cluster; }},
    {"framework", "Training framework.", [](FinetuneAnswer const& a) { return asked(a).framework.name; }},
    {"workload", "Data of a step and of the run.",
     [](FinetuneAnswer const& a) {
         return WorkloadOfRun{asked(a).workload, asked(a).tokens};
     }},
    {"method", "Method: full (all weights, or the last layers), lora, qlora, dora or qdora.",
     member<&FinetuneAnswer::method>},
    {"dataset_tokens", "Tokens of the data set.", member<&FinetuneAnswer::dataset_tokens>},
    {"epochs", "Passes over the data set.", member<&FinetuneAnswer::epochs>},
    {"workers", "Accelerators.", [](FinetuneAnswer const& a) { return a.prediction.workers; }},
    {"strategy", "Parallelism and the other choices.",
     [](FinetuneAnswer const& a) { return strategy_of(a.prediction); }},
    {"fits", "Whether it fits in memory, with a probability of one half at least.",
     [](FinetuneAnswer const& a) { return a.prediction.fits; }},
    {"probability_fits", "Probability that it fits; null where the spread of measured memory is not known.",
     [](FinetuneAnswer const& a) { return probability_of(a.prediction); }},
    {"host_memory_bytes", "Memory that offloaded state takes of a machine's host.",
     [](FinetuneAnswer const& a) { return a.prediction.host_needed; }},
    {"why_not", "Reason why it does not fit; null where it fits.",
     [](FinetuneAnswer const& a) { return if_stated(a.prediction.fits ? std::string{} : a.prediction.why_not); }},
    {"memory_bytes", "Memory of the fullest accelerator.",
     [](FinetuneAnswer const& a) { return a.prediction.memory.total(); }},
    {"step_seconds", "Time of one training step.", [](FinetuneAnswer const& a) { return a.prediction.step(); }},
    {"interval_seconds", "90 % interval of the step.",
     [](FinetuneAnswer const& a) { return ends_of(a.prediction.interval); }},
    {"tokens_per_second", "Tokens that the whole job processes in a second.",
     [](FinetuneAnswer const& a) { return a.prediction.tokens_per_second; }},
    {"minutes_per_epoch", "Time of one pass over the data set.", from<minutes_per_epoch>, Unit{"min"}},
    {"cost_dollars", "Cost of all epochs; null without a price.",
     [](FinetuneAnswer const& a) { return cost_of(a.prediction); }},
    {"verdict", "Answer in words.", member<&FinetuneAnswer::verdict>},
    {"command", "Command of headroom predict for this configuration.", member<&FinetuneAnswer::command>},
    {"assumed", "Fields that nobody stated, with the values taken.",
     [](FinetuneAnswer const& a) -> std::vector<Assumption> const& { return asked(a).assumptions; }},
    {"notes", "Remarks on the input.", member<&FinetuneAnswer::notes>},
    {"curve", "All numbers of accelerators that were asked about.", member<&FinetuneAnswer::curve>},
};
constexpr FieldTable finetune_answer_table = field_table<FinetuneAnswer>("finetune", finetune_answer_rows);

} // namespace

double minutes_per_epoch(FinetuneAnswer const& answer) { return minutes_of(answer.dataset_tokens, answer.prediction); }

std::optional<double> epoch_minutes(FinetuneSize const& size) {
    return of_size(size, [&](Prediction const& p) { return minutes_of(size.dataset_tokens, p); });
}

FieldTable const& field_table_of(FinetuneSize const*) { return tuned_size_table; }
FieldTable const& field_table_of(FinetuneAnswer const*) { return finetune_answer_table; }

} // namespace headroom::training
