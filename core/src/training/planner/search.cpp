#include "choose.hpp"
#include "legal.hpp"
#include "training/memory_terms.hpp"
#include "training/remedy.hpp"
#include "training/step_screen.hpp"
#include "words.hpp"

#include "headroom/training/memory.hpp"
#include "headroom/training/prediction.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace headroom::training {
namespace {

/// Outcome of one evaluation. `reason_text` names each reason for failure once.
enum class Ending : unsigned char { missing, fits, risky, state, activations, buffers, no_rate, count_ };
constexpr std::size_t ending_count = static_cast<std::size_t>(Ending::count_);

std::string_view reason_text(Ending ending) {
    switch (ending) {
    case Ending::state: return "weights, gradients and optimizer state exceed memory";
    case Ending::activations: return "activations exceed memory";
    case Ending::buffers: return "communication buffers exceed memory";
    case Ending::risky: return "fit with too small a probability";
    case Ending::no_rate: return "the accelerator has no rate for this precision";
    case Ending::missing:
    case Ending::fits:
    case Ending::count_: break;
    }
    return {};
}

struct Evaluation {
    Seconds step;
    Bytes memory;
    Ending ending = Ending::missing;
};

/// Durations and activations of the work inside a layer.
struct ShapeCosts {
    LayerCosts layers;
    ShapeActivations kept;
};

/// Costs by shape: one entry for all strategies that do the same work inside a layer.
class CostTable {
public:
    CostTable(StepSetting const& setting, double pace) : setting_{setting}, pace_{pace} {}

    /// The entry of this strategy's shape, computed when it is new.
    std::uint32_t entry(Strategy const& strategy) {
        auto const [found, is_new] = entry_.try_emplace(key(strategy), static_cast<std::uint32_t>(costs_.size()));
        if (is_new) {
            LayerShape const shape = shape_of(strategy, setting_.workload);
            costs_.push_back({.layers = layer_costs(step_program(setting_.model, shape, setting_.framework), shape,
                                                    setting_.cluster, setting_.framework, setting_.constants),
                              .kept = shape_activations(setting_, shape)});
            costs_.back().layers.pace(pace_);
        }
        return found->second;
    }
    ShapeCosts const& operator[](std::uint32_t entry) const { return costs_[entry]; }

private:
    using Key = std::pair<std::uint64_t, std::uint64_t>;
    /// Exact while degrees and micro-batch stay below 2^20; precision, overlap and trained are the same throughout a search.
    static Key key(Strategy const& strategy) {
        auto const bits = [](auto value) { return static_cast<std::uint64_t>(value); };
        return {bits(strategy.tp) << 44U | bits(strategy.cp) << 24U | bits(strategy.micro_batch) << 4U |
                    bits(strategy.sequence_parallel) << 3U | bits(strategy.recompute),
                bits(strategy.recomputed) << 52U | bits(strategy.ep) << 32U |
                    bits(strategy.zero == 3 && strategy.data_ranks() > 1) << 24U | bits(strategy.etp)};
    }

    struct Mixed {
        std::size_t operator()(Key const& key) const {
            constexpr std::uint64_t odd = 0x9E3779B97F4A7C15U; // the golden ratio: spreads small numbers over all bits
            return static_cast<std::size_t>((key.first ^ (key.second * odd)) * odd);
        }
    };

