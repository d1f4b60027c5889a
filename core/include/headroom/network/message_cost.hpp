#pragma once

#include "headroom/network/layout.hpp"
#include "headroom/network/message_schedule.hpp"

#include <span>
#include <string>
#include <variant>
#include <vector>

namespace headroom::network {

/// Time that one message occupies its two ends, from the moment at which its sender turns to it.
///
///     sender     until the sender may turn to something else
///     port       until the sender's port may take another message
///     latency + bandwidth     until it has come to the receiver
///     receiver   that the receiver then needs to take it in
struct MessageTimes {
    Seconds sender, port, latency, bandwidth, receiver;
    bool waits = false; ///< it begins only when the receiver is ready too
    [[nodiscard]] Seconds transit() const { return latency + bandwidth; }
};

/// A link by LogGP and what LogGOPS adds to it.
///
///     arrives after  o + n O + (n-1) G + L,  the receiver has it after another  o + n O
///     the sender is busy for  o + n O,  its port for  g + (n-1) G
///
/// Messages of more than `rendezvous` bytes first ask and are answered, which adds 2 (L + 2 o), and wait for the receiver.
/// Holds for:  n >= 1; a message of no bytes costs as one of 1.
/// Source:     [Alexandrov1995], [Hoefler2010]
struct LogGp {
    Seconds latency;                   ///< L: of the network
    Seconds overhead;                  ///< o: of the processor, for each message at either end
    Seconds gap;                       ///< g: between two messages of one sender
    SecondsPerByte gap_byte;           ///< G: between two bytes of one message
    SecondsPerByte overhead_byte = {}; ///< O: of the processor, for each byte
    Bytes rendezvous = Bytes{1e300};   ///< S
};

/// Small messages are sent at once and wait in a buffer, larger ones ask first.
///
///     n <= threshold     alpha + n beta; the sender is free after n beta
///     n > threshold      handshake + alpha + n beta; both ends are busy for it
///
/// Source: [Hoefler2010]
struct EagerRendezvous {
    Link link;
    Bytes threshold;
    Seconds handshake;
};

/// Ways in which a library moves a message: low latency at a low rate, full rate at a high latency, and between.
///
///     T = alpha_i + n beta_i     i the cheapest, or the last whose `from` is at most n where switch points are given
///
/// Source: [NCCL]
struct Protocol {
    std::string name; ///< "LL", "LL128", "Simple"
    Link link;        ///< alpha, and the rate of data without its flags
    Bytes from = {};  ///< smallest message, where switch points are given
};
enum class ProtocolChoice { cheapest, switch_points };
struct Protocols {
    std::vector<Protocol> protocols; ///< at least one; by rising `from` where switch points are given
    ProtocolChoice choice = ProtocolChoice::cheapest;
    [[nodiscard]] Protocol const& taken(Bytes size) const;
};

/// Cost of a message: alpha-beta or one of the models above.
class MessageCost {
public:
    MessageCost(Link link) : model_{link} {}
    MessageCost(LogGp model) : model_{model} {}
    MessageCost(EagerRendezvous model) : model_{model} {}
    /// Errors: InputError{usage} without a protocol, or for switch points that do not rise.
    MessageCost(Protocols model);
    [[nodiscard]] MessageTimes times(Bytes size) const;

private:
    std::variant<Link, LogGp, EagerRendezvous, Protocols> model_;
};

/// A schedule whose messages cost what `costs` say, one for each level of the layout (a single one stands for all).
///
///     a message begins when its sender and the sender's port are ready, and the receiver too where it waits;
///     a rank's sends of a round come before what it receives; the receiver is busy for another n gamma where it adds
///
/// With alpha-beta for every level it is `simulate` on the layout, to the picosecond.
/// Errors: InputError{usage} when there are neither one nor as many costs as levels.
SimulatedCollective simulate(MessageSchedule const& schedule, Layout const& layout, std::span<MessageCost const> costs,
                             SecondsPerByte reduction = {}, Symmetry symmetry = Symmetry::used);

} // namespace headroom::network
