#pragma once

#include "headroom/executor.hpp"
#include "headroom/training/assume.hpp"
#include "headroom/training/prediction.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace headroom::training {

/// Where enumeration ends although the rules would let it go on. A degree that the caller fixed is not bounded.
struct SearchBounds {
    static constexpr int largest_micro_batch = 16; ///< or the model's usual batch, where that is larger
    static constexpr int largest_context = 16;
    static constexpr int shortest_local_sequence = 2048; ///< tokens of a sequence that one context rank keeps
};

/// Fields that the planner may vary, and those that the caller fixed.
struct SearchSpace {
    std::vector<int> workers;
    PartialStrategy fixed;    ///< degrees held
    Executor run;             ///< empty: one after another; the answer does not depend on it
    double pace = 1.0;        ///< factor on computation (`pace_of`)
    MemoryMargin margin = {}; ///< by which candidates fit (`memory_margin`)
};

/// Complete evaluations counted, and why the rest was refused.
struct SearchCounts {
    std::int64_t legal = 0;     ///< strategies that satisfy every divisibility rule
    std::int64_t evaluated = 0; ///< their memory, and the time of those that fit
    std::int64_t feasible = 0;
    std::int64_t pruned = 0; ///< legal but not evaluated, by a stated rule; there is none today
    std::map<std::string, std::int64_t> infeasible_by_reason;
    SearchCounts& operator+=(SearchCounts const& other);
};

/// A strategy that is predicted to fit, with a probability below that of the margin.
struct RiskyStrategy {
    Strategy strategy;
    Seconds step;
    Bytes memory;      ///< `total()` of the fullest stage
    double fits = 0.0; ///< probability
};

/// The fastest strategy with other degrees than the recommended one.
struct NextBest {
    Strategy strategy;
    StepTime time, chosen; ///< of a step of it, and of the recommended one, priced alike
    std::string why = {};  ///< reason why it is not recommended: "1.8 % slower: ..."
};

/// Steps at most this fraction above the fastest are ties. Of two published runs of one model, machine and batch whose predicted steps differ by
/// less than 3 %, the one that is predicted faster was measured faster in 63 % of 219 pairs (docs/guide/plan.md): such a difference is noise.
inline constexpr double step_tie = 0.02;

/// The best strategies of one worker count: first the simplest of those within `step_tie` of the fastest, then the others
/// by time; ties go to less memory, then to the earlier in search order. Simpler is, in this order: no ZeRO 2 or 3, fewer
/// model chunks a stage, less recomputation, fewer scale-up domains a model replica, fewer parallel dimensions in use, no
/// ZeRO, no shard group; none has more chunks a stage or more domains a replica than the fastest.
struct SearchResult {
    int workers = 0;
    Seconds fastest;            ///< shortest priced step; `step.front()` may be `step_tie` above it
    std::vector<Strategy> best; ///< at most `top`
    std::vector<Seconds> step;  ///< of `best`
    std::vector<Bytes> memory;  ///< of `best`
    SearchCounts counts;
    std::string nothing_because; ///< when nothing fits: the dominant reason, in words
    std::optional<RiskyStrategy>
        given_up; ///< the fastest one for which the margin is too small, where faster than `best`
    std::optional<NextBest> next_best = {}; ///< of those that were priced
    std::optional<Strategy> leanest;        ///< when nothing fits: the legal strategy that needs the least memory
};

/// Every legal strategy of one worker count, in search order. `search` evaluates this list.
///
/// dp is workers / (tp pp cp). The rules are those of `illegal_because`.
/// The bounds, from which a fixed degree is free:
///   tp stays inside the scale-up domain; cp and micro-batch are powers of two up to `SearchBounds` (the
///   replica's whole batch is tried as a micro-batch too); ZeRO 3 is sharded over all of dp or over
///   the ranks of it inside one domain; one data rank has nothing to shard.
/// Schedules are 1F1B and interleaved; a fixed one is that of every strategy, which then has pp > 1.
/// Precision, overlap and trained weights are not varied: fixed, or as `assume` fills them.
/// Errors: InputError{usage} when workers, batch or sequence are below one.
std::vector<Strategy> legal_strategies(Model const& model, Cluster const& cluster, Framework const& framework,
                                       Workload const& workload, int workers, PartialStrategy const& fixed);

/// Evaluates all legal strategies for each worker count. When stopped, the counts finished so far are
/// returned: an unfinished one has no result.
std::vector<SearchResult> search(StepSetting const& setting, SearchSpace const& space, int top,
                                 std::stop_token const& stop = {});

/// Strategy of one size: the first of `search` under the fixed fields, as `plan` takes it, else the one that
/// needs the least memory; with a note for every field that was open. Empty where no strategy is legal.
std::optional<AssumedStrategy> chosen_strategy(StepSetting const& setting, SearchSpace const& space);

/// Runs of fewer optimizer steps than this are reported: nobody trains so, a batch that is too large for the data does it.
inline constexpr double steps_of_a_run = 100.0;

/// Rule by which a size is chosen when nothing else decides; see `make_plan`.
enum class Objective {
    knee, ///< the largest whose last doubling was worth it
    time, ///< the fastest
    cost, ///< the cheapest
};

