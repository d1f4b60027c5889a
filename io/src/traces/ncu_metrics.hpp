#pragma once

#include <optional>
#include <string_view>

namespace headroom::io {

/// Metrics of Nsight Compute for one kernel that give time, work and traffic.
class NcuMetrics {
public:
    /// One metric by its name in the raw page or in the details page. False when its unit is not known.
    bool take(std::string_view metric, std::string_view unit, double value);
    /// Duration; where only cycles are stated, those by the stated clock.
    [[nodiscard]] std::optional<double> seconds() const;
    /// Floating-point operations, a multiply-add as two; tensor cores with them. 0: not counted.
    [[nodiscard]] double flops() const;
    /// Bytes of the device's memory, read and written. 0: not counted.
    [[nodiscard]] double bytes() const;
    /// Instructions of tensor cores were counted, whose operations nobody states.
    [[nodiscard]] bool has_unsized_tensors() const { return tensor_instructions_ > 0.0 && tensor_operations_ == 0.0; }

private:
    bool take_work(std::string_view metric, double value);
    std::optional<double> seconds_;
    double bytes_ = 0.0, read_ = 0.0, written_ = 0.0, bytes_per_second_ = 0.0;
    double operations_ = 0.0, per_cycle_ = 0.0, grouped_ = 0.0;
    double tensor_operations_ = 0.0, tensor_per_cycle_ = 0.0, tensor_instructions_ = 0.0;
    double cycles_ = 0.0, cycles_per_second_ = 0.0;
};

} // namespace headroom::io
