#pragma once

#include "headroom/network/collective.hpp"
#include "headroom/network/layout.hpp"
#include "headroom/timeline.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace headroom::network {

/// Chunks of a vector: [first + i stride, first + i stride + length) for i < repeats, counted round the end of the vector.
struct Chunks {
    std::uint32_t first = 0, length = 1, stride = 0, repeats = 1;
    std::uint32_t end = 0; ///< where not zero: those from here on are left out
};

/// One message of a schedule.
struct Message {
    std::uint32_t from = 0, to = 0;
    double bytes = 0.0;
    Chunks chunks;          ///< chunks carried, by which tests verify a schedule
    std::uint8_t level = 0; ///< of the layout, whose link carries it
    bool adds = false;      ///< the receiver adds it to what it holds; else it replaces that
};

/// The messages of one round while they are written.
class Round {
public:
    explicit Round(Layout const& layout) : layout_{layout} {}
    /// A message over the link that joins the two ranks.
    void send(int from, int to, double bytes, Chunks chunks, bool adds = false) {
        send_on(layout_.levels == 1 ? 0 : layout_.level_between(from, to), from, to, bytes, chunks, adds);
    }
    /// A message over the link of a level, whoever is at its ends: ranks, or switches, which are numbered after them.
    void send_on(int level, int from, int to, double bytes, Chunks chunks, bool adds = false) {
        messages_.push_back({.from = static_cast<std::uint32_t>(from),
                             .to = static_cast<std::uint32_t>(to),
                             .bytes = bytes,
                             .chunks = chunks,
                             .level = static_cast<std::uint8_t>(level),
                             .adds = adds});
    }
    void clear() { messages_.clear(); }
    [[nodiscard]] std::span<Message const> messages() const { return messages_; }

private:
    Layout const& layout_;
    std::vector<Message> messages_;
};

/// A collective as explicit messages, in rounds. In a round a rank sends at most one message and receives at most one; a
/// switch may send and receive on each of its ports. What a message carries is what its sender held before the round.
/// There is no barrier between rounds: a rank goes on when its own messages of the round are through.
class MessageSchedule {
public:
    virtual ~MessageSchedule() = default;
    /// Ranks, then switches where there are any.
    [[nodiscard]] virtual int participants() const = 0;
    [[nodiscard]] virtual std::int64_t rounds() const = 0;
    /// Chunks that the vector is cut into.
    [[nodiscard]] virtual std::uint32_t chunks() const = 0;
    /// Writes the messages of round `index` into `round`, which is empty.
    virtual void write(std::int64_t index, Round& round) const = 0;
    /// Whether in every round each rank sends as many bytes to the rank as many places on: on one level each rank then
    /// ends each round at the same time, and one stands for all.
    [[nodiscard]] virtual bool rotates() const { return false; }
    /// Where it rotates: only what rank 0 sends in the round.
    virtual void write_first(std::int64_t index, Round& round) const;
};

/// Result of simulating a schedule.
struct SimulatedCollective {
    Ticks picoseconds = 0;              ///< until the last rank is done
    CollectiveTime parts;               ///< along one critical path
    std::int64_t messages = 0;          ///< of all ranks
    std::int64_t critical_messages = 0; ///< along the critical path
    [[nodiscard]] Seconds total() const { return Seconds{static_cast<double>(picoseconds) * 1e-12}; }
};

enum class Symmetry { used, ignored };

/// The schedule on ranks with one full-duplex port each, where nothing else contends.
///
///     a message begins when both ends are through with their rounds before it and lasts alpha + n beta;
///     the receiver of one that adds is busy for another n gamma, unless it is a switch
///
/// Switches are the participants after the layout's ranks.
/// Each duration is rounded to whole picoseconds, so sums do not depend on their order. Where the schedule rotates and
/// the layout has one level, `Symmetry::used` follows one rank instead of all, with the same result.
/// Holds for:  any schedule; O(messages) time, O(participants + one round) memory.
/// Source:     [Thakur2005]
SimulatedCollective simulate(MessageSchedule const& schedule, Layout const& layout, SecondsPerByte reduction = {},
                             Symmetry symmetry = Symmetry::used);

/// Called for every message with its round, its begin and its duration without adding, in picoseconds.
using MessageVisitor = std::function<void(std::int64_t round, Message const& message, Ticks begin, Ticks duration)>;
SimulatedCollective simulate(MessageSchedule const& schedule, Layout const& layout, SecondsPerByte reduction,
                             MessageVisitor const& visit);

} // namespace headroom::network
