#pragma once

#include <compare>
#include <stdexcept>

namespace headroom {

/// A count of participants, at least one.
class Ranks {
public:
    constexpr explicit Ranks(int count) : count_{count} {
        if (count < 1) { throw std::invalid_argument{"ranks must be >= 1"}; }
    }
    [[nodiscard]] constexpr int count() const { return count_; }
    constexpr auto operator<=>(Ranks const&) const = default;

private:
    int count_;
};

} // namespace headroom
