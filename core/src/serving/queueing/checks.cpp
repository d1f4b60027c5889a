#include "checks.hpp"

#include "base/quantity/demand.hpp"

#include "headroom/error.hpp"

namespace headroom::serving::queueing {

namespace {

/// Beyond it doubles no longer tell a queue from one with a server more, or its times overflow.
constexpr double most_variation = 1e6, most_load = 1e15;

void demand_variation(double value, std::string const& where) {
    std::string const hint = "give variance over squared mean: 1 for exponential, 0 for always the same";
    demand_amount(value, where, hint);
    if (value > most_variation) { refuse(where, "above 10^6", "", hint); }
}

} // namespace

void check(QueueShape const& shape) {
    if (shape.servers < 1) { refuse("servers", "fewer than one", "", "give at least one"); }
    if (shape.servers > most_servers) { refuse("servers", "more than 10^8", "", "check the number"); }
    if (shape.batch < 1) { refuse("batch", "fewer than one", "", "give 1 for no batches"); }
    demand_share(shape.batch_growth, "growth of a batch",
                 "give 0 where a batch takes as long as one, 1 where as long as one after the other");
    if (shape.places && *shape.places < shape.servers) {
        refuse("places", "fewer than servers", std::to_string(*shape.places) + " of " + std::to_string(shape.servers),
               "count those who are served too");
    }
}

void check(QueueLoad const& load, QueueShape const& shape) {
    demand_amount(load.arrivals_per_second, "arrivals", "give requests a second, e.g. 1000");
    demand_size(load.service.base(), "service", "give the mean time that serving one takes, e.g. 80 ms");
    demand_variation(load.arrival_variation, "variation of arrivals");
    demand_variation(load.service_variation, "variation of service");
    check(shape);
    double const offered = load.arrivals_per_second * load.service.base();
    if (!(offered <= most_load)) {
        refuse("arrivals", "more than 10^15 requests in the time of one service", "", "check the units");
    }
}

} // namespace headroom::serving::queueing
