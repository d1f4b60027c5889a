#pragma once

#include "headroom/document/document.hpp"

#include <string>

namespace headroom::document {

/// The figures of a document as JSON for the page's script, in their order: every number in full, and the frame that
/// the terminal uses too (ranges, ticks, which rules are inside). No character of it ends a script element or begins
/// a tag or a comment, whatever the names are.
std::string page_data(Document const& document);

} // namespace headroom::document
