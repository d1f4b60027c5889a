#include "headroom/network/message_cost.hpp"

#include "ticks.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <utility>

namespace headroom::network {
namespace {

MessageTimes both_ends(Seconds latency, Seconds bandwidth) {
    Seconds const all = latency + bandwidth;
    return {.sender = all, .port = all, .latency = latency, .bandwidth = bandwidth, .receiver = {}, .waits = true};
}

Seconds over(Bytes size, Link const& link) { // as `simulate` has it, to the bit
    return link.bandwidth.base() > 0.0 ? Seconds{size.base() * (1.0 / link.bandwidth.base())} : Seconds{};
}

MessageTimes times_of(Link const& link, Bytes size) { return both_ends(link.latency, over(size, link)); }

MessageTimes times_of(LogGp const& model, Bytes size) {
    Bytes const sent = std::max(size, units::byte);
    Seconds const busy = model.overhead + sent * model.overhead_byte;
    Seconds const stream = (sent - units::byte) * model.gap_byte;
    bool const asks = size > model.rendezvous;
    Seconds const asking = asks ? 2.0 * (model.latency + 2.0 * model.overhead) : Seconds{};
    return {.sender = asking + busy,
            .port = asking + std::max(busy, model.gap + stream),
            .latency = asking + model.overhead + model.latency,
            .bandwidth = sent * model.overhead_byte + stream,
            .receiver = busy,
            .waits = asks};
}

MessageTimes times_of(EagerRendezvous const& model, Bytes size) {
    Seconds const stream = over(size, model.link);
    if (size > model.threshold) { return both_ends(model.handshake + model.link.latency, stream); }
    return {.sender = stream,
            .port = stream,
            .latency = model.link.latency,
            .bandwidth = stream,
            .receiver = {},
            .waits = false};
}

MessageTimes times_of(Protocols const& model, Bytes size) { return times_of(model.taken(size).link, size); }

[[noreturn]] void refuse_cost(std::string problem, std::string hint) {
    headroom::refuse("message cost", std::move(problem), {}, std::move(hint));
}

} // namespace

Protocol const& Protocols::taken(Bytes size) const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < protocols.size(); ++i) {
        bool const better =
            choice == ProtocolChoice::switch_points
                ? protocols[i].from <= size
                : times_of(protocols[i].link, size).transit() < times_of(protocols[best].link, size).transit();
        if (better) { best = i; }
    }
    return protocols[best];
}

MessageCost::MessageCost(Protocols model) : model_{std::move(model)} {
    auto const& given = std::get<Protocols>(model_);
    if (given.protocols.empty()) { refuse_cost("there is no protocol", "give one at least"); }
    if (given.choice == ProtocolChoice::cheapest) { return; }
    bool const rises = std::is_sorted(given.protocols.begin(), given.protocols.end(),
                                      [](Protocol const& a, Protocol const& b) { return a.from < b.from; });
    if (!rises) { refuse_cost("switch points fall", "give protocols by rising size"); }
}

MessageTimes MessageCost::times(Bytes size) const {
    return std::visit([&](auto const& model) { return times_of(model, size); }, model_);
}

namespace {

/// A rank, or the moment at which a message does something: when, and along what critical path.
struct Moment {
    Ticks time = 0;
    std::int64_t messages = 0;
    CollectiveTime parts = {};
};

Moment later(Moment const& a, Moment const& b) {
    return b.time > a.time || (b.time == a.time && b.messages > a.messages) ? b : a;
}

/// The times of a message in whole picoseconds, with what they are made of.
struct Price {
    double bytes = -1.0;
    std::uint8_t level = 0;
    MessageTimes times = {};
    Ticks sender = 0, port = 0, transit = 0, receiver = 0, adding = 0;
    Seconds reduction = {};
};

struct Participant {
    Moment ready; ///< through with its rounds before
    Moment sent;  ///< and with its sends of this one
    Moment port;  ///< free for another message
    Moment next;
};

class CostSimulation {
public:
    CostSimulation(std::span<MessageCost const> costs, SecondsPerByte reduction, int participants, int ranks)
        : costs_{costs},
          gamma_{reduction},
          with_port_{static_cast<std::uint32_t>(ranks)},
          ranks_(static_cast<std::size_t>(participants)) {}

