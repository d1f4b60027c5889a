#include "models/config_parts.hpp"
#include "records/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr double masked_share = 0.15; ///< of the tokens that a masked language model predicts

/// A square matrix with its bias.
double dense(double width) { return width * width + width; }

/// Head of an encoder, by the class that a file was saved from.
enum class EncoderHead {
    pretraining, ///< a masked language model, with whatever else the family trains
    none,        ///< hidden vectors
    labels,      ///< scores for a text
    tokens,      ///< scores for every token
};
EncoderHead encoder_head(std::string const& name) {
    if (name.ends_with("ForSequenceClassification")) { return EncoderHead::labels; }
    if (name.ends_with("ForTokenClassification") || name.ends_with("ForQuestionAnswering")) {
        return EncoderHead::tokens;
    }
    return name.ends_with("Model") && !name.ends_with("LMHeadModel") ? EncoderHead::none : EncoderHead::pretraining;
}

std::string class_of(JsonKeys& keys) {
    auto const names = keys.has_list("architectures") ? keys.texts("architectures") : std::vector<std::string>{};
    return names.empty() ? std::string{} : names.front();
}

int labels_of(JsonKeys& keys, int otherwise) {
    auto const listed = static_cast<int>(keys.size("id2label"));
    return keys.whole("num_labels", limits::vocab).value_or(listed > 0 ? listed : otherwise);
}

/// Parts of an encoder's heads, parameters.
struct EncoderParts {
    double pretraining; ///< besides the output table, which is the embedding's
    double pooler;      ///< kept by the bare model
    double labels;      ///< in front of the scores
};

void add_encoder_head(JsonKeys& keys, Model& model, EncoderParts const& parts, Notes& notes) {
    EncoderHead const kind = encoder_head(class_of(keys));
    if (kind == EncoderHead::pretraining) {
        model.other_parameters += parts.pretraining;
        model.head_share = masked_share;
        notes.emplace_back(
            "assumed that 15 % of the tokens are predicted (masked); the heads of pretraining are counted");
        return;
    }
    model.has_head = false;
    if (kind == EncoderHead::none) { model.other_parameters += parts.pooler; }
    if (kind == EncoderHead::labels) { model.other_parameters += parts.labels; }
    if (kind != EncoderHead::none) { model.other_parameters += labels_of(keys, 2) * (model.hidden + 1.0); }
    notes.emplace_back("no head of a language model: the file was saved without one");
}

void add_segments(JsonKeys& keys, Model& model) {
    int const segments = keys.whole("type_vocab_size", {0, 1024}).value_or(2);
    model.other_parameters = static_cast<double>(segments) * model.hidden;
}

} // namespace

void read_head(JsonKeys& keys, Architecture const& architecture, Model& model, Notes& notes) {
    // of these families the class has a head all the same, or files of models with one name it
    constexpr std::array<std::string_view, 2> with_head{"chatglm", "bloom"};
    std::string const name = class_of(keys);
    if (architecture.pair && (name.ends_with("ForCausalLM") || name.ends_with("EncoderModel"))) {
        keys.fail("architectures", headroom::quoted(name), "one half of a pair of encoder and decoder is not modelled");
    }
    if (architecture.encoder || architecture.pair) { return; }
    bool const labels = name.ends_with("ForSequenceClassification") || name.ends_with("ForTokenClassification");
    bool const bare = name.ends_with("Model") && !name.ends_with("LMHeadModel") && !name.ends_with("HeadsModel") &&
                      std::ranges::find(with_head, architecture.type) == with_head.end();
    if (!labels && !bare) { return; }
    model.has_head = false;
    if (labels) { model.other_parameters += static_cast<double>(labels_of(keys, 2)) * model.hidden; }
    notes.push_back(fmt::format("no head of a language model: the file was saved from {}", name));
}

// ---- encoders ------------------------------------------------------------------------------------------------------

