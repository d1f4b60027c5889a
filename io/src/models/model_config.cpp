#include "headroom/io/model_config.hpp"

#include "json_keys.hpp"
#include "models/architectures.hpp"
#include "models/config_parts.hpp"
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

/// What families call the same dimension; the usual name first.
constexpr std::array<std::string_view, 4> hidden_names{"hidden_size", "n_embd", "n_embed", "d_model"};
constexpr std::array<std::string_view, 5> layer_names{"num_hidden_layers", "n_layer", "n_layers", "num_layers",
                                                      "encoder_layers"};
constexpr std::array<std::string_view, 5> head_names{"num_attention_heads", "n_head", "n_heads", "num_heads",
                                                     "encoder_attention_heads"};
constexpr std::array<std::string_view, 4> key_head_names{"num_key_value_heads", "num_kv_heads", "n_head_kv",
                                                         "attn_config.kv_n_heads"};
constexpr std::array<std::string_view, 7> ffn_names{"intermediate_size",         "ffn_dim", "n_inner",
                                                    "ffn_hidden_size",           "d_ff",    "encoder_ffn_dim",
                                                    "ffn_config.ffn_hidden_size"};
constexpr std::array<std::string_view, 1> vocab_names{"vocab_size"};
constexpr std::array<std::string_view, 2> head_dim_names{"head_dim", "d_kv"};
constexpr std::array<std::string_view, 5> position_names{"max_position_embeddings", "n_positions", "max_seq_len",
                                                         "seq_length", "model_max_length"};
constexpr std::array<std::string_view, 5> activation_names{"hidden_activation", "hidden_act", "activation_function",
                                                           "activation", "mlp_hidden_act"};

/// Many spellings of few functions.
struct Activation {
    std::string_view spelling, name;
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
    Activation{"relu", "relu"},
    Activation{"relu2", "squared_relu"},
    Activation{"squared_relu", "squared_relu"},
};

/// Types whose code computes another function than their `hidden_act` says.
constexpr std::array<std::string_view, 1> fixed_activation{"gemma"};

constexpr int usual_positions = 2048;

std::string also_known_as(Names names) {
    return names.size() == 1 ? std::string{} : fmt::format("also known as {}", fmt::join(names.subspan(1), ", "));
}

/// Keys whose mere presence in another type's file means parts that were not counted.
constexpr std::array<std::string_view, 12> structural{
    "num_local_experts",       "num_experts",       "n_routed_experts",       "kv_lora_rank",      "q_lora_rank",
    "hybrid_override_pattern", "layers_block_type", "cross_attention_layers", "attn_layer_period", "mamba_d_state",
    "ssm_state_size",          "use_qk_norm"};
/// Parts of names that hint at the same where nobody knows the type.
constexpr std::array<std::string_view, 14> telling{"expert",    "moe",    "lora",   "ssm",         "mamba",
                                                   "conv",      "linear", "hybrid", "layer_types", "cross",
                                                   "per_layer", "bias",   "norm",   "state"};

bool may_change_counts(std::string_view key, bool unknown_type) {
    if (!unknown_type) { return std::ranges::find(structural, key) != structural.end(); }
    if (key.ends_with("_eps") || key.ends_with("_epsilon")) { return false; }
    return std::ranges::any_of(telling,
                               [&](std::string_view part) { return key.find(part) != std::string_view::npos; });
}

/// Reads one config. A class because every part adds to the same keys and the same list of what was filled.
class ConfigReader {
public:
    ConfigReader(std::string_view text, std::string_view where) : keys_{text, where} {}

