#pragma once

#include "training/memory_terms.hpp"
#include "training/step_screen.hpp"

#include "headroom/training/step.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headroom::training::planner {

/// Activations and durations of the work inside a layer.
struct ShapeCosts {
    LayerShape shape;
    ShapeActivations kept;
    std::optional<LayerCosts> layers = {}; ///< once a strategy of this shape is screened
};

/// Costs by shape: one entry for all strategies that do the same work inside a layer.
class CostTable {
public:
    CostTable(StepSetting const& setting, double pace) : setting_{setting}, pace_{pace} {}

    /// The entry of this strategy's shape, with its activations.
    std::uint32_t entry(Strategy const& strategy) {
        auto const [found, is_new] = entry_.try_emplace(key(strategy), static_cast<std::uint32_t>(costs_.size()));
        if (is_new) {
            LayerShape const shape = shape_of(strategy, setting_.workload);
            costs_.push_back({.shape = shape, .kept = shape_activations(setting_, shape)});
        }
        return found->second;
    }
    /// Computes the durations of an entry, where they are not yet known.
    void price(std::uint32_t entry) {
        ShapeCosts& costs = costs_[entry];
        if (costs.layers) { return; }
        costs.layers = layer_costs(step_program(setting_.model, costs.shape, setting_.framework), costs.shape,
                                   setting_.cluster, setting_.framework, setting_.constants);
        costs.layers->pace(pace_);
    }
    ShapeActivations const& kept(std::uint32_t entry) const { return costs_[entry].kept; }
    LayerCosts const& layers(std::uint32_t entry) const { return *costs_[entry].layers; }

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

} // namespace headroom::training::planner
