#include "choose.hpp"
#include "legal.hpp"
#include "shape_costs.hpp"
#include "training/remedy.hpp"
#include "words.hpp"

#include "headroom/training/memory.hpp"
#include "headroom/training/prediction.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace headroom::training {

using planner::CostTable, planner::Recent;

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

/// Memory of a strategy, and whether it fits. The hot path: no text.
Evaluation evaluation_of(StepSetting const& setting, Strategy const& strategy, ShapeActivations const& kept,
                         MemoryMargin const& margin) {
    Evaluation result;
    MemoryUse const use = memory_use(setting, strategy, kept);
    result.memory = use.total();
    Bytes const usable = usable_memory(setting.cluster.accelerator, use), state = use.state();
    bool const predicted = result.memory <= usable;
    bool const fits =
        margin.factor != 0.0 ? margin.needed(use.footprint(), state) <= setting.cluster.accelerator.memory : predicted;
    if (fits) {
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

    /// Computes the memory of every strategy, and the screen of those that `top` of them can come from: where one with less
    /// recomputation fits, it is screened in their place.
    void run(int top, Executor const& executor, std::stop_token const& stop);

    /// False where it was stopped.
    [[nodiscard]] bool finished() const { return !stopped_; }
    [[nodiscard]] SearchResult result(int top) const;

private:
    struct Priced {
        std::size_t at;
        StepTime time;
        Seconds step; ///< all of it
    };
    struct Unpriced {
        std::size_t at;
        Seconds floor; ///< of its step
    };
    struct PricedList {
        std::vector<Priced> list;
        Seconds least;                   ///< price of the fastest
        std::optional<Priced> next_best; ///< the fastest with other degrees than the first
    };
    void in_pieces(std::size_t count, Executor const& executor, std::stop_token const& stop,
                   std::function<void(std::size_t, std::size_t)> const& task);
    void screen(std::vector<std::uint32_t> const& which, Executor const& executor, std::stop_token const& stop);
    [[nodiscard]] bool recomputes_in_vain(std::size_t at) const;
    [[nodiscard]] std::vector<std::size_t> fastest(std::size_t top, Ending ending) const;
    [[nodiscard]] PricedList priced(std::size_t top) const;
    [[nodiscard]] bool has_other_degrees(std::size_t a, std::size_t b) const;
    [[nodiscard]] Priced priced_at(std::size_t at) const;
    [[nodiscard]] Seconds floor_of(std::size_t at) const;
    /// Order of priced strategies: of equals, that of the screen.
    [[nodiscard]] std::tuple<Seconds, Bytes, Seconds, std::size_t> by_price(Priced const& one) const {
        return {one.step, slots_[one.at].memory, slots_[one.at].step, one.at};
    }
    [[nodiscard]] std::size_t recommended(std::span<Priced const> by_time) const;
    void price_ties(std::vector<Priced>& all, std::vector<Unpriced>& left) const;
    [[nodiscard]] std::optional<Priced> next_best(std::span<Priced const> by_time, std::span<Unpriced const> left,
                                                  std::size_t chosen) const;
    [[nodiscard]] std::optional<RiskyStrategy> given_up(std::optional<Seconds> fastest_that_fits) const;
    [[nodiscard]] Strategy const& leanest() const;
    [[nodiscard]] std::string nothing_because(std::optional<RiskyStrategy> const& given_up) const;

    StepSetting const& setting_;
    CostTable& table_;
    MemoryMargin const& margin_;
    std::vector<Strategy> const& strategies_;
    std::vector<std::uint32_t> entries_;
    std::vector<Evaluation> slots_;
    std::atomic<bool> stopped_ = false;
};

/// Runs a task on pieces of a list, from the first index up to the second.
void Sweep::in_pieces(std::size_t count, Executor const& executor, std::stop_token const& stop,
                      std::function<void(std::size_t, std::size_t)> const& task) {
    constexpr std::size_t piece = 1024;
    int const pieces = static_cast<int>((count + piece - 1) / piece);
    auto const run = [&](int index) {
        if (stop.stop_requested()) {
            stopped_ = true;
            return;
        }
        std::size_t const begin = piece * static_cast<std::size_t>(index);
        task(begin, std::min(begin + piece, count));
    };
    if (executor && pieces > 1) { return executor(pieces, run); }
    for (int index = 0; index < pieces; ++index) { run(index); }
}

void Sweep::screen(std::vector<std::uint32_t> const& which, Executor const& executor, std::stop_token const& stop) {
    for (std::uint32_t const i : which) { table_.price(entries_[i]); }
    in_pieces(which.size(), executor, stop, [&](std::size_t begin, std::size_t end) {
        Recent recent;
        for (std::size_t at = begin; at < end; ++at) {
            std::uint32_t const i = which[at];
            Strategy const& strategy = strategies_[i];
            LayerCosts const& costs = table_.layers(entries_[i]);
            Seconds const step =
                screen_step(setting_, strategy, costs, recent.stage(setting_, strategy, costs, entries_[i]),
                            recent.traffic(setting_, strategy));
            slots_[i].step = step;
            if (!std::isfinite(step.base()) || step <= Seconds{}) { slots_[i].ending = Ending::no_rate; }
        }
    });
}

void Sweep::run(int top, Executor const& executor, std::stop_token const& stop) {
    in_pieces(slots_.size(), executor, stop, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            bool const in_vain = top == 0 && i > begin && recomputes_in_vain(i); // it fits, too, and is not chosen
            slots_[i] = in_vain ? Evaluation{.step = {}, .memory = {}, .ending = Ending::fits}
                                : evaluation_of(setting_, strategies_[i], table_.kept(entries_[i]), margin_);
        }
    });
    if (stopped_) { return; }
    std::vector<std::uint32_t> which;
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
        bool const fits = slots_[i].ending == Ending::fits, risky = slots_[i].ending == Ending::risky;
        bool const is_candidate = fits ? top > 1 || !recomputes_in_vain(i) : risky && top > 0;
        if (is_candidate || i == 0) { which.push_back(i); } // the first one shows whether there is a rate
    }
    screen(which, executor, stop);
    if (slots_.front().ending != Ending::no_rate) { return; }
    which.resize(slots_.size());
    std::iota(which.begin(), which.end(), 0U);
    screen(which, executor, stop);
}

