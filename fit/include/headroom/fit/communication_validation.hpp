#pragma once

#include "headroom/fit/communication_fit.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::fit {

/// A price that nothing was fitted for, or why there is none.
struct UnfittedPrice {
    std::optional<Seconds> seconds;
    std::string how; ///< "NVLS Simple"
    std::string skipped_reason;
};

/// One measured row and its prediction.
struct CommunicationComparison {
    network::MeasuredCollective const* row = nullptr;
    std::size_t group = 0;         ///< index into `groups`
    bool fitted_on = false;        ///< its size was used by the fit: not predicted by it
    std::optional<Seconds> fitted; ///< by the fit on every second size; empty when fitted on, or in too small a group
    UnfittedPrice unfitted;
};

/// Errors of the predictions of some rows. Empty where there is none of a kind.
struct CommunicationSummary {
    int rows = 0, skipped = 0;              ///< skipped: neither predicted by a fit, used by one, nor priced unfitted
    int rows_fitted = 0, rows_unfitted = 0; ///< predicted by a fit; priced without one
    std::optional<double> median_absolute_error_fitted;                       ///< |predicted / measured - 1|
    std::optional<double> median_factor_unfitted;                             ///< exp |ln(predicted / measured)|
    std::optional<double> median_factor_above_1_mb, median_factor_up_to_1_mb; ///< 2^20 bytes; unfitted
};

/// Rows of one system, collective and number of ranks.
struct CommunicationGroup {
    std::string system, interconnect;
    network::Collective collective = network::Collective::all_reduce;
    int ranks = 1, nodes = 1;
    std::size_t sizes = 0;
    CommunicationSummary summary;
    std::string fit_skipped_reason; ///< empty when it was fitted
};

struct CommunicationValidation {
    std::vector<CommunicationComparison> rows; ///< in the order given
    std::vector<CommunicationGroup> groups;    ///< in the order of their first rows
    CommunicationSummary summary;
};

/// Every row compared: with a fit on every second size of its group, beginning with the smallest, where the group has
/// at least `least_sizes` sizes, and with `price`. A group shares id, system, interconnect, collective, ranks and nodes;
/// ids that no two rows share number rows, not tables, and are not looked at. `rows` must outlive the result.
CommunicationValidation validate_communication(
    std::span<network::MeasuredCollective const> rows,
    std::function<UnfittedPrice(network::MeasuredCollective const&)> const& price, std::size_t least_sizes = 6);

/// Summary of some of the rows.
CommunicationSummary summarise(std::span<CommunicationComparison const* const> rows);

} // namespace headroom::fit