    ModelConfig read() {
        enter_text_part();
        Architecture const& architecture = find_architecture();
        Model& model = config_.model;
        model = architecture.traits;
        name_it(type_.empty() ? std::string_view{"llama"} : std::string_view{type_});
        read_dimensions(architecture);
        if (architecture.adjust != nullptr) { architecture.adjust(keys_, model, config_.filled); }
        read_positions(architecture.default_positions > 0 ? architecture.default_positions : usual_positions);
        if (architecture.windowed) { read_window(keys_, architecture, model, config_.filled); }
        read_activation(architecture.type);
        if (auto const tied = keys_.flag("tie_word_embeddings")) {
            model.tied_embeddings = *tied;
        } else if (outer_tied_) {
            model.tied_embeddings = *outer_tied_;
        }
        read_prediction();
        check_shape();
        if (!architecture.note.empty()) { config_.filled.emplace_back(architecture.note); }
        model.vision_left_out = text_part_ || architecture.vision_left_out;
        config_.used = keys_.used();
        config_.ignored = keys_.ignored();
        name_what_is_not_understood();
        return config_;
    }

private:
    /// Models of several kinds of input keep the transformer that is trained in an object of its own.
    void enter_text_part() {
        std::string const whole = keys_.text("model_type").value_or("unknown");
        refuse_unsupported(whole);
        if (keys_.has("hidden_size")) { return; }
        for (auto const part : {"text_config", "llm_config", "language_config"}) {
            if (!keys_.has_object(part)) { continue; }
            outer_tied_ = keys_.flag("tie_word_embeddings");
            text_part_ = true;
            keys_.enter(part);
            config_.filled.push_back(
                fmt::format("{} alone is read: the vision tower and other parts of '{}' are not counted", part, whole));
            return;
        }
    }

    void refuse_unsupported(std::string_view type) const {
        auto const known = unsupported_types();
        auto const row = std::ranges::find(known, type, &UnsupportedType::type);
        if (row == known.end()) { return; }
        keys_.fail("model_type", fmt::format("{} is not supported", headroom::quoted(type)), std::string{row->why},
                   "`headroom catalog list models` shows models that are");
    }

