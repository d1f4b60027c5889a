#pragma once

#include "headroom/machine.hpp"
#include "headroom/network/expert_exchange.hpp"
#include "headroom/network/library_collectives.hpp"
#include "headroom/training/framework.hpp"
#include "headroom/training/kernel.hpp"
#include "headroom/training/operation.hpp"
#include "headroom/training/placement.hpp"

#include <string>

namespace headroom::training {

/// The dimension whose ranks a collective joins: tensor, context or experts.
std::size_t group_of(Operation const& operation);
bool is_product(Operation const& operation);
bool is_attention(Operation const& operation);
bool is_kernel(Operation const& operation);

/// Whether a kernel overlaps with the collectives of a group: products with tensor and expert traffic, attention with expert
/// and context traffic; a recomputed core not with the latter.
bool hides(std::size_t group, Operation const& kernel, bool recomputes_core);

/// Duration of an operation, and its exposed time: all of a kernel, and the share of a collective that the
/// framework does not overlap with kernels.
struct OperationPrice {
    Seconds time, exposed;
};

/// Prices the operations of one shape's programs: the screen adds the prices up, the price and the simulation unroll them.
class OperationPricer {
public:
    OperationPricer(LayerShape const& shape, Cluster const& cluster, Framework const& framework,
                    Calibration const& constants);

    /// One operation, all its repetitions; `in_block`: products run at the rate of linear layers, else at that of
    /// output projections.
    [[nodiscard]] OperationPrice price(Operation const& operation, bool in_block) const;

    /// CPU launch time of the kernels of a block, as many as those of `passes` forward passes.
    [[nodiscard]] Seconds issue(BlockProgram const& program, double passes) const;

    /// Adds one operation to the terms of an explanation, as NAME_seconds or, of communication, NAME_traffic_seconds.
    /// Needs the terms of `explain_rates` and `explain_fabric`.
    void explain(TermBook& book, std::string const& name, Operation const& operation, bool in_block) const;
    /// Adds `issue` of all passes of a block as NAME_launch_seconds, `pace` times `issued_in_parts` included.
    void explain_issue(TermBook& book, std::string const& name, BlockProgram const& program) const;

private:
    /// Whether Python gathers and frees the weights of each part: with one rank, too, where a block has several parts.
    [[nodiscard]] bool gathers() const { return shape_.gathers && (!shape_.alone || framework_.gathered_modules > 1); }

    /// Adds the terms of issuing the kernels of a forward pass. Result: their formula; empty where the host issues none.
    [[nodiscard]] std::string explain_pass(TermBook& book, std::string const& name, BlockProgram const& program) const;
    void explain_traffic(TermBook& book, std::string const& name, Operation const& operation) const;
    [[nodiscard]] network::ExpertExchange exchange_of(Operation const& operation) const;
    [[nodiscard]] OperationPrice kernel(Operation const& operation, bool in_block) const;
    [[nodiscard]] OperationPrice collective(Operation const& operation) const;
    [[nodiscard]] OperationPrice exchange(Operation const& operation) const;
    [[nodiscard]] bool exposes(TrafficKind kind) const { return shape_.overlap[kind] == Overlap::off; }
    [[nodiscard]] bool overlaps_tensor() const;
    [[nodiscard]] double experts_exposed_share() const;

    LayerShape const& shape_;
    Framework const& framework_;
    Calibration const& constants_;
    KernelRates rates_;
    network::Fabric fabric_;
    double launch_cost_ = 1.0; ///< of this host over one of 2019
    network::Group tensor_, context_, experts_;
};

/// CPU launch time of a block over that of a framework whose softmax is one kernel: 1, or more where the softmax is
/// launched kernel by kernel.
double issued_in_parts(StepProgram const& program, LayerShape const& shape, Framework const& framework,
                       Calibration const& constants);

} // namespace headroom::training
