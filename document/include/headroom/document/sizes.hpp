#pragma once

#include "headroom/quantity.hpp"

#include <string>

namespace headroom::document {

/// Powers of two in binary units, other sizes in decimal ones.
std::string size_words(Bytes size);

} // namespace headroom::document
