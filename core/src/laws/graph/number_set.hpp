#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom::laws::graph {

/// Numbers below a bound of which the smallest is wanted: a bit each, and a bit for every 64 of those, and so on.
/// Four levels hold a million in 130 KB; what is done takes as many steps, whatever is in it.
class NumberSet {
public:
    explicit NumberSet(std::size_t bound) {
        do {
            bound = (bound + 63) / 64;
            levels_.emplace_back(bound, 0);
        } while (bound > 1);
    }

    [[nodiscard]] bool empty() const { return levels_.back().empty() || levels_.back().front() == 0; }

    void insert(std::uint32_t number) {
        std::size_t place = number;
        for (auto& level : levels_) {
            level[place / 64] |= std::uint64_t{1} << (place % 64);
            place /= 64;
        }
    }

    /// There must be one.
    [[nodiscard]] std::uint32_t smallest() const {
        std::size_t place = 0;
        for (std::size_t above = levels_.size(); above-- > 0;) {
            place = place * 64 + static_cast<std::size_t>(std::countr_zero(levels_[above][place]));
        }
        return static_cast<std::uint32_t>(place);
    }

    /// Takes it out; there must be one.
    std::uint32_t take_smallest() {
        std::uint32_t const number = smallest();
        std::size_t place = number;
        for (auto& level : levels_) {
            std::uint64_t& word = level[place / 64];
            word &= word - 1; // its lowest bit, as all before it are out
            if (word != 0) { break; }
            place /= 64;
        }
        return number;
    }

private:
    std::vector<std::vector<std::uint64_t>> levels_; ///< from single numbers up to one word
};

} // namespace headroom::laws::graph