    StepSetting const& setting_;
    double pace_;
    std::unordered_map<Key, std::uint32_t, Mixed> entry_;
    std::vector<ShapeCosts> costs_;
};

/// Results of recent evaluations that the next strategies share. Fields that are not compared are constant throughout a
/// search.
class Recent {
public:
    /// Work of the longest stage: of all that do the same work inside a layer and cut it into the same stages and chunks.
    ScreenedWork const& stage(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                              std::uint32_t entry) {
        std::array const key{static_cast<int>(entry), strategy.pp, strategy.virtual_pp};
        auto& slot = stages_[entry % stages_.size()];
        if (slot.key != key) { slot = {key, screened_work(setting, strategy, costs)}; }
        return slot.value;
    }
    /// Traffic of gradients and weights: of all that hold and shard the same parameters on the same ranks.
    PlacedTraffic const& traffic(StepSetting const& setting, Strategy const& strategy) {
        std::array const key{strategy.tp, strategy.pp,  strategy.cp,   strategy.dp,
                             strategy.ep, strategy.etp, strategy.zero, strategy.shard};
        auto& slot = traffic_[static_cast<std::size_t>(2 * strategy.zero + (strategy.shard > 0 ? 1 : 0))];
        if (slot.key != key) { slot = {key, placed_traffic(setting, strategy)}; }
        return slot.value;
    }

private:
    template <std::size_t fields, class Value> struct Slot {
        std::array<int, fields> key = {}; ///< of no strategy: degrees are at least 1
        Value value = {};
    };
    std::array<Slot<3, ScreenedWork>, 8> stages_ = {};
    std::array<Slot<8, PlacedTraffic>, 8> traffic_ = {};
};

/// The hot path: no text.
Evaluation evaluation_of(StepSetting const& setting, Strategy const& strategy, ShapeCosts const& costs,
                         ScreenedWork const& stage, PlacedTraffic const& traffic, MemoryMargin const& margin) {
    Evaluation result;
    result.step = screen_step(setting, strategy, costs.layers, stage, traffic);
    MemoryUse const use = memory_use(setting, strategy, costs.kept);
    result.memory = use.total();
    Bytes const usable = usable_memory(setting.cluster.accelerator, use), state = use.state();
    bool const predicted = result.memory <= usable;
    bool const fits =
        margin.factor != 0.0 ? margin.needed(use.footprint(), state) <= setting.cluster.accelerator.memory : predicted;
    if (!std::isfinite(result.step.base()) || result.step <= Seconds{}) {
        result.ending = Ending::no_rate;
    } else if (fits) {
        result.ending = Ending::fits;
    } else if (predicted) {
        result.ending = Ending::risky;
    } else if (state > usable) {
        result.ending = Ending::state;
    } else {
        result.ending = state + use.all_activations() > usable ? Ending::activations : Ending::buffers;
    }
    return result;
}

/// Candidates of the screen that are priced at each size, at most; and by how much a price may be below its screen.
constexpr std::size_t most_priced = 64;
constexpr double regret_margin = 0.06;
constexpr std::size_t most_risky_priced = 8; ///< of those that the margin excludes

/// All evaluations of one worker count, each in the slot of its strategy.
class Sweep {
public:
    Sweep(StepSetting const& setting, CostTable& table, std::vector<Strategy> const& strategies,
          MemoryMargin const& margin)
        : setting_{setting},
          table_{table},
          margin_{margin},
          strategies_{strategies},
          entries_(strategies.size()),
          slots_(strategies.size()) {
        std::ranges::transform(strategies, entries_.begin(), [&](Strategy const& one) { return table.entry(one); });
    }

    void run(Executor const& executor, std::stop_token const& stop) {
        constexpr std::size_t piece = 1024;
        int const pieces = static_cast<int>((slots_.size() + piece - 1) / piece);
        auto const task = [&](int index) {
            if (stop.stop_requested()) { return; }
            std::size_t const begin = piece * static_cast<std::size_t>(index);
            std::size_t const end = std::min(begin + piece, slots_.size());
            Recent recent;
            for (std::size_t i = begin; i < end; ++i) {
                Strategy const& strategy = strategies_[i];
                ShapeCosts const& costs = table_[entries_[i]];
                slots_[i] = evaluation_of(setting_, strategy, costs,
                                          recent.stage(setting_, strategy, costs.layers, entries_[i]),
                                          recent.traffic(setting_, strategy), margin_);
            }
        };
        if (executor && pieces > 1) { return executor(pieces, task); }
        for (int index = 0; index < pieces; ++index) { task(index); }
    }

