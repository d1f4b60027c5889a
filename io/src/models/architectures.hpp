#pragma once

#include "json_keys.hpp"

#include "headroom/training/model.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// What a reader of a config.json did beyond its keys, for people.
using Notes = std::vector<std::string>;

/// What a `model_type` of a config.json implies without saying it.
struct Architecture {
    std::string_view type;
    training::Model traits;                                        ///< everything but dimensions
    int default_head_dim = 0;                                      ///< 0: hidden over heads
    bool ffn_from_hidden = false;                                  ///< four times hidden where it is not stated
    void (*adjust)(JsonKeys&, training::Model&, Notes&) = nullptr; ///< what further keys of this type change
    std::string_view note = {};                                    ///< what of this type is not modelled
    bool vision_left_out = false;                                  ///< its vision tower is not counted
    bool windowed = false;                                         ///< its `sliding_window` is in use
    int full_every = 0; ///< with a window: each so-manieth layer sees everything
    int default_heads = 0, default_kv_heads = 0, default_vocab = 0, default_positions = 0; ///< 0: to be stated
    bool has_ffn = true;   ///< false: no feed-forward layers
    bool has_vocab = true; ///< false: `adjust` knows what is put out
    bool pair = false;     ///< encoder and decoder
};
std::span<Architecture const> architectures();
/// How a type is read that nobody knows: as a common decoder, with whatever known part it has keys for.
Architecture const& common_decoder();

/// A `model_type` that is known and not modelled, and why.
struct UnsupportedType {
    std::string_view type, why;
};
std::span<UnsupportedType const> unsupported_types();

} // namespace headroom::io
