#pragma once

#include "headroom/document/document.hpp"
#include "headroom/training/pass_picture.hpp"

#include <vector>

namespace headroom::cli {

using namespace headroom::document;

/// Drawing of the passes, with the bubble in words. Empty where there are none.
std::vector<Block> schedule_drawing(training::PassPicture const& picture, Seconds step);

} // namespace headroom::cli
