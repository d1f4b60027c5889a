#pragma once

#include "headroom/document/document.hpp"

namespace headroom::cli {

using namespace headroom::document;

/// The chart library that this program was built with.
ChartLibrary chart_library();

} // namespace headroom::cli
