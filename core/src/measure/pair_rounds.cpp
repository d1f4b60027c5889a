#include "headroom/measure/pair_rounds.hpp"

#include <algorithm>

namespace headroom::measure {

std::vector<std::vector<RankPair>> pair_rounds(Ranks p) {
    int const ranks = p.count();
    if (ranks < 2) { return {}; }
    int const circle = ranks % 2 == 0 ? ranks - 1 : ranks; // the last of an even number stands in the middle
    std::vector<std::vector<RankPair>> rounds(static_cast<std::size_t>(circle));
    for (int round = 0; round < circle; ++round) {
        auto& pairs = rounds[static_cast<std::size_t>(round)];
        if (ranks % 2 == 0) { pairs.emplace_back(round, ranks - 1); }
        for (int k = 1; 2 * k < circle; ++k) {
            int const left = (round + k) % circle, right = (round - k + circle) % circle;
            pairs.emplace_back(std::min(left, right), std::max(left, right));
        }
        std::sort(pairs.begin(), pairs.end());
    }
    return rounds;
}

} // namespace headroom::measure
