#include "prediction_views.hpp"

namespace headroom::training {
namespace {

constexpr Question const& asked(FinetuneAnswer const& answer) { return answer.prediction.question; }

constexpr Field answer_rows[] = {
    {"model", "Model.", [](FinetuneAnswer const& a) -> Model const& { return asked(a).model; }},
    {"cluster", "Cluster.", [](FinetuneAnswer const& a) -> Cluster const& { return asked(a).cluster; }},
    {"framework", "Training framework.", [](FinetuneAnswer const& a) { return asked(a).framework.name; }},
    {"workload", "Data of a step and of the run.",
     [](FinetuneAnswer const& a) {
         return WorkloadOfRun{asked(a).workload, asked(a).tokens};
     }},
    {"method", "Method: full, lora, qlora, dora or qdora.", member<&FinetuneAnswer::method>},
    {"dataset_tokens", "Tokens of the data set.", member<&FinetuneAnswer::dataset_tokens>},
    {"epochs", "Passes over the data set.", member<&FinetuneAnswer::epochs>},
    {"workers", "Accelerators.", [](FinetuneAnswer const& a) { return a.prediction.workers; }},
    {"strategy", "Parallelism and the other choices.",
     [](FinetuneAnswer const& a) { return strategy_of(a.prediction); }},
    {"fits", "Whether it fits in memory, with a probability of one half at least.",
     [](FinetuneAnswer const& a) { return a.prediction.fits; }},
    {"probability_fits", "Probability that it fits; null where the spread of measured memory is not known.",
     [](FinetuneAnswer const& a) { return a.prediction.odds ? std::optional{a.prediction.odds->fits} : std::nullopt; }},
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
};
constexpr FieldTable answer_table = field_table<FinetuneAnswer>("finetune", answer_rows);

} // namespace

double minutes_per_epoch(FinetuneAnswer const& answer) {
    return answer.dataset_tokens / answer.prediction.tokens_per_second / 60.0;
}

FieldTable const& field_table_of(FinetuneAnswer const*) { return answer_table; }

} // namespace headroom::training