void read_bert(JsonKeys& keys, Model& model, Notes& notes) {
    add_segments(keys, model);
    double const h = model.hidden;
    if (keys.flag("use_task_id").value_or(false)) { // of Ernie
        model.other_parameters += keys.whole("task_type_vocab_size", {0, 1024}).value_or(3) * h;
    }
    // transform of the masked tokens with its norm, and the two outputs of next-sentence prediction
    add_encoder_head(
        keys, model,
        {.pretraining = dense(h) + dense(h) + 2.0 * h + 2.0 * h + 2.0, .pooler = dense(h), .labels = dense(h)}, notes);
}

void read_roberta(JsonKeys& keys, Model& model, Notes& notes) {
    add_segments(keys, model);
    double const h = model.hidden;
    add_encoder_head(keys, model, {.pretraining = dense(h) + 2.0 * h, .pooler = dense(h), .labels = dense(h)}, notes);
}

/// Each layer but the first of a period sees a window, and the first of all has no norm in front of attention.
void read_modernbert(JsonKeys& keys, Model& model, Notes& notes) {
    read_biases(keys, model, notes);
    if (auto const bias = keys.flag("norm_bias")) { model.norm_bias = *bias; }
    if (auto const bias = keys.flag("decoder_bias")) { model.head_bias = *bias; }
    int const every = due(keys, "global_attn_every_n_layers", limits::layers, "layers see a window, or everything");
    model.window = due(keys, "local_attention", limits::positions, "layers see a window, or everything");
    for (int layer = 0; layer < model.layers; ++layer) {
        model.plan.push_back({.window = layer % every == 0 ? 0 : model.window, .causal = false});
    }
    double const h = model.hidden, norm = model.norm_bias ? 2.0 * h : h;
    double const transform = h * h + (keys.flag("classifier_bias").value_or(false) ? h : 0.0) + norm;
    model.other_parameters = -norm;
    add_encoder_head(keys, model, {.pretraining = transform, .pooler = 0.0, .labels = transform}, notes);
}

void read_electra(JsonKeys& keys, Model& model, Notes& notes) {
    add_segments(keys, model);
    double const h = model.hidden;
    std::string const name = class_of(keys);
    auto const width = keys.whole("embedding_size", limits::hidden);
    if (width && *width != model.hidden) {
        keys.fail("embedding_size", fmt::format("{} is not hidden_size {}", *width, model.hidden),
                  "projected embeddings are not modelled");
    }
    if (encoder_head(name) == EncoderHead::pretraining && !name.ends_with("ForMaskedLM")) {
        model.has_head = false; // every token is judged as original or replaced
        model.other_parameters += dense(h) + h + 1.0;
    } else {
        add_encoder_head(keys, model, {.pretraining = dense(h) + h + 1.0, .pooler = 0.0, .labels = dense(h)}, notes);
    }
    notes.emplace_back("the discriminator alone is counted; its generator is a model of its own");
}

void read_distilbert(JsonKeys& keys, Model& model, Notes& notes) {
    double const h = model.hidden;
    add_encoder_head(keys, model, {.pretraining = dense(h) + 2.0 * h, .pooler = 0.0, .labels = dense(h)}, notes);
}

// ---- pairs of encoder and decoder ----------------------------------------------------------------------------------