    [[nodiscard]] bool finished() const {
        return std::ranges::none_of(slots_, [](Evaluation const& one) { return one.ending == Ending::missing; });
    }
    [[nodiscard]] SearchResult result(int top) const;

private:
    struct Priced {
        std::size_t at;
        Seconds step;
    };
    struct PricedList {
        std::vector<Priced> list;
        Seconds least;                        ///< price of the fastest
        std::optional<std::size_t> next_best; ///< slot of the fastest with other degrees than the first
    };
    [[nodiscard]] bool recomputes_in_vain(std::size_t at) const;
    [[nodiscard]] std::vector<std::size_t> fastest(std::size_t top, Ending ending) const;
    [[nodiscard]] PricedList priced(std::size_t top) const;
    [[nodiscard]] bool has_other_degrees(std::size_t a, std::size_t b) const;
    [[nodiscard]] StepTime time_of(std::size_t at) const;
    [[nodiscard]] std::optional<RiskyStrategy> given_up(std::optional<Seconds> fastest_that_fits) const;
    [[nodiscard]] Strategy const& leanest() const;
    [[nodiscard]] std::string nothing_because(std::optional<RiskyStrategy> const& given_up) const;

    StepSetting const& setting_;
    CostTable const& table_;
    MemoryMargin const& margin_;
    std::vector<Strategy> const& strategies_;
    std::vector<std::uint32_t> entries_;
    std::vector<Evaluation> slots_;
};

/// Whether the same strategy with less recomputation fits, too: it is never slower, unless activations are copied to host
/// memory. In the list of strategies it comes just before.
bool Sweep::recomputes_in_vain(std::size_t at) const {
    Strategy less = strategies_[at];
    if (less.recompute == Recompute::none || at == 0 || slots_[at - 1].ending != Ending::fits) { return false; }
    if (offloads_activations(less.offload)) { return false; }
    less.recompute = strategies_[at - 1].recompute;
    less.recomputed = strategies_[at - 1].recomputed;
    return less.recompute < strategies_[at].recompute && less == strategies_[at - 1];
}

/// Strategies of an ending in the order of the screen; those that recompute in vain come last.
std::vector<std::size_t> Sweep::fastest(std::size_t top, Ending ending) const {
    std::vector<bool> vain(slots_.size());
    auto const better = [&](std::size_t a, std::size_t b) {
        return std::tuple{vain[a], slots_[a].step, slots_[a].memory, a} <
               std::tuple{vain[b], slots_[b].step, slots_[b].memory, b};
    };
    std::vector<std::size_t> best;
    for (std::size_t i = 0; i < slots_.size() && top > 0; ++i) {
        if (slots_[i].ending != ending) { continue; }
        vain[i] = recomputes_in_vain(i);
        if (best.size() == top && !better(i, best.back())) { continue; }
        if (best.size() == top) { best.pop_back(); }
        best.insert(std::ranges::upper_bound(best, i, better), i);
    }
    return best;
}

Strategy const& Sweep::leanest() const {
    auto const least = std::ranges::min_element(slots_, {}, &Evaluation::memory);
    return strategies_[static_cast<std::size_t>(least - slots_.begin())];
}

/// The strategy that the margin excludes, else the memory that the leanest one needs, by its largest term; computed only when
/// nothing fits.
std::string Sweep::nothing_because(std::optional<RiskyStrategy> const& given_up) const {
    Strategy const& strategy = leanest();
    MemoryUse const use = memory_use(setting_, strategy);
    std::array const parts{std::pair{use.weights, "weights"}, std::pair{use.gradients, "gradients"},
                           std::pair{use.optimizer, "optimizer state"}, std::pair{use.all_activations(), "activations"},
                           std::pair{use.buffers, "buffers"}};
    auto const& largest = *std::ranges::max_element(parts, {}, [](auto const& part) { return part.first; });
    if (slots_.front().ending == Ending::no_rate) {
        return "the " + setting_.cluster.accelerator.name + " has no rate for " +
               std::string{name_of(strategy.precision)} + " arithmetic";
    }
    if (given_up) {
        return short_name(given_up->strategy) + " fits with a probability of " + planner::percent(given_up->fits) +
               ", below " + planner::percent(margin_.probability) + "; " + planner::risk_that_takes(*given_up) +
               " takes it";
    }
    return "the leanest strategy (" + short_name(strategy) + ") " +
           memory_missing(use, setting_.cluster.accelerator.memory) + "; " +
           planner::percent(largest.first / use.total()) + " of it is " + largest.second;
}

/// Prices candidates in the order of the screen until none that is left can be faster than the fastest priced one, and
/// further ones up to `top` as runners-up. The recommended one comes first, the others in the order of their price. Where `top`
/// is 0, one that alone fits keeps the time of the screen.
Sweep::PricedList Sweep::priced(std::size_t top) const {
    PricedList result;
    auto const candidates = fastest(std::max(top, most_priced), Ending::fits);
    bool const decided = top == 0 && candidates.size() == 1;
    top = std::max<std::size_t>(top, 1);
    auto& all = result.list;
    Seconds& least = result.least;
    std::size_t contenders = 0; // the first ones of them
    for (std::size_t const i : candidates) {
        bool const contends = all.empty() || (all.size() < most_priced && !recomputes_in_vain(i) &&
                                              slots_[i].step * (1.0 - regret_margin) <= least);
        if (!contends && all.size() >= top) { break; }
        all.push_back({i, decided ? slots_[i].step : time_of(i).total()});
        contenders += contends ? 1 : 0;
        if (contends && (contenders == 1 || all.back().step < least)) { least = all.back().step; }
    }
    auto const by_price = [this](Priced const& one) { return std::pair{one.step, slots_[one.at].memory}; };
    auto const end = all.begin() + static_cast<std::ptrdiff_t>(contenders);
    std::ranges::stable_sort(all.begin(), end, {}, by_price);
    std::vector<planner::PricedStrategy> ties;
    for (auto one = all.begin(); one != end; ++one) { ties.push_back({strategies_[one->at], one->step}); }
    auto const simplest =
        static_cast<std::ptrdiff_t>(planner::simplest_of_ties(ties, std::max(1, setting_.cluster.domain)));
    auto const other = std::find_if(all.begin(), end, [&](Priced const& one) {
        return has_other_degrees(one.at, all[static_cast<std::size_t>(simplest)].at);
    });
    if (other != end) { result.next_best = other->at; }
    if (!all.empty()) { std::rotate(all.begin(), all.begin() + simplest, all.begin() + simplest + 1); }
    if (all.size() > 1) { std::ranges::stable_sort(all.begin() + 1, all.end(), {}, by_price); }
    if (all.size() > top) { all.resize(top); }
    return result;
}

bool Sweep::has_other_degrees(std::size_t a, std::size_t b) const {
    auto const degrees = [this](std::size_t at) {
        Strategy const& s = strategies_[at];
        return std::tuple{s.tp, s.cp, s.pp, s.ep, s.etp, s.dp};
    };
    return degrees(a) != degrees(b);
}

StepTime Sweep::time_of(std::size_t at) const {
    return price_step(setting_, strategies_[at], table_[entries_[at]].layers).time;
}

/// The fastest strategy that the margin excludes, priced; empty where it is no faster than the fastest that fits.
std::optional<RiskyStrategy> Sweep::given_up(std::optional<Seconds> fastest_that_fits) const {
    std::optional<Priced> risky;
    for (std::size_t const i : fastest(most_risky_priced, Ending::risky)) {
        Seconds const step = time_of(i).total();
        if (!risky || step < risky->step) { risky = Priced{i, step}; }
    }
    if (!risky || (fastest_that_fits && risky->step >= *fastest_that_fits)) { return std::nullopt; }
    Strategy const& strategy = strategies_[risky->at];
    MemoryUse const use = memory_use(setting_, strategy);
    return RiskyStrategy{.strategy = strategy,
                         .step = risky->step,
                         .memory = use.total(),
                         .fits = margin_.fits(use.footprint(), use.state(), setting_.cluster.accelerator.memory)};
}

SearchResult Sweep::result(int top) const {
    SearchResult result;
    result.counts.legal = static_cast<std::int64_t>(slots_.size());
    result.counts.evaluated = result.counts.legal;
    std::array<std::int64_t, ending_count> endings{};
    for (Evaluation const& one : slots_) { ++endings[static_cast<std::size_t>(one.ending)]; }
    result.counts.feasible = endings[static_cast<std::size_t>(Ending::fits)];
    for (Ending const ending : {Ending::risky, Ending::state, Ending::activations, Ending::buffers, Ending::no_rate}) {
        std::int64_t const count = endings[static_cast<std::size_t>(ending)];
        if (count > 0) { result.counts.infeasible_by_reason.emplace(reason_text(ending), count); }
    }
    auto const [best, least, next_best] = priced(static_cast<std::size_t>(std::max(top, 0)));
    result.fastest = least;
    if (next_best && top > 0) {
        result.next_best = NextBest{
            .strategy = strategies_[*next_best], .time = time_of(*next_best), .chosen = time_of(best.front().at)};
    }
    if (top > 0) { result.given_up = given_up(best.empty() ? std::nullopt : std::optional{result.fastest}); }
    for (auto const& [i, step] : best) {
        result.best.push_back(strategies_[i]);
        result.step.push_back(step);
        result.memory.push_back(slots_[i].memory);
    }
    if (result.counts.feasible > 0) { return result; }
    result.nothing_because = nothing_because(result.given_up);
    if (endings[static_cast<std::size_t>(Ending::no_rate)] == 0) { result.leanest = leanest(); }
    return result;
}

/// Imbalance by uneven sequences for every number of replicas that is about to be evaluated.
void add_fullest(StepSetting& setting, std::vector<Strategy> const& strategies) {
    if (!setting.disturbance.uneven) { return; }
    for (Strategy const& one : strategies) {
        auto const [found, is_new] = setting.fullest_of.try_emplace(one.dp, 1.0);
        if (is_new) { found->second = largest_over_mean(setting.disturbance, one.dp); }
    }
}

} // namespace