/// Question of a plan: everything but the strategy.
struct PlanQuestion {
    Model model;
    Cluster cluster;
    Framework framework;
    Workload workload;
    SearchSpace space;
    Disturbance disturbance = {};
    std::vector<Assumption> assumptions;
    std::optional<double> tokens; ///< of the whole run; the fewest, with a critical batch
    std::optional<Failures> failures = {};
    std::optional<double> critical_batch = {};     ///< sequences
    std::optional<int> batch_per_worker = {};      ///< sequences: the global batch grows with the workers
    std::optional<Seconds> deadline;               ///< for the whole run
    std::optional<Dollars> budget;                 ///< for the whole run
    std::optional<DollarsPerSecond> value_of_time; ///< price of one hour, for sooner results
    Objective objective = Objective::knee;
    double memory_risk = usual_memory_risk; ///< largest probability that a strategy does not fit
    int top = 1;                            ///< strategies kept a worker count: the best and top - 1 runners-up
    bool usual_sizes = false;               ///< nobody stated the worker counts
};

/// Time from the start of a job to its first step: that of a restart after a failure.
Seconds start_of(PlanQuestion const& question);

/// One worker count of the curve.
struct CurvePoint {
    int workers = 0;
    int global_batch = 0;
    bool recommended = false;
    bool feasible = false;
    std::string why_not; ///< empty when feasible
    /// Time by which sizes are compared: the step; with failures, a critical batch or a batch that grows with the
    /// workers, the time for a step's share of the target, in steps of the question's batch.
    Seconds pace;
    std::optional<Prediction> prediction; ///< of the best strategy; when feasible
    std::vector<Strategy> runners_up;
    std::vector<Seconds> runners_up_step;
    std::vector<Bytes> runners_up_memory;
    std::optional<RiskyStrategy> given_up = {}; ///< faster, but fits with too small a probability
    std::optional<NextBest> next_best = {};
    double speedup = 0.0, efficiency = 0.0;              ///< over the smallest feasible worker count
    std::optional<double> marginal_speedup_per_doubling; ///< over the feasible count before
    /// Speedup per doubling of the whole run, with `start_of` before its first step; by this the knee is chosen. Empty without tokens.
    std::optional<double> marginal_speedup_of_run;
    std::optional<double> steps;       ///< optimizer steps of the whole run, when its tokens are known
    std::optional<Seconds> duration;   ///< of the whole run, when its tokens are known
    std::optional<Seconds> productive; ///< duration without failures and checkpoints
    std::optional<Dollars> cost;       ///< of the whole run, when there is a price too
    std::optional<double> tokens_per_dollar, dollars_per_million_tokens;
    std::optional<double> deadline_probability; ///< that the run ends by the deadline
    std::optional<double> budget_probability;   ///< that it costs no more than the budget
    SearchCounts counts;
};

/// The size beyond which no larger one of the list improves the step, or the time to the target where more than the
/// step decides it, by more than 2 %, and why.
struct Stop {
    std::optional<int> workers;
    std::string reason;
};

/// A question that every scaling decision should answer, answered for the recommended size.
struct ChecklistItem {
    std::string question, answer;
};

/// A plan: the curve, the size to use and where to stop.
struct Plan {
    PlanQuestion question;
    std::vector<CurvePoint> curve;          ///< ascending in workers
    std::optional<std::size_t> recommended; ///< index into curve
    std::string verdict;
    std::vector<std::string> reasons;
    Stop stop;
    std::vector<std::size_t> pareto; ///< curve points no other beats in both time and cost
    SearchCounts counts;
    std::vector<ChecklistItem> checklist;
    std::vector<Assumption> assumptions;
    bool complete = true; ///< false: stopped; the sizes that were not reached are missing from the curve
};

/// The main job: searches every worker count, builds the curve, recommends and says where to stop.
///
/// A deadline or a budget: the cheapest size that meets them, with the objective time the fastest. Else a value of time: the size of least
/// cost + value x duration, so another step up is taken while an hour saved costs less than it is worth.
/// Else the objective: knee, the largest size whose last doubling still gave 1.6x (of a run whose tokens are known: with the time to
/// start the job, `start_of`) and that is faster than all smaller ones (the smallest feasible counts); time, the fastest; cost, the cheapest.
/// Without a price, costs are compared in accelerator-hours. With failures, a critical batch or a batch that grows
/// with the workers, all of these weigh the time to the target (`CurvePoint::pace`); a size that makes no progress is
/// infeasible.
/// Errors: InputError{usage} when there are no workers, a deadline has no tokens, a budget no tokens or
/// no price, a value of time no price, a batch a worker makes more than a billion sequences.
Plan make_plan(PlanQuestion const& question, CalibrationSet const& calibration, std::stop_token const& stop = {});

/// Two clusters side by side at equal worker counts, and the price at which they tie.
struct ComparisonRow {
    int workers = 0, workers2 = 0;
    std::optional<Seconds> step, step2;
    std::optional<Dollars> cost, cost2;
};
/// Two plans weighed against each other.
struct PlanComparison {
    std::vector<ComparisonRow> rows;
    /// Price of an accelerator of the second cluster at which a token costs the same on both, each at its recommended
    /// size, or both at the fastest common one where either has none.
    std::optional<DollarsPerSecond> tie_price;
    std::string verdict;
};
/// Compares the curves size by size and the two recommended sizes by the cost of a token.
PlanComparison compare(Plan const& first, Plan const& second);

/// First sentences of a plan's verdict: model, machine, days and dollars with their interval, the size next to the chosen
/// one, and a warning of few optimizer steps. Empty where nothing is recommended.
std::string headline(Plan const& plan);

} // namespace headroom::training
