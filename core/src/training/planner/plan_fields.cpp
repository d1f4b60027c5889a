#include "training/prediction_views.hpp"

#include <utility>

namespace headroom::training {
namespace {

// ---- views ------------------------------------------------------------------------------------------------------------

struct RunnerUp {
    StrategyInUse strategy;
    Seconds step;
    std::optional<Bytes> memory;
};
constexpr Field runner_up_rows[] = {
    {"strategy", "Strategy.", member<&RunnerUp::strategy>},
    {"step_seconds", "Step time.", member<&RunnerUp::step>},
    {"tier", "How the step was computed: priced or screened.", [](RunnerUp const&) { return name_of(Tier::priced); }},
    {"memory_bytes", "Memory of the fullest stage.", member<&RunnerUp::memory>},
};
constexpr FieldTable runner_up_table = field_table<RunnerUp>("alternative", runner_up_rows);
FieldTable const& field_table_of(RunnerUp const*) { return runner_up_table; }

std::vector<RunnerUp> runners_up_of(CurvePoint const& point) {
    std::vector<RunnerUp> rows;
    for (std::size_t i = 0; i < point.runners_up.size(); ++i) {
        rows.push_back(
            {.strategy = {point.runners_up[i], point.prediction->question.workload},
             .step = point.runners_up_step[i],
             .memory = i < point.runners_up_memory.size() ? std::optional{point.runners_up_memory[i]} : std::nullopt});
    }
    return rows;
}

struct Recommendation {
    Plan const* plan;
    CurvePoint const* point;
    std::string command = {};
};
constexpr Field recommendation_rows[] = {
    {"workers", "Accelerators.", [](Recommendation const& r) { return r.point->workers; }},
    {"strategy", "Parallelism and the other choices.",
     [](Recommendation const& r) { return strategy_of(*r.point->prediction); }},
    {"step_seconds", "Time of one training step.", [](Recommendation const& r) { return r.point->prediction->step(); }},
    {"tier", "How the step was computed: priced.", [](Recommendation const&) { return name_of(Tier::priced); }},
    {"mfu", "Model FLOPs utilization.", [](Recommendation const& r) { return r.point->prediction->mfu; },
     Unit{"share"}},
    {"optimizer_steps", "Optimizer steps of the run; null without tokens.",
     [](Recommendation const& r) { return r.point->steps; }},
    {"days", "Duration of the run; null without tokens.",
     [](Recommendation const& r) { return days_of(r.point->duration); }, Unit{"d"}},
    {"cost_dollars", "Cost of the run; null without tokens or a price.",
     [](Recommendation const& r) { return r.point->cost; }},
    {"verdict", "Answer in words.", [](Recommendation const& r) { return r.plan->verdict; }},
    {"reasons", "Reasons for it, in words.", [](Recommendation const& r) { return r.plan->reasons; }},
    {"command", "Command of headroom predict for this size; null for the second machine.",
     [](Recommendation const& r) { return if_stated(r.command); }},
};
constexpr FieldTable recommendation_table = field_table<Recommendation>("recommendation", recommendation_rows);
FieldTable const& field_table_of(Recommendation const*) { return recommendation_table; }

std::optional<Recommendation> recommendation_of(Plan const& plan) {
    CurvePoint const* point = recommended_point(plan);
    return point != nullptr ? std::optional{Recommendation{&plan, point}} : std::nullopt;
}

constexpr Field counts_rows[] = {
    {"legal", "Strategies that satisfy every rule of divisibility.", member<&SearchCounts::legal>},
    {"evaluated", "Strategies whose memory was computed, and the time of those that fit.",
     member<&SearchCounts::evaluated>},
    {"feasible", "Strategies that fit in memory.", member<&SearchCounts::feasible>},
    {"pruned", "Legal strategies that were not evaluated.", member<&SearchCounts::pruned>},
    {"infeasible_by_reason", "Strategies that do not fit, by reason.", member<&SearchCounts::infeasible_by_reason>},
};
constexpr FieldTable counts_table = field_table<SearchCounts>("search", counts_rows);

// ---- one size ---------------------------------------------------------------------------------------------------------

/// A quantity of the best strategy; null where nothing fits.
template <class Value> auto best(CurvePoint const& point, Value value) {
    using Result = std::remove_cvref_t<decltype(value(*point.prediction))>;
    return point.prediction ? std::optional<Result>{value(*point.prediction)} : std::nullopt;
}

/// Ends of the interval of a quantity of the run, which scales with the step.
template <class Quantity>
std::optional<std::pair<Quantity, Quantity>> scaled_ends(CurvePoint const& point,
                                                         std::optional<Quantity> const& value) {
    if (!point.prediction || !value) { return std::nullopt; }
    Interval const& step = point.prediction->interval;
    Seconds const mid = point.prediction->step();
    return std::pair{*value * (step.low / mid), *value * (step.high / mid)};
}

using P = Prediction;

struct GivenUp {
    RiskyStrategy const* one;
};
constexpr Field given_up_rows[] = {
    {"name", "Short name of the strategy.", [](GivenUp const& g) { return short_name(g.one->strategy); }},
    {"step_seconds", "Time of one training step.", [](GivenUp const& g) { return g.one->step; }},
    {"memory_bytes", "Memory of the fullest stage.", [](GivenUp const& g) { return g.one->memory; }},
    {"fits_probability", "Probability that it fits.", [](GivenUp const& g) { return g.one->fits; }},
};
constexpr FieldTable given_up_table = field_table<GivenUp>("given_up", given_up_rows);
FieldTable const& field_table_of(GivenUp const*) { return given_up_table; }

struct OtherDegrees {
    NextBest const* one;
};
constexpr Field next_best_rows[] = {
    {"name", "Short name of the strategy.", [](OtherDegrees const& n) { return short_name(n.one->strategy); }},
    {"step_seconds", "Time of one training step.", [](OtherDegrees const& n) { return n.one->time.total(); }},
    {"why", "Reason why it is not the recommended one.", [](OtherDegrees const& n) { return n.one->why; }},
};
constexpr FieldTable next_best_table = field_table<OtherDegrees>("next_best", next_best_rows);
FieldTable const& field_table_of(OtherDegrees const*) { return next_best_table; }

constexpr Field point_rows[] = {
    {"workers", "Accelerators.", member<&CurvePoint::workers>},
    {"recommended", "Whether this size is recommended.", member<&CurvePoint::recommended>},
    {"feasible", "Whether a strategy fits and ends.", member<&CurvePoint::feasible>},
    {"why_not", "Reason why none does; null where one does.",
     [](CurvePoint const& c) { return c.feasible ? std::nullopt : std::optional{c.why_not}; }},
    {"strategy", "Best strategy.", [](CurvePoint const& c) { return best(c, strategy_of); }},
    {"step_seconds", "Time of one training step.",
     [](CurvePoint const& c) { return best(c, [](P const& p) { return p.step(); }); }},
    {"tier", "How the step was computed: priced; null where nothing fits.",
     [](CurvePoint const& c) { return best(c, [](P const&) { return name_of(Tier::priced); }); }},
    {"interval_seconds", "Interval that holds the step with the probability interval_coverage.",
     [](CurvePoint const& c) { return best(c, [](P const& p) { return ends_of(p.interval); }); }},
    {"interval_coverage", "Probability that the interval holds.",
     [](CurvePoint const& c) { return best(c, [](P const& p) { return p.interval.coverage; }); }},
    {"measured", "Effect of measured steps; null without any.",
     [](CurvePoint const& c) { return c.prediction ? c.prediction->warm : std::nullopt; }},
    {"tokens_per_second", "Tokens of the whole job in a second.",
     [](CurvePoint const& c) { return best(c, [](P const& p) { return p.tokens_per_second; }); }},
    {"tokens_per_second_per_accelerator", "Tokens of one accelerator in a second.",
     [](CurvePoint const& c) { return best(c, tokens_per_second_per_accelerator); }},
    {"samples_per_second", "Sequences of the whole job in a second.",
     [](CurvePoint const& c) { return best(c, samples_per_second); }},
    {"speedup", "Speedup over the smallest feasible size.",
     [](CurvePoint const& c) { return best(c, [&](P const&) { return c.speedup; }); }},
    {"efficiency", "Speedup over the ratio of workers.",
     [](CurvePoint const& c) { return best(c, [&](P const&) { return c.efficiency; }); }, Unit{"share"}},
    {"marginal_speedup_per_doubling", "Speedup that a doubling of workers gave since the size before.",
     member<&CurvePoint::marginal_speedup_per_doubling>},
    {"marginal_speedup_of_run", "Marginal speedup of the whole run, with the start of the job; null without tokens.",
     member<&CurvePoint::marginal_speedup_of_run>},
    {"mfu", "Model FLOPs utilization.", [](CurvePoint const& c) { return best(c, [](P const& p) { return p.mfu; }); },
     Unit{"share"}},
    {"hfu", "Hardware FLOPs utilization.",
     [](CurvePoint const& c) { return best(c, [](P const& p) { return p.hfu; }); }, Unit{"share"}},
    {"gamma", "Communication over computation, as if nothing overlapped.",
     [](CurvePoint const& c) { return best(c, [](P const& p) { return p.gamma; }); }},
    {"memory_bytes", "Memory of the fullest stage.",
     [](CurvePoint const& c) { return best(c, [](P const& p) { return p.memory.total(); }); }},
    {"memory", "Its parts.",
     [](CurvePoint const& c) { return best(c, [](P const& p) { return MemoryOfPrediction{&p}; }); }},
    {"breakdown", "Parts that sum to the step.",
     [](CurvePoint const& c) { return best(c, [](P const& p) { return p.time; }); }},
    {"exposed_communication", "Parts that sum to the exposed communication.",
     [](CurvePoint const& c) { return best(c, [](P const& p) { return ExposedCommunication{p.time}; }); }},
    {"optimizer_steps", "Optimizer steps of the run; null without tokens.", member<&CurvePoint::steps>},
    {"days", "Duration of the run, failures included; null without tokens.",
     [](CurvePoint const& c) { return days_of(c.duration); }, Unit{"d"}},
    {"days_interval", "Interval of the duration, as interval_seconds is that of the step; null without tokens.",
     [](CurvePoint const& c) { return scaled_ends(c, days_of(c.duration)); }, Unit{"d"}},
    {"deadline_probability", "Probability that the run ends by the deadline; null without one.",
     member<&CurvePoint::deadline_probability>},
    {"cost_dollars", "Cost of the run; null without tokens or a price.", member<&CurvePoint::cost>},
    {"cost_interval_dollars", "Interval of the cost, at the price given; null without tokens or a price.",
     [](CurvePoint const& c) { return scaled_ends(c, c.cost); }},
    {"budget_probability", "Probability that the run costs no more than the budget; null without one.",
     member<&CurvePoint::budget_probability>},
    {"tokens_per_dollar", "Tokens that a dollar buys.", member<&CurvePoint::tokens_per_dollar>},
    {"dollars_per_million_tokens", "Price of a million tokens.", member<&CurvePoint::dollars_per_million_tokens>,
     Unit{"$"}},
    {"search", "Strategies that were looked at.", member<&CurvePoint::counts>},
    {"global_batch", "Sequences of a step, over all replicas.", member<&CurvePoint::global_batch>},
    {"productive_days", "Duration without failures and checkpoints.",
     [](CurvePoint const& c) { return days_of(c.productive); }, Unit{"d"}},
    {"time_to_target_seconds", "Time to the target of training; null without a critical batch.",
     [](CurvePoint const& c) { return c.prediction ? time_to_target(*c.prediction) : std::nullopt; }},
    {"goodput", "Effect of failures and checkpoints; null where they are not counted.",
     [](CurvePoint const& c) { return c.prediction ? c.prediction->goodput : std::nullopt; }},
    {"statistics", "Effect of the critical batch; null where it is not counted.",
     [](CurvePoint const& c) { return c.prediction ? statistics_of(*c.prediction) : std::nullopt; }},
    {"given_up", "Faster strategy that fits with a probability below that of --memory-risk; null where there is none.",
     [](CurvePoint const& c) { return c.given_up ? std::optional{GivenUp{&*c.given_up}} : std::nullopt; }},
    {"next_best", "Fastest strategy with other degrees, and why it is not recommended; null where none was priced.",
     [](CurvePoint const& c) { return c.next_best ? std::optional{OtherDegrees{&*c.next_best}} : std::nullopt; }},
    {"alternatives", "Runners-up of this size; of --top.", from<runners_up_of>, Presence::if_any},
};
constexpr FieldTable point_table = field_table<CurvePoint>("curve_point", point_rows);

struct ParetoPoint {
    CurvePoint const* point;
};
constexpr Field pareto_rows[] = {
    {"workers", "Accelerators.", [](ParetoPoint const& p) { return p.point->workers; }},
    {"step_seconds", "Time of one training step.",
     [](ParetoPoint const& p) { return best(*p.point, [](P const& q) { return q.step(); }); }},
    {"days", "Duration of the run.", [](ParetoPoint const& p) { return days_of(p.point->duration); }, Unit{"d"}},
    {"cost_dollars", "Cost of the run.", [](ParetoPoint const& p) { return p.point->cost; }},
};
constexpr FieldTable pareto_table = field_table<ParetoPoint>("pareto_point", pareto_rows);
FieldTable const& field_table_of(ParetoPoint const*) { return pareto_table; }

// ---- comparison with another machine ----------------------------------------------------------------------------------

constexpr Field comparison_row_rows[] = {
    {"workers", "Accelerators of the first machine.", member<&ComparisonRow::workers>},
    {"workers2", "Accelerators of the second machine.", member<&ComparisonRow::workers2>},
    {"step_seconds", "Step time of the first machine.", member<&ComparisonRow::step>},
    {"step_seconds2", "Step time of the second machine.", member<&ComparisonRow::step2>},
    {"cost_dollars", "Cost of the run on the first machine.", member<&ComparisonRow::cost>},
    {"cost_dollars2", "Cost of the run on the second machine.", member<&ComparisonRow::cost2>},
};
constexpr FieldTable comparison_row_table = field_table<ComparisonRow>("comparison_row", comparison_row_rows);

struct Comparison {
    PlanComparison const* with;
    Plan const* other;
};
constexpr Field comparison_rows[] = {
    {"cluster2", "Second machine.", [](Comparison const& c) -> Cluster const& { return c.other->question.cluster; }},
    {"recommendation2", "Recommended size of the second machine; null where nothing fits.",
     [](Comparison const& c) { return recommendation_of(*c.other); }},
    {"tie_price_dollars_per_hour", "Price of its accelerator at which a token costs the same on both.",
     [](Comparison const& c) {
         auto const& price = c.with->tie_price;
         return price ? std::optional{price->in(units::dollar / units::hour)} : std::nullopt;
     },
     Unit{"$/h"}},
    {"rows", "Sizes that both machines have.",
     [](Comparison const& c) -> std::vector<ComparisonRow> const& { return c.with->rows; }},
    {"verdict", "Comparison in words.", [](Comparison const& c) { return c.with->verdict; }},
};
constexpr FieldTable comparison_table = field_table<Comparison>("comparison", comparison_rows);
FieldTable const& field_table_of(Comparison const*) { return comparison_table; }

// ---- the answer -------------------------------------------------------------------------------------------------------

constexpr Field stop_rows[] = {
    {"workers", "First size after which no larger one shortens the step by more than 2 %; null where there is none.",
     member<&Stop::workers>},
    {"reason", "Why it is the last, in words.", member<&Stop::reason>},
};
constexpr FieldTable stop_table = field_table<Stop>("stop", stop_rows);

constexpr Field checklist_rows[] = {
    {"question", "Question that a scaling decision should answer.", member<&ChecklistItem::question>},
    {"answer", "Answer for the recommended size.", member<&ChecklistItem::answer>},
};
constexpr FieldTable checklist_table = field_table<ChecklistItem>("checklist_item", checklist_rows);

std::vector<ParetoPoint> pareto_of(PlanAnswer const& answer) {
    std::vector<ParetoPoint> points;
    for (std::size_t const index : answer.plan.pareto) { points.push_back({&answer.plan.curve[index]}); }
    return points;
}

Prediction const* chosen(PlanAnswer const& answer) {
    CurvePoint const* point = recommended_point(answer.plan);
    return point != nullptr ? &*point->prediction : nullptr;
}

constexpr PlanQuestion const& asked(PlanAnswer const& answer) { return answer.plan.question; }

constexpr Field plan_answer_rows[] = {
    {"model", "Model.", [](PlanAnswer const& a) -> Model const& { return asked(a).model; }},
    {"cluster", "Cluster.", [](PlanAnswer const& a) -> Cluster const& { return asked(a).cluster; }},
    {"framework", "Training framework.", [](PlanAnswer const& a) { return asked(a).framework.name; }},
    {"optimizer", "Optimizer of the catalog that was named; empty: AdamW as the framework keeps it.",
     [](PlanAnswer const& a) { return asked(a).framework.optimizer; }},
    {"base", "Format of frozen weights below LoRA adapters.",
     [](PlanAnswer const& a) { return std::string{name_of(asked(a).framework.frozen)}; }},
    {"pace", "Factor on computation that was fitted to the framework.",
     [](PlanAnswer const& a) { return asked(a).space.pace; }},
    {"workload", "Data of a step and of the run.",
     [](PlanAnswer const& a) {
         return WorkloadOfRun{asked(a).workload, asked(a).tokens};
     }},
    {"strategy_record", "Strategy of the catalog that filled open fields; null without one.",
     [](PlanAnswer const& a) { return if_stated(a.strategy_record); }},
    {"complete", "Whether every size was searched.", [](PlanAnswer const& a) { return a.plan.complete; }},
    {"rule", "Rule by which the size was chosen, in words.", member<&PlanAnswer::rule>},
    {"verdict", "Answer in words.", [](PlanAnswer const& a) { return a.plan.verdict; }},
    {"recommendation", "Recommended size; null where nothing fits.",
     [](PlanAnswer const& a) {
         auto chosen = recommendation_of(a.plan);
         if (chosen) { chosen->command = a.command; }
         return chosen;
     }},
    {"curve", "Best strategy of each size, ascending.",
     [](PlanAnswer const& a) -> decltype(auto) { return (a.plan.curve); }},
    {"stop", "Size beyond which more workers do not help.", [](PlanAnswer const& a) { return a.plan.stop; }},
    {"pareto", "Sizes that no other beats in both time and cost.", from<pareto_of>},
    {"search", "Strategies that were looked at.",
     [](PlanAnswer const& a) -> decltype(auto) { return (a.plan.counts); }},
    {"assumptions", "Fields that nobody stated, with the values taken.",
     [](PlanAnswer const& a) -> decltype(auto) { return (a.plan.assumptions); }},
    {"constants", "Constants of the step model.", member<&PlanAnswer::constants>},
    {"checklist", "Questions that a scaling decision should answer.",
     [](PlanAnswer const& a) -> decltype(auto) { return (a.plan.checklist); }},
    {"narrows", "Facts that would narrow the interval of the recommended size most, three at most.",
     member<&PlanAnswer::narrows>},
    {"notes", "Remarks on the input.", member<&PlanAnswer::notes>},
    {"productive_days", "Duration of the recommended size without failures and checkpoints.",
     [](PlanAnswer const& a) { return chosen(a) != nullptr ? days_of(productive_time(*chosen(a))) : std::nullopt; },
     Unit{"d"}},
    {"goodput", "Effect of failures and checkpoints; null where they are not counted.",
     [](PlanAnswer const& a) { return chosen(a) != nullptr ? chosen(a)->goodput : std::nullopt; }},
    {"statistics", "Effect of the critical batch; null where it is not counted.",
     [](PlanAnswer const& a) { return chosen(a) != nullptr ? statistics_of(*chosen(a)) : std::nullopt; }},
    {"left_out", "Effects that speedup laws leave out.", member<&PlanAnswer::left_out>},
    {"comparison", "Comparison with another machine; of --against.",
     [](PlanAnswer const& a) {
         return a.comparison && a.other ? std::optional{Comparison{&*a.comparison, &*a.other}} : std::nullopt;
     },
     Presence::if_any},
};
constexpr FieldTable plan_answer_table = field_table<PlanAnswer>("plan", plan_answer_rows);

constexpr Field size_rows[] = {
    {"workers", "Accelerators.", member<&PlanDryRun::Size::workers>},
    {"legal", "Strategies that satisfy every rule of divisibility.", member<&PlanDryRun::Size::legal>},
};
constexpr FieldTable size_table = field_table<PlanDryRun::Size>("size", size_rows);

constexpr Field dry_run_rows[] = {
    {"dry_run", "True: nothing was evaluated.", [](PlanDryRun const&) { return true; }},
    {"sizes", "Legal strategies of each size.", member<&PlanDryRun::sizes>},
    {"legal", "Legal strategies of all sizes.",
     [](PlanDryRun const& d) {
         std::size_t total = 0;
         for (PlanDryRun::Size const& size : d.sizes) { total += size.legal; }
         return total;
     }},
};
constexpr FieldTable dry_run_table = field_table<PlanDryRun>("plan_dry_run", dry_run_rows);

} // namespace

FieldTable const& field_table_of(SearchCounts const*) { return counts_table; }
FieldTable const& field_table_of(ComparisonRow const*) { return comparison_row_table; }
FieldTable const& field_table_of(Stop const*) { return stop_table; }
FieldTable const& field_table_of(ChecklistItem const*) { return checklist_table; }
FieldTable const& field_table_of(CurvePoint const*) { return point_table; }
FieldTable const& field_table_of(PlanAnswer const*) { return plan_answer_table; }
FieldTable const& field_table_of(PlanDryRun const*) { return dry_run_table; }
FieldTable const& field_table_of(PlanDryRun::Size const*) { return size_table; }

} // namespace headroom::training
