#include "prediction_views.hpp"

namespace headroom::training {
namespace {

constexpr Field breakdown_rows[] = {
    {"compute_seconds", "Kernels of the slowest stage over all micro-batches.", member<&StepTime::compute>},
    {"host_seconds", "Time in which the accelerator waits for kernels to be launched.", member<&StepTime::host>},
    {"exposed_communication_seconds", "Communication that no computation hides.",
     [](StepTime const& t) { return t.exposed_communication(); }},
    {"pipeline_bubble_seconds", "Idle time of the slowest stage in the pipeline.", member<&StepTime::pipeline_bubble>},
    {"optimizer_seconds", "Update of the weights and accumulation of gradients.", member<&StepTime::optimizer>},
    {"offload_seconds", "Exposed copies to and from host memory, and updates there.", member<&StepTime::offload>},
    {"imbalance_seconds", "Time that the rank with the most work adds.", member<&StepTime::imbalance>},
    {"stragglers_seconds", "Time that the slowest of many equal ranks adds.", member<&StepTime::stragglers>},
    {"overhead_seconds", "Fixed time of a step.", member<&StepTime::overhead>},
};
constexpr FieldTable breakdown_table = field_table<StepTime>("breakdown", breakdown_rows);

constexpr Field exposed_rows[] = {
    {"tensor_seconds", "Exposed communication of tensor parallelism.",
     [](ExposedCommunication const& e) { return e.time.tensor_communication; }},
    {"context_seconds", "Exposed communication of context parallelism.",
     [](ExposedCommunication const& e) { return e.time.context_communication; }},
    {"expert_seconds", "Exposed communication of expert parallelism.",
     [](ExposedCommunication const& e) { return e.time.expert_communication; }},
    {"pipeline_seconds", "Exposed transfers between pipeline stages.",
     [](ExposedCommunication const& e) { return e.time.pipeline_communication; }},
    {"data_seconds", "Exposed communication of gradients and weights in data parallelism.",
     [](ExposedCommunication const& e) { return e.time.data_communication; }},
};
constexpr FieldTable exposed_table = field_table<ExposedCommunication>("exposed_communication", exposed_rows);

constexpr Field call_rows[] = {
    {"dimension", "Parallel dimension that communicates.", member<&CommunicationRow::dimension>},
    {"collective", "Collective operation.", member<&CommunicationRow::collective>},
    {"why", "Payload and reason of the communication.", member<&CommunicationRow::why>},
    {"algorithm", "Algorithm of the collective.", member<&CommunicationRow::algorithm>},
    {"bytes", "Vector size of all operations of a step on one rank.", member<&CommunicationRow::bytes>},
    {"operations", "Number of operations in a step.", member<&CommunicationRow::operations>},
    {"group_size", "Ranks that take part.", [](CommunicationRow const& r) { return r.group.size; }},
    {"group_per_domain", "Ranks of the group inside one scale-up domain.",
     [](CommunicationRow const& r) { return r.group.per_domain; }},
    {"seconds", "Time of all operations of a step.", member<&CommunicationRow::seconds>},
    {"exposed_seconds",
     "Time that no computation hides, with waits for a link that others use: with those it can exceed `seconds`.",
     member<&CommunicationRow::exposed>},
};
constexpr FieldTable communication_table = field_table<CommunicationRow>("communication", call_rows);

constexpr Field remedy_rows[] = {
    {"change", "Change that makes the configuration fit.", member<&MemoryRemedy::change>},
    {"step_seconds", "Step time after it.", member<&MemoryRemedy::step>},
    {"memory_bytes", "Memory of the fullest stage after it.", member<&MemoryRemedy::memory>},
    {"footprint_bytes", "Memory after it with fragmentation, context and libraries.", member<&MemoryRemedy::footprint>},
};
constexpr FieldTable remedy_table = field_table<MemoryRemedy>("remedy", remedy_rows);

constexpr Field stage_memory_rows[] = {
    {"stage", "Number of the pipeline stage.", member<&MemoryUse::stage>},
    {"state_bytes", "Weights, gradients and optimizer state.", [](MemoryUse const& m) { return m.state(); }},
    {"kept_activations_bytes", "Activations kept for the backward passes in flight.", member<&MemoryUse::activations>},
    {"logits_bytes", "Logits and the tensors that the loss keeps.", member<&MemoryUse::logits>},
    {"temporaries_bytes", "Block that is recomputed, and gradients of its activations.",
     member<&MemoryUse::temporaries>},
    {"buffers_bytes", "Gathered weights and gradient buckets.", member<&MemoryUse::buffers>},
    {"total_bytes", "Sum of all of these.", [](MemoryUse const& m) { return m.total(); }},
    {"footprint_bytes", "Total with fragmentation, context and libraries.",
     [](MemoryUse const& m) { return m.footprint(); }},
};
constexpr FieldTable stage_memory_table = field_table<MemoryUse>("stage_memory", stage_memory_rows);

constexpr MemoryUse const& use(MemoryOfPrediction const& m) { return m.prediction->memory; }

constexpr std::optional<MemoryOdds> const& odds(MemoryOfPrediction const& m) { return m.prediction->odds; }

/// The five first sum to the total: activations are the three parts that follow it.
constexpr Field memory_rows[] = {
    {"weights_bytes", "Weights.", [](MemoryOfPrediction const& m) { return use(m).weights; }},
    {"gradients_bytes", "Gradients.", [](MemoryOfPrediction const& m) { return use(m).gradients; }},
    {"optimizer_bytes", "Optimizer state.", [](MemoryOfPrediction const& m) { return use(m).optimizer; }},
    {"activations_bytes", "Kept activations, logits and temporaries.",
     [](MemoryOfPrediction const& m) { return use(m).all_activations(); }},
    {"buffers_bytes", "Gathered weights and gradient buckets.",
     [](MemoryOfPrediction const& m) { return use(m).buffers; }},
    {"total_bytes", "Sum of all of these, on the fullest stage.",
     [](MemoryOfPrediction const& m) { return use(m).total(); }},
    {"kept_activations_bytes", "Activations kept for the backward passes in flight.",
     [](MemoryOfPrediction const& m) { return use(m).activations; }},
    {"logits_bytes", "Logits and the tensors that the loss keeps.",
     [](MemoryOfPrediction const& m) { return use(m).logits; }},
    {"temporaries_bytes", "Block that is recomputed, and gradients of its activations.",
     [](MemoryOfPrediction const& m) { return use(m).temporaries; }},
    {"fragmentation_bytes", "Memory that the allocator holds and cannot hand out.",
     [](MemoryOfPrediction const& m) { return use(m).fragmentation; }},
    {"runtime_bytes", "Context, buffers of the collective library and workspaces.",
     [](MemoryOfPrediction const& m) { return use(m).runtime; }},
    {"footprint_bytes", "Total with fragmentation and runtime: the bytes that must fit.",
     [](MemoryOfPrediction const& m) { return use(m).footprint(); }},
    {"host_bytes", "Host memory that the accelerator's process needs for what is offloaded.",
     [](MemoryOfPrediction const& m) { return use(m).host; }},
    {"footprint_low_bytes", "Lower end of the 90 % interval of the footprint; null where its spread is not known.",
     [](MemoryOfPrediction const& m) { return odds(m) ? std::optional{odds(m)->footprint.low} : std::nullopt; }},
    {"footprint_high_bytes", "Upper end of that interval.",
     [](MemoryOfPrediction const& m) { return odds(m) ? std::optional{odds(m)->footprint.high} : std::nullopt; }},
    {"fits_probability", "Probability that the footprint fits; null where its spread is not known.",
     [](MemoryOfPrediction const& m) { return odds(m) ? std::optional{odds(m)->fits} : std::nullopt; }},
    {"stage", "Number of the fullest stage.", [](MemoryOfPrediction const& m) { return use(m).stage; }},
    {"usable_bytes", "Memory that the total may take.",
     [](MemoryOfPrediction const& m) { return m.prediction->memory_usable; }},
    {"capacity_bytes", "Memory of the accelerator.",
     [](MemoryOfPrediction const& m) { return m.prediction->memory_capacity; }},
    {"fits", "Whether the configuration fits with a probability of one half at least.",
     [](MemoryOfPrediction const& m) { return m.prediction->fits; }},
    {"remedies", "Changes that make it fit, the cheapest in time first.",
     [](MemoryOfPrediction const& m) { return m.prediction->remedies; }},
};
constexpr FieldTable memory_table = field_table<MemoryOfPrediction>("memory", memory_rows);

constexpr Field warm_rows[] = {
    {"factor", "Factor from measured steps, applied to the step time.", member<&WarmEffect::factor>},
    {"measured_steps", "Measured steps that it follows from.", member<&WarmEffect::related>},
    {"outside_interval", "Measured steps outside their interval, which were clipped.", member<&WarmEffect::outside>},
    {"step_seconds_before", "Step time without them.", member<&WarmEffect::step_before>, Unit{"s"}},
    {"interval_seconds_before", "Interval without them.",
     [](WarmEffect const& w) { return ends_of(w.interval_before); }, Unit{"s"}},
};
constexpr FieldTable warm_table = field_table<WarmEffect>("measured", warm_rows);

constexpr Field serial_rows[] = {
    {"value", "Fraction of the step that does not shrink with more workers.", member<&SerialFraction::value>},
    {"at_workers", "Worker count that it was taken at.", member<&SerialFraction::at_workers>},
};
constexpr FieldTable serial_table = field_table<SerialFraction>("serial_fraction", serial_rows);

} // namespace

FieldTable const& field_table_of(StepTime const*) { return breakdown_table; }
FieldTable const& field_table_of(ExposedCommunication const*) { return exposed_table; }
FieldTable const& field_table_of(CommunicationRow const*) { return communication_table; }
FieldTable const& field_table_of(MemoryRemedy const*) { return remedy_table; }
FieldTable const& field_table_of(MemoryUse const*) { return stage_memory_table; }
FieldTable const& field_table_of(MemoryOfPrediction const*) { return memory_table; }
FieldTable const& field_table_of(WarmEffect const*) { return warm_table; }
FieldTable const& field_table_of(SerialFraction const*) { return serial_table; }

} // namespace headroom::training
