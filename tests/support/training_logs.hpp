#pragma once

#include "headroom/error.hpp"
#include "headroom/io/training_log.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom::io {

/// A training log of this text.
inline TrainingLog read_log(std::string const& text, TrainingLogQuestion const& question = {},
                            std::string const& name = "train.log") {
    return read_training_log_text(text, name, question);
}

/// The line by which a text is refused; "no error" where it is read.
inline std::string error_of_log(std::string const& text, TrainingLogQuestion const& question = {}) {
    try {
        read_log(text, question);
    } catch (InputError const& error) { return error.what(); }
    return "no error";
}

/// Number of times that a reader counted an issue of this kind.
inline std::uint64_t issues_of(TrainingLog const& log, std::string_view kind) {
    auto const found = std::ranges::find(log.issues, kind, &Issue::kind);
    return found == log.issues.end() ? 0 : found->count;
}

} // namespace headroom::io
