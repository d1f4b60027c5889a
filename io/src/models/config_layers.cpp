#include "models/config_parts.hpp"
#include "records/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headroom::io {

using namespace headroom::training;

namespace {

using Words = std::vector<std::string>;
using LayerKinds = std::vector<BlockKind>;

// ---- mixers ---------------------------------------------------------------------------------------------------------

enum class LayerSort { full, windowed, recurrent };

/// Names of a layer in lists of them.
struct LayerWord {
    std::string_view word;
    LayerSort sort;
};
constexpr std::array layer_words{
    LayerWord{"full_attention", LayerSort::full},
    LayerWord{"attention", LayerSort::full},
    LayerWord{"global", LayerSort::full},
    LayerWord{"global_attention", LayerSort::full},
    LayerWord{"hybrid", LayerSort::full},
    LayerWord{"indexed_attention", LayerSort::full}, // an indexer chooses its keys
    LayerWord{"G", LayerSort::full},
    LayerWord{"sliding_attention", LayerSort::windowed},
    LayerWord{"chunked_attention", LayerSort::windowed},
    LayerWord{"local", LayerSort::windowed},
    LayerWord{"L", LayerSort::windowed},
    LayerWord{"linear_attention", LayerSort::recurrent},
    LayerWord{"lightning_attention", LayerSort::recurrent},
    LayerWord{"mamba", LayerSort::recurrent},
    LayerWord{"conv", LayerSort::recurrent},
};

/// Words for layers of which some, counted from `first`, are of one sort.
Words marked(JsonKeys& keys, std::string_view key, int layers, int first, std::string_view of_these,
             std::string_view of_others) {
    Words words(static_cast<std::size_t>(layers), std::string{of_others});
    for (int const layer : keys.wholes(key, {0, limits::layers.high})) {
        int const index = layer - first;
        if (index < 0 || index >= layers) {
            keys.fail(key, fmt::format("layer {} of {}", layer, layers), "a list names layers of the model");
        }
        words[static_cast<std::size_t>(index)] = of_these;
    }
    return words;
}

Words repeated(Words const& pattern, int layers) {
    Words words;
    for (int layer = 0; layer < layers; ++layer) {
        words.push_back(pattern[static_cast<std::size_t>(layer) % pattern.size()]);
    }
    return words;
}

/// The word that a number in a list stands for.
Words of_numbers(JsonKeys& keys, std::string_view key, std::string_view of_zero, std::string_view of_one) {
    Words words;
    for (int const one : keys.wholes(key, {0, 1})) { words.emplace_back(one == 0 ? of_zero : of_one); }
    return words;
}

/// Words with one of `every` layers full, at `offset` in each group.
Words periodic(int layers, int every, int offset, std::string_view others) {
    Words words;
    for (int layer = 0; layer < layers; ++layer) {
        words.emplace_back(layer % every == offset % every ? "full_attention" : others);
    }
    return words;
}

/// Each layer's mixer in words, from whichever key of the file says it; none where no key does. `key` receives which.
Words mixer_words(JsonKeys& keys, Model const& model, std::string_view& key) {
    int const layers = model.layers;
    auto const global_every = keys.whole("global_attn_every_n_layers", limits::layers);
    for (auto const list : {"layer_types", "layers_block_type", "attention_layers"}) {
        key = list;
        if (keys.has_list(list)) { return keys.texts(list); }
    }
    if (key = "global_attn_every_n_layers"; global_every && model.window > 0 && model.plan.empty()) {
        return periodic(layers, *global_every, *global_every - 1, "sliding_attention");
    }
    if (key = "hybrid_layer_pattern"; keys.has_list(key)) {
        return of_numbers(keys, key, "full_attention", "sliding_attention");
    }
    if (key = "attn_type_list"; keys.has_list(key)) {
        return of_numbers(keys, key, "linear_attention", "full_attention");
    }
    if (key = "linear_attn_config.full_attn_layers"; keys.has(key)) {
        keys.wholes("linear_attn_config.kda_layers", {0, limits::layers.high});
        return marked(keys, key, layers, 1, "full_attention", "linear_attention");
    }
    for (auto const list : {"attn_layer_indices", "full_attn_idxs"}) {
        key = list;
        if (keys.has_list(list)) { return marked(keys, list, layers, 0, "attention", "mamba"); }
    }
    if (key = "sliding_window_pattern"; keys.is_text(key)) {
        Words pattern;
        std::string const letters = keys.text(key).value_or("");
        for (char const letter : letters) { pattern.emplace_back(1, letter); }
        if (!pattern.empty()) { return repeated(pattern, layers); }
    }
    if (key = "full_attention_interval"; keys.has(key)) {
        int const every = due(keys, key, limits::layers, "");
        return periodic(layers, every, every - 1, "linear_attention");
    }
    if (key = "attn_layer_period"; keys.has(key)) {
        int const every = due(keys, key, limits::layers, "");
        return periodic(layers, every, keys.whole("attn_layer_offset", {0, limits::layers.high}).value_or(0), "mamba");
    }
    key = "max_window_layers";
    int const below = keys.whole(key, {0, limits::layers.high}).value_or(0);
    if (keys.has(key) && model.window > 0 && model.full_every == 0) {
        Words words(static_cast<std::size_t>(layers), "sliding_attention");
        std::fill_n(words.begin(), std::min(below, layers), "full_attention");
        return words;
    }
    return {};
}

Mixer attention_of(Model const& model) { return model.latent.used() ? Mixer::latent_attention : Mixer::attention; }

void place_mixers(JsonKeys& keys, Model const& model, LayerKinds& plan) {
    std::string_view key;
    Words const words = mixer_words(keys, model, key);
    if (words.empty()) { return; }
    if (words.size() < plan.size()) {
        keys.fail(key, fmt::format("{} entries for {} layers", words.size(), plan.size()), "one entry is one layer");
    }
    for (std::size_t layer = 0; layer < plan.size(); ++layer) {
        auto const known = std::ranges::find(layer_words, words[layer], &LayerWord::word);
        if (known == layer_words.end()) {
            keys.fail(key, fmt::format("layer {} is {}", layer, headroom::quoted(words[layer])),
                      "such layers are not modelled");
        }
        if (known->sort == LayerSort::recurrent && model.state_space.heads == 0) {
            keys.fail(key, fmt::format("layer {} is {}", layer, headroom::quoted(words[layer])),
                      "the dimensions of its recurrence are not known for this type");
        }
        if (words[layer] == "indexed_attention" && model.indexer.heads == 0) {
            keys.fail(key, fmt::format("layer {} is {}", layer, headroom::quoted(words[layer])),
                      "the dimensions of its indexer are not known for this type");
        }
        if (plan[layer].mixer == Mixer::none) { continue; } // a layer that searches left out
        plan[layer].mixer = known->sort == LayerSort::recurrent ? Mixer::state_space : attention_of(model);
        plan[layer].window = known->sort == LayerSort::windowed ? model.window : 0;
    }
}

// ---- experts --------------------------------------------------------------------------------------------------------

/// Whether each layer is routed, from whichever key of the file lists it; none where no key does.
std::vector<bool> routed_layers(JsonKeys& keys, Model const& model) {
    auto const layers = static_cast<std::size_t>(model.layers);
    std::vector<bool> routed;
    auto const mark = [&](std::vector<int> const& listed, bool as, std::string_view key) {
        for (int const layer : listed) {
            if (layer < 0 || static_cast<std::size_t>(layer) >= layers) {
                keys.fail(key, fmt::format("layer {} of {}", layer, layers), "a list names layers of the model");
            }
            routed[static_cast<std::size_t>(layer)] = as;
        }
    };
    if (keys.has_list("moe_layer_freq")) {
        for (int const one : keys.wholes("moe_layer_freq", {0, 1})) { routed.push_back(one != 0); }
        return routed;
    }
    if (keys.has_list("mlp_layer_types")) {
        for (auto const& word : keys.texts("mlp_layer_types")) { routed.push_back(word == "sparse"); }
        return routed;
    }
    for (auto const key : {"moe_layers", "moe_layers_enum"}) {
        auto const listed = keys.is_text(key)    ? keys.listed_in_text(key)
                            : keys.has_list(key) ? keys.wholes(key, {0, limits::layers.high})
                                                 : std::vector<int>{};
        if (listed.empty()) { continue; }
        routed.assign(layers, false);
        mark(listed, true, key);
        return routed;
    }
    auto const every_of = [&](int period, int offset, int first, int last) {
        for (int layer = 0; layer < model.layers; ++layer) {
            routed.push_back(layer >= first && layer <= last && layer % period == offset % period);
        }
    };
    if (auto const period = keys.whole("expert_layer_period", limits::layers)) {
        every_of(*period, keys.whole("expert_layer_offset", {0, limits::layers.high}).value_or(0), 0, model.layers);
        return routed;
    }
    auto const first = keys.whole("moe_layer_start_index", {0, limits::layers.high});
    auto const interval = keys.whole({"moe_layer_interval", "moe_layer_freq"}, limits::layers);
    if (first || interval.value_or(1) > 1) {
        // counted from the first layer of the model; those of one family from one before it
        int const period = interval.value_or(1),
                  last = keys.whole("moe_layer_end_index", {-1, limits::layers.high}).value_or(-1);
        every_of(period, first ? period - 1 : 0, first.value_or(model.moe.first_dense), last < 0 ? model.layers : last);
        return routed;
    }
    auto const dense = keys.wholes("mlp_only_layers", {0, limits::layers.high});
    if (dense.empty()) { return routed; }
    for (BlockKind const& kind : block_kinds(model)) { routed.push_back(kind.channel == Channel::experts); }
    mark(dense, false, "mlp_only_layers");
    return routed;
}

void place_experts(JsonKeys& keys, Model const& model, LayerKinds& plan) {
    if (model.moe.experts == 0) { return; }
    auto const routed = routed_layers(keys, model);
    if (routed.empty()) { return; }
    if (routed.size() != plan.size()) {
        keys.fail("moe_layer_freq", fmt::format("{} entries for {} layers", routed.size(), plan.size()),
                  "one entry is one layer");
    }
    for (std::size_t layer = 0; layer < plan.size(); ++layer) {
        plan[layer].channel = routed[layer] ? Channel::experts : Channel::dense;
    }
}

// ---- heads and widths of some layers --------------------------------------------------------------------------------

/// Full layers with heads of their own, windowed ones with sinks and key heads of theirs, and last layers that borrow.
void place_widths(JsonKeys& keys, Model const& model, LayerKinds& plan) {
    auto const global_dim = keys.whole("global_head_dim", limits::head_dim);
    auto const global_keys = keys.whole("num_global_key_value_heads", limits::heads);
    bool const equal = keys.flag("attention_k_eq_v").value_or(false);
    auto const windowed_keys = keys.whole("swa_num_key_value_heads", limits::heads);
    bool const windowed_sinks = keys.flag("add_swa_attention_sink_bias").value_or(false);
    // Gemma 3n has projections in these layers all the same; its reader has asked for the key
    int const borrowers = global_dim ? keys.whole("num_kv_shared_layers", {0, limits::layers.high}).value_or(0) : 0;
    bool const wide = keys.flag("use_double_wide_mlp").value_or(false);
    std::size_t const first = plan.size() - std::min(plan.size(), static_cast<std::size_t>(borrowers));
    for (std::size_t layer = 0; layer < plan.size(); ++layer) {
        BlockKind& kind = plan[layer];
        if (kind.mixer != Mixer::attention) { continue; }
        bool const full = kind.window == 0;
        if (full && global_dim && *global_dim != model.head_dim) { kind.head_dim = *global_dim; }
        if (full && equal) {
            kind.keys_are_values = true;
            if (global_keys && *global_keys != model.kv_heads) { kind.kv_heads = *global_keys; }
        }
        if (!full && windowed_keys && *windowed_keys != model.kv_heads) { kind.kv_heads = *windowed_keys; }
        if (!full) { kind.sinks = windowed_sinks; }
        if (layer >= first && first > 0) {
            kind.borrows_keys = true;
            if (wide) { kind.ffn = 2 * model.ffn; }
        }
    }
}

/// Each how-manieth layer is a full one, by a list of what each layer is; nothing when irregular or none is windowed.
std::optional<int> full_every(Words const& kinds) {
    auto const is_full = [&](std::size_t layer) { return kinds[layer].starts_with("full"); };
    std::size_t first = 0;
    while (first < kinds.size() && !is_full(first)) { ++first; }
    if (first == kinds.size()) { return 0; }
    for (std::size_t layer = 0; layer < kinds.size(); ++layer) {
        if (is_full(layer) != ((layer + 1) % (first + 1) == 0)) { return std::nullopt; }
    }
    return static_cast<int>(first) + 1;
}

} // namespace