SearchCounts& SearchCounts::operator+=(SearchCounts const& other) {
    legal += other.legal;
    evaluated += other.evaluated;
    feasible += other.feasible;
    pruned += other.pruned;
    for (auto const& [reason, count] : other.infeasible_by_reason) { infeasible_by_reason[reason] += count; }
    return *this;
}

std::vector<SearchResult> search(StepSetting const& setting, SearchSpace const& space, int top,
                                 std::stop_token const& stop) {
    CostTable shared{setting, space.pace};
    std::vector<SearchResult> results;
    for (int const workers : space.workers) {
        if (stop.stop_requested()) { break; }
        auto const set = planner::legal_set(setting.model, setting.cluster, setting.framework, setting.workload,
                                            workers, space.fixed);
        // stragglers and congestion depend on how many take part
        auto const& disturbance = setting.disturbance;
        Cluster const cluster = congested(setting.cluster, disturbance.congestion, workers);
        StepSetting at_size{.model = setting.model,
                            .cluster = cluster,
                            .framework = setting.framework,
                            .constants = setting.constants,
                            .workload = setting.workload,
                            .disturbance = disturbance,
                            .expected_slowest = expected_slowest(disturbance, setting.framework, workers),
                            .count = setting.count,
                            .blocks = setting.blocks,
                            .sums = setting.sums};
        add_fullest(at_size, set.strategies);
        CostTable apart{at_size, space.pace};
        CostTable& table = disturbance.congestion > 0.0 ? apart : shared;
        SearchResult result;
        if (set.strategies.empty()) {
            result.nothing_because = set.none_because;
        } else {
            Sweep sweep{at_size, table, set.strategies, space.margin};
            sweep.run(space.run, stop);
            if (!sweep.finished()) { break; }
            result = sweep.result(top);
        }
        result.workers = workers;
        results.push_back(std::move(result));
    }
    return results;
}

} // namespace headroom::training
