#include "headroom/network/group.hpp"

#include <algorithm>

namespace headroom::network {

Group group_of(int size, int stride, int domain) {
    int const count = std::max(size, 1);
    int const inside = std::max(domain, 1) / std::max(stride, 1);
    return {.size = count, .per_domain = std::clamp(inside, 1, count)};
}

} // namespace headroom::network
