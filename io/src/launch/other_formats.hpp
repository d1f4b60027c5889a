#pragma once

#include "launch/launch_formats.hpp"

namespace headroom::io::launch {

/// YAML and JSON of GPT-NeoX.
Format neox_format();
/// YAML of torchtune's recipes, and the keys of its command line.
Format torchtune_format();

} // namespace headroom::io::launch