void read_window(JsonKeys& keys, Architecture const& architecture, Model& model, Notes& notes) {
    auto const other_name = keys.whole("sliding_window_size", limits::positions);
    auto const window =
        keys.states("sliding_window") || !other_name ? keys.whole("sliding_window", limits::positions) : other_name;
    bool const used = keys.flag("use_sliding_window").value_or(true);
    if (window && used && *window > 0) {
        model.window = *window;
        model.full_every = architecture.full_every;
    }
    bool const numbered = keys.has("sliding_window_pattern") && !keys.is_text("sliding_window_pattern");
    if (numbered && model.window > 0) { model.full_every = due(keys, "sliding_window_pattern", limits::layers, ""); }
    auto const kinds = keys.texts("layer_types");
    if (model.window == 0) { return; }
    if (!kinds.empty()) {
        auto const every = full_every(kinds);
        if (every == 1) { model.window = 0; }
        model.full_every = model.window > 0 ? every.value_or(0) : 0;
    }
    if (model.max_positions == 0 || model.window < model.max_positions) { return; }
    notes.push_back(
        fmt::format("sliding_window of {} is not shorter than the longest sequence of {}: it is ignored, every "
                    "layer sees everything",
                    model.window, model.max_positions));
    model.window = model.full_every = 0;
}

void read_layer_lists(JsonKeys& keys, Model& model, Notes& notes) {
    if (!model.pattern.empty() || model.encoder_layers > 0) { return; }
    LayerKinds plan = block_kinds(model);
    LayerKinds const regular = plan;
    place_mixers(keys, model, plan);
    place_experts(keys, model, plan);
    place_widths(keys, model, plan);
    if (plan == regular) { return; }
    model.plan = std::move(plan);
    notes.emplace_back("layers are read one by one from the lists of the file");
}

} // namespace headroom::io
