#pragma once

#include "headroom/document/json.hpp"

namespace headroom::cli {

/// Verbs of this program with their arguments and options, as data: for stubs, completions and manual pages.
///
///     [{"name", "summary", "arguments": [{"name", "help", "many"}],
///       "options": [{"name", "alias", "placeholder", "help", "group", "takes"}], "examples"}]
///
/// `takes` is "value", "nothing", "perhaps_value" or "values" (given several times).
document::Json verb_table();

} // namespace headroom::cli
