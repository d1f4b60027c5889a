#include "base/quantity/demand.hpp"
#include "checks.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/queue.hpp"

namespace headroom::serving {
namespace {

void check(double offered_load, int servers) {
    demand_amount(offered_load, "offered load", "give arrivals times service, e.g. 3.2");
    if (servers < 0) { refuse("servers", "fewer than none", "", "give 0 or more"); }
}

} // namespace

double erlang_b(double offered_load, int servers) {
    check(offered_load, servers);
    double lost = 1.0; // a probability at each step: nothing overflows, and what underflows is zero
    for (int c = 1; c <= servers && lost > 0.0; ++c) { lost = offered_load * lost / (c + offered_load * lost); }
    return lost;
}

double erlang_c(double offered_load, int servers) {
    check(offered_load, servers);
    if (offered_load >= servers) { return 1.0; }
    double const lost = erlang_b(offered_load, servers);
    double const rho = offered_load / servers;
    return lost / (1.0 - rho * (1.0 - lost));
}

} // namespace headroom::serving
