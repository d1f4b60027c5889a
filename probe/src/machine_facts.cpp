#include "headroom/probe/machine_facts.hpp"

#include <chrono>
#include <cstdlib>

namespace headroom::probe {

double load_now() {
    double load = 0.0;
    return ::getloadavg(&load, 1) == 1 ? load : 0.0;
}

std::int64_t now_ns() {
    auto const since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

} // namespace headroom::probe
