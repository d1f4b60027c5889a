#pragma once

#include "headroom/network/collective.hpp"
#include "headroom/quantity.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::network {

/// A measured number with its 90 % interval, in base units.
struct MeasuredValue {
    double value = 0.0, low = 0.0, high = 0.0;
    bool operator==(MeasuredValue const&) const = default;
};

/// Latency and bandwidth of a link, fitted to measured times of collectives.
struct MeasuredLink {
    MeasuredValue latency_seconds;                 ///< of one message, the start of a collective included
    std::optional<MeasuredValue> bytes_per_second; ///< empty: no time depended on it
    std::string interconnect = {};                 ///< in words, "host memory"; empty: not stated
    std::string source;
    bool operator==(MeasuredLink const&) const = default;
};

/// alpha + n beta for messages of these sizes.
struct MeasuredSegment {
    Bytes from, to;
    Seconds alpha;
    SecondsPerByte beta;
    bool operator==(MeasuredSegment const&) const = default;
};

/// Straight pieces through the times of one collective over its sizes, in rising order.
///
///     T(n) = alpha_i + n beta_i                                for from_i <= n <= to_i
///
/// Between two pieces along their lines where they meet there, else straight on logarithmic scales: nobody knows where
/// in between the time jumps. Below the first and above the last their lines go on.
struct MeasuredCurve {
    Collective collective = Collective::all_reduce;
    std::string algorithm; ///< empty where the source names none
    int ranks = 1, nodes = 1;
    std::vector<MeasuredSegment> segments;
    std::string interconnect = {}; ///< in words; empty: not stated
    std::string source;
    [[nodiscard]] Seconds time(TotalBytes n) const;
    bool operator==(MeasuredCurve const&) const = default;
};

/// Measured links and curves of the network of one machine.
struct MeasuredNetwork {
    std::string system; ///< as the source names it
    std::optional<MeasuredLink> scale_up, scale_out;
    std::vector<MeasuredCurve> curves;
    /// The first curve of this collective on so many ranks of so many nodes; null where there is none.
    [[nodiscard]] MeasuredCurve const* curve(Collective collective, int ranks, int nodes) const;
    [[nodiscard]] bool empty() const { return !scale_up && !scale_out && curves.empty(); }
    bool operator==(MeasuredNetwork const&) const = default;
};

} // namespace headroom::network
