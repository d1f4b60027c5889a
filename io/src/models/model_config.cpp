#include "headroom/io/model_config.hpp"

#include "json_keys.hpp"
#include "models/architectures.hpp"
#include "models/config_parts.hpp"
#include "models/unread_keys.hpp"
#include "records/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

namespace headroom::io {

using namespace headroom::training;

namespace {

using Names = std::span<std::string_view const>;

/// Names of one dimension in different families; the usual name first.
constexpr std::array<std::string_view, 6> hidden_names{"hidden_size", "n_embd",    "n_embed",
                                                       "d_model",     "model_dim", "dim"};
constexpr std::array<std::string_view, 6> layer_names{"num_hidden_layers", "n_layer",        "n_layers",
                                                      "num_layers",        "encoder_layers", "num_transformer_layers"};
constexpr std::array<std::string_view, 6> head_names{
    "num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "attention_heads"};
constexpr std::array<std::string_view, 8> key_head_names{
    "num_key_value_heads",    "num_kv_heads",          "n_kv_heads",           "n_head_kv",
    "attn_config.kv_n_heads", "multi_query_group_num", "num_attention_groups", "num_query_groups"};
constexpr std::array<std::string_view, 9> ffn_names{"intermediate_size", "ffn_dim",    "n_inner",
                                                    "ffn_hidden_size",   "d_ff",       "encoder_ffn_dim",
                                                    "block_ff_dim",      "hidden_dim", "ffn_config.ffn_hidden_size"};
constexpr std::array<std::string_view, 2> vocab_names{"vocab_size", "padded_vocab_size"};
constexpr std::array<std::string_view, 4> head_dim_names{"head_dim", "d_kv", "kv_channels", "attention_head_dim"};
constexpr std::array<std::string_view, 6> position_names{
    "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length", "max_context_length"};
constexpr std::array<std::string_view, 6> activation_names{"hidden_activation", "hidden_act",     "activation_function",
                                                           "activation",        "mlp_hidden_act", "activation_fn_name"};

/// Many spellings of few functions.
struct Activation {
    std::string_view spelling, name;
    bool ungated = false; ///< found in plain feed-forward layers only
};
constexpr std::array activations{
    Activation{"silu", "silu"},
    Activation{"swish", "silu"},
    Activation{"swiglu", "silu"},
    Activation{"gelu", "gelu"},
    Activation{"gelu_python", "gelu"},
    Activation{"quick_gelu", "gelu"},
    Activation{"gelu_new", "gelu_tanh"},
    Activation{"gelu_fast", "gelu_tanh"},
    Activation{"gelu_tanh", "gelu_tanh"},
    Activation{"gelu_pytorch_tanh", "gelu_tanh"},
    Activation{"relu", "relu", true},
    Activation{"relu2", "squared_relu", true},
    Activation{"squared_relu", "squared_relu", true},
    Activation{"xielu", "xielu", true},
};

constexpr int usual_positions = 2048;

std::string also_known_as(Names names) {
    return names.size() == 1 ? std::string{} : fmt::format("also known as {}", fmt::join(names.subspan(1), ", "));
}

/// Objects that hold the language model of a larger one, the innermost first.
constexpr std::array<std::string_view, 6> text_parts{
    "thinker_config.text_config", "text_config", "llm_config", "language_config", "language_model", "thinker_config"};
/// Types of larger models whose text part does not state its own.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> text_types{{{"llava", "llama"},
                                                                                   {"llava_next", "llama"},
                                                                                   {"vipllava", "llama"},
                                                                                   {"paligemma", "gemma"},
                                                                                   {"idefics3", "llama"},
                                                                                   {"deepseek_vl_v2", "deepseek_v2"}}};

/// Files that people have where a config.json is due, by a key of theirs.
struct OtherFile {
    std::string_view key, what, hint;
};
constexpr std::array other_files{
    OtherFile{"_class_name", "a part of an image generator (diffusers)", "networks are described in a .toml file"},
    OtherFile{"peft_type", "settings of low-rank training (PEFT)",
              "name the base model, and the rank as --train lora:16"},
    OtherFile{"weight_map", "an index of files of weights", "the config.json of the same folder describes the model"},
    OtherFile{"multiple_of", "dimensions without the feed-forward width, which its code computes",
              "the config.json of the same model states it"},
    OtherFile{"tokenizer_class", "settings of a tokenizer", "the config.json of the same folder describes the model"},
    OtherFile{"max_length", "settings of generation", "the config.json of the same folder describes the model"},
};
/// Parts of the names of classes that generate text.
constexpr std::array<std::string_view, 4> generating{"CausalLM", "LMHead", "ForConditionalGeneration", "Chat"};

/// Reads one config. A class because every part adds to the same keys and the same list of what was filled.
class ConfigReader {
public:
    ConfigReader(std::string_view text, std::string_view where) : keys_{text, where} {}

