#pragma once

#include "base/events/event_queue.hpp"
#include "turns.hpp"

#include "headroom/network/fair_share.hpp"
#include "headroom/network/flow_simulation.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace headroom::network::flow {

/// Schedules on a network, event by event. May run again and again; it then begins with an empty network.
class FlowNetwork {
public:
    explicit FlowNetwork(Topology const& topology) : topology_{topology}, share_{topology.links()} {}
    /// Asked to stop it gives up, and is not to be run again.
    SimulatedFlows run(std::span<PlacedSchedule const> schedules, std::stop_token const& stop = {});

private:
    enum class Kind : std::uint8_t { begins, enters, arrives, is_added };
    struct Event {
        Kind kind = Kind::begins;
        std::uint32_t of = 0;    ///< schedule, or flow
        std::uint32_t about = 0; ///< participant, or version of the flow's pace
    };
    /// A message under way: `left` bytes were to go `since` seconds after `base`.
    struct Moving {
        std::uint32_t schedule = 0;
        Turns::Id message = 0;
        std::uint32_t version = 0;
        Ticks base = 0;
        double since = 0.0, left = 0.0, rate = 0.0;
        std::optional<FairShare::Flow> flow = {};
    };

    void check(PlacedSchedule const& placed) const;
    void push(Ticks time, Kind kind, std::uint32_t of, std::uint32_t about = 0);
    void take(Event const& event);
    void begin_ready(std::uint32_t schedule);
    void begin(std::uint32_t schedule, Turns::Id message);
    void enter(std::uint32_t id);
    void arrive(std::uint32_t id);
    void through(std::uint32_t schedule, std::uint32_t participant);
    void settle();
    void set_pace(std::uint32_t id, double rate);
    [[nodiscard]] Ticks later(Ticks base, double seconds) const;

    Topology const& topology_;
    FairShare share_;
    std::span<PlacedSchedule const> schedules_;
    std::vector<std::unique_ptr<Turns>> turns_;
    events::EventQueue<Ticks, Event> events_;
    std::vector<Moving> moving_;
    std::vector<std::uint32_t> unused_, of_flow_; ///< numbers of `moving_`; by flow
    std::vector<Turns::Id> ready_;
    std::vector<double> carried_;
    Route route_;
    SimulatedFlows result_;
    Ticks now_ = 0;
};

} // namespace headroom::network::flow
