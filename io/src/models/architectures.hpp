#pragma once

#include "json_keys.hpp"

#include "headroom/training/model.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Remarks for people on a reader's choices beyond the keys of a config.json.
using Notes = std::vector<std::string>;
/// Changes a model by further keys of a file.
using KeyReader = void (*)(JsonKeys&, training::Model&, Notes&);

/// One architecture class of configs: one row of the table.
struct ArchitectureRow {
    std::string_view types;     ///< values of `model_type`, blanks between
    std::string_view traits;    ///< words that its files leave unsaid: "plain layer_norm tied"
    std::string_view defaults;  ///< of its keys, as members of a JSON object
    KeyReader adjust = nullptr; ///< reads further keys
    std::string_view note = {}; ///< parts of it that are not modelled
};

/// An architecture as its row implies it.
struct Architecture {
    std::string_view type;
    ArchitectureRow row;
    training::Model traits;
    bool windowed = false;        ///< its `sliding_window` is in use
    int full_every = 0;           ///< with a window: each so-manieth layer sees everything
    bool ffn_from_hidden = false; ///< four times hidden where it is not stated
    bool has_ffn = true, has_heads = true;
    bool has_vocab = true;         ///< false: `adjust` knows the number of classes
    bool pair = false;             ///< encoder and decoder
    bool encoder = false;          ///< files of it without a head exist
    bool fixed_activation = false; ///< its code computes another function than `hidden_act` says
};

/// The row of a type; nullopt for one that nobody knows.
std::optional<Architecture> architecture_of(std::string_view type);
std::vector<std::string> known_types();
/// Reading of an unknown type: a common decoder, with each known part that it has keys for.
Architecture common_decoder();

/// A `model_type` that is known and not modelled, and why; empty for others.
std::string_view why_unsupported(std::string_view type);

} // namespace headroom::io