    ModelConfig read() {
        if (keys_.has_list("architectures")) { classes_ = keys_.texts("architectures"); }
        enter_text_part();
        Architecture const architecture = find_architecture();
        keys_.set_defaults(architecture.row.defaults);
        Model& model = config_.model;
        model = architecture.traits;
        name_it(type_.empty() ? std::string_view{"llama"} : std::string_view{type_});
        read_dimensions(architecture);
        if (architecture.row.adjust != nullptr) { architecture.row.adjust(keys_, model, config_.filled); }
        if (model.head_dim == 0) { derive_head_dim(); }   // a file names parts of heads, and its type has common heads
        if (model.qk_norm) { keys_.flag("use_qk_norm"); } // says what the type implies
        read_positions();
        if (architecture.windowed) { read_window(keys_, architecture, model, config_.filled); }
        read_layer_lists(keys_, model, config_.filled);
        read_activation(architecture);
        if (auto const tied = keys_.flag("tie_word_embeddings")) {
            model.tied_embeddings = *tied;
            if (outer_tied_.value_or(*tied) != *tied) {
                report("tie_word_embeddings",
                       fmt::format("{} of the text part, against {} of the whole: the text part's is used", *tied,
                                   *outer_tied_));
            }
        } else if (outer_tied_) {
            model.tied_embeddings = *outer_tied_;
        }
        read_head(keys_, architecture, model, config_.filled);
        read_prediction();
        check_shape();
        if (!architecture.row.note.empty()) { config_.filled.emplace_back(architecture.row.note); }
        model.vision_left_out = model.vision_left_out || text_part_;
        list_defaults();
        config_.read_as = unknown_ ? "common decoder" : type_;
        config_.used = keys_.used();
        config_.ignored = keys_.ignored();
        name_stored_weights();
        name_what_is_not_understood();
        return config_;
    }

private:
    /// Models of several kinds of input keep the transformer that is trained in an object of its own; an outer
    /// hidden_size is then another part's.
    void enter_text_part() {
        whole_type_ = keys_.text("model_type").value_or("unknown");
        refuse_unsupported(whole_type_);
        for (auto const part : text_parts) {
            std::string const prefix = std::string{part} + ".";
            auto const says = [&](std::string_view key) { return keys_.has(prefix + std::string{key}); };
            if (!keys_.has_object(part) || !(says("model_type") || says("hidden_size") || says("vocab_size"))) {
                continue;
            }
            outer_tied_ = keys_.flag("tie_word_embeddings");
            text_part_ = true;
            keys_.enter(part);
            config_.filled.push_back(fmt::format(
                "{} alone is read: the vision tower and other parts of '{}' are not counted", part, whole_type_));
            return;
        }
    }

    void refuse_unsupported(std::string_view type) const {
        auto const why = why_unsupported(type);
        if (why.empty()) { return; }
        keys_.fail("model_type", fmt::format("{} is not supported", headroom::quoted(type)), std::string{why},
                   "`headroom catalog list models` shows models that are");
    }

    Architecture find_architecture() {
        type_ = keys_.text("model_type").value_or("");
        if (type_.empty() && text_part_) {
            auto const usual =
                std::ranges::find(text_types, whole_type_, &std::pair<std::string_view, std::string_view>::first);
            type_ = usual == text_types.end() ? whole_type_ : std::string{usual->second};
        }
        refuse_unsupported(type_);
        auto const known = architecture_of(type_);
        bool const pair = keys_.flag("is_encoder_decoder").value_or(false);
        if (pair && (!known || !known->pair)) {
            keys_.fail("is_encoder_decoder", "true", "this pair of encoder and decoder is not modelled");
        }
        if (known && known->encoder && text_part_) {
            keys_.fail("model_type",
                       fmt::format("{} encodes the text of {}", headroom::quoted(type_), headroom::quoted(whole_type_)),
                       "a model of text and another kind of input without a decoder is not modelled");
        }
        if (known) { return *known; }
        require_usual_dimensions();
        require_decoder();
        unknown_ = true;
        return common_decoder();
    }

