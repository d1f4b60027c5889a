#pragma once

#include "launch/launch_formats.hpp"

namespace headroom::io::launch {

/// YAML and JSON of GPT-NeoX.
Format neox_format();
/// YAML of Lightning's command line.
Format lightning_format();
/// YAML of litgpt.
Format litgpt_format();
/// YAML of nanotron.
Format nanotron_format();
/// YAML of LLM Foundry, by itself or within a file of MosaicML's scheduler, and the keys of its command line.
Format foundry_format();
/// YAML of Levanter.
Format levanter_format();
/// Keys of verl's supervised fine-tuning.
Format verl_format();
/// JSON of PaddleNLP.
Format paddle_format();
/// YAML of torchtune's recipes, and the keys of its command line.
Format torchtune_format();

} // namespace headroom::io::launch
