#pragma once

#include "training/traffic.hpp"

#include "headroom/network/simulated_collectives.hpp"

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::training::simulation {

/// Factors on the closed forms of collectives if all groups of their dimension send their messages at once.
///
///     factor = (T_messages + a) / (T_closed + a)          a: latency to start a collective
///
/// Holds for:  all collectives that `CollectivesByMessages` prices. The exchange of tokens among experts is priced as
///             an all-to-all of as many bytes. Data-parallel collectives of a stage have one factor, that of their
///             whole size, for all buckets.
/// Assumes:    all groups of a dimension, on all stages, run the collective at once; a round of ring attention is the
///             transfer from a group's first rank to its last.
class StepMessages {
public:
    StepMessages(StepSetting const& setting, Strategy const& strategy, std::stop_token stop);

    /// Factor on the time of a collective or an exchange of a layer's program.
    double of_operation(Operation const& operation);
    /// Factor on a transfer between neighbouring stages.
    double of_transfer();
    /// Multiplies a stage's data-parallel traffic by the factors of its collectives.
    void lengthen(DataTraffic& traffic);

    /// Reasons why closed forms were used, each once.
    [[nodiscard]] std::vector<std::string> const& stood_in() const { return stood_in_; }
    [[nodiscard]] bool complete() const { return complete_; } ///< false if a stop was requested

private:
    double factor(std::string_view dimension, network::Collective kind, Bytes bytes, network::DimensionGroups groups);
    double of_exchange(Operation const& operation);
    void lengthen(std::string_view dimension, ParameterTraffic& part, network::DimensionGroups whole,
                  network::DimensionGroups replicas);
    double stand_in(std::string_view dimension, std::string_view reason);

    StepSetting const& setting_;
    Strategy const& strategy_;
    std::stop_token stop_;
    network::Fabric fabric_;
    StrategyGroups groups_;
    network::CollectivesByMessages messages_;
    std::vector<std::string> stood_in_;
    bool complete_ = true;
};

} // namespace headroom::training::simulation
