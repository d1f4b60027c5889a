#include "models/config_parts.hpp"
#include "records/records.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr double masked_share = 0.15; ///< of the tokens that a masked language model predicts

int due(JsonKeys& keys, std::string_view key, Range range, std::string_view why) {
    if (auto const value = keys.whole(key, range)) { return *value; }
    keys.fail(key, "missing", std::string{why});
}

/// A square matrix with its bias.
double dense(double width) { return width * width + width; }

void read_masked(JsonKeys& keys, Model& model, Notes& notes) {
    int const segments = keys.whole("type_vocab_size", {0, 1024}).value_or(2);
    model.other_parameters = static_cast<double>(segments) * model.hidden;
    model.head_share = masked_share;
    notes.emplace_back("assumed that 15 % of the tokens are predicted (masked)");
}

// ---- hybrids -------------------------------------------------------------------------------------------------------

/// The layers of a hybrid, a letter each, from the pattern or from the list of their names.
std::string hybrid_pattern(JsonKeys& keys) {
    if (auto const pattern = keys.text("hybrid_override_pattern")) { return *pattern; }
    std::string letters;
    for (auto const& name : keys.texts("layers_block_type")) {
        letters += name == "mamba" ? 'M' : name == "attention" ? '*' : name == "moe" ? 'E' : name == "mlp" ? '-' : '?';
    }
    if (letters.empty()) { keys.fail("hybrid_override_pattern", "missing", "a hybrid says what each layer is"); }
    return letters;
}

void refuse_flag(JsonKeys& keys, std::string_view key, bool refused) {
    if (keys.flag(key).value_or(!refused) != refused) { return; }
    keys.fail(key, refused ? "true" : "false", "the other is what state-space layers are modelled with");
}

} // namespace

void read_mamba2(JsonKeys& keys, Model& model, Notes&) {
    constexpr std::string_view why = "state-space layers state their dimensions";
    auto& scan = model.state_space;
    scan.heads = model.heads;
    scan.head_dim = model.head_dim;
    scan.state = due(keys, "state_size", limits::head_dim, why);
    scan.groups = keys.whole("n_groups", limits::heads).value_or(8);
    scan.convolution = keys.whole("conv_kernel", {1, 1024}).value_or(4);
    refuse_flag(keys, "use_bias", true);
    refuse_flag(keys, "use_conv_bias", false);
    model.pattern = "M";
}

void read_nemotron_h(JsonKeys& keys, Model& model, Notes& notes) {
    constexpr std::string_view why = "state-space layers state their dimensions";
    auto& scan = model.state_space;
    model.pattern = hybrid_pattern(keys);
    if (model.pattern.size() != static_cast<std::size_t>(model.layers)) {
        keys.fail("hybrid_override_pattern",
                  fmt::format("{} letters for {} layers", model.pattern.size(), model.layers),
                  "one letter is one layer");
    }
    scan.heads = due(keys, "mamba_num_heads", limits::heads, why);
    scan.head_dim = due(keys, "mamba_head_dim", limits::head_dim, why);
    scan.state = due(keys, "ssm_state_size", limits::head_dim, why);
    scan.groups = keys.whole("n_groups", limits::heads).value_or(8);
    scan.convolution = keys.whole("conv_kernel", {1, 1024}).value_or(4);
    for (auto const key : {"use_bias", "mamba_proj_bias"}) { refuse_flag(keys, key, true); }
    refuse_flag(keys, "use_conv_bias", false);
    read_biases(keys, model, notes);
    if (model.pattern.find('E') == std::string::npos) { return; }
    read_experts(keys, model, notes);
    model.moe.latent = keys.whole("moe_latent_size", {0, limits::hidden.high}).value_or(0);
    model.moe.router_bias = true;
}

// ---- encoders ------------------------------------------------------------------------------------------------------

void read_bert(JsonKeys& keys, Model& model, Notes& notes) {
    read_masked(keys, model, notes);
    double const h = model.hidden;
    // pooler, transform of the masked tokens with its norm, and the two outputs of next-sentence prediction
    model.other_parameters += dense(h) + dense(h) + 2.0 * h + 2.0 * h + 2.0;
    notes.emplace_back("pooler and the two heads of pretraining are counted");
}

