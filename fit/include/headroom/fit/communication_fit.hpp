#pragma once

#include "headroom/measured_collective.hpp"
#include "headroom/quantity.hpp"

#include <cstddef>
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

/// How a fitted row compares.
struct FitResidual {
    std::size_t row = 0; ///< index into what was given
    Seconds predicted;
    double relative_error = 0.0; ///< predicted / measured - 1
    bool outlier = false;        ///< it did not move the fit
};

/// What the times of one group are made of: one system, collective, algorithm and number of ranks.
struct CommunicationFit {
    std::string system;
    Collective collective = Collective::all_reduce;
    std::string algorithm;
    int ranks = 1, nodes = 1;
    std::vector<FittedSegment> segments; ///< in rising order of size
    std::vector<FitResidual> residuals;  ///< of every row of the group
    double median_relative_error = 0.0;  ///< absolute, of the rows that are no outliers
    std::vector<std::string> notes;      ///< a dip, a lone segment, sizes that are all of one kind
    /// The fitted time, also beyond the sizes that were measured.
    [[nodiscard]] Seconds time(TotalBytes n) const;
};

/// A group that is too small to be fitted, and why.
struct SkippedGroup {
    std::string system;
    Collective collective = Collective::all_reduce;
    int ranks = 1, nodes = 1;
    std::size_t rows = 0, sizes = 0;
    std::string reason;
};

struct CommunicationFits {
    std::vector<CommunicationFit> fits;
    std::vector<SkippedGroup> skipped;
};

struct CommunicationFitSettings {
    std::size_t least_sizes = 3; ///< of a group, distinct
};

/// Fits every group of rows. One bad row does not move it. Deterministic.
CommunicationFits fit_communication(std::span<MeasuredCollective const> rows,
                                    CommunicationFitSettings const& settings = {});

} // namespace headroom::fit
