#pragma once

#include "document/document.hpp"

#include "headroom/pass_picture.hpp"

#include <vector>

namespace headroom::cli {

/// Drawing of the passes, with the bubble in words. Empty where there are none.
std::vector<Block> schedule_drawing(PassPicture const& picture, Seconds step);

} // namespace headroom::cli