void read_roberta(JsonKeys& keys, Model& model, Notes& notes) {
    read_masked(keys, model, notes);
    double const h = model.hidden;
    model.other_parameters += dense(h) + 2.0 * h;
    notes.emplace_back("the head of the masked language model is counted");
}

void read_electra(JsonKeys& keys, Model& model, Notes& notes) {
    read_masked(keys, model, notes);
    double const h = model.hidden;
    auto const width = keys.whole("embedding_size", limits::hidden);
    if (width && *width != model.hidden) {
        keys.fail("embedding_size", fmt::format("{} is not hidden_size {}", *width, model.hidden),
                  "projected embeddings are not modelled");
    }
    model.other_parameters += dense(h) + h + 1.0;
    notes.emplace_back("the discriminator alone is counted; its generator is a model of its own");
}

// ---- pairs of encoder and decoder ----------------------------------------------------------------------------------

void read_t5(JsonKeys& keys, Model& model, Notes& notes) {
    int const decoder = keys.whole("num_decoder_layers", limits::layers).value_or(model.layers);
    int const buckets = keys.whole("relative_attention_num_buckets", {1, 100'000}).value_or(32);
    model.encoder_layers = model.layers;
    model.layers += decoder;
    // a table of relative positions in each stack, and the final norm of the encoder
    model.other_parameters = 2.0 * buckets * model.heads + model.hidden;
    std::string const kind = keys.text("feed_forward_proj").value_or("relu");
    bool const gated = kind.starts_with("gated");
    model.feed_forward = gated ? FeedForward::gated : FeedForward::plain;
    model.activation = gated ? "gelu_tanh" : "relu";
    notes.emplace_back("assumed a decoder's sequence as long as the encoder's");
}

void read_bart(JsonKeys& keys, Model& model, Notes& notes) {
    for (auto const& [encoder, decoder] :
         {std::pair{"encoder_ffn_dim", "decoder_ffn_dim"}, {"encoder_attention_heads", "decoder_attention_heads"}}) {
        auto const one = keys.whole(encoder, limits::ffn), other = keys.whole(decoder, limits::ffn);
        if (one && other && *one != *other) {
            keys.fail(decoder, fmt::format("{} against {} of '{}'", *other, *one, encoder),
                      "both stacks are modelled alike");
        }
    }
    model.encoder_layers = keys.whole("encoder_layers", limits::layers).value_or(model.layers);
    model.layers = model.encoder_layers + keys.whole("decoder_layers", limits::layers).value_or(model.layers);
    double const positions = due(keys, "max_position_embeddings", limits::positions, "learned positions are a table");
    double const h = model.hidden;
    model.other_parameters = (positions + model.extra_positions) * h + 2.0 * h; // the decoder's table and norm
    notes.emplace_back("assumed a decoder's sequence as long as the encoder's");
}

// ---- images --------------------------------------------------------------------------------------------------------

void read_vit(JsonKeys& keys, Model& model, Notes& notes) {
    int const image = keys.whole("image_size", {1, 100'000}).value_or(224);
    int const patch = keys.whole("patch_size", {1, 100'000}).value_or(16);
    int const colours = keys.whole("num_channels", {1, 1024}).value_or(3);
    int const side = image / std::max(1, patch);
    int const classes = keys.whole("num_labels", limits::vocab).value_or(static_cast<int>(keys.size("id2label")));
    double const h = model.hidden;
    model.vocab = classes > 0 ? classes : 1000;
    model.max_positions = model.nominal_length = side * side + 1;
    model.head_share = 1.0 / model.max_positions; // the class token alone reaches the classifier
    // patches become tokens by a product; the class token is learned
    model.other_parameters = (static_cast<double>(colours) * patch * patch + 1.0) * h + h;
    if (!keys.flag("qkv_bias").value_or(true)) { model.qkv_bias = false; }
    notes.push_back(fmt::format("{} classes; {} patches and the class token are a sequence; the product that makes "
                                "tokens of patches is counted in parameters and not timed",
                                model.vocab, side * side));
}

} // namespace headroom::io
