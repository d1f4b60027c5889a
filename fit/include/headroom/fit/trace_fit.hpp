#pragma once

#include "headroom/fit/communication_fit.hpp"
#include "headroom/machine.hpp"
#include "headroom/network/measured_collective.hpp"
#include "headroom/trace/trace_answer.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace headroom::fit {

/// Facts of a machine that its traces do not state.
struct TraceFitSettings {
    std::string system; ///< name of the machine
    std::string source; ///< name of the rows in residuals
    int nodes = 0;      ///< that all ranks were on; 0: from the names of their hosts, else full ones
    int node_size = 0;  ///< accelerators of a node; 0: not known, all ranks are on one
    std::optional<Accelerator> accelerator; ///< whose peak efficiencies are against
};

/// Collectives of a set of traces as measured times, waiting for late ranks apart.
///
///     time = shortest duration over the ranks of a collective that ends on all ranks at once
///     time = last begin to last end of one that does not (broadcast, reduce, gather, scatter, sends)
///
/// Of one size at most 32 rows are kept, evenly spread over the order of their times. Runs whose group is not there as
/// a whole are left out, since the last rank may be missing; so are those without a stated size.
/// Source:     the shortest duration is that of the rank that came last and waited for nobody.
struct TraceCollectives {
    std::vector<network::MeasuredCollective> rows;
    std::size_t used = 0;         ///< matched collectives that the rows stand for
    std::size_t incomplete = 0;   ///< left out: not all ranks of the group are there
    std::size_t without_size = 0; ///< left out: no size, or no known collective
};
TraceCollectives measured_collectives(trace::TraceAnswer const& answer, TraceFitSettings const& settings);

/// Sustained share of the peak of large 16-bit matrix products, by the time that they took.
struct TraceEfficiency {
    Fitted share; ///< median by time; the interval holds the middle 90 % of the time
    std::int64_t kernels = 0;
    double seconds = 0.0;
};

/// Factor by which communication slows kernels that compute at the same time.
///
///     ratio = sum over kernels of their time while communication runs
///           / sum of what the same runs would have taken at the mean of those alone
///
/// Kernels are distinguished as in `kernels_beside_communication`; those with three runs or more on each side count, on
/// each rank for itself. The interval is that of the two sums, by Student's t on the scatter of runs.
/// Assumes:    runs of a kernel at one place do the same work.
struct TraceSlowdown {
    Fitted ratio; ///< 1: communication costs nothing
    std::size_t kernels = 0;
    std::int64_t alone = 0, beside = 0; ///< runs
    double seconds = 0.0;               ///< of the runs that overlap with communication
    /// Share of its rate that a kernel loses while communication is under way: 1 - 1 / ratio, never below zero.
    [[nodiscard]] Fitted lost_rate() const;
};
std::optional<TraceSlowdown> compute_slowdown(trace::TraceAnswer const& answer);

/// Facts of a set of traces for models, apart from its links.
struct TraceFacts {
    std::optional<TraceEfficiency> matrix_products; ///< of at least 1e10 operations a run; needs the accelerator
    std::optional<Fitted> hidden;          ///< share of communication hidden by computation; over steps and ranks
    std::optional<TraceSlowdown> slowdown; ///< of computation by communication
    std::optional<double> step_variation;  ///< standard deviation over mean, of steps
    std::optional<double> rank_variation;  ///< likewise of the computation of ranks
    std::size_t steps = 0, ranks = 0;
    bool two_unlike_steps = false;      ///< two steps, of which one is at least a fifth of their mean from it
    std::optional<double> step_seconds; ///< median over steps, of each the slowest rank
};
TraceFacts trace_facts(trace::TraceAnswer const& answer, TraceFitSettings const& settings);

/// The precision of 16-bit products that a shape's text names; empty for others.
std::optional<Precision> product_precision(std::string const& shape);

} // namespace headroom::fit
