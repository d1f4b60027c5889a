#pragma once

#include "headroom/machine.hpp"
#include "headroom/network/measured_collective.hpp"
#include "headroom/network/measured_network.hpp"
#include "headroom/quantity.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::fit {

/// A fitted number with its 90 % interval.
struct Fitted {
    double value = 0.0, low = 0.0, high = 0.0;
};

/// One protocol of a group: messages of these sizes cost alpha + n beta.
struct FittedSegment {
    Bytes from, to;               ///< the sizes it was fitted on
    Fitted alpha_seconds;         ///< of the whole collective: what no byte causes
    Fitted beta_seconds_per_byte; ///< likewise: the inverse of the algorithm bandwidth for large sizes
};

/// Where one segment ends and the next begins.
struct SwitchPoint {
    Fitted bytes;
    bool jumps = false; ///< the lines do not meet between the two: a protocol that is forced, not chosen
};

/// Deviation of one row from its fit.
struct FitResidual {
    std::size_t row = 0; ///< index into what was given
    Seconds predicted;
    double relative_error = 0.0; ///< predicted / measured - 1
    bool outlier = false;        ///< it did not move the fit
};

/// Sizes between which the bytes a second fall although the messages grow, which no alpha, beta >= 0 explains.
struct BandwidthDip {
    Bytes from, to;    ///< the size with the most bytes a second before, and the one with the least after
    double kept = 1.0; ///< bytes a second at `to` over those at `from`
    bool ends = false; ///< larger messages reach as much again
};

/// Remark on a fit: bandwidth that falls as messages grow, sizes too large to show alpha, or too small to show beta.
enum class FitRemark { falls, loose_alpha, loose_beta, runs_differ };

/// Times of one size, the shortest and the longest, where several runs measured the same sizes and differ.
struct RunSpread {
    Bytes size;
    Seconds shortest, longest;
};

/// Fit of the times of one group: one system, collective, algorithm, protocol, data type and number of ranks.
struct CommunicationFit {
    std::string id;
    std::string system;
    network::Collective collective = network::Collective::all_reduce;
    std::string algorithm, protocol, data_type;
    std::string interconnect; ///< in words; empty: not stated
    int ranks = 1, nodes = 1;
    std::vector<FittedSegment> segments; ///< in rising order of size
    std::vector<SwitchPoint> switches;   ///< one fewer
    std::vector<FitResidual> residuals;  ///< of every row of the group, in rising order of size
    double median_relative_error = 0.0;  ///< absolute, of the rows that are no outliers
    double p90_relative_error = 0.0;     ///< likewise
    double relative_spread = 0.0;        ///< standard deviation of a row around the fit, that the intervals rest on
    std::optional<BandwidthDip> dip;     ///< the deepest
    std::optional<RunSpread> spread;     ///< at the largest size of several runs
    std::vector<FitRemark> remarks;
    /// The segments without their intervals.
    [[nodiscard]] network::MeasuredCurve curve() const;
    /// The fitted time, also beyond the sizes that were measured.
    [[nodiscard]] Seconds time(network::TotalBytes n) const;
    /// Limit of the bus bandwidth for large sizes: that of the last segment's beta; empty where beta is zero.
    [[nodiscard]] std::optional<BytesPerSecond> bus_bandwidth() const;
};

/// Time over that of the link alone, for the bytes of one group that takes part in a `FittedLevel`.
struct Contention {
    std::size_t fit = 0; ///< index into the fits
    Fitted factor;       ///< 1: a byte takes as long as in the reference
};

/// Remark on a link: no time depends on its bandwidth; times follow the fastest of all algorithms; one group alone; costs inside a node counted between nodes, or taken
/// from a machine of the catalog; a byte of one group takes longer than in the reference.
enum class LinkRemark { flat, all_forms, one_group, inside_counted, inside_known, contended };
struct LinkNote {
    LinkRemark remark = LinkRemark::flat;
    std::string machine = {};           ///< of inside_known
    std::string group = {}, other = {}; ///< of contended, "all_reduce ring on 8 ranks": a group, and the reference
    double factor = 1.0;                ///< of contended
};

