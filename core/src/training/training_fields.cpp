#include "headroom/training/training_answers.hpp"

#include <algorithm>

namespace headroom::training {
namespace {

// ---- questions --------------------------------------------------------------------------------------------------------

constexpr Field model_rows[] = {
    {"name", "Name of the model.", member<&Model::name>},
    {"parameters", "Number of parameters.", [](Model const& m) { return count_parameters(m).total; }},
    {"active_parameters", "Parameters that one token passes; fewer than all in a mixture of experts.",
     [](Model const& m) { return count_parameters(m).active; }},
    {"layers", "Transformer layers, of encoder and decoder together.", member<&Model::layers>},
    {"hidden", "Width of the residual stream.", member<&Model::hidden>},
};
constexpr FieldTable model_table = field_table<Model>("model", model_rows);

constexpr Field cluster_rows[] = {
    {"name", "Name of the cluster.", member<&Cluster::name>},
    {"accelerator", "Name of the accelerator.", [](Cluster const& c) { return c.accelerator.name; }},
    {"accelerators_per_node", "Accelerators of a node.", member<&Cluster::accelerators_per_node>},
    {"price_dollars_per_hour", "Price of one accelerator; null where none is known.",
     [](Cluster const& c) { return c.price ? std::optional{c.price->in(units::dollar / units::hour)} : std::nullopt; },
     Unit{"$/h"}},
    {"price_origin", "Source of the price.", member<&Cluster::price_origin>},
};
constexpr FieldTable cluster_table = field_table<Cluster>("cluster", cluster_rows);

constexpr Field workload_rows[] = {
    {"sequence_length", "Tokens of a sequence.", [](WorkloadOfRun const& w) { return w.workload.sequence_length; }},
    {"global_batch", "Sequences of a step, over all replicas.",
     [](WorkloadOfRun const& w) { return w.workload.global_batch; }},
    {"documents", "Tokens of a packed document, to which attention is confined; 0 where sequences are whole.",
     [](WorkloadOfRun const& w) { return w.workload.documents; }},
    {"fill", "Fraction of tokens that are not padding.", [](WorkloadOfRun const& w) { return w.workload.fill; }},
    {"expert_skew", "Tokens of the fullest expert rank over their mean.",
     [](WorkloadOfRun const& w) { return w.workload.expert_skew; }},
    {"tokens", "Tokens of the whole run; null where nobody stated them.", member<&WorkloadOfRun::tokens>},
};
constexpr FieldTable workload_table = field_table<WorkloadOfRun>("workload", workload_rows);

constexpr Field strategy_rows[] = {
    {"dp", "Data-parallel degree.", [](StrategyInUse const& s) { return s.strategy.dp; }},
    {"tp", "Tensor-parallel degree.", [](StrategyInUse const& s) { return s.strategy.tp; }},
    {"pp", "Pipeline stages.", [](StrategyInUse const& s) { return s.strategy.pp; }},
    {"virtual_pp", "Model chunks of a stage, in interleaved schedules.",
     [](StrategyInUse const& s) { return s.strategy.virtual_pp; }},
    {"cp", "Context-parallel degree.", [](StrategyInUse const& s) { return s.strategy.cp; }},
    {"exchange", "How context ranks exchange keys and values.",
     [](StrategyInUse const& s) { return s.strategy.exchange; }},
    {"ep", "Expert-parallel degree.", [](StrategyInUse const& s) { return s.strategy.ep; }},
    {"etp", "Tensor-parallel degree inside an expert.", [](StrategyInUse const& s) { return s.strategy.etp; }},
    {"capacity", "Capacity factor of an expert: tokens that it takes at most, over the mean; 0 without a limit.",
     [](StrategyInUse const& s) { return s.strategy.capacity; }},
    {"zero", "ZeRO stage: 0, 1 (optimizer), 2 (and gradients) or 3 (and weights).",
     [](StrategyInUse const& s) { return s.strategy.zero; }},
    {"shard", "Ranks that ZeRO shards over; 0 for all data-parallel ranks.",
     [](StrategyInUse const& s) { return s.strategy.shard; }},
    {"micro_batch", "Sequences of a micro-batch.", [](StrategyInUse const& s) { return s.strategy.micro_batch; }},
    {"micro_batches", "Micro-batches of a step, for each replica.",
     [](StrategyInUse const& s) {
         return s.workload.global_batch / std::max(1, s.strategy.dp * s.strategy.micro_batch);
     }},
    {"sequence_parallel", "Whether norms and dropout are split over the tensor-parallel ranks.",
     [](StrategyInUse const& s) { return s.strategy.sequence_parallel; }},
    {"recompute", "Activations that are computed again in the backward pass.",
     [](StrategyInUse const& s) { return s.strategy.recompute; }},
    {"recomputed", "Recomputation as --recompute takes it: a kind, or parts of a block.",
     [](StrategyInUse const& s) { return spelled_recomputation(s.strategy); }},
    {"recompute_layers", "Layers of a stage that are recomputed; 0 for all.",
     [](StrategyInUse const& s) { return s.strategy.recompute_layers; }},
    {"offload", "State that lies in host memory.", [](StrategyInUse const& s) { return s.strategy.offload; }},
    {"train", "Trained weights: all, lora:RANK, dora:RANK or last:LAYERS.",
     [](StrategyInUse const& s) { return spelled_training(s.strategy); }},
    {"local_steps", "Steps between two exchanges of local updates; 1 for synchronous training.",
     [](StrategyInUse const& s) { return s.strategy.local_steps; }},
    {"servers", "Parameter servers; 0 for all-reduce.", [](StrategyInUse const& s) { return s.strategy.servers; }},
    {"compression", "Compression of gradients.",
     [](StrategyInUse const& s) { return spelled(s.strategy.compression); }},
    {"precision", "Number format of matrix products.", [](StrategyInUse const& s) { return s.strategy.precision; }},
    {"overlap", "Whether communication runs while kernels compute.",
     [](StrategyInUse const& s) { return s.strategy.overlap != Overlap::off; }},
    {"overlap_by_traffic",
     "Overlap as --overlap takes it: on, off, or the kinds of traffic that differ from the framework.",
     [](StrategyInUse const& s) { return spelled(s.strategy.overlap); }},
    {"schedule", "Pipeline schedule.", [](StrategyInUse const& s) { return s.strategy.schedule(); }},
    {"name", "Short name of the strategy.", [](StrategyInUse const& s) { return short_name(s.strategy); }},
};
constexpr FieldTable strategy_table = field_table<StrategyInUse>("strategy", strategy_rows);

constexpr Field assumption_rows[] = {
    {"field", "Name of the field that was left open.", member<&Assumption::field>},
    {"value", "Value that was taken.", member<&Assumption::value>},
    {"reason", "Why it was taken.", member<&Assumption::reason>},
    {"provenance", "Kind of origin: given, measured, cited or guessed.", member<&Assumption::provenance>},
};
constexpr FieldTable assumption_table = field_table<Assumption>("assumption", assumption_rows);

constexpr Field constant_rows[] = {
    {"key", "Name of the constant.", [](ConstantValue const& c) { return c.info->key; }},
    {"meaning", "Physical meaning.", [](ConstantValue const& c) { return c.info->meaning; }},
    {"unit", "Unit of the value.", [](ConstantValue const& c) { return c.info->unit; }},
    {"value", "Value.", [](ConstantValue const& c) { return c.value.value; }},
    {"low", "Lower end of its 90 % interval.", [](ConstantValue const& c) { return c.value.low; }},
    {"high", "Upper end of its 90 % interval.", [](ConstantValue const& c) { return c.value.high; }},
    {"provenance", "Kind of origin.", [](ConstantValue const& c) { return c.value.provenance; }},
    {"source", "Keys of the bibliography, or the runs that it was fitted to.",
     [](ConstantValue const& c) { return c.value.source; }},
};
constexpr FieldTable constant_table = field_table<ConstantValue>("constant", constant_rows);

} // namespace

FieldTable const& field_table_of(Model const*) { return model_table; }
FieldTable const& field_table_of(WorkloadOfRun const*) { return workload_table; }
FieldTable const& field_table_of(StrategyInUse const*) { return strategy_table; }
FieldTable const& field_table_of(Assumption const*) { return assumption_table; }
FieldTable const& field_table_of(ConstantValue const*) { return constant_table; }

} // namespace headroom::training

namespace headroom {

FieldTable const& field_table_of(Cluster const*) { return training::cluster_table; }

} // namespace headroom
