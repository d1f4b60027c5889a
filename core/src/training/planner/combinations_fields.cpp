#include "training/prediction_views.hpp"

#include "headroom/training/combinations.hpp"

namespace headroom::training {
namespace {

using P = Prediction;

/// A quantity of the prediction; null where there is none.
template <class Value> auto of(Combination const& one, Value value) {
    using Result = std::remove_cvref_t<decltype(value(*one.prediction))>;
    return one.prediction ? std::optional<Result>{value(*one.prediction)} : std::nullopt;
}

/// The size that a plan recommends for a combination.
struct ChosenSize {
    Combination const* of;
};
constexpr Field chosen_rows[] = {
    {"workers", "Accelerators.", [](ChosenSize const& c) { return c.of->prediction->workers; }},
    {"strategy", "Parallelism and the other choices.",
     [](ChosenSize const& c) { return strategy_of(*c.of->prediction); }},
    {"verdict", "Answer of the plan in words.", [](ChosenSize const& c) { return c.of->verdict; }},
};
constexpr FieldTable chosen_table = field_table<ChosenSize>("chosen_size", chosen_rows);
FieldTable const& field_table_of(ChosenSize const*) { return chosen_table; }

std::optional<ChosenSize> chosen(Combination const& one) {
    return one.prediction && !one.verdict.empty() ? std::optional{ChosenSize{&one}} : std::nullopt;
}

constexpr Field combination_rows[] = {
    {"values", "Names and values that set it apart from the others: model, cluster, options.",
     member<&Combination::values>, Presence::if_any},
    {"runs", "Whether it can run: it is legal, fits and makes progress.",
     [](Combination const& c) { return c.runs(); }},
    {"why_not", "Reason why it does not run; null where it does.",
     [](Combination const& c) { return if_stated(c.why_not); }},
    {"soonest", "Whether it ends the run first of all that run, or has the highest rate.",
     member<&Combination::soonest>},
    {"cheapest", "Whether its run, or a token, costs least of all that run.", member<&Combination::cheapest>},
    {"model", "Model; null where it cannot be predicted.",
     [](Combination const& c) { return of(c, [](P const& p) { return p.question.model.name; }); }},
    {"cluster", "Cluster.",
     [](Combination const& c) { return of(c, [](P const& p) { return p.question.cluster.name; }); }},
    {"framework", "Training framework.",
     [](Combination const& c) { return of(c, [](P const& p) { return p.question.framework.name; }); }},
    {"workers", "Accelerators.", [](Combination const& c) { return of(c, [](P const& p) { return p.workers; }); }},
    {"strategy", "Parallelism and the other choices.", [](Combination const& c) { return of(c, strategy_of); }},
    {"step_seconds", "Time of one training step.",
     [](Combination const& c) { return of(c, [](P const& p) { return p.step(); }); }},
    {"tier", "How the step was computed: priced.",
     [](Combination const& c) { return of(c, [](P const&) { return name_of(Tier::priced); }); }},
    {"interval_seconds", "Interval that holds the step with the probability interval_coverage.",
     [](Combination const& c) { return of(c, [](P const& p) { return ends_of(p.interval); }); }},
    {"interval_coverage", "Probability that the interval holds.",
     [](Combination const& c) { return of(c, [](P const& p) { return p.interval.coverage; }); }},
    {"interval_kind", "How far the question lies from runs that the constants were fitted to.",
     [](Combination const& c) { return of(c, [](P const& p) { return name_of(p.interval.kind); }); }},
    {"tokens_per_second", "Tokens of the whole job in a second.",
     [](Combination const& c) { return of(c, [](P const& p) { return p.tokens_per_second; }); }},
    {"tokens_per_second_per_accelerator", "Tokens of one accelerator in a second.",
     [](Combination const& c) { return of(c, tokens_per_second_per_accelerator); }},
    {"mfu", "Model FLOPs utilization.", [](Combination const& c) { return of(c, [](P const& p) { return p.mfu; }); }},
    {"breakdown", "Parts that sum to the step.",
     [](Combination const& c) { return of(c, [](P const& p) { return p.time; }); }},
    {"memory_bytes", "Memory of the fullest accelerator.",
     [](Combination const& c) { return of(c, [](P const& p) { return p.memory.total(); }); }},
    {"fits", "Whether it fits in memory, with a probability of one half at least.",
     [](Combination const& c) { return of(c, [](P const& p) { return p.fits; }); }},
    {"fits_probability", "Probability that it fits; null where the spread of measured memory is not known.",
     [](Combination const& c) {
         return c.prediction && c.prediction->odds ? std::optional{c.prediction->odds->fits} : std::nullopt;
     }},
    {"days", "Duration of the run, failures included; null without tokens.",
     [](Combination const& c) { return c.prediction ? days_of(run_time(*c.prediction)) : std::nullopt; }, Unit{"d"}},
    {"cost_dollars", "Cost of the run; null without tokens or a price.",
     [](Combination const& c) { return c.prediction ? cost_of(*c.prediction) : std::nullopt; }},
    {"dollars_per_million_tokens", "Price of a million tokens.",
     [](Combination const& c) { return c.prediction ? dollars_per_million(*c.prediction) : std::nullopt; }, Unit{"$"}},
    {"recommendation", "Size that the plan recommends; of plan.", from<chosen>, Presence::if_any},
    {"command", "Command of headroom predict for it; null where it cannot be predicted.",
     [](Combination const& c) { return if_stated(c.command); }},
    {"assumed", "Fields that nobody stated, with the values taken.",
     [](Combination const& c) {
         return c.prediction ? c.prediction->question.assumptions : std::vector<Assumption>{};
     }},
};
constexpr FieldTable combination_table = field_table<Combination>("combination", combination_rows);

constexpr Field combinations_answer_rows[] = {
    {"verdict", "Answer in words: the soonest and the cheapest.", member<&CombinationsAnswer::verdict>},
    {"asked", "Combinations that were asked for; more than are listed where it was interrupted.",
     member<&CombinationsAnswer::asked>},
    {"candidates", "The combinations, sorted as the question asks.", member<&CombinationsAnswer::combinations>},
    {"notes", "Remarks on the input.", member<&CombinationsAnswer::notes>},
};
constexpr FieldTable combinations_answer_table =
    field_table<CombinationsAnswer>("combinations", combinations_answer_rows);

constexpr Field part_rows[] = {
    {"part", "Part of the step.", member<&PartDifference::part>},
    {"seconds", "Its time in the first plan.", member<&PartDifference::first>},
    {"seconds2", "Its time in the second plan.", member<&PartDifference::second>},
    {"difference_seconds", "Second less first.", [](PartDifference const& p) { return p.second - p.first; }},
};
constexpr FieldTable part_table = field_table<PartDifference>("part_difference", part_rows);

constexpr Field pair_rows[] = {
    {"verdict", "Answer in words.", member<&PlanPairAnswer::verdict>},
    {"plan", "First plan.", member<&PlanPairAnswer::first>},
    {"plan2", "Second plan.", member<&PlanPairAnswer::second>},
    {"speedup", "Step of the first plan over that of the second.",
     [](PlanPairAnswer const& a) { return a.first.prediction->step() / a.second.prediction->step(); }},
    {"differences", "Parts of the step in both, the largest difference first.", member<&PlanPairAnswer::parts>},
    {"notes", "Remarks on the input.", member<&PlanPairAnswer::notes>},
};
constexpr FieldTable pair_table = field_table<PlanPairAnswer>("plan_pair", pair_rows);

} // namespace

FieldTable const& field_table_of(Combination const*) { return combination_table; }
FieldTable const& field_table_of(CombinationsAnswer const*) { return combinations_answer_table; }
FieldTable const& field_table_of(PartDifference const*) { return part_table; }
FieldTable const& field_table_of(PlanPairAnswer const*) { return pair_table; }

} // namespace headroom::training
