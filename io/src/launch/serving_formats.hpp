#pragma once

#include "launch/launch_formats.hpp"

#include <vector>

namespace headroom::io::launch {

/// Format of a command that starts an engine, by the program that it starts, whose entry is taken out; nullptr where there is
/// none.
Format const* serving_format(std::vector<Entry>& entries);

/// Keys inside of the options that are JSON, drafts of vLLM; and quantisation that leaves products in 16 bits.
void finish_serving(std::vector<Entry>& entries);

} // namespace headroom::io::launch
