#pragma once

#include "headroom/network/library_collectives.hpp"

namespace headroom::network {

/// Tokens of one rank on their way to their experts (dispatch) or back (combine); both carry as much.
struct ExpertExchange {
    double tokens = 0.0; ///< T: of this rank
    Bytes token;         ///< b: one token, hidden size x element
    int top_k = 1;       ///< k: experts of a token
    int experts = 1;     ///< E: of a layer, spread evenly over the group
    /// A token goes once to each domain, to the rank in the sender's place, which copies it to each rank that needs it.
    bool deduplicated = false;
    int group_limit = 0;   ///< M: a token's experts lie in at most so many domains; 0: anywhere
    bool pipelined = true; ///< the two levels carry at once; else one after the other
};

struct ExpertTraffic {
    CollectiveTime time;
    Bytes sent;     ///< leaves the rank on either level
    Bytes crossing; ///< of it, what goes to another domain
};

/// Expected number of distinct places, of d equal ones, that hold one of k experts drawn from E without repetition.
///
///     D = d (1 - C(E - E/d, k) / C(E, k))
///
/// Holds for:  any d >= 1 (E/d need not be whole); k > E counts as E.
/// Assumes:    every expert is as likely.
/// Source:     [DeepSeek2024]
double expected_places(double places, double experts, double top_k);

/// Dispatch or combine of a mixture of experts over p ranks, g a domain, the smallest domain s; balanced.
///
/// Plain, a message for each token and expert, n = T k b:
///
///     sent (p-1)/p n,  crossing (p-s)/p n,  latency (g-1) a_in + (p-s) a_out
///
/// Deduplicated, D domains and R ranks that a token reaches, of `expected_places`; a limit of M domains leaves M of
/// them and E M/d experts to draw from:
///
///     crossing (p-s)/p D T b,  inside (g-1)/g R T b,  sent both,  latency (g-1) a_in + (k-1) a_out
///
/// Time = latency + max(inside b_in, crossing b_out), or their sum when not pipelined.
/// Holds for:  any p >= 1 (p = 1 costs nothing); unpipelined and plain, the pairwise exchange. Without deduplication a
///             limit changes nothing.
/// Assumes:    experts are as likely, tokens balanced, every pair of ranks has a way of its own.
/// Source:     [Thakur2005], [DeepSeek2024], [DeepEP]
ExpertTraffic expert_exchange(ExpertExchange const& exchange, Group group, Fabric fabric);

} // namespace headroom::network
