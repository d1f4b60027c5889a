#pragma once

#include <optional>

namespace headroom::serving::queueing {

/// One server that takes up to `batch` of those waiting, or the first that finds it idle.
struct BatchServer {
    double arrivals = 0.0;  ///< a second, Poisson; less than full batches are served
    double service = 1.0;   ///< of one alone, mean
    double variation = 1.0; ///< of any batch's service: gamma
    double growth = 0.0;
    int batch = 1;
    [[nodiscard]] double service_of(double requests) const { return service * (1.0 + growth * (requests - 1.0)); }
};

struct BatchFigures {
    double busy = 0.0;           ///< share of time that servers work
    double waits = 0.0;          ///< share of requests
    double wait = 0.0;           ///< mean, of all
    double wait_variation = 1.0; ///< c^2 of the waits of those that wait
    double batch = 1.0;
    double weighed_batch = 1.0; ///< that a request is served in, in the mean
};

/// M/G^[1,b]/1 by the chain embedded at departures, of how many q one leaves waiting: the next batch n is of 1 at q = 0,
/// else of min(q, b), and leaves max(q - b, 0) and those that arrive during its service, of which K_n(z) is the generating
/// function:
///
///     P(z) (z^b - K_b(z)) = sum_{q<b} p_q (z^b K_n(z) - z^q K_b(z))
///
/// The left side is zero at the b zeros of z^b - K_b in the unit disc, which with P(1) = 1 gives the p_q, and P'(1) the rest.
/// The line follows from the time between departures, during which q - n wait, and those that come. One leaves as many
/// behind in it as came while it waited, so that E[L(L-1)] = lambda^2 E[W^2] besides Little's law.
/// Nothing where b is above 64: the equations then lose their digits.
/// Source: [Bailey1954], [NeutsBatch1967]
std::optional<BatchFigures> batch_chain(BatchServer const& server);

} // namespace headroom::serving::queueing
