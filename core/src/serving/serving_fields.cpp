#include "serving/serving_fields.hpp"

#include "headroom/training/training_answers.hpp"

namespace headroom::serving {

FieldTable const& field_table_of(TimeQuantiles const*) {
    using T = TimeQuantiles;
    static constexpr Field rows[] = {
        {"mean", "Mean.", [](T const& t) { return t.times->mean(); }, Unit{"s"}},
        {"p50", "Median.", [](T const& t) { return t.times->quantile(0.5); }, Unit{"s"}},
        {"p90", "90th percentile.", [](T const& t) { return t.times->quantile(0.9); }, Unit{"s"}},
        {"p99", "99th percentile.", [](T const& t) { return t.times->quantile(0.99); }, Unit{"s"}},
        {"max", "Longest time.", [](T const& t) { return t.times->most(); }, Unit{"s"}},
    };
    static constexpr FieldTable table = field_table<T>("time_quantiles", rows);
    return table;
}

FieldTable const& field_table_of(ServingResult const*) {
    using R = ServingResult;
    static constexpr Field rows[] = {
        {"requests", "Requests that were counted.", member<&R::requests>},
        {"span_seconds", "Time that is counted; to the last answer where all requests come together.",
         [](R const& r) { return r.span; }},
        {"unfinished", "Requests that a fleet had not answered at the last arrival.", member<&R::unfinished>},
        {"refused", "Requests that are longer than the cache of a replica.", member<&R::refused>},
        {"ttft_seconds", "Time to the first token.", [](R const& r) { return quantiles_of(r.first_token); }},
        {"tpot_seconds", "Time per token after the first.", [](R const& r) { return quantiles_of(r.per_token); }},
        {"latency_seconds", "Time to the whole answer.", [](R const& r) { return quantiles_of(r.whole); }},
        {"goodput_per_second", "Rate of requests that meet all objectives.", member<&R::goodput_per_second>},
        {"share_in_time", "Share of requests that meet all objectives.", member<&R::met>, Unit{"share"}},
        {"output_tokens_per_second", "Rate of tokens that are answered.", member<&R::output_tokens_per_second>},
        {"prompt_tokens_per_second", "Rate of tokens of prompts.", member<&R::prompt_tokens_per_second>},
        {"mean_batch", "Mean number of sequences that decode together in a busy replica.", member<&R::mean_batch>},
        {"busy", "Share of time that a replica has work.", member<&R::busy>},
        {"cache_use", "Mean share of the cache in use.", member<&R::cache_use>, Unit{"share"}},
        {"cache_peak", "Largest share of the cache in use.", member<&R::cache_peak>, Unit{"share"}},
        {"preemptions", "Sequences that started again for want of cache.", member<&R::preemptions>},
        {"stable", "Whether the fleet keeps up.", member<&R::stable>},
    };
    static constexpr FieldTable table = field_table<R>("serving_result", rows);
    return table;
}

FieldTable const& field_table_of(ServingChoice const*) {
    using C = ServingChoice;
    static constexpr Field rows[] = {
        {"tp", "Tensor-parallel degree of a replica.", [](C const& c) { return c.plan.tp; }},
        {"pp", "Stages of a replica.", [](C const& c) { return c.plan.pp; }},
        {"replicas", "Number of replicas.", member<&C::replicas>},
        {"prefill_replicas", "Further replicas, for prompts alone.", member<&C::prefill_replicas>},
        {"accelerators", "Accelerators of all replicas, idle ones included.", member<&C::accelerators>},
        {"dollars_per_hour", "Price of all accelerators.",
         [](C const& c) { return c.price ? std::optional{c.price->in(units::dollar / units::hour)} : std::nullopt; },
         Unit{"$/h"}},
        {"dollars_per_million_output_tokens", "Price of a million tokens that are answered, in dollars.",
         member<&C::dollars_per_million_output_tokens>},
        {"meets", "Whether the objectives are kept.", member<&C::meets>},
        {"why_not", "Reason why it cannot serve.", [](C const& c) { return if_known(c.why_not); }},
        {"*", "Figures of the simulation.", member<&C::result>},
    };
    static constexpr FieldTable table = field_table<C>("serving_choice", rows);
    return table;
}

FieldTable const& field_table_of(ServingMemory const*) {
    using M = ServingMemory;
    static constexpr Field rows[] = {
        {"weights_bytes", "Weights that an accelerator holds.", member<&M::weights>},
        {"activations_bytes", "Activations of the largest iteration.", member<&M::activations>},
        {"cache_bytes", "Room for keys and values.", member<&M::cache>},
        {"cache_bytes_per_token", "Keys and values of one token.", [](M const& m) { return m.cache_per_token.base(); },
         Unit{"B"}},
        {"window_bytes_per_token", "Keys and values of one token in layers with a window.",
         [](M const& m) { return m.window_per_token.base(); }, Unit{"B"}},
        {"state_bytes_per_sequence", "State of scans of one sequence.",
         [](M const& m) { return m.state_per_sequence.base(); }, Unit{"B"}},
        {"cache_tokens", "Tokens that the cache holds.", member<&M::cache_tokens>},
        {"usable_bytes", "Memory that the engine may take.", member<&M::usable>},
        {"runtime_bytes", "Context, collective buffers and workspaces, of the usable memory.", member<&M::runtime>},
        {"capacity_bytes", "Memory of an accelerator.", member<&M::capacity>},
        {"fits", "Whether the model fits.", member<&M::fits>},
        {"why_not", "Reason why it does not.", [](M const& m) { return if_known(m.why_not); }},
    };
    static constexpr FieldTable table = field_table<M>("serving_memory", rows);
    return table;
}

FieldTable const& field_table_of(DecodeRow const*) {
    using D = DecodeRow;
    static constexpr Field rows[] = {
        {"batch", "Sequences that decode together.", member<&D::batch>},
        {"context_tokens", "Tokens of each of them.", member<&D::context>},
        {"seconds", "Time of one iteration.", [](D const& d) { return d.time.total; }},
        {"products_seconds", "Time of matrix products.", [](D const& d) { return d.time.products; }},
        {"attention_seconds", "Time of attention.", [](D const& d) { return d.time.attention; }},
        {"memory_seconds", "Time of kernels that only move memory.", [](D const& d) { return d.time.memory; }},
        {"communication_seconds", "Time of collectives.", [](D const& d) { return d.time.communication; }},
        {"gaps_seconds", "Time between kernels.", [](D const& d) { return d.time.gaps; }},
        {"draft_seconds", "Time of the draft model.", [](D const& d) { return d.time.draft; }},
        {"host_seconds", "Time in which the host issues kernels.", [](D const& d) { return d.time.host; }},
        {"bound", "Resource that bounds the iteration.", [](D const& d) { return d.time.bound; }},
        {"read_bytes", "Weights and cache that an accelerator reads.", [](D const& d) { return d.time.read; }},
        {"flops", "Operations of products and attention of an accelerator.", [](D const& d) { return d.time.flops; }},
        {"tokens_per_second", "Rate of tokens of the batch.", member<&D::tokens_per_second>},
        {"cache_share", "Share of the cache that the batch takes.", member<&D::cache_share>},
    };
    static constexpr FieldTable table = field_table<D>("decode_row", rows);
    return table;
}

FieldTable const& field_table_of(PrefillRow const*) {
    using P = PrefillRow;
    static constexpr Field rows[] = {
        {"tokens", "Tokens of the prompt.", member<&P::tokens>},
        {"iterations", "Iterations that its chunks take.", member<&P::iterations>},
        {"seconds", "Time to the first token without waiting.", member<&P::seconds>},
        {"tokens_per_second", "Tokens over that time.", [](P const& p) { return p.tokens / p.seconds.base(); }},
        {"bound", "Resource that bounds the largest chunk.", member<&P::bound>},
    };
    static constexpr FieldTable table = field_table<P>("prefill_row", rows);
    return table;
}

FieldTable const& field_table_of(PlanRow const*) {
    static constexpr auto steady = [](PlanRow const& row, auto figure) {
        bool const some = row.steady && row.steady->requests_per_second > 0.0;
        return some ? std::optional{figure(*row.steady)} : std::nullopt;
    };
    static constexpr Field rows[] = {
        {"tp", "Tensor-parallel degree.", [](PlanRow const& row) { return row.plan.tp; }},
        {"memory", "Memory of one accelerator.", member<&PlanRow::memory>},
        {"accelerators", "Accelerators of a replica.", [](PlanRow const& row) { return row.plan.accelerators(); }},
        {"largest_batch", "Whole requests that the cache holds at once, of one batch in flight.",
         member<&PlanRow::largest_batch>},
        {"prompt_alone_seconds", "Least time to the first token; null where nothing fits.",
         [](PlanRow const& row) { return row.steady ? std::optional{row.prompt_alone} : std::nullopt; }},
        {"steady_batch", "Sequences that decode together at the highest steady rate.",
         [](PlanRow const& row) { return steady(row, [](SteadyRate const& r) { return r.batch; }); }},
        {"steady_iteration_seconds", "Time of an iteration at that rate.",
         [](PlanRow const& row) { return steady(row, [](SteadyRate const& r) { return r.iteration; }); }},
        {"steady_requests_per_second", "The highest steady rate of requests; null where no batch keeps the objectives.",
         [](PlanRow const& row) { return steady(row, [](SteadyRate const& r) { return r.requests_per_second; }); }},
        {"dollars_per_million_output_tokens", "Price of a million tokens at that rate, in dollars.",
         member<&PlanRow::dollars_per_million_output_tokens>},
        {"why_not", "Reason why it does not serve, or not within the objectives.",
         [](PlanRow const& row) { return if_known(row.why_not); }},
    };
    static constexpr FieldTable table = field_table<PlanRow>("serving_degree", rows);
    return table;
}

} // namespace headroom::serving
