#include "headroom/network/layout.hpp"

namespace headroom::network {

Layout Layout::uniform(Ranks p, Link link) {
    return {.level = {Level{.ranks = p.count(), .link = link}}, .levels = 1, .ranks = p.count()};
}

Layout Layout::of(Group group, Link scale_up, Link scale_out) {
    int const domains = group.domains();
    if (domains == 1) { return uniform(Ranks{group.size}, scale_up); }
    if (group.per_domain == 1) { return uniform(Ranks{group.size}, scale_out); }
    return {.level = {Level{.ranks = group.per_domain, .link = scale_up}, Level{.ranks = domains, .link = scale_out}},
            .levels = 2,
            .ranks = group.size};
}

bool Layout::even() const {
    std::int64_t product = 1;
    for (int i = 0; i < levels; ++i) { product *= level[static_cast<std::size_t>(i)].ranks; }
    return product == ranks;
}

int Layout::level_between(int from, int to) const {
    for (int i = 0; i + 1 < levels; ++i) {
        int const members = level[static_cast<std::size_t>(i)].ranks;
        from /= members;
        to /= members;
        if (from == to) { return i; }
    }
    return levels - 1;
}

} // namespace headroom::network