/// The link of one level of one system: what groups of several sizes of group, or several collectives, have in common.
struct FittedLevel {
    std::string system;
    std::string interconnect; ///< in words; empty: not stated
    bool scale_out = false;   ///< else the link inside a node
    Fitted latency_seconds;   ///< of one message
    Fitted seconds_per_byte;
    Fitted bytes_per_second;              ///< the inverse; 0 where beta is zero: it is not known
    std::vector<std::size_t> fits;        ///< that it was fitted on
    std::size_t rows = 0;                 ///< of them
    double median_relative_error = 0.0;   ///< absolute, of closed forms with these constants
    std::optional<std::size_t> reference; ///< the fit with the fewest messages at once: one message, or fewest ranks
    std::vector<Contention> contention;   ///< one a fit, where bytes weigh enough to tell
    std::vector<LinkNote> notes;
};

/// A link whose fitted rate is above its nameplate: the times are not of that link.
struct RefusedLevel {
    FittedLevel level;
    BytesPerSecond most; ///< that an accelerator has by the nameplate
    std::string machine; ///< whose nameplate it is; empty: no NIC that is sold carries more
};

/// Links of a machine as they are known before any measurement.
struct KnownLinks {
    std::string machine;                      ///< "dgx-h100"
    int domain = 1;                           ///< accelerators that share the link inside
    Link scale_up;                            ///< as predictions price it; no bandwidth where it is not known
    BytesPerSecond most_inside, most_between; ///< of one accelerator by the nameplates; zero: not known
};
/// The links of a cluster with the constants that predictions price them by. `stated`: it is the machine that was measured, not
/// the catalog's node around the same accelerator, whose NICs a host's bus bounds alone, and whose cards may be bridged.
KnownLinks known_links(Cluster const& cluster, Link priced_scale_up, bool stated);

/// A group with too few sizes to be fitted.
struct SkippedGroup {
    std::string system;
    network::Collective collective = network::Collective::all_reduce;
    int ranks = 1, nodes = 1;
    std::size_t rows = 0, sizes = 0, least_sizes = 0;
};

struct CommunicationFits {
    std::vector<CommunicationFit> fits;
    std::vector<FittedLevel> levels;
    std::vector<RefusedLevel> refused;
    std::vector<SkippedGroup> skipped;
};

struct CommunicationFitSettings {
    std::size_t least_sizes = 3; ///< of a group, distinct
    /// Links of a system by its name; empty where it is not known.
    std::function<std::optional<KnownLinks>(std::string const&)> known = {};
};

/// Fits every group of rows: straight pieces alpha + n beta, alpha, beta >= 0, that never fall from one to the next.
///
///     split        for each number of pieces the one with the least sum of min(|ln(predicted / measured)|, ln 1.5),
///                  by dynamic programming over the measured sizes
///     how many     the least N ln(S / N + 0.02) + (pieces - 1) ln N
///     lines        Huber's estimate on relative errors; rows that are 5 deviations and a quarter off do not count
///     intervals    90 %, by the curvature of the sum of squares with Student's t; of switch points, the splits whose
///                  sum of squares is within s^2 t^2 of the least
///
/// Then the links: groups of one system that share a level and have two numbers of ranks or two collectives, through
/// the closed forms of `collective_algorithms` and `library_algorithms`, inside a node first. Where no group is inside a
/// node, its link is the known one. A rate above 1.1 times the nameplate is refused.
/// Holds for:  one bad row among six sizes and more does not move it. Deterministic, whatever the order of the rows.
/// Assumes:    errors are a share of the time. Rows whose time is not above zero are passed over.
/// Source:     [HollandWelsch1977], [BaiPerron2003]
CommunicationFits fit_communication(std::span<network::MeasuredCollective const> rows,
                                    CommunicationFitSettings const& settings = {});

} // namespace headroom::fit
