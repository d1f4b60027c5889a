#pragma once

#include "headroom/counter_random.hpp"
#include "headroom/serving/queue_simulation.hpp"

#include <cstdint>
#include <vector>

namespace headroom::serving::queueing {

/// Lines sorted by how many are present, so that one more or one less in a line is one exchange, and the shortest is known
/// without a look at the others.
class SortedLines {
public:
    explicit SortedLines(std::uint32_t lines);
    [[nodiscard]] std::uint32_t shortest() const { return sorted_.front(); }
    [[nodiscard]] std::uint32_t second_shortest() const { return sorted_[1]; }
    [[nodiscard]] std::uint32_t present(std::uint32_t line) const { return present_[line]; }
    void add(std::uint32_t line);
    void remove(std::uint32_t line);

private:
    void exchange(std::uint32_t line, std::uint32_t place);

    std::vector<std::uint32_t> present_, place_, sorted_;
    std::vector<std::uint32_t> first_; ///< by number present: how many lines have fewer
};

/// Picks lines as a policy says.
class LineChoice {
public:
    LineChoice(Dispatch dispatch, std::uint32_t lines, CounterRandom random)
        : dispatch_{dispatch}, count_{lines}, random_{random}, lines_{lines} {}
    std::uint32_t pick();
    /// Another than `first`, of which there is one.
    std::uint32_t pick_other(std::uint32_t first);
    void come(std::uint32_t line) {
        if (looks()) { lines_.add(line); }
    }
    void leave(std::uint32_t line) {
        if (looks()) { lines_.remove(line); }
    }

private:
    [[nodiscard]] bool looks() const {
        return dispatch_ == Dispatch::shortest_line || dispatch_ == Dispatch::two_choices;
    }
    std::uint32_t any() { return static_cast<std::uint32_t>(random_.below(static_cast<int>(count_))); }
    std::uint32_t any_but(std::uint32_t line);
    std::uint32_t in_turn() { return turn_ = turn_ + 1 < count_ ? turn_ + 1 : 0; }
    [[nodiscard]] std::uint32_t shorter(std::uint32_t a, std::uint32_t b) const {
        return lines_.present(b) < lines_.present(a) ? b : a;
    }

    Dispatch dispatch_;
    std::uint32_t count_, turn_ = 0;
    CounterRandom random_;
    SortedLines lines_;
};

} // namespace headroom::serving::queueing
