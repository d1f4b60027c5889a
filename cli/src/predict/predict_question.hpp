#pragma once

#include "setting.hpp"

#include "headroom/prediction.hpp"

namespace headroom::cli {

/// The one configuration that is asked about; what is left out is assumed and listed.
Question make_question(Arguments const& arguments, Setting& setting);

} // namespace headroom::cli
