#pragma once

#include "headroom/fields.hpp"
#include "headroom/probe/study.hpp"

namespace headroom::probe {

/// Fields of a recorded program, as `write_json` writes them.
FieldTable const& field_table_of(Study const*);

} // namespace headroom::probe
