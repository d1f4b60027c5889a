#pragma once

#include "headroom/training/validation.hpp"

#include <span>
#include <vector>

namespace headroom::training {

/// A printed utilization beside ours of the same measured step: whether operations are counted alike.
struct UtilizationComparison {
    PublishedRun const* run = nullptr;
    bool hardware = false; ///< HFU, else MFU
    double printed = 0.0, ours = 0.0;
    [[nodiscard]] double difference() const { return ours / printed - 1.0; }
};

struct UtilizationCheck {
    std::vector<UtilizationComparison> rows;
    double median_absolute_difference = 0.0, largest_absolute_difference = 0.0; ///< zero of no rows
};

/// Every MFU and HFU that is printed with its convention, beside that of the *measured* step: no prediction is involved.
/// Steps that follow from printed TFLOP/s are left out: there the count of operations cancels.
UtilizationCheck check_utilization(std::span<PublishedRun const> runs);

} // namespace headroom::training
