#include "headroom/network/local_updates.hpp"

#include <algorithm>

namespace headroom::network {

namespace {

constexpr double outer_bytes = 4.0 + 4.0; // parameters and a momentum

} // namespace

LocalUpdateCost local_updates(double parameters, LocalUpdates const& updates) {
    Bytes const exchanged{parameters * updates.bytes_per_element};
    double const period = std::max(updates.period, 1);
    Bytes const state = updates.period > 1 ? Bytes{outer_bytes * parameters / std::max(updates.shards, 1)} : Bytes{};
    return {.exchanged = {exchanged}, .per_step = exchanged / period, .outer_state = state};
}

} // namespace headroom::network