    /// An unknown type is read only when it names its dimensions as others do.
    void require_usual_dimensions() const {
        std::vector<std::string> missing;
        for (Names const names :
             {Names{hidden_names}, Names{layer_names}, Names{head_names}, Names{ffn_names}, Names{vocab_names}}) {
            bool const there = std::ranges::any_of(names, [&](std::string_view name) { return keys_.has(name); });
            if (!there) { missing.emplace_back(names.front()); }
        }
        if (missing.empty()) { return; }
        std::string const list = fmt::format("{}", fmt::join(missing, ", "));
        if (type_.empty()) {
            for (auto const& file : other_files) {
                if (keys_.has(file.key)) {
                    keys_.fail(file.key, "not a model's config.json", std::string{file.what}, std::string{file.hint});
                }
            }
            keys_.fail(missing.front(), "missing", fmt::format("without a model_type, all of {} are due", list));
        }
        keys_.fail("model_type", fmt::format("unknown type {}", headroom::quoted(type_)),
                   fmt::format("and it cannot be read as a common decoder without {}", list),
                   did_you_mean(type_, known_types()));
    }

    /// An unknown type is read as a decoder only where its class generates text, or the file names none.
    void require_decoder() const {
        auto const generates = [](std::string_view name) {
            return std::ranges::any_of(generating, [&](auto word) { return name.find(word) != name.npos; });
        };
        if (classes_.empty() || generates(classes_.front())) { return; }
        if (!text_part_ && classes_.front().ends_with("Model")) { return; } // without a head
        keys_.fail("model_type", fmt::format("unknown type {}", headroom::quoted(type_)),
                   fmt::format("and its class {} is no decoder of text", headroom::quoted(classes_.front())),
                   "describe the model in a .toml file");
    }

    /// Keys that the file leaves to its class.
    void list_defaults() {
        for (auto const& [key, value] : keys_.defaulted()) {
            config_.filled.push_back(fmt::format("{} = {} (default of {})", key, value, type_));
            config_.model.guesses.push_back({key, value, fmt::format("default of {}", type_), false});
        }
    }

    void report(std::string key, std::string problem) {
        config_.issues.push_back({.kind = std::move(problem), .count = 1, .column = std::move(key)});
    }

    /// Weights that are stored in fewer bits than they are trained in.
    void name_stored_weights() {
        auto const method = keys_.text("quantization_config.quant_method");
        if (!method) { return; }
        report("quantization_config",
               fmt::format("weights are stored quantised ({}); training is computed as of the unquantised model",
                           *method));
    }

    /// Keys that nobody read and that may shape layers: an issue of a known type, a refusal of an unknown one, whose
    /// count is then bounded by the choices that common decoders differ in.
    void name_what_is_not_understood() {
        std::vector<std::string> open;
        for (auto const& key : config_.ignored) {
            if (!key.starts_with(keys_.prefix())) { continue; } // of another part
            std::string const inner = key.substr(keys_.prefix().size());
            if (keys_.says_something(inner) ? may_change_counts(inner) || (unknown_ && names_another_part(keys_, inner))
                                            : unknown_ && inner == "is_moe") {
                open.push_back(key);
            }
        }
        auto const sorts = unknown_ ? keys_.texts("layer_types") : std::vector<std::string>{};
        if (std::ranges::find(sorts, "indexed_attention") != sorts.end()) { open.emplace_back("layer_types"); }
        if (unknown_) { return bound_unknown(open); }
        for (auto const& key : open) {
            report(key, fmt::format("not read for type {}, and may change what is counted", headroom::quoted(type_)));
        }
    }

    void bound_unknown(std::vector<std::string> const& open) {
        std::string const type = headroom::quoted(type_.empty() ? "(none stated)" : type_);
        if (!open.empty()) {
            keys_.fail("model_type", fmt::format("unknown type {}", type),
                       fmt::format("and these keys may change what is counted: {}", fmt::join(open, ", ")),
                       "describe the model in a .toml file");
        }
        Model& model = config_.model;
        double const count = count_parameters(model).total;
        Model least = model, most = model;
        most.qkv_bias = most.out_bias = most.mlp_bias = most.norm_bias = true;
        most.qk_norm = most.qk_norm_whole = !model.latent.used();
        most.norms_per_layer = 4;
        bool const rotary = keys_.has("rope_theta") || keys_.has("rope_scaling") || keys_.has("rope_parameters");
        if (!rotary) { most.positions = Positions::learned; }
        if (plain_possible_) {
            least.feed_forward = FeedForward::plain;
            most.feed_forward = FeedForward::gated;
        }
        config_.filled.push_back(fmt::format("assumed {} feed-forward layers, by the activation",
                                             model.feed_forward == FeedForward::gated ? "gated" : "plain"));
        if (!keys_.has("tie_word_embeddings") && !outer_tied_) { least.tied_embeddings = true; }
        model.range = {count_parameters(least).total / count, count_parameters(most).total / count};
        std::string const words =
            fmt::format("unknown architecture {} read as a common decoder (as llama): its "
                        "parameters lie between {} and {} ({:+.1f} to {:+.1f} %)",
                        type, format_count(model.range.low * count), format_count(model.range.high * count),
                        100.0 * (model.range.low - 1.0), 100.0 * (model.range.high - 1.0));
        config_.filled.insert(config_.filled.begin(), words);
        model.guesses.insert(model.guesses.begin(), {"architecture", "common decoder (as llama)", words, true});
    }

