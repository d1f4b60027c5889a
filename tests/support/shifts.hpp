#pragma once

#include "headroom/network/message_schedule.hpp"

#include <utility>
#include <vector>

namespace headroom::test {

/// In round s every rank sends a block to the rank s + 1 places on: an all-to-all one shift after the other.
class Shifts final : public network::MessageSchedule {
public:
    Shifts(int ranks, double bytes) : ranks_{ranks}, bytes_{bytes} {}
    [[nodiscard]] int participants() const override { return ranks_; }
    [[nodiscard]] std::int64_t rounds() const override { return ranks_ - 1; }
    [[nodiscard]] std::uint32_t chunks() const override { return static_cast<std::uint32_t>(ranks_); }
    void write(std::int64_t index, network::Round& round) const override {
        for (int rank = 0; rank < ranks_; ++rank) { send(static_cast<int>(index) + 1, rank, round); }
    }
    void write_first(std::int64_t index, network::Round& round) const override {
        send(static_cast<int>(index) + 1, 0, round);
    }
    [[nodiscard]] bool rotates() const override { return true; }

private:
    void send(int shift, int rank, network::Round& round) const {
        round.send(rank, (rank + shift) % ranks_, bytes_, {.first = static_cast<std::uint32_t>(shift)});
    }

    int ranks_;
    double bytes_; ///< of a block
};

/// Messages that are written down: round by round.
class Written final : public network::MessageSchedule {
public:
    struct Sent {
        int from = 0, to = 0;
        double bytes = 0.0;
        bool adds = false;
    };
    Written(int participants, std::vector<std::vector<Sent>> rounds)
        : participants_{participants}, rounds_{std::move(rounds)} {}
    [[nodiscard]] int participants() const override { return participants_; }
    [[nodiscard]] std::int64_t rounds() const override { return std::ssize(rounds_); }
    [[nodiscard]] std::uint32_t chunks() const override { return 1; }
    void write(std::int64_t index, network::Round& round) const override {
        for (Sent const& one : rounds_[static_cast<std::size_t>(index)]) {
            round.send(one.from, one.to, one.bytes, {}, one.adds);
        }
    }

private:
    int participants_;
    std::vector<std::vector<Sent>> rounds_;
};

/// All that have the vector pass it on whole, to the rank twice as far each round: the far end of the tree last.
inline Written binomial(int ranks, double bytes) {
    std::vector<std::vector<Written::Sent>> rounds;
    for (int have = 1; have < ranks; have *= 2) {
        auto& round = rounds.emplace_back();
        for (int rank = 0; rank < have && rank + have < ranks; ++rank) {
            round.push_back({.from = rank, .to = rank + have, .bytes = bytes});
        }
    }
    return {ranks, std::move(rounds)};
}

} // namespace headroom::test
