#include "turns.hpp"

namespace headroom::network::flow {
namespace {

/// A number of `all` that is not in use.
template <class Item> std::uint32_t take(std::vector<Item>& all, std::vector<std::uint32_t>& unused) {
    if (unused.empty()) {
        all.emplace_back();
        return static_cast<std::uint32_t>(all.size() - 1);
    }
    std::uint32_t const id = unused.back();
    unused.pop_back();
    return id;
}

} // namespace

Turns::Turns(MessageSchedule const& schedule, Layout const& layout)
    : schedule_{schedule}, round_{layout}, participants_(static_cast<std::size_t>(schedule.participants())) {}

void Turns::begin(std::vector<Id>& ready) {
    for (std::uint32_t i = 0; i < participants_.size(); ++i) { write_rounds(i, ready); }
}

/// Until the participant has a turn, or there are no more rounds.
void Turns::write_rounds(std::uint32_t participant, std::vector<Id>& ready) {
    while (participants_[participant].first == none && written_ < schedule_.rounds()) { write_round(ready); }
}

void Turns::write_round(std::vector<Id>& ready) {
    round_.clear();
    schedule_.write(written_, round_);
    for (Message const& message : round_.messages()) {
        Id const id = take(messages_, unused_messages_);
        messages_[id] = {.from = message.from, .to = message.to, .bytes = message.bytes, .adds = message.adds};
        enter(message.from, id);
        enter(message.to, id);
        if (messages_[id].ends_busy == 0) { ready.push_back(id); }
    }
    ++written_;
}

/// Adds the message to the participant's turn of this round.
void Turns::enter(std::uint32_t participant, Id id) {
    Participant& one = participants_[participant];
    if (one.last == none || one.last_round != written_) {
        std::uint32_t const turn = take(turns_, unused_turns_);
        turns_[turn].messages.clear();
        turns_[turn].left = 0;
        turns_[turn].next = none;
        (one.last == none ? one.first : turns_[one.last].next) = turn;
        one.last = turn;
        one.last_round = written_;
    }
    turns_[one.last].messages.push_back(id);
    ++turns_[one.last].left;
    if (one.first != one.last) { ++messages_[id].ends_busy; }
}

void Turns::through(std::uint32_t participant, std::vector<Id>& ready) {
    Participant& one = participants_[participant];
    if (--turns_[one.first].left > 0) { return; }
    end_turn(one, ready);
    write_rounds(participant, ready);
}

void Turns::end_turn(Participant& one, std::vector<Id>& ready) {
    unused_turns_.push_back(one.first);
    one.first = turns_[one.first].next;
    if (one.first == none) {
        one.last = none;
        return;
    }
    for (Id const id : turns_[one.first].messages) {
        if (--messages_[id].ends_busy == 0) { ready.push_back(id); }
    }
}

} // namespace headroom::network::flow
