#pragma once

#include "headroom/measure/measurement.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Answer of the program headroom-gpu.
struct GpuAnswer {
    std::string device = {}; ///< empty: there is none
    std::string why = {};    ///< there is none, or part of it was not measured
    measure::Facts facts = {};
    struct Points {
        measure::MeasuredPoint point;
        std::vector<double> samples; ///< empty: it could not be measured; `failed` of its parameters says why
    };
    std::vector<Points> points = {};
};

/// Reads its JSON: {"device": text or null, "why": text, "facts": {...}, "points": [{label, unit, parameters, samples}]}.
/// Errors:     InputError{unreadable} where it is none, or a sample is no positive number.
GpuAnswer read_gpu_answer(std::string_view json, std::string_view where);

} // namespace headroom::io
