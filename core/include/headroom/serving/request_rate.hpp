#pragma once

#include "headroom/quantity.hpp"

namespace headroom::serving {

using PerSecond = Quantity<0, 0, -1, 0, 0>; ///< so many a second: requests

} // namespace headroom::serving