/// Whether the same strategy with less recomputation fits, too: it is never slower, unless activations are copied to host
/// memory. In the list of strategies it comes just before.
bool Sweep::recomputes_in_vain(std::size_t at) const {
    Strategy const& taken = strategies_[at];
    if (taken.recompute == Recompute::none || at == 0 || slots_[at - 1].ending != Ending::fits) { return false; }
    if (offloads_activations(taken.offload)) { return false; }
    Strategy less = taken;
    less.recompute = strategies_[at - 1].recompute;
    less.recomputed = strategies_[at - 1].recomputed;
    return less.recompute < taken.recompute && less == strategies_[at - 1];
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

/// Index of the strategy to recommend among priced ones in the order of their price.
std::size_t Sweep::recommended(std::span<Priced const> by_time) const {
    std::vector<planner::PricedStrategy> ties;
    for (Priced const& one : by_time) { ties.push_back({strategies_[one.at], one.step}); }
    return planner::simplest_of_ties(ties, std::max(1, setting_.cluster.domain));
}

/// Prices those of `left`, none of which can be the fastest, that could be recommended. `all` is in the order of price, and stays
/// so.
void Sweep::price_ties(std::vector<Priced>& all, std::vector<Unpriced>& left) const {
    int const domain = std::max(1, setting_.cluster.domain);
    while (!left.empty()) {
        Priced const& chosen = all[recommended(all)];
        auto const next = std::ranges::find_if(left, [&](Unpriced const& one) {
            return one.floor <= all.front().step * (1.0 + step_tie) &&
                   planner::may_replace(strategies_[one.at], strategies_[chosen.at], strategies_[all.front().at],
                                        domain, one.floor <= chosen.step);
        });
        if (next == left.end()) { return; }
        Priced const one = priced_at(next->at);
        left.erase(next);
        all.insert(std::ranges::upper_bound(all, by_price(one), {}, [this](Priced const& p) { return by_price(p); }),
                   one);
    }
}

/// The fastest with other degrees than the chosen one, of those priced, in the order of their price, and those left; empty
/// where there is none.
std::optional<Sweep::Priced> Sweep::next_best(std::span<Priced const> by_time, std::span<Unpriced const> left,
                                              std::size_t chosen) const {
    std::optional<Priced> next;
    auto const other =
        std::ranges::find_if(by_time, [&](Priced const& one) { return has_other_degrees(one.at, chosen); });
    if (other != by_time.end()) { next = *other; }
    for (Unpriced const& one : left) {
        if (!has_other_degrees(one.at, chosen) || (next && one.floor > next->step)) { continue; }
        Priced const slower = priced_at(one.at);
        if (!next || by_price(slower) < by_price(*next)) { next = slower; }
    }
    return next;
}

/// Prices candidates in the order of the screen until none that is left can be faster than the fastest priced one, and
/// further ones up to `top` as runners-up. The recommended one comes first, the others in the order of their price. Where `top`
/// is at most 1, those are left without a price whose floor shows that they are not recommended; where it is 0, also one that
/// alone can be.
Sweep::PricedList Sweep::priced(std::size_t top) const {
    PricedList result;
    auto const candidates = fastest(std::max(top, most_priced), Ending::fits);
    bool const decided =
        top == 0 && !candidates.empty() && (candidates.size() == 1 || recomputes_in_vain(candidates[1]));
    bool const names_next = top > 0;
    top = std::max<std::size_t>(top, 1);
    auto& all = result.list;
    std::vector<Priced> more; // runners-up that are no contenders
    std::vector<Unpriced> left;
    Seconds& least = result.least;
    for (std::size_t const i : candidates) {
        std::size_t const seen = all.size() + left.size() + more.size();
        bool const contends = all.empty() || (seen < most_priced && !recomputes_in_vain(i) &&
                                              slots_[i].step * (1.0 - regret_margin) <= least);
        if (!contends && seen >= top) { break; }
        if (top == 1 && !all.empty()) {
            if (Seconds const floor = floor_of(i); floor >= least) {
                left.push_back({i, floor});
                continue;
            }
        }
        Priced const one = decided ? Priced{i, {.compute = slots_[i].step}, slots_[i].step} : priced_at(i);
        if (all.empty() || (contends && one.step < least)) { least = one.step; }
        (contends ? all : more).push_back(one);
    }
    if (all.empty()) { return result; }
    auto const in_order = [this](Priced const& one) { return by_price(one); };
    std::ranges::sort(all, {}, in_order);
    price_ties(all, left);
    std::size_t const first = recommended(all);
    if (names_next) { result.next_best = next_best(all, left, all[first].at); }
    std::swap(all[0], all[first]);
    all.insert(all.end(), more.begin(), more.end());
    std::ranges::sort(all.begin() + 1, all.end(), {}, in_order);
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

Sweep::Priced Sweep::priced_at(std::size_t at) const {
    StepTime const time = price_step(setting_, strategies_[at], table_.layers(entries_[at])).time;
    return {at, time, time.total()};
}

Seconds Sweep::floor_of(std::size_t at) const {
    return step_floor(setting_, strategies_[at], table_.layers(entries_[at]));
}

/// The fastest strategy that the margin excludes, priced; empty where it is no faster than the fastest that fits.
std::optional<RiskyStrategy> Sweep::given_up(std::optional<Seconds> fastest_that_fits) const {
    std::optional<Priced> risky;
    for (std::size_t const i : fastest(most_risky_priced, Ending::risky)) {
        auto const faster = risky ? std::optional{risky->step} : fastest_that_fits;
        if (faster && floor_of(i) > *faster) { continue; }
        Priced const one = priced_at(i);
        if (!risky || one.step < risky->step) { risky = one; }
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
    if (next_best) {
        result.next_best =
            NextBest{.strategy = strategies_[next_best->at], .time = next_best->time, .chosen = best.front().time};
    }
    if (top > 0) { result.given_up = given_up(best.empty() ? std::nullopt : std::optional{result.fastest}); }
    for (Priced const& one : best) {
        result.best.push_back(strategies_[one.at]);
        result.step.push_back(one.step);
        result.memory.push_back(slots_[one.at].memory);
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
            sweep.run(top, space.run, stop);
            if (!sweep.finished()) { break; }
            result = sweep.result(top);
        }
        result.workers = workers;
        results.push_back(std::move(result));
    }
    return results;
}

} // namespace headroom::training