void read_t5(JsonKeys& keys, Model& model, Notes& notes) {
    int const decoder = keys.whole("num_decoder_layers", limits::layers).value_or(model.layers);
    int const buckets = keys.whole("relative_attention_num_buckets", {1, 100'000}).value_or(32);
    model.encoder_layers = model.layers;
    model.layers += decoder;
    // a table of relative positions each in encoder and decoder, and the final norm of the encoder
    model.other_parameters = 2.0 * buckets * model.heads + model.hidden;
    std::string const kind = keys.text("feed_forward_proj").value_or("relu");
    bool const gated = kind.starts_with("gated");
    model.feed_forward = gated ? FeedForward::gated : FeedForward::plain;
    model.activation = gated ? "gelu_tanh" : "relu";
    notes.emplace_back("assumed a decoder's sequence as long as the encoder's");
}

/// Every layer has a table of relative positions.
void read_umt5(JsonKeys& keys, Model& model, Notes& notes) {
    read_t5(keys, model, notes);
    double const tables = model.other_parameters - model.hidden; // of two layers
    model.other_parameters += tables * (model.layers / 2.0 - 1.0);
}

namespace {

/// Reads the layers of encoder and decoder, which must be as wide.
void read_both_stacks(JsonKeys& keys, Model& model) {
    for (auto const& [encoder, decoder] :
         {std::pair{"encoder_ffn_dim", "decoder_ffn_dim"}, {"encoder_attention_heads", "decoder_attention_heads"}}) {
        auto const one = keys.whole(encoder, limits::ffn), other = keys.whole(decoder, limits::ffn);
        if (one && other && *one != *other) {
            keys.fail(decoder, fmt::format("{} against {} of '{}'", *other, *one, encoder),
                      "encoder and decoder are modelled alike");
        }
    }
    model.encoder_layers = keys.whole("encoder_layers", limits::layers).value_or(model.layers);
    model.layers = model.encoder_layers + keys.whole("decoder_layers", limits::layers).value_or(model.layers);
}

} // namespace

/// Reads a model of speech: two convolutions make positions of a spectrogram; encoder and decoder each have a table of
/// positions.
void read_whisper(JsonKeys& keys, Model& model, Notes& notes) {
    read_both_stacks(keys, model);
    constexpr std::string_view why = "encoder and decoder each have a table of positions";
    double const h = model.hidden, bins = due(keys, "num_mel_bins", {1, 10'000}, "convolutions read a spectrogram");
    Range const positions{1, limits::positions.high};
    double const source = due(keys, "max_source_positions", positions, why);
    double const target = due(keys, "max_target_positions", positions, why);
    constexpr double taps = 3.0;
    model.other_parameters = taps * bins * h + h + taps * h * h + h + (source + target) * h + 2.0 * h;
    model.max_positions = model.nominal_length = static_cast<int>(source);
    model.decoder_length = target / source;
    notes.emplace_back("the convolutions that read the spectrogram are counted in parameters and not timed");
}

void read_fixed_positions(JsonKeys& keys, Model& model, Notes& notes) {
    read_both_stacks(keys, model);
    if (!keys.flag("share_encoder_decoder_embeddings").value_or(true)) {
        keys.fail("share_encoder_decoder_embeddings", "false", "two tables of words are not modelled");
    }
    if (model.final_norm) { model.other_parameters = 2.0 * model.hidden; } // the encoder's
    notes.emplace_back("assumed a decoder's sequence as long as the encoder's");
}

void read_bart(JsonKeys& keys, Model& model, Notes& notes) {
    read_both_stacks(keys, model);
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
    int const side = image / patch;
    double const patches = static_cast<double>(side) * side;
    if (patches < 1.0 || patches >= limits::positions.high) {
        keys.fail("patch_size", fmt::format("{} with an image_size of {}", patch, image),
                  fmt::format("a sequence has 1 to {:.0f} patches", limits::positions.high - 1.0));
    }
    double const h = model.hidden;
    model.vocab = labels_of(keys, 1000);
    model.max_positions = model.nominal_length = static_cast<int>(patches) + 1;
    model.head_share = 1.0 / model.max_positions; // the class token alone reaches the classifier
    // patches become tokens by a product; the class token is learned
    model.other_parameters = (static_cast<double>(colours) * patch * patch + 1.0) * h + h;
    if (encoder_head(class_of(keys)) == EncoderHead::none) {
        model.has_head = false;
        model.vocab = 1;
        model.other_parameters += dense(h) - h; // the pooler; there are no classes, of which one is counted
    }
    if (!keys.flag("qkv_bias").value_or(true)) { model.qkv_bias = false; }
    notes.push_back(fmt::format("{} classes; {:.0f} patches and the class token are a sequence; the product that makes "
                                "tokens of patches is counted in parameters and not timed",
                                model.vocab, patches));
}

} // namespace headroom::io
