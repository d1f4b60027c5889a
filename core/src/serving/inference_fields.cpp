#include "serving/serving_fields.hpp"

namespace headroom::serving {

using namespace headroom::training;

FieldTable const& field_table_of(RequestRecord const*) {
    using R = RequestRecord;
    static constexpr Field rows[] = {
        {"file", "The file of recorded requests.", member<&R::file>},
        {"format", "Its format.", member<&R::format>},
        {"time_column", "Column of arrivals.", member<&R::time_column>},
        {"prompt_column", "Column of prompt tokens.", member<&R::prompt_column>},
        {"output_column", "Column of output tokens.", member<&R::output_column>},
        {"time_unit", "Unit of the arrivals.", member<&R::time_unit>},
        {"unit_from", "Origin of that unit: cells, header, format, digits or given.", member<&R::unit_from>},
        {"rows", "Rows below the header.", member<&R::rows>},
        {"left_out", "Content that was not used, and rows that are no request.", member<&R::issues>},
        {"out_of_order", "Rows earlier than the one before; they are sorted.", member<&R::out_of_order>},
        {"notes", "Choices that were made while reading.", member<&R::notes>},
    };
    static constexpr FieldTable table = field_table<R>("request_trace", rows);
    return table;
}

namespace {

struct AskedEngine {
    Engine const& record;
    ServingPlan const& plan;
    Dispatch dispatch;
};
FieldTable const& field_table_of(AskedEngine const*) {
    static constexpr Field rows[] = {
        {"name", "Its record.", [](AskedEngine const& e) { return std::string_view{e.record.name}; }},
        {"layer_overhead_seconds", "Time that it adds to a layer of a decode step.",
         [](AskedEngine const& e) { return e.plan.law.overhead.layer; }},
        {"prompt_layer_overhead_seconds", "Time that it adds to a layer where prompts are computed.",
         [](AskedEngine const& e) { return e.plan.law.overhead.prompt_layer; }},
        {"sequence_overhead_seconds", "Time that it adds to an iteration for each decoding sequence.",
         [](AskedEngine const& e) { return e.plan.law.overhead.sequence; }},
        {"precision", "Format of weights and products.", [](AskedEngine const& e) { return e.plan.weights; }},
        {"weight_format", "Format in which matrices are kept; null: that of products.",
         [](AskedEngine const& e) { return e.plan.kept != nullptr ? std::optional{e.plan.kept->name} : std::nullopt; }},
        {"cache_precision", "Format of keys and values.", [](AskedEngine const& e) { return e.plan.cache; }},
        {"max_batch", "Sequences in one iteration at most.",
         [](AskedEngine const& e) { return e.plan.most_sequences; }},
        {"pp", "Stages of layers, each with a batch in flight.", [](AskedEngine const& e) { return e.plan.pp; }},
        {"draft_tokens", "Tokens of a sequence that are drafted in an iteration.",
         [](AskedEngine const& e) { return e.plan.speculation.draft_tokens; }},
        {"acceptance", "Probability that a drafted token is accepted; null without drafts.",
         [](AskedEngine const& e) {
             Speculation const& drafts = e.plan.speculation;
             return drafts.draft_tokens > 0 ? std::optional{drafts.acceptance} : std::nullopt;
         }},
        {"draft_model", "Model that drafts; null where drafts cost nothing.",
         [](AskedEngine const& e) {
             auto const& draft = e.plan.speculation.draft;
             return draft ? std::optional<std::string_view>{draft->name} : std::nullopt;
         }},
        {"tokens_per_iteration", "Tokens that an iteration gives a sequence, on average.",
         [](AskedEngine const& e) { return e.plan.speculation.tokens(); }},
        {"prefill_chunk_tokens", "Tokens of prompts in one iteration at most.",
         [](AskedEngine const& e) { return e.plan.prefill_chunk; }},
        {"memory_share", "Share of memory that the engine may take.",
         [](AskedEngine const& e) { return e.plan.memory_share; }},
        {"dispatch", "Replica that a request goes to.", member<&AskedEngine::dispatch>},
    };
    static constexpr FieldTable table = field_table<AskedEngine>("engine", rows);
    return table;
}

/// The traffic of a question: figures of drawn requests are null where none are drawn.
struct ArrivingRequests {
    InferenceQuestion const& asked;
    [[nodiscard]] ServingTraffic const& traffic() const { return asked.traffic; }
    template <class T> [[nodiscard]] std::optional<T> if_timed(T value) const {
        return asked.is_open() && !asked.trace ? std::optional{value} : std::nullopt;
    }
    template <class T> [[nodiscard]] std::optional<T> if_drawn(T value) const {
        return asked.simulates() && !asked.trace ? std::optional{value} : std::nullopt;
    }
};
FieldTable const& field_table_of(ArrivingRequests const*) {
    static constexpr Field rows[] = {
        {"requests", "Number of requests that arrive.",
         [](ArrivingRequests const& t) { return t.asked.requests.size(); }},
        {"requests_per_second", "Their rate; null where they do not come at a rate of their own.",
         [](ArrivingRequests const& t) {
             return t.asked.is_open() ? std::optional{t.asked.arrivals()} : std::nullopt;
         }},
        {"burst", "Whether all requests come together at the start.",
         [](ArrivingRequests const& t) { return t.asked.is_burst(); }},
        {"concurrency", "Users who each send the next request when the one before is answered; null without.",
         [](ArrivingRequests const& t) {
             int const users = t.asked.experiment.concurrency;
             return users > 0 ? std::optional{users} : std::nullopt;
         }},
        {"prefix_hits", "Share of a prompt that a cache of prefixes holds.",
         [](ArrivingRequests const& t) { return t.traffic().prefix_hits; }},
        {"burstiness", "Squared coefficient of variation of the gaps between them.",
         [](ArrivingRequests const& t) { return t.if_timed(t.traffic().burstiness); }},
        {"prompt_tokens", "Mean tokens of a prompt.",
         [](ArrivingRequests const& t) { return t.traffic().prompt_tokens; }},
        {"output_tokens", "Mean tokens of an answer.",
         [](ArrivingRequests const& t) { return t.traffic().output_tokens; }},
        {"prompt_variation", "Squared coefficient of variation of prompts.",
         [](ArrivingRequests const& t) { return t.if_drawn(t.traffic().prompt_variation); }},
        {"output_variation", "Squared coefficient of variation of answers.",
         [](ArrivingRequests const& t) { return t.if_drawn(t.traffic().output_variation); }},
        {"duration_seconds", "Time in which they arrive.",
         [](ArrivingRequests const& t) {
             return t.asked.is_open() ? std::optional{t.traffic().duration} : std::nullopt;
         }},
        {"warm_up_seconds", "Time at the start that is not counted.",
         [](ArrivingRequests const& t) {
             return t.asked.is_open() ? std::optional{t.asked.experiment.warm_up} : std::nullopt;
         }},
        {"seed", "Seed of the drawn requests.", [](ArrivingRequests const& t) { return t.if_drawn(t.traffic().seed); }},
    };
    static constexpr FieldTable table = field_table<ArrivingRequests>("serving_traffic", rows);
    return table;
}

struct Recommendation {
    InferenceAnswer const& of;
    template <class F> [[nodiscard]] auto of_choice(F figure) const {
        return of.choice() ? std::optional{figure(*of.choice())} : std::nullopt;
    }
    [[nodiscard]] std::optional<double> cost() const {
        if (of.choice()) { return of.choice()->dollars_per_million_output_tokens; }
        return of.row() ? of.row()->dollars_per_million_output_tokens : std::nullopt;
    }
};
FieldTable const& field_table_of(Recommendation const*) {
    using R = Recommendation;
    static constexpr Field rows[] = {
        {"feasible", "Whether something fits and keeps the objectives.", [](R const& r) { return r.of.feasible(); }},
        {"verdict", "The answer in words.", [](R const& r) { return std::string_view{r.of.verdict}; }},
        {"tp", "Tensor-parallel degree; null where nothing fits.",
         [](R const& r) { return r.of.row() ? std::optional{r.of.row()->plan.tp} : std::nullopt; }},
        {"replicas", "Replicas; null without arrivals.",
         [](R const& r) { return r.of_choice([](ServingChoice const& c) { return c.replicas; }); }},
        {"accelerators", "Accelerators; null without arrivals.",
         [](R const& r) { return r.of_choice([](ServingChoice const& c) { return c.accelerators; }); }},
        {"dollars_per_million_output_tokens", "Price of a million tokens that are answered, in dollars.",
         [](R const& r) { return r.cost(); }},
        {"capacity_requests_per_second", "Rate that the replicas give in a steady state.",
         [](R const& r) { return r.of.capacity > 0.0 ? std::optional{r.of.capacity} : std::nullopt; }},
        {"knee_requests_per_second", "Highest rate of the load curve that keeps the objectives.",
         [](R const& r) { return r.of.knee; }},
        {"scale_up_or_out", "Few wide replicas against many narrow ones, in words.",
         [](R const& r) { return if_known(r.of.scale_verdict); }},
    };
    static constexpr FieldTable table = field_table<R>("serving_recommendation", rows);
    return table;
}

struct Uncertainty {
    InferenceAnswer const& of;
};
FieldTable const& field_table_of(Uncertainty const*) {
    using U = Uncertainty;
    static constexpr Field rows[] = {
        {"validated", "Whether published runs of the engine are in the fit.",
         [](U const& u) { return u.of.question.engine_measured; }},
        {"statement", "The uncertainty in words.", [](U const& u) { return std::string_view{u.of.uncertainty}; }},
        {"decode_interval_seconds", "An iteration at the largest batch.",
         [](U const& u) { return u.of.decode_interval; }},
        {"prefill_interval_seconds", "A mean prompt alone.", [](U const& u) { return u.of.prefill_interval; }},
        {"output_rate_interval_tokens_per_second", "Output tokens a second of a replica in its steady state.",
         [](U const& u) { return u.of.rate_interval; }},
        {"finish_interval_seconds", "Time until all requests are answered that come together; null of others.",
         [](U const& u) { return u.of.finish_interval; }},
        {"largest_published_batch", "Sequences of the largest published run of the engine; null where not known.",
         [](U const& u) {
             double const batch = u.of.question.evidence.largest_batch;
             return batch > 0.0 ? std::optional{batch} : std::nullopt;
         }},
        {"margins", "Replicas needed were every iteration slower than priced.",
         [](U const& u) { return u.of.margins; }},
        {"guesses", "Figures that no measurement stands behind.", [](U const&) { return serving_guesses(); }},
    };
    static constexpr FieldTable table = field_table<U>("serving_uncertainty", rows);
    return table;
}

} // namespace

FieldTable const& field_table_of(ServingObjectives const*) {
    using O = ServingObjectives;
    static constexpr Field rows[] = {
        {"ttft_seconds", "Limit of the time to the first token.", member<&O::first_token>},
        {"tpot_seconds", "Limit of the time per token after the first.", member<&O::per_token>},
        {"latency_seconds", "Limit of the time to the whole answer.", member<&O::whole>},
        {"share", "Share of requests that must keep them.", member<&O::share>},
    };
    static constexpr FieldTable table = field_table<O>("serving_objectives", rows);
    return table;
}

FieldTable const& field_table_of(LoadRow const*) {
    static constexpr Field rows[] = {
        {"requests_per_second", "Rate of requests.", member<&LoadRow::requests_per_second>},
        {"of_capacity", "That rate over the capacity.", member<&LoadRow::of_capacity>},
        {"meets", "Whether the objectives are kept.", member<&LoadRow::meets>},
        {"*", "Figures of the simulation.", member<&LoadRow::result>},
    };
    static constexpr FieldTable table = field_table<LoadRow>("serving_load", rows);
    return table;
}

FieldTable const& field_table_of(AgainstRow const*) {
    static constexpr Field rows[] = {
        {"cluster", "The other machine.", member<&AgainstRow::cluster>},
        {"accelerators", "Accelerators that the same money rents.", member<&AgainstRow::accelerators>},
        {"choices", "Ways to serve with them.", member<&AgainstRow::choices>},
        {"best", "Place in that list of the shortest p99 of whole answers.", member<&AgainstRow::best>},
        {"verdict", "The comparison in words.", member<&AgainstRow::verdict>},
    };
    static constexpr FieldTable table = field_table<AgainstRow>("serving_against", rows);
    return table;
}

FieldTable const& field_table_of(TimeInterval const*) {
    static constexpr Field rows[] = {
        {"low", "Lower end of the 90 % interval.", member<&TimeInterval::low>},
        {"value", "As priced.", member<&TimeInterval::value>},
        {"high", "Upper end of the interval.", member<&TimeInterval::high>},
    };
    static constexpr FieldTable table = field_table<TimeInterval>("time_interval", rows);
    return table;
}

FieldTable const& field_table_of(RateInterval const*) {
    static constexpr Field rows[] = {
        {"low", "Lower end of the 90 % interval.", member<&RateInterval::low>},
        {"value", "As priced.", member<&RateInterval::value>},
        {"high", "Upper end of the interval.", member<&RateInterval::high>},
    };
    static constexpr FieldTable table = field_table<RateInterval>("rate_interval", rows);
    return table;
}

FieldTable const& field_table_of(MarginRow const*) {
    static constexpr Field rows[] = {
        {"slower", "Time of an iteration over the priced one.", member<&MarginRow::slower>},
        {"replicas", "Replicas that are needed then; null where no number is enough.", member<&MarginRow::replicas>},
    };
    static constexpr FieldTable table = field_table<MarginRow>("serving_margin", rows);
    return table;
}

FieldTable const& field_table_of(ServingGuess const*) {
    static constexpr Field rows[] = {
        {"name", "Name of the figure.", member<&ServingGuess::name>},
        {"value", "Its value.", member<&ServingGuess::value>},
        {"unit", "Its unit.", member<&ServingGuess::unit>},
        {"why", "Reason for the value.", member<&ServingGuess::why>},
    };
    static constexpr FieldTable table = field_table<ServingGuess>("serving_guess", rows);
    return table;
}

FieldTable const& field_table_of(InferenceAnswer const*) {
    using A = InferenceAnswer;
    static constexpr Field rows[] = {
        {"model", "The model.", [](A const& a) -> Model const& { return a.question.model; }},
        {"cluster", "The machine.", [](A const& a) -> Cluster const& { return a.question.cluster; }},
        {"engine", "The engine that serves.",
         [](A const& a) {
             return AskedEngine{a.question.engine, a.question.plan, a.question.experiment.dispatch};
         }},
        {"objectives", "Limits that requests are to keep.",
         [](A const& a) { return a.question.experiment.objectives; }},
        {"traffic", "Requests that arrive.", [](A const& a) { return ArrivingRequests{a.question}; }},
        {"trace", "Recorded requests; null without a file.",
         [](A const& a) -> std::optional<RequestRecord> const& { return a.question.trace; }},
        {"issues", "Content of the recorded requests that was not used, and rows that are no request.",
         [](A const& a) {
             std::vector<Issue> all;
             if (a.question.trace) { add_issues(all, a.question.trace->issues, a.question.trace->file); }
             return all;
         }},
        {"complete", "Whether all was simulated; false after an interruption.", member<&A::complete>},
        {"memory", "Memory of one accelerator at the recommended degree.",
         [](A const& a) { return a.row() ? &a.row()->memory : nullptr; }},
        {"plans", "Each degree without chance.", member<&A::plans>},
        {"decode", "One iteration of decoding by batch.", member<&A::decode>},
        {"prefill", "A prompt alone by its length.", member<&A::prefill>},
        {"choices", "Each degree with the replicas asked for or found.", member<&A::choices>},
        {"same_accelerators", "As many accelerators, split in every way.", member<&A::same>},
        {"against", "Another machine for the same money.", member<&A::against>},
        {"load", "The recommended replicas under other loads.", member<&A::load>},
        {"recommendation", "The answer.", [](A const& a) { return Recommendation{a}; }},
        {"uncertainty", "Evidence for the figures, and its limits.", [](A const& a) { return Uncertainty{a}; }},
        {"notes", "Remarks on the input.", member<&A::notes>},
        {"assumptions", "Gaps of the question that were filled.",
         [](A const& a) -> std::vector<Assumption> const& { return a.question.assumptions; }},
        {"constants", "Constants of the times.", member<&A::constants>},
    };
    static constexpr FieldTable table = field_table<A>("inference", rows);
    return table;
}

// ---- CSV ----------------------------------------------------------------------------------------------------------

FieldTable const& field_table_of(ServedRow const*) {
    static constexpr Field rows[] = {
        {"kind", "A choice, the same accelerators, or a point of the load curve.", member<&ServedRow::kind>},
        {"requests_per_second", "Rate of requests.", member<&ServedRow::requests_per_second>},
        {"*", "The choice.", member<&ServedRow::choice>},
    };
    static constexpr FieldTable table = field_table<ServedRow>("served_row", rows);
    return table;
}

FieldTable const& field_table_of(DecodedRow const*) {
    static constexpr Field rows[] = {
        {"tp", "Tensor-parallel degree.", member<&DecodedRow::tp>},
        {"*", "One iteration.", member<&DecodedRow::row>},
    };
    static constexpr FieldTable table = field_table<DecodedRow>("decoded_row", rows);
    return table;
}

std::vector<ServedRow> served_rows(InferenceAnswer const& answer) {
    std::vector<ServedRow> rows;
    double const rate = answer.question.arrivals();
    for (ServingChoice const& one : answer.choices) { rows.push_back({"choice", rate, one}); }
    for (ServingChoice const& one : answer.same) { rows.push_back({"same accelerators", rate, one}); }
    for (LoadRow const& one : answer.load) {
        ServingChoice choice = *answer.choice();
        choice.result = one.result;
        choice.meets = one.meets;
        double const tokens = one.result.output_tokens_per_second;
        choice.dollars_per_million_output_tokens =
            choice.price && tokens > 0.0 ? std::optional{choice.price->base() / tokens * 1e6} : std::nullopt;
        rows.push_back({"load", one.requests_per_second, std::move(choice)});
    }
    return rows;
}

std::vector<DecodedRow> decoded_rows(InferenceAnswer const& answer) {
    std::vector<DecodedRow> rows;
    for (DecodeRow const& row : answer.decode) { rows.push_back({answer.row()->plan.tp, row}); }
    return rows;
}

} // namespace headroom::serving
