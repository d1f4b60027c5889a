#include "tables/run_models.hpp"

#include "tables/cell_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::io {

using namespace headroom::training;

namespace {

/// A model that a row describes by its dimensions alone, in the common shape of its feed-forward kind.
Model generic_model(RunCells const& row) {
    Model model;
    bool const gated = row.text("ffn_kind") == "swiglu";
    model.feed_forward = gated ? FeedForward::gated : FeedForward::plain;
    model.activation = gated ? "silu" : "gelu";
    model.norm = gated ? Normalisation::rms : Normalisation::layer;
    model.norm_bias = model.qkv_bias = model.out_bias = model.mlp_bias = !gated;
    model.positions = gated ? Positions::rotary : Positions::learned;
    model.tied_embeddings = !gated;
    bool const images = row.text("arch") == "vit";
    model.causal = !images && row.text("arch") != "bert";
    if (images) { model.head_share = 1.0 / row.integer("seq_len").value_or(1); } // one token is classified
    model.moe.experts = row.integer("moe_experts").value_or(0);
    model.moe.top_k = row.integer("moe_topk").value_or(std::min(2, model.moe.experts));
    return model;
}

int head_count(int hidden) {
    int best = 1;
    for (int heads = 1; heads <= hidden; ++heads) { // the divisor whose head dimension is nearest to 128
        if (hidden % heads == 0 && std::abs(hidden / heads - 128) < std::abs(hidden / best - 128)) { best = heads; }
    }
    return best;
}

constexpr int largest_layers = 10'000, largest_width = 10'000'000;

/// Model with the dimensions of a mixture's table, which prints the width of an expert; a known model's other
/// dimensions are the catalog's.
Model with_experts(RunCells const& row, Model model, bool known) {
    model.moe.ffn = row.integer("ffn_hidden").value_or(model.moe.ffn);
    model.vocab = row.integer("vocab").value_or(model.vocab);
    if (!known) { model.ffn = model.moe.ffn; }
    if (model.moe.ffn < 1) { throw Skip{"no width of an expert stated"}; }
    if (model.vocab < 1) { throw Skip{"no vocabulary stated"}; }
    if (model.head_dim == 0) { model.head_dim = std::max(1, model.hidden / model.heads); }
    return model;
}

} // namespace

std::string name_in_catalog(std::string const& written, Catalog const& catalog) {
    if (catalog.has_model(written)) { return written; }
    std::array const parts{written.substr(0, written.find(" [")), written.substr(0, written.find(" ("))};
    for (std::string const& part : parts) {
        if (catalog.has_model(part)) { return part; }
    }
    for (std::string const& part : parts) {
        if (std::string record = catalog.model_named_like(part).record; !record.empty()) { return record; }
    }
    return written;
}

std::string RunModels::catalog_name(RunCells const& row) const {
    std::string const whole{row.text("model_name")};
    auto const size = heading_size(row.text("source_path_or_table"));
    if (std::string sized = whole + "-" + std::string{size}; !size.empty() && knows(sized)) { return sized; }
    auto found = names_.find(whole);
    if (found == names_.end()) { found = names_.emplace(whole, name_in_catalog(whole, catalog_)).first; }
    return found->second;
}

Model RunModels::model(RunCells const& row, PublishedRun& run) {
    std::string const written{row.text("model_name")};
    std::string const name = catalog_name(row);
    bool const known = knows(name);
    if (known && !cached_model(name).operators.empty()) { return cached_model(name); }
    auto const layers = row.integer("layers");
    auto const hidden = row.integer("hidden");
    if (!known && (!layers || !hidden)) {
        throw Skip{"no layers and hidden size stated, and the catalog has no such model"};
    }
    Model model = known ? cached_model(name) : generic_model(row);
    model.name = written.empty() ? fmt::format("{} layers of {}", *layers, *hidden) : written;
    bool const same_shape = known && hidden.value_or(model.hidden) == model.hidden &&
                            row.integer("heads").value_or(model.heads) == model.heads;
    model.layers = layers.value_or(model.layers);
    model.hidden = hidden.value_or(model.hidden);
    if (model.layers > largest_layers || model.hidden > largest_width) { throw Skip{"dimensions beyond any model"}; }
    auto const fill = [&](char const* column, int& field, int fallback) {
        if (auto const stated = row.integer(column)) {
            field = *stated;
        } else if (!known || field == 0) {
            field = fallback;
            run.assumed.push_back(std::string{column} + " = " + std::to_string(fallback));
        }
    };
    fill("heads", model.heads, head_count(model.hidden));
    fill("kv_heads", model.kv_heads, model.heads);
    if (known && !same_shape && !row.integer("kv_heads")) { model.kv_heads = model.heads; }
    if (model.moe.experts > 0) { return with_experts(row, std::move(model), known); }
    fill("ffn_hidden", model.ffn,
         model.feed_forward == FeedForward::gated ? static_cast<int>(8.0 * model.hidden / 3.0) : 4 * model.hidden);
    constexpr int gpt2_padded = 50304, bert_words = 30522, classes = 1000;
    fill("vocab", model.vocab, model.causal ? gpt2_padded : row.text("arch") == "vit" ? classes : bert_words);
    if (model.ffn > largest_width || model.heads > model.hidden || model.kv_heads > model.heads) {
        throw Skip{"dimensions beyond any model"};
    }
    if (!same_shape || model.head_dim == 0) { model.head_dim = std::max(1, model.hidden / model.heads); }
    return model;
}

bool RunModels::knows(std::string const& name) const {
    auto found = known_.find(name);
    if (found == known_.end()) { found = known_.emplace(name, catalog_.has_model(name)).first; }
    return found->second;
}

Model const& RunModels::cached_model(std::string const& name) {
    auto found = models_.find(name);
    if (found == models_.end()) { found = models_.emplace(name, catalog_.model(name)).first; }
    return found->second;
}

} // namespace headroom::io
