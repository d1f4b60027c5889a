#pragma once

#include "json_keys.hpp"

#include "headroom/model.hpp"

#include <span>
#include <string_view>

namespace headroom::io {

/// What a `model_type` of a config.json implies without saying it.
struct Architecture {
    std::string_view type;
    Model traits;                                ///< everything but dimensions
    int default_head_dim = 0;                    ///< 0: hidden over heads
    bool ffn_from_hidden = false;                ///< four times hidden where it is not stated
    void (*adjust)(JsonKeys&, Model&) = nullptr; ///< what further keys of this type change
    std::string_view note = {};                  ///< what of this type is not modelled
};
std::span<Architecture const> architectures();

/// A `model_type` that is known and not modelled, and why.
struct UnsupportedType {
    std::string_view type, why;
};
std::span<UnsupportedType const> unsupported_types();

} // namespace headroom::io
