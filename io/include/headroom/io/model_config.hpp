#pragma once

#include "headroom/issue.hpp"
#include "headroom/training/model.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// A model read from a Hugging Face config.json, with every key of the file accounted for.
struct ModelConfig {
    training::Model model;
    std::string read_as;              ///< type whose row of the table it was read by
    std::vector<Issue> issues;        ///< keys that may change what is counted or stored
    std::vector<std::string> used;    ///< keys that shaped the model
    std::vector<std::string> ignored; ///< keys that do not change what is predicted
    std::vector<std::string> filled;  ///< "head_dim = 128 (hidden_size / num_attention_heads)"
};

/// Reads the text of a config.json. Errors: InputError{unreadable} when it is not JSON,
/// InputError{usage} when a key is missing, of the wrong type, absurd or of an unsupported kind.
ModelConfig read_model_config(std::string_view text, std::string_view where);

} // namespace headroom::io
