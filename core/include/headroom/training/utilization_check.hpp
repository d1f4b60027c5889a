#pragma once

#include "headroom/training/validation.hpp"

#include <span>
#include <vector>

namespace headroom::training {

/// Printed and computed utilization of one measured step: agreement shows that both count operations alike.
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

/// Compares every MFU and HFU that is printed with its convention with the one computed from the *measured* step; no
/// prediction is involved. Steps derived from printed TFLOP/s are excluded: there the operation count cancels.
UtilizationCheck check_utilization(std::span<PublishedRun const> runs);

} // namespace headroom::training
