#pragma once

#include "document/document.hpp"

namespace headroom::cli {

/// The chart library that this program was built with.
ChartLibrary chart_library();

} // namespace headroom::cli