    void read_prediction() {
        bool const used = keys_.flag("use_mtp").value_or(true);
        if (used) { keys_.whole("mtp_transformer_layers", {0, 64}); } // one in each of MiniMax's modules
        auto const layers = keys_.whole(
            {"num_nextn_predict_layers", "mtp_num_hidden_layers", "mtp_num_layers", "num_mtp_modules"}, {0, 64});
        if (!used || !layers || *layers == 0) { return; }
        config_.model.prediction_layers = *layers;
        config_.filled.push_back(
            fmt::format("trained with {} layer{} that predict{} later tokens, outside of the total of parameters",
                        *layers, *layers == 1 ? "" : "s", *layers == 1 ? "s" : ""));
    }

    void name_it(std::string_view type) {
        config_.model.name = type;
        auto const path = keys_.text("_name_or_path");
        if (!path) { return; }
        auto const last = std::filesystem::path{*path}.filename().string();
        if (!last.empty()) { config_.model.name = last; }
    }

    void read_dimensions(Architecture const& architecture) {
        Model& model = config_.model;
        model.hidden = stated_in_whole(hidden_names, limits::hidden);
        model.layers = read_layers();
        if (architecture.has_heads) { model.heads = required(head_names, limits::heads); }
        if (architecture.has_vocab) { model.vocab = required(vocab_names, limits::vocab); }
        if (architecture.has_heads) { read_key_heads(); }
        if (architecture.has_ffn) { read_ffn(architecture); }
        read_head_dim(architecture);
    }

    /// The number of layers, or of the entries of a list that has one for each.
    int read_layers() {
        bool const stated = std::ranges::any_of(layer_names, [&](std::string_view name) { return keys_.states(name); });
        for (auto const list : {"layer_types", "layers_block_type"}) {
            if (stated || !keys_.has_list(list)) { continue; }
            std::size_t const entries = keys_.size(list);
            if (entries > static_cast<std::size_t>(limits::layers.high)) {
                keys_.fail(list, fmt::format("{} entries", entries), "one entry is one layer");
            }
            config_.filled.push_back(fmt::format("layers = {} (entries of {})", entries, list));
            return static_cast<int>(entries);
        }
        return stated_in_whole(layer_names, limits::layers);
    }

    /// A default of the class is not taken where it does not divide the heads that the file states.
    void read_key_heads() {
        Model& model = config_.model;
        auto const stated =
            std::ranges::any_of(key_head_names, [&](std::string_view name) { return keys_.states(name); });
        auto const usual = first(key_head_names, limits::heads);
        model.kv_heads = usual && (stated || model.heads % *usual == 0) ? *usual : model.heads;
    }

    void read_ffn(Architecture const& architecture) {
        Model& model = config_.model;
        model.ffn = first(ffn_names, limits::ffn).value_or(0);
        if (model.ffn == 0 && architecture.ffn_from_hidden) {
            model.ffn = 4 * model.hidden;
            config_.filled.push_back(fmt::format("ffn = {} (4 hidden)", model.ffn));
        } else if (model.ffn == 0 && architecture.type != "nemotron-nas") {
            required(ffn_names, limits::ffn);
        }
    }

    void read_head_dim(Architecture const& architecture) {
        if (auto const head_dim = first(head_dim_names, limits::head_dim)) {
            config_.model.head_dim = *head_dim;
        } else if (architecture.has_heads && !keys_.has("qk_nope_head_dim")) { // `adjust` reads it otherwise
            derive_head_dim();
        }
    }

