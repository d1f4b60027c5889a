#pragma once

#include "headroom/serving/inference_answer.hpp"

#include <optional>

namespace headroom::serving {

/// Quantiles of a histogram of times.
struct TimeQuantiles {
    LatencyHistogram const* times = nullptr;
};
inline std::optional<TimeQuantiles> quantiles_of(LatencyHistogram const& times) {
    return times.empty() ? std::nullopt : std::optional{TimeQuantiles{&times}};
}
FieldTable const& field_table_of(TimeQuantiles const*);

FieldTable const& field_table_of(ServingResult const*);
FieldTable const& field_table_of(ServingMemory const*);

} // namespace headroom::serving
