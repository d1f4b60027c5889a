#include "headroom/io/model_config.hpp"

#include "architectures.hpp"
#include "json_keys.hpp"
#include "records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>

namespace headroom::io {

namespace {

using Names = std::span<std::string_view const>;

/// What families call the same dimension; the usual name first.
constexpr std::array<std::string_view, 4> hidden_names{"hidden_size", "n_embd", "n_embed", "d_model"};
constexpr std::array<std::string_view, 4> layer_names{"num_hidden_layers", "n_layer", "n_layers", "num_layers"};
constexpr std::array<std::string_view, 4> head_names{"num_attention_heads", "n_head", "n_heads", "num_heads"};
constexpr std::array<std::string_view, 4> key_head_names{"num_key_value_heads", "num_kv_heads", "n_head_kv",
                                                         "attn_config.kv_n_heads"};
constexpr std::array<std::string_view, 4> ffn_names{"intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size"};
constexpr std::array<std::string_view, 1> vocab_names{"vocab_size"};
constexpr std::array<std::string_view, 1> head_dim_names{"head_dim"};
constexpr std::array<std::string_view, 5> position_names{"max_position_embeddings", "n_positions", "max_seq_len",
                                                         "seq_length", "model_max_length"};
constexpr std::array<std::string_view, 4> activation_names{"hidden_activation", "hidden_act", "activation_function",
                                                           "activation"};

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

/// Reads one config. A class because every part adds to the same keys and the same list of what was filled.
class ConfigReader {
public:
    ConfigReader(std::string_view text, std::string_view where) : keys_{text, where} {}

    ModelConfig read() {
        enter_text_part();
        Architecture const& architecture = find_architecture();
        Model& model = config_.model;
        model = architecture.traits;
        name_it(architecture.type);
        read_dimensions(architecture);
        if (architecture.adjust != nullptr) { architecture.adjust(keys_, model); }
        read_positions();
        read_activation(architecture.type);
        if (auto const tied = keys_.flag("tie_word_embeddings")) {
            model.tied_embeddings = *tied;
        } else if (outer_tied_) {
            model.tied_embeddings = *outer_tied_;
        }
        check_shape();
        if (!architecture.note.empty()) { config_.filled.emplace_back(architecture.note); }
        config_.used = keys_.used();
        config_.ignored = keys_.ignored();
        return config_;
    }

private:
    /// Models of several kinds of input keep the transformer that is trained in an object of its own.
    void enter_text_part() {
        if (keys_.has("hidden_size") || !keys_.has_object("text_config")) { return; }
        std::string const whole = keys_.text("model_type").value_or("unknown");
        outer_tied_ = keys_.flag("tie_word_embeddings");
        keys_.enter("text_config");
        config_.filled.push_back(
            fmt::format("text_config alone is read: the other parts of '{}' are not modelled", whole));
    }

    Architecture const& find_architecture() {
        std::string const type = keys_.text("model_type").value_or("");
        auto const rows = architectures();
        auto const known = unsupported_types();
        if (auto const row = std::ranges::find(known, type, &UnsupportedType::type); row != known.end()) {
            keys_.fail("model_type", fmt::format("{} is not supported", headroom::quoted(type)), std::string{row->why},
                       "decoder-only transformers are");
        }
        if (keys_.flag("is_encoder_decoder").value_or(false)) {
            keys_.fail("is_encoder_decoder", "true", "encoder-decoder models are not modelled");
        }
        if (auto const row = std::ranges::find(rows, type, &Architecture::type); row != rows.end()) { return *row; }
        for (auto const key :
             {"hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size"}) {
            if (keys_.has(key)) { continue; }
            if (type.empty()) { keys_.fail(key, "missing", "without a model_type, the keys of llama are due"); }
            std::vector<std::string> types;
            for (auto const& row : rows) { types.emplace_back(row.type); }
            keys_.fail("model_type", fmt::format("unknown type {}", headroom::quoted(type)),
                       fmt::format("and without '{}' it cannot be read like llama", key), did_you_mean(type, types));
        }
        for (auto const key : {"num_local_experts", "num_experts", "n_routed_experts", "kv_lora_rank"}) {
            if (!keys_.has(key)) { continue; }
            keys_.fail(key, fmt::format("unknown type {}", headroom::quoted(type)),
                       "its experts or latent attention cannot be read like those of a known type");
        }
        config_.filled.push_back(fmt::format("model_type {} is not known: read like llama", headroom::quoted(type)));
        return rows.front();
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
        model.heads = required(head_names, limits::heads);
        model.vocab = required(vocab_names, limits::vocab);
        model.kv_heads = first(key_head_names, limits::heads).value_or(model.heads);
        model.ffn = first(ffn_names, limits::ffn).value_or(0);
        if (model.ffn == 0 && architecture.ffn_from_hidden) {
            model.ffn = 4 * model.hidden;
            config_.filled.push_back(fmt::format("ffn = {} (4 hidden)", model.ffn));
        } else if (model.ffn == 0) {
            required(ffn_names, limits::ffn);
        }
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

    void read_positions() {
        Model& model = config_.model;
        auto const stated = first(position_names, limits::positions);
        if (!stated && model.positions == Positions::learned) { required(position_names, limits::positions); }
        model.max_positions = stated.value_or(usual_positions);
        if (!stated) { config_.filled.push_back(fmt::format("max_positions = {} (not stated)", usual_positions)); }
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
        keys_.fail(fault.key == "kv_heads" ? name_of_present(key_head_names) : "num_experts_per_tok", fault.problem,
                   fault.why);
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

    [[nodiscard]] std::string_view name_of_present(Names names) const {
        auto const found = std::ranges::find_if(names, [&](std::string_view name) { return keys_.has(name); });
        return found == names.end() ? names.front() : *found;
    }

    JsonKeys keys_;
    ModelConfig config_;
    std::optional<bool> outer_tied_;
};

} // namespace

ModelConfig read_model_config(std::string_view text, std::string_view where) {
    return ConfigReader{text, where}.read();
}

} // namespace headroom::io
