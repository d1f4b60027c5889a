#include "choose.hpp"

#include "headroom/quantity.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace headroom::training {
namespace planner {

namespace {

/// Scale-up domains that one model replica spans.
int domains_of(Strategy const& s, int domain) { return (s.tp * s.cp * s.pp + domain - 1) / domain; }

int dimensions_of(Strategy const& s) { return (s.tp > 1) + (s.cp > 1) + (s.pp > 1) + (s.ep > 1); }

auto complexity_of(Strategy const& s, int domain) {
    return std::tuple{std::max(1, s.zero), s.virtual_pp, s.recompute, domains_of(s, domain),
                      dimensions_of(s),    s.zero,       s.shard > 0};
}

/// Whether a strategy has more chunks a stage, or more domains a replica.
bool spreads_more(Strategy const& s, Strategy const& fastest, int domain) {
    return s.virtual_pp > fastest.virtual_pp || domains_of(s, domain) > domains_of(fastest, domain);
}

} // namespace

bool may_replace(Strategy const& strategy, Strategy const& chosen, Strategy const& fastest, int domain,
                 bool may_be_faster) {
    auto const its = complexity_of(strategy, domain), least = complexity_of(chosen, domain);
    return !spreads_more(strategy, fastest, domain) && (its < least || (its == least && may_be_faster));
}

std::size_t simplest_of_ties(std::span<PricedStrategy const> by_time, int domain) {
    if (by_time.empty()) { return 0; }
    Strategy const& fastest = by_time.front().strategy;
    std::size_t simplest = 0;
    for (std::size_t i = 1; i < by_time.size() && by_time[i].step <= by_time[0].step * (1.0 + step_tie); ++i) {
        Strategy const& s = by_time[i].strategy;
        bool const simpler = complexity_of(s, domain) < complexity_of(by_time[simplest].strategy, domain);
        if (simpler && !spreads_more(s, fastest, domain)) { simplest = i; }
    }
    return simplest;
}

std::string less_simple_because(Strategy const& strategy, Strategy const& chosen, int domain) {
    auto const instead = [](int of_it, int of_chosen) {
        return std::to_string(of_it) + " instead of " + std::to_string(of_chosen);
    };
    if (std::max(1, strategy.zero) != std::max(1, chosen.zero)) {
        return "ZeRO " + instead(strategy.zero, chosen.zero);
    }
    if (strategy.virtual_pp != chosen.virtual_pp) {
        return "model chunks a stage: " + instead(strategy.virtual_pp, chosen.virtual_pp);
    }
    if (strategy.recompute != chosen.recompute) { return "more recomputation"; }
    int const nodes = domains_of(strategy, domain), chosen_nodes = domains_of(chosen, domain);
    if (nodes != chosen_nodes) { return "nodes of a replica: " + instead(nodes, chosen_nodes); }
    int const dimensions = dimensions_of(strategy), chosen_dimensions = dimensions_of(chosen);
    if (dimensions != chosen_dimensions) { return "parallel dimensions: " + instead(dimensions, chosen_dimensions); }
    return strategy.zero != chosen.zero || strategy.shard != chosen.shard ? "more sharding" : "";
}

} // namespace planner

namespace {

/// Notes of the fields that were open, with what was chosen for them.
std::vector<Assumption> choices_of(Strategy const& chosen, PartialStrategy const& fixed, Model const& model,
                                   std::string const& why) {
    std::vector<Assumption> notes;
    auto const note = [&](char const* field, bool open, std::string value) {
        if (open) { notes.push_back({field, std::move(value), why}); }
    };
    auto const number = [](int value) { return std::to_string(value); };
    note("tp", !fixed.tp, number(chosen.tp));
    note("pp", !fixed.pp, number(chosen.pp));
    note("dp", !fixed.dp, number(chosen.dp));
    note("cp", !fixed.cp, number(chosen.cp));
    note("ep", !fixed.ep && model.moe.experts > 0, number(chosen.ep));
    note("etp", !fixed.etp && model.moe.experts > 0 && chosen.tp > 1, number(chosen.etp));
    note("zero", !fixed.zero, number(chosen.zero));
    note("shard", !fixed.shard && chosen.shard > 0, number(chosen.shard));
    note("sequence_parallel", !fixed.sequence_parallel && chosen.tp > 1, chosen.sequence_parallel ? "on" : "off");
    note("micro_batch", !fixed.micro_batch, number(chosen.micro_batch));
    note("recompute", !fixed.recompute, spelled_recomputation(chosen));
    note("virtual_pp", !fixed.virtual_pp && !fixed.pipeline && chosen.pp > 1, number(chosen.virtual_pp));
    return notes;
}

} // namespace

std::optional<AssumedStrategy> chosen_strategy(StepSetting const& setting, SearchSpace const& space) {
    auto const found = search(setting, space, 0);
    if (found.empty()) { return std::nullopt; }
    SearchResult const& result = found.front();
    bool const fits = !result.best.empty();
    if (!fits && !result.leanest) { return std::nullopt; }
    Strategy const& chosen = fits ? result.best.front() : *result.leanest;
    AssumedStrategy answer{
        chosen, choices_of(chosen, space.fixed, setting.model,
                           fits ? "simplest within " + format_count(100.0 * step_tie) + " % of the fastest that fits"
                                : "none fits; the one that needs least")};
    if (!space.fixed.precision) {
        answer.assumptions.push_back(
            {"precision", std::string{name_of(chosen.precision)}, "default of " + setting.framework.name});
    }
    if (space.fixed.zero && chosen.zero != *space.fixed.zero) {
        answer.assumptions.push_back(
            {"zero", std::to_string(chosen.zero),
             "the bf16 optimizer of " + setting.framework.name + " shards its state without ZeRO"});
    }
    return answer;
}

} // namespace headroom::training
