#pragma once

#include "headroom/network/topology.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace headroom::network {

/// Flows over links of given capacities, each at its max-min fair rate, kept while flows come and go.
///
///     every flow has a bottleneck: a link that is full, on which no other flow has a higher rate
///
/// There is one such set of rates. Progressive filling finds it: the rates of all rise together, and those on a link stop
/// when it is full. A change is settled among the flows that share a link with it; then whoever has lost its bottleneck
/// is let in and the filling done again, until every flow has one: far flows are not looked at. "Full" and "no higher" are
/// meant to a part in 10^11.
/// Holds for:  positive capacities and routes without a link twice; flows without an own limit.
/// Source:     [BertsekasGallager1992]
class FairShare {
public:
    using Flow = std::uint32_t;
    explicit FairShare(std::span<NetworkLink const> links);

    /// A flow over at least one link, with rate 0 until rates are settled. Numbers of removed flows are used again.
    Flow add(std::span<LinkId const> route);
    void remove(Flow flow);
    /// Makes the rates fair again; the flows whose rate is another than before, each once.
    std::span<Flow const> settle();
    [[nodiscard]] double rate(Flow flow) const { return flows_[flow].rate; } ///< bytes a second
    /// Calls `use` with every link of the flow.
    template <class Use> void for_links(Flow flow, Use use) const {
        for (std::uint32_t i = 0; i < flows_[flow].hops; ++i) { use(hop(flow, i).link); }
    }

private:
    struct Hop {
        LinkId link = 0;
        std::uint32_t place = 0; ///< of the flow among those of the link
    };
    struct Use {
        Flow flow = 0;
        std::uint32_t hop = 0; ///< of the flow that is this link
    };
    struct FlowState {
        double rate = 0.0, next = 0.0; ///< as settled last, and as it is being settled
        std::uint32_t hops = 0;
        std::uint32_t epoch = 0;  ///< of the settling that it takes part in
        std::uint32_t filled = 0; ///< filling in which its rate was found
        LinkId bottleneck = 0;
    };
    struct LinkState {
        double capacity = 0.0, load = 0.0, largest = 0.0;
        double left = 0.0;         ///< while filling: of the capacity
        std::uint32_t rising = 0;  ///< while filling: flows whose rate is not found yet
        std::uint32_t filling = 0; ///< in which it takes part
        bool changed = false;      ///< flows have come or gone
        std::vector<Use> uses;
    };

    [[nodiscard]] Hop const& hop(Flow flow, std::uint32_t i) const { return hops_[std::size_t{flow} * stride_ + i]; }
    [[nodiscard]] Hop& hop(Flow flow, std::uint32_t i) { return hops_[std::size_t{flow} * stride_ + i]; }
    void make_room(std::size_t hops);
    void note(LinkId link);
    void let_in(Flow flow);
    void fill();
    void gather_links();
    void stop_rising(LinkId link, double share);
    void total_links();
    bool let_in_losers();
    void look_after(Flow flow);
    [[nodiscard]] bool has_bottleneck(Flow flow) const;
    [[nodiscard]] double rate_now(FlowState const& flow) const { return flow.epoch == epoch_ ? flow.next : flow.rate; }

    std::vector<LinkState> links_;
    std::vector<FlowState> flows_;
    std::vector<Hop> hops_; ///< `stride_` for each flow
    std::size_t stride_ = 8;
    std::vector<Flow> unused_;
    std::vector<LinkId> changed_;                 ///< links with other flows than when rates were settled last
    std::vector<Flow> taking_part_;               ///< in the settling
    std::size_t found_ = 0;                       ///< while filling: flows that have their rates
    std::vector<LinkId> filled_;                  ///< links of those
    std::vector<std::pair<double, LinkId>> heap_; ///< share that a link has for each rising flow
    std::uint32_t epoch_ = 0, filling_ = 0;
};

} // namespace headroom::network
