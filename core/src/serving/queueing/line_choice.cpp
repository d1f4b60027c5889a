#include "line_choice.hpp"

#include <numeric>

namespace headroom::serving::queueing {

SortedLines::SortedLines(std::uint32_t lines) : present_(lines, 0), place_(lines), sorted_(lines), first_(2, 0) {
    std::iota(place_.begin(), place_.end(), 0U);
    std::iota(sorted_.begin(), sorted_.end(), 0U);
    first_[1] = lines;
}

void SortedLines::exchange(std::uint32_t line, std::uint32_t place) {
    std::uint32_t const other = sorted_[place];
    std::swap(sorted_[place_[line]], sorted_[place]);
    place_[other] = place_[line];
    place_[line] = place;
}

/// To the end of those that have as many, which then ends before it.
void SortedLines::add(std::uint32_t line) {
    std::uint32_t const now = present_[line]++;
    if (now + 2 >= first_.size()) { first_.push_back(static_cast<std::uint32_t>(sorted_.size())); }
    exchange(line, --first_[now + 1]);
}

void SortedLines::remove(std::uint32_t line) {
    std::uint32_t const now = present_[line]--;
    exchange(line, first_[now]++);
}

std::uint32_t LineChoice::any_but(std::uint32_t line) {
    auto const drawn = static_cast<std::uint32_t>(random_.below(static_cast<int>(count_) - 1));
    return drawn < line ? drawn : drawn + 1;
}

std::uint32_t LineChoice::pick() {
    if (count_ == 1) { return 0; }
    switch (dispatch_) {
    case Dispatch::shared_line: return 0;
    case Dispatch::random: return any();
    case Dispatch::round_robin: return in_turn();
    case Dispatch::two_choices: {
        std::uint32_t const first = any();
        return shorter(first, any_but(first));
    }
    case Dispatch::shortest_line: return lines_.shortest();
    }
    return 0;
}

std::uint32_t LineChoice::pick_other(std::uint32_t first) {
    std::uint32_t const one = any_but(first);
    switch (dispatch_) {
    case Dispatch::shared_line:
    case Dispatch::random: return one;
    case Dispatch::round_robin: {
        std::uint32_t const next = in_turn();
        return next == first ? in_turn() : next;
    }
    case Dispatch::two_choices: {
        std::uint32_t const two = any_but(first);
        return two == first ? one : shorter(one, two);
    }
    case Dispatch::shortest_line: return lines_.shortest() == first ? lines_.second_shortest() : lines_.shortest();
    }
    return one;
}

} // namespace headroom::serving::queueing