    Architecture const& find_architecture() {
        type_ = keys_.text("model_type").value_or("");
        auto const rows = architectures();
        refuse_unsupported(type_);
        auto const row = std::ranges::find(rows, type_, &Architecture::type);
        bool const pair = keys_.flag("is_encoder_decoder").value_or(false);
        if (pair && (row == rows.end() || !row->pair)) {
            keys_.fail("is_encoder_decoder", "true", "this pair of encoder and decoder is not modelled");
        }
        if (row != rows.end()) { return *row; }
        require_usual_dimensions();
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
            keys_.fail(missing.front(), "missing", fmt::format("without a model_type, all of {} are due", list));
        }
        std::vector<std::string> types;
        for (auto const& known : architectures()) { types.emplace_back(known.type); }
        keys_.fail("model_type", fmt::format("unknown type {}", headroom::quoted(type_)),
                   fmt::format("and it cannot be read as a common decoder without {}", list),
                   did_you_mean(type_, types));
    }

    /// What an unknown type was taken for, and which of the keys that were not read may mean more than was.
    void name_what_is_not_understood() {
        if (unknown_) {
            config_.filled.insert(config_.filled.begin(),
                                  fmt::format("unknown architecture {} read as a common decoder (as llama)",
                                              headroom::quoted(type_.empty() ? "(none stated)" : type_)));
        }
        std::vector<std::string> open;
        for (auto const& key : config_.ignored) {
            auto const dot = key.find('.');
            std::string const inner = dot == std::string::npos ? key : key.substr(dot + 1);
            if (may_change_counts(inner, unknown_) && keys_.says_something(inner)) { open.push_back(key); }
        }
        if (open.empty()) { return; }
        config_.filled.push_back(
            fmt::format("not understood, and may change what is counted: {}", fmt::join(open, ", ")));
    }

    void read_prediction() {
        auto const layers = keys_.whole("num_nextn_predict_layers", {0, 64});
        if (!layers || *layers == 0) { return; }
        config_.model.prediction_layers = *layers;
        config_.filled.push_back(
            fmt::format("trained with {} layer{} that predict{} later tokens, beside the total of parameters", *layers,
                        *layers == 1 ? "" : "s", *layers == 1 ? "s" : ""));
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
        model.hidden = required(hidden_names, limits::hidden);
        model.layers = required(layer_names, limits::layers);
        model.heads = defaulted(head_names, limits::heads, architecture.default_heads);
        if (architecture.has_vocab) { model.vocab = defaulted(vocab_names, limits::vocab, architecture.default_vocab); }
        model.kv_heads = architecture.default_kv_heads > 0
                             ? defaulted(key_head_names, limits::heads, architecture.default_kv_heads)
                             : first(key_head_names, limits::heads).value_or(model.heads);
        if (architecture.has_ffn) { read_ffn(architecture); }
        read_head_dim(architecture);
    }

    void read_ffn(Architecture const& architecture) {
        Model& model = config_.model;
        model.ffn = first(ffn_names, limits::ffn).value_or(0);
        if (model.ffn == 0 && architecture.ffn_from_hidden) {
            model.ffn = 4 * model.hidden;
            config_.filled.push_back(fmt::format("ffn = {} (4 hidden)", model.ffn));
        } else if (model.ffn == 0) {
            required(ffn_names, limits::ffn);
        }
    }

    void read_head_dim(Architecture const& architecture) {
        Model& model = config_.model;
        if (auto const head_dim = first(head_dim_names, limits::head_dim)) {
            model.head_dim = *head_dim;
        } else if (architecture.default_head_dim > 0) {
            model.head_dim = architecture.default_head_dim;
            config_.filled.push_back(fmt::format("head_dim = {} (default of {})", model.head_dim, architecture.type));
        } else if (model.hidden % model.heads != 0) {
            keys_.fail(name_of_present(head_names),
                       fmt::format("{} heads do not divide hidden size {}", model.heads, model.hidden),
                       "the size of a head is their ratio", "give head_dim");
        } else {
            model.head_dim = model.hidden / model.heads;
            config_.filled.push_back(fmt::format("head_dim = {} (hidden over heads)", model.head_dim));
        }
    }

    void read_positions(int otherwise) {
        Model& model = config_.model;
        auto const stated = first(position_names, limits::positions);
        if (model.max_positions > 0) { return; } // the type says it
        if (!stated && model.positions == Positions::learned) { required(position_names, limits::positions); }
        model.max_positions = stated.value_or(otherwise);
        if (!stated) { config_.filled.push_back(fmt::format("max_positions = {} (not stated)", otherwise)); }
    }

    void read_activation(std::string_view type) {
        for (auto const key : activation_names) {
            auto const spelling = keys_.text(key);
            if (!spelling) { continue; }
            if (std::ranges::find(fixed_activation, type) != fixed_activation.end()) { return; }
            auto const row = std::ranges::find(activations, *spelling, &Activation::spelling);
            if (row == activations.end()) {
                std::vector<std::string> known;
                for (auto const& activation : activations) { known.emplace_back(activation.spelling); }
                keys_.fail(key, fmt::format("unknown activation {}", headroom::quoted(*spelling)),
                           fmt::format("known: {}", one_of(known)), did_you_mean(*spelling, known));
            }
            config_.model.activation = row->name;
            return;
        }
    }

    void check_shape() const {
        auto const fault = shape_fault(config_.model);
        if (fault.problem.empty()) { return; }
        constexpr std::array<std::pair<std::string_view, std::string_view>, 6> names{
            {{"top_k", "num_experts_per_tok"},
             {"first_dense", "first_k_dense_replace"},
             {"window", "sliding_window"},
             {"pattern", "hybrid_override_pattern"},
             {"groups", "n_groups"},
             {"experts", "num_local_experts"}}};
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
        for (auto const name : names) {
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

    int required(Names names, Range range) {
        if (auto const value = first(names, range)) { return *value; }
        keys_.fail(names.front(), "missing", also_known_as(names));
    }

    /// A dimension that a type may leave out because its code has a default.
    int defaulted(Names names, Range range, int otherwise) {
        if (otherwise == 0) { return required(names, range); }
        auto const stated = first(names, range);
        if (!stated) { config_.filled.push_back(fmt::format("{} = {} (default)", names.front(), otherwise)); }
        return stated.value_or(otherwise);
    }

    [[nodiscard]] std::string_view name_of_present(Names names) const {
        auto const found = std::ranges::find_if(names, [&](std::string_view name) { return keys_.has(name); });
        return found == names.end() ? names.front() : *found;
    }

    JsonKeys keys_;
    ModelConfig config_;
    std::optional<bool> outer_tied_;
    bool text_part_ = false; ///< of a larger model
    std::string type_;
    bool unknown_ = false; ///< no row of the table has this type
};

} // namespace

ModelConfig read_model_config(std::string_view text, std::string_view where) {
    return ConfigReader{text, where}.read();
}

} // namespace headroom::io
