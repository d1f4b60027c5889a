// Any bytes as a config.json: a model or one InputError, and what is accepted is a possible model.

#include "headroom/error.hpp"
#include "headroom/io/model_config.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    try {
        auto const config = headroom::io::read_model_config(text, "config.json");
        auto const& model = config.model;
        bool const possible = model.layers > 0 && model.hidden > 0 && model.heads > 0 && model.kv_heads > 0 &&
                              model.heads % model.kv_heads == 0 && model.head_dim > 0 && model.ffn >= 0 &&
                              model.vocab > 0 && model.max_positions >= 0 && model.moe.top_k <= model.moe.experts;
        double const parameters = headroom::training::count_parameters(model).total;
        if (!possible || !std::isfinite(parameters) || parameters <= 0.0) std::abort();
    } catch (headroom::InputError const& error) {
        if (std::string_view{error.what()}.find('\n') != std::string_view::npos) std::abort();
    }
    return 0;
}
