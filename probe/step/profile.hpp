#pragma once

#include "transformer.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::training {

/// What one worker measured of its step; times are medians over steps.
struct StepProfile {
    TransformerShape shape;
    std::size_t batch = 0; ///< sequences
    bool is_double = false;
    std::string gemm = {};
    double forward = 0.0, backward = 0.0, optimizer = 0.0; ///< seconds

    /// From this place to the end of the vector gradients are finished so many seconds after the backward pass began.
    struct Mark {
        std::size_t place = 0;
        double seconds = 0.0;
    };
    std::vector<Mark> marks = {}; ///< in order of time; the last is place 0 at the end of the pass

    [[nodiscard]] std::size_t element_bytes() const { return is_double ? sizeof(double) : sizeof(float); }
    /// When all of [place, end) is finished.
    [[nodiscard]] double ready(std::size_t place) const;
};

/// One line a fact, `key value`; marks are `finished PLACE SECONDS`.
std::string profile_text(StepProfile const& profile);

/// The reverse. Errors: InputError (unreadable) with the line of the file that is called `name`.
StepProfile read_profile(std::string_view text, std::string const& name);

} // namespace headroom::training
