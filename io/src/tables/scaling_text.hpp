#pragma once

#include "headroom/io/scaling_table.hpp"

namespace headroom::io {

/// Whether a text is one of Extra-P's: its first word is one of theirs.
bool is_extra_p_text(std::string_view text);

/// PARAMETER, POINTS, REGION, METRIC and DATA lines, # comments. Repeats become rows. Source: [ExtraP]
/// Errors: InputError{unreadable} with the line; InputError{usage} on a region or metric that is not there, and on
/// several parameters.
ScalingTable read_extra_p_text(std::string_view text, std::string_view where, ScalingTableQuestion const& question);

} // namespace headroom::io
