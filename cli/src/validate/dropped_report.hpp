#pragma once

#include "document/document.hpp"

#include "headroom/validation.hpp"

namespace headroom::cli {

/// How many suspect rows each rule of validation/README.md drops, and which; empty where none is.
Table dropped_table(Validation const& validation);

} // namespace headroom::cli