    void run_round(std::span<Message const> messages) {
        starts_.clear();
        for (Message const& message : messages) { send(message); }
        for (std::size_t i = 0; i < messages.size(); ++i) { receive(messages[i], starts_[i]); }
        for (Message const& message : messages) { end(ranks_[message.from]), end(ranks_[message.to]); }
    }
    /// A rank that does what all do: its own message comes from one that is as far as it is.
    void run_first(Message message) {
        message.from = message.to = 0;
        run_round({&message, 1});
    }
    [[nodiscard]] Moment last() const {
        Moment last;
        for (Participant const& one : ranks_) { last = later(last, one.ready); }
        return last;
    }

private:
    static void end(Participant& one) { one.ready = one.sent = one.next = later(later(one.ready, one.next), one.sent); }

    void price(Message const& message) {
        if (message.bytes == price_.bytes && message.level == price_.level) { return; }
        MessageTimes const times = costs_[costs_.size() == 1 ? 0 : message.level].times(Bytes{message.bytes});
        price_ = {.bytes = message.bytes,
                  .level = message.level,
                  .times = times,
                  .sender = ticks_of(times.sender.base()),
                  .port = ticks_of(times.port.base()),
                  .transit = ticks_of(times.transit().base()),
                  .receiver = ticks_of(times.receiver.base()),
                  .adding = ticks_of(message.bytes * gamma_.base()),
                  .reduction = Bytes{message.bytes} * gamma_};
    }

    [[nodiscard]] static Moment after(Moment moment, Ticks ticks, Seconds latency, Seconds bandwidth) {
        moment.time = checked_sum(moment.time + ticks);
        moment.parts.latency += latency;
        moment.parts.bandwidth += bandwidth;
        return moment;
    }

    void send(Message const& message) {
        price(message);
        Participant& from = ranks_[message.from];
        Moment start =
            message.from < with_port_ ? later(from.ready, from.port) : from.ready; // a switch has a port for each
        if (price_.times.waits) { start = later(start, ranks_[message.to].ready); }
        ++start.messages;
        starts_.push_back(start);
        Seconds const stream = std::min(price_.times.bandwidth, price_.times.sender);
        from.sent = later(from.sent, after(start, price_.sender, price_.times.sender - stream, stream));
        Seconds const port_stream = std::min(price_.times.bandwidth, price_.times.port);
        from.port = after(start, price_.port, price_.times.port - port_stream, port_stream);
    }

    void receive(Message const& message, Moment const& start) {
        price(message);
        Participant& to = ranks_[message.to];
        Moment const arrived = after(start, price_.transit, price_.times.latency, price_.times.bandwidth);
        Moment const free = price_.receiver > 0 ? later(to.ready, to.sent) : to.ready;
        Moment taken = after(later(arrived, free), price_.receiver, price_.times.receiver, {});
        if (message.adds && message.to < with_port_) {
            taken.time = checked_sum(taken.time + price_.adding);
            taken.parts.reduction += price_.reduction;
        }
        to.next = later(to.next, taken);
    }

    std::span<MessageCost const> costs_;
    SecondsPerByte gamma_;
    std::uint32_t
        with_port_; ///< the ranks; switches, numbered after them, have many ports and add as fast as data comes
    std::vector<Participant> ranks_;
    std::vector<Moment> starts_;
    Price price_;
};

} // namespace

SimulatedCollective simulate(MessageSchedule const& schedule, Layout const& layout, std::span<MessageCost const> costs,
                             SecondsPerByte reduction, Symmetry symmetry) {
    if (costs.size() != 1 && std::ssize(costs) != layout.levels) {
        refuse_cost(std::to_string(costs.size()) + " costs for " + std::to_string(layout.levels) + " levels",
                    "give one for all or one for each");
    }
    bool const one_for_all = symmetry == Symmetry::used && schedule.rotates() && layout.levels == 1;
    CostSimulation simulation{costs, reduction, one_for_all ? 1 : schedule.participants(), layout.ranks};
    Round round{layout};
    SimulatedCollective result;
    for (std::int64_t index = 0; index < schedule.rounds(); ++index) {
        round.clear();
        if (one_for_all) {
            schedule.write_first(index, round);
            for (Message const& message : round.messages()) { simulation.run_first(message); }
            result.messages += static_cast<std::int64_t>(round.messages().size()) * schedule.participants();
        } else {
            schedule.write(index, round);
            simulation.run_round(round.messages());
            result.messages += static_cast<std::int64_t>(round.messages().size());
        }
    }
    Moment const last = simulation.last();
    result.picoseconds = last.time;
    result.parts = last.parts;
    result.critical_messages = last.messages;
    return result;
}

} // namespace headroom::network
