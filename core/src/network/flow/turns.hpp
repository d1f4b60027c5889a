#pragma once

#include "headroom/network/message_schedule.hpp"

#include <cstdint>
#include <vector>

namespace headroom::network::flow {

/// Messages of a schedule that may begin. Each participant takes its turns, the rounds in which it has messages, one
/// after the other; a message begins when it is the turn of both ends. Rounds are written when somebody needs the next.
class Turns {
public:
    using Id = std::uint32_t; ///< of a message, until it is dropped
    struct Waiting {
        std::uint32_t from = 0, to = 0;
        double bytes = 0.0;
        bool adds = false;
        std::uint8_t ends_busy = 0; ///< with earlier turns
    };

    Turns(MessageSchedule const& schedule, Layout const& layout);
    /// The first messages, in `ready`.
    void begin(std::vector<Id>& ready);
    /// A participant is through with one message of its turn; what may begin now is appended.
    void through(std::uint32_t participant, std::vector<Id>& ready);
    [[nodiscard]] Waiting const& message(Id id) const { return messages_[id]; }
    /// The message is not asked about again.
    void drop(Id id) { unused_messages_.push_back(id); }

private:
    static constexpr std::uint32_t none = 0xffffffff;
    struct Turn {
        std::vector<Id> messages;
        std::size_t left = 0; ///< that it is not through with
        std::uint32_t next = none;
    };
    struct Participant {
        std::uint32_t first = none, last = none; ///< turns to come, the present one first
        std::int64_t last_round = -1;
    };

    void write_rounds(std::uint32_t participant, std::vector<Id>& ready);
    void write_round(std::vector<Id>& ready);
    void enter(std::uint32_t participant, Id id);
    void end_turn(Participant& one, std::vector<Id>& ready);

    MessageSchedule const& schedule_;
    Round round_;
    std::int64_t written_ = 0;
    std::vector<Participant> participants_;
    std::vector<Waiting> messages_;
    std::vector<Turn> turns_;
    std::vector<std::uint32_t> unused_messages_, unused_turns_;
};

} // namespace headroom::network::flow