    void derive_head_dim() {
        Model& model = config_.model;
        if (model.hidden % model.heads != 0) {
            keys_.fail(name_of_present(head_names),
                       fmt::format("{} heads do not divide hidden size {}", model.heads, model.hidden),
                       "the size of a head is their ratio", "give head_dim");
        }
        model.head_dim = model.hidden / model.heads;
        config_.filled.push_back(fmt::format("head_dim = {} (hidden over heads)", model.head_dim));
    }

    void read_positions() {
        Model& model = config_.model;
        auto const stated = first(position_names, limits::positions);
        if (model.max_positions > 0) { return; } // the type says it
        if (!stated && model.positions == Positions::learned) { required(position_names, limits::positions); }
        model.max_positions = stated.value_or(usual_positions);
        if (!stated) { config_.filled.push_back(fmt::format("max_positions = {} (not stated)", usual_positions)); }
    }

    void read_activation(Architecture const& architecture) {
        bool stated = false, gating = false;
        for (auto const key : activation_names) {
            if (!keys_.has(key)) { continue; }
            auto const spelling = keys_.text(key);
            stated = true;
            if (architecture.fixed_activation) { return; }
            auto const row = std::ranges::find(activations, *spelling, &Activation::spelling);
            if (row == activations.end()) {
                std::vector<std::string> known;
                for (auto const& activation : activations) { known.emplace_back(activation.spelling); }
                keys_.fail(key, fmt::format("unknown activation {}", headroom::quoted(*spelling)),
                           fmt::format("known: {}", one_of(known)), did_you_mean(*spelling, known));
            }
            config_.model.activation = row->name;
            gating = row->name == "silu";
            if (unknown_ && row->ungated) { config_.model.feed_forward = FeedForward::plain; }
            break;
        }
        plain_possible_ = !stated || !gating; // a silu stands in gated layers
    }

    void check_shape() const {
        auto const fault = shape_fault(config_.model);
        if (fault.problem.empty()) { return; }
        constexpr std::array<std::pair<std::string_view, std::string_view>, 7> names{
            {{"top_k", "num_experts_per_tok"},
             {"first_dense", "first_k_dense_replace"},
             {"window", "sliding_window"},
             {"pattern", "hybrid_override_pattern"},
             {"groups", "n_groups"},
             {"experts", "num_local_experts"},
             {"heads", "layer_types"}}};
        std::string_view key = fault.key == "kv_heads" ? name_of_present(key_head_names) : std::string_view{fault.key};
        for (auto const& [ours, theirs] : names) {
            if (fault.key == ours) { key = theirs; }
        }
        keys_.fail(key, fault.problem, fault.why);
    }

    /// The value under the first name that is there. Two names with two values are a contradiction.
    std::optional<int> first(Names names, Range range) {
        std::optional<int> found;
        std::string_view by;
        bool const stated = std::ranges::any_of(names, [&](std::string_view name) { return keys_.states(name); });
        for (auto const name : names) {
            if (stated && !keys_.states(name)) { continue; } // a default under another name
            auto const value = keys_.whole(name, range);
            if (!value) { continue; }
            if (!found) {
                found = value;
                by = name;
            } else if (*found != *value && names.data() != position_names.data()) {
                keys_.fail(name, fmt::format("{} against {} of '{}'", *value, *found, by),
                           "both name the same dimension");
            }
        }
        return found;
    }

    /// A size that a file on its own must state, and a part of a larger model may leave to its class.
    int stated_in_whole(Names names, Range range) {
        bool const stated = std::ranges::any_of(names, [&](std::string_view name) { return keys_.states(name); });
        if (!stated && !text_part_) { keys_.fail(names.front(), "missing", also_known_as(names)); }
        return required(names, range);
    }

    int required(Names names, Range range) {
        if (auto const value = first(names, range)) { return *value; }
        keys_.fail(names.front(), "missing", also_known_as(names));
    }

    [[nodiscard]] std::string_view name_of_present(Names names) const {
        auto const found = std::ranges::find_if(names, [&](std::string_view name) { return keys_.has(name); });
        return found == names.end() ? names.front() : *found;
    }

    JsonKeys keys_;
    ModelConfig config_;
    std::vector<std::string> classes_; ///< `architectures` of the whole file
    std::optional<bool> outer_tied_;
    bool text_part_ = false; ///< of a larger model
    std::string type_, whole_type_;
    bool plain_possible_ = true; ///< feed-forward layers may be ungated
    bool unknown_ = false;       ///< no row of the table has this type
};

} // namespace

ModelConfig read_model_config(std::string_view text, std::string_view where) {
    return ConfigReader{text, where}.read();
}

} // namespace headroom::io
