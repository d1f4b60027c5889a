#include "step_messages.hpp"

#include "headroom/network/expert_exchange.hpp"

#include <algorithm>
#include <utility>

namespace headroom::training::simulation {

using namespace headroom::network;

StepMessages::StepMessages(StepSetting const& setting, Strategy const& strategy, std::stop_token stop)
    : setting_{setting},
      strategy_{strategy},
      stop_{std::move(stop)},
      fabric_{calibrated_fabric(setting.cluster, setting.constants)},
      groups_{groups_of(strategy)},
      messages_{setting.cluster, fabric_} {}

double StepMessages::stand_in(std::string_view dimension, std::string_view reason) {
    std::string text = std::string{dimension} + ": " + std::string{reason};
    if (std::ranges::find(stood_in_, text) == stood_in_.end()) { stood_in_.push_back(std::move(text)); }
    return 1.0;
}

double StepMessages::factor(std::string_view dimension, Collective kind, Bytes bytes, DimensionGroups groups) {
    if (groups.size <= 1 || bytes.base() <= 0.0) { return 1.0; }
    if (stop_.stop_requested()) {
        complete_ = false;
        return 1.0;
    }
    auto const& priced = messages_.price(kind, {bytes}, groups);
    if (!priced.stands_in.empty()) { return stand_in(dimension, std::string{name_of(kind)} + ": " + priced.stands_in); }
    Seconds const start{setting_.constants[Constant::base_latency]};
    return (priced.total() + start) / (priced.closed + start);
}

double StepMessages::of_operation(Operation const& operation) {
    if (operation.kind == OperationKind::exchange) { return of_exchange(operation); }
    bool const tensor = operation.traffic == Traffic::tensor;
    return factor(tensor ? "tensor" : "context", operation.collective, operation.bytes,
                  tensor ? groups_.tensor : groups_.context);
}

/// Each rank's share of an exchange, as the all-to-all that carries as many bytes.
double StepMessages::of_exchange(Operation const& operation) {
    Group const group = network::group_of(groups_.experts.size, groups_.experts.stride, setting_.cluster.domain);
    if (group.size <= 1) { return 1.0; }
    bool const once = setting_.framework.sends_tokens_once;
    if (once && group.domains() > 1) {
        return stand_in("experts", "no schedule of messages is known for tokens that go to each domain once");
    }
    auto const sent = expert_exchange({.tokens = operation.m,
                                       .token = operation.bytes,
                                       .top_k = static_cast<int>(operation.n),
                                       .experts = static_cast<int>(operation.k),
                                       .deduplicated = once,
                                       .group_limit = static_cast<int>(operation.limit)},
                                      group, fabric_);
    double const all_over_others = static_cast<double>(group.size) / (group.size - 1);
    return factor("experts", Collective::all_to_all, sent.sent * all_over_others, groups_.experts);
}

double StepMessages::of_transfer() {
    auto const neighbours = groups_.pipeline;
    if (neighbours.size <= 1) { return 1.0; }
    int const domain = setting_.cluster.domain;
    bool const leaves = place(strategy_, domain).pipeline_leaves_domain;
    if (leaves && network::group_of(2, neighbours.stride, domain).domains() == 1) {
        return stand_in("pipeline", "some neighbouring stages share a domain, others do not");
    }
    int const pairs = neighbours.size / 2;
    return factor("pipeline", Collective::point_to_point, boundary_bytes(setting_, strategy_),
                  {.size = 2, .stride = neighbours.stride, .ranks = 2 * pairs * neighbours.stride});
}

void StepMessages::lengthen(DataTraffic& traffic) {
    if (traffic.blocking > Seconds{}) {
        stand_in("data", "no schedule of messages is known for blocking synchronisation");
    }
    bool const sharded = strategy_.zero > 0;
    lengthen("data", traffic.dense, sharded ? groups_.shard : groups_.data, groups_.replicate);
    lengthen("expert data", traffic.experts, sharded ? groups_.expert_shard : groups_.expert_data,
             groups_.expert_replicate);
}

void StepMessages::lengthen(std::string_view dimension, ParameterTraffic& part, DimensionGroups whole,
                            DimensionGroups replicas) {
    bool const sends = part.reduce > Seconds{} || part.gather > Seconds{} || part.replicate > Seconds{};
    if (!sends) { return; }
    if (part.ranks() != whole.size * (strategy_.zero > 0 ? replicas.size : 1)) {
        stand_in(dimension, "its gradients are summed over stages of both directions");
        return;
    }
    if (strategy_.compression.kind != Compression::none) {
        stand_in(dimension, "no schedule of messages is known for compressed gradients");
        return;
    }
    bool const halves = strategy_.zero > 0;
    if (part.reduce > Seconds{}) {
        part.reduce *=
            factor(dimension, halves ? Collective::reduce_scatter : Collective::all_reduce, part.gradients, whole);
    }
    if (part.gather > Seconds{}) { part.gather *= factor(dimension, Collective::all_gather, part.parameters, whole); }
    if (part.replicate > Seconds{}) {
        part.replicate *= factor(dimension, Collective::all_reduce, part.gradients / whole.size, replicas);
    }
}

} // namespace headroom::training::simulation
