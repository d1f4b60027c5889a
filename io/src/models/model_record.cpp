#include "records/records.hpp"

#include "headroom/io/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace headroom::io {

using namespace headroom::training;

namespace {

using enum Presence;

constexpr std::array feed_forwards{Choice<FeedForward>{"plain", FeedForward::plain},
                                   Choice<FeedForward>{"gated", FeedForward::gated}};
constexpr std::array norms{Choice<Normalisation>{"layer", Normalisation::layer},
                           Choice<Normalisation>{"rms", Normalisation::rms}};
constexpr std::array position_kinds{
    Choice<Positions>{"none", Positions::none}, Choice<Positions>{"learned", Positions::learned},
    Choice<Positions>{"rotary", Positions::rotary}, Choice<Positions>{"alibi", Positions::alibi}};
constexpr std::array output_gates{Choice<OutputGate>{"none", OutputGate::none},
                                  Choice<OutputGate>{"head", OutputGate::head},
                                  Choice<OutputGate>{"element", OutputGate::element}};
constexpr std::array scan_kinds{
    Choice<ScanKind>{"mamba2", ScanKind::mamba2},           Choice<ScanKind>{"mamba1", ScanKind::mamba1},
    Choice<ScanKind>{"gated_delta", ScanKind::gated_delta}, Choice<ScanKind>{"kimi_delta", ScanKind::kimi_delta},
    Choice<ScanKind>{"lightning", ScanKind::lightning},     Choice<ScanKind>{"convolution", ScanKind::convolution}};
constexpr std::array operator_kinds{Choice<OperatorKind>{"convolution", OperatorKind::convolution},
                                    Choice<OperatorKind>{"linear", OperatorKind::linear},
                                    Choice<OperatorKind>{"recurrent", OperatorKind::recurrent},
                                    Choice<OperatorKind>{"normalisation", OperatorKind::normalisation},
                                    Choice<OperatorKind>{"elementwise", OperatorKind::elementwise},
                                    Choice<OperatorKind>{"embedding", OperatorKind::embedding}};

template <class T, std::size_t N> std::span<Choice<T> const> all(std::array<Choice<T>, N> const& choices) {
    return choices;
}

/// Blocks of a pattern without dense feed-forward layers have no width of them; neither have operators.
bool has_dense_blocks(Model const& model) {
    return model.operators.empty() && (model.pattern.empty() || model.pattern.find('-') != std::string::npos);
}

void read_dimensions(Section dimensions, Model& model) {
    Presence const blocks = model.operators.empty() ? required : optional;
    dimensions.read("layers", model.layers, limits::layers, blocks);
    dimensions.read("hidden", model.hidden, limits::hidden, blocks);
    dimensions.read("heads", model.heads, limits::heads, blocks);
    model.kv_heads = model.heads;
    dimensions.read("kv_heads", model.kv_heads, limits::heads);
    model.head_dim = std::max(1, model.hidden / std::max(1, model.heads));
    bool const divides = model.heads == 0 || model.hidden % model.heads == 0;
    if (!dimensions.read("head_dim", model.head_dim, limits::head_dim) && !divides) {
        dimensions.fail("heads", fmt::format("{} do not divide hidden {}", model.heads, model.hidden),
                        "the size of a head is their ratio", "give head_dim");
    }
    dimensions.read("value_dim", model.value_dim, limits::head_dim);
    dimensions.read("ffn", model.ffn, limits::ffn, has_dense_blocks(model) ? required : optional);
    dimensions.read("vocab", model.vocab, limits::vocab, blocks);
    dimensions.read("max_positions", model.max_positions, limits::positions);
}

void read_architecture(Section architecture, Model& model) {
    architecture.read("ffn_kind", model.feed_forward, all(feed_forwards));
    architecture.read("activation", model.activation);
    architecture.read("norm", model.norm, all(norms));
    architecture.read("positions", model.positions, all(position_kinds));
    architecture.read("output_gate", model.output_gate, all(output_gates));
    for (auto const& [key, flag] : {std::pair{"norm_bias", &Model::norm_bias},
                                    {"tied_embeddings", &Model::tied_embeddings},
                                    {"qkv_bias", &Model::qkv_bias},
                                    {"out_bias", &Model::out_bias},
                                    {"mlp_bias", &Model::mlp_bias},
                                    {"head_bias", &Model::head_bias},
                                    {"key_bias", &Model::key_bias},
                                    {"qk_norm", &Model::qk_norm},
                                    {"qk_norm_whole", &Model::qk_norm_whole},
                                    {"has_head", &Model::has_head},
                                    {"sinks", &Model::sinks},
                                    {"parallel_block", &Model::parallel_block},
                                    {"embedding_norm", &Model::embedding_norm},
                                    {"final_norm", &Model::final_norm},
                                    {"norm_affine", &Model::norm_affine},
                                    {"causal", &Model::causal}}) {
        architecture.read(key, model.*flag);
    }
    architecture.read("norms_per_layer", model.norms_per_layer, {0, 8});
    architecture.read("extra_positions", model.extra_positions, {0, 1024});
    architecture.read("memory_tokens", model.memory_tokens, limits::positions);
    architecture.read("head_share", model.head_share, {0, 1});
    architecture.read("other_parameters", model.other_parameters, {0, 1e15});
}

void read_experts(Section moe, Model& model) {
    moe.read("experts", model.moe.experts, limits::experts, required);
    moe.read("top_k", model.moe.top_k, limits::experts, required);
    model.moe.ffn = model.ffn;
    moe.read("expert_ffn", model.moe.ffn, limits::ffn, model.ffn > 0 ? optional : required);
    moe.read("shared_experts", model.moe.shared_experts, limits::experts);
    moe.read("shared_ffn", model.moe.shared_ffn, {0, limits::ffn.high});
    moe.read("first_dense", model.moe.first_dense, {0, limits::layers.high});
    moe.read("every", model.moe.every, limits::layers);
    moe.read("group_limit", model.moe.group_limit, limits::experts);
    moe.read("latent", model.moe.latent, {0, limits::hidden.high});
    moe.read("router_bias", model.moe.router_bias);
    moe.read("shared_gate", model.moe.shared_gate);
}

void read_latent_attention(Section attention, LatentAttention& latent) {
    attention.read("q_rank", latent.q_rank, {0, limits::hidden.high});
    attention.read("kv_rank", latent.kv_rank, limits::hidden, required);
    attention.read("nope_dim", latent.nope_dim, limits::head_dim, required);
    attention.read("rope_dim", latent.rope_dim, {0, limits::head_dim.high}, required);
    attention.read("value_dim", latent.value_dim, limits::head_dim, required);
}

void read_indexer(Section section, SparseIndexer& indexer) {
    section.read("heads", indexer.heads, limits::heads, required);
    section.read("head_dim", indexer.head_dim, limits::head_dim, required);
    section.read("top_k", indexer.top_k, limits::positions, required);
}

void read_state_space(Section section, StateSpace& scan) {
    section.read("kind", scan.kind, all(scan_kinds));
    section.read("heads", scan.heads, limits::heads, required);
    section.read("head_dim", scan.head_dim, limits::head_dim, required);
    section.read("groups", scan.groups, limits::heads);
    bool const keeps = scan.kind != ScanKind::convolution;
    section.read("state", scan.state, limits::head_dim, keeps ? required : optional);
    section.read("convolution", scan.convolution, {0, 1024});
    section.read("rank", scan.rank, {0, limits::hidden.high});
    section.read("projection_bias", scan.projection_bias);
    section.read("convolution_bias", scan.convolution_bias);
    section.read("gated_norm", scan.gated_norm);
    section.read("parameter_norms", scan.parameter_norms);
}

/// Layers of two parts each, a letter for the part that mixes tokens, repeated: A attention, W attention in a window, S scan,
/// B attention and scan side by side.
void read_mixers(Section const& layers, std::string const& letters, Model& model) {
    auto plan = block_kinds(model);
    for (std::size_t layer = 0; layer < plan.size(); ++layer) {
        char const letter = letters[layer % letters.size()];
        BlockKind& kind = plan[layer];
        Mixer const attention = model.latent.used() ? Mixer::latent_attention : Mixer::attention;
        switch (letter) {
        case 'A':
        case 'W': kind.mixer = attention; break;
        case 'S': kind.mixer = Mixer::state_space; break;
        case 'B': kind.mixer = Mixer::attention_and_scan; break;
        default:
            layers.fail("mixers", fmt::format("unknown letter {}", headroom::quoted(std::string{letter})),
                        "A attention, W attention in a window, S scan, B both");
        }
        kind.window = letter == 'W' ? model.window : 0;
    }
    model.plan = std::move(plan);
}

/// Only the pattern: whether there are dense blocks decides what else is due.
void read_layers(Section layers, Model& model, std::string& mixers) {
    layers.read("pattern", model.pattern);
    layers.read("mixers", mixers);
    layers.read("window", model.window, limits::positions);
    layers.read("chunked", model.chunked);
    layers.read("full_every", model.full_every, limits::layers);
    layers.read("prediction", model.prediction_layers, {0, 64});
    layers.read("encoder", model.encoder_layers, {0, limits::layers.high});
    layers.read("decoder_length", model.decoder_length, {1e-6, 1e6});
}

void check_operator(Section const& section, Operator const& one) {
    bool const reads_channels = one.kind != OperatorKind::normalisation && one.kind != OperatorKind::elementwise;
    if (reads_channels && one.in == 0) { section.fail("in", "missing", "its weights have this many inputs"); }
    if (one.kind != OperatorKind::convolution && one.groups != 1) {
        section.fail("groups", fmt::format("{} of no convolution", one.groups), "only convolutions have groups");
    }
    for (auto const& [key, channels] : {std::pair{"in", one.in}, {"out", one.out}}) {
        if (one.groups > 1 && channels % one.groups != 0) {
            section.fail("groups", fmt::format("{} do not divide {} channels of '{}'", one.groups, channels, key),
                         "each group has the same number of channels");
        }
    }
}

Operator read_operator(Section section) {
    constexpr Range channels{1, 100'000'000};
    constexpr Range side{1, 1'000'000};
    Operator one;
    section.read("name", one.name);
    section.read("kind", one.kind, all(operator_kinds), required);
    section.read("repeats", one.repeats, {1, 100'000});
    section.read("in", one.in, channels);
    section.read("out", one.out, channels, required);
    section.read("kernel", one.kernel, {1, 10'000});
    section.read("kernel_width", one.kernel_width, {0, 10'000});
    section.read("height", one.height, side);
    section.read("width", one.width, {0, side.high});
    section.read("groups", one.groups, channels);
    section.read("inputs", one.inputs, {0, 1e6});
    section.read("bias", one.bias);
    section.read("trained", one.trained);
    section.read("backward", one.backward);
    section.read("shared", one.shared);
    check_operator(section, one);
    return one;
}

void read_workload(Section workload, Model& model) {
    workload.read("length", model.nominal_length, {1, limits::positions.high});
    workload.read("batch", model.nominal_batch, {1, 1e6});
    workload.read("fill", model.nominal_fill, {0.01, 1});
    workload.read("batched_in_tokens", model.batched_in_tokens);
}

/// Sections that are there; an absent one leaves its part of the model as it is.
void read_sections(Section root, Model& model) {
    for (Section& entry : root.sections("operator")) { model.operators.push_back(read_operator(entry)); }
    std::string mixers;
    std::optional<Section> layers; // one: each asks for its own keys
    if (root.has("layers")) { read_layers(layers.emplace(root.section("layers")), model, mixers); }
    read_dimensions(root.section("dimensions"), model);
    if (root.has("architecture")) { read_architecture(root.section("architecture"), model); }
    if (root.has("moe")) { read_experts(root.section("moe"), model); }
    if (root.has("latent_attention")) { read_latent_attention(root.section("latent_attention"), model.latent); }
    if (root.has("indexer")) { read_indexer(root.section("indexer"), model.indexer); }
    if (root.has("state_space")) { read_state_space(root.section("state_space"), model.state_space); }
    if (!mixers.empty()) { read_mixers(*layers, mixers, model); }
    if (root.has("workload")) { read_workload(root.section("workload"), model); }
}

void read_published(Section root, PublishedCount& published) {
    root.read("published_total", published.total, {1, 1e16});
    root.read("published_active", published.active, {1, 1e16});
    root.read("published_source", published.source);
    if (published.active > 0 && published.total == 0) {
        root.fail("published_active", "without published_total", "a part is given with the whole");
    }
    if (published.active > published.total) {
        root.fail("published_active", "more than published_total", "a part is at most the whole");
    }
    if (published.total > 0 && published.source.empty()) {
        root.fail("published_total", "without published_source", "a published number says where it is printed");
    }
}

// ---- contradictions ------------------------------------------------------------------------------------------------

ShapeFault attention_fault(Model const& model) {
    if (model.kv_heads < 1 || model.heads % model.kv_heads != 0) {
        return {"dimensions", "kv_heads", fmt::format("{} do not divide {} heads", model.kv_heads, model.heads),
                "each key head serves the same number of query heads"};
    }
    for (BlockKind const& kind : model.plan) {
        auto const shape = attention_shape(model, kind);
        if (attends(kind.mixer) && std::fmod(shape.heads, shape.kv_heads) != 0.0) {
            return {"dimensions", "kv_heads",
                    fmt::format("{} do not divide {} heads of a layer", shape.kv_heads, shape.heads),
                    "each key head serves the same number of query heads"};
        }
    }
    auto const& latent = model.latent;
    if (latent.used() && (latent.nope_dim < 1 || latent.value_dim < 1)) {
        return {"latent_attention", latent.nope_dim < 1 ? "nope_dim" : "value_dim", "missing",
                "latent attention states the dimensions of its heads"};
    }
    if (model.window > 0 && model.max_positions > 0 && model.window > model.max_positions) {
        return {"layers", "window", fmt::format("{} of {} positions", model.window, model.max_positions),
                "a window is not longer than the longest sequence"};
    }
    if (model.full_every > 0 && model.window == 0) {
        return {"layers", "full_every", fmt::format("{} without window", model.full_every),
                "full layers stand among windowed ones"};
    }
    return {};
}

ShapeFault experts_fault(Model const& model) {
    auto const& moe = model.moe;
    if (moe.experts > 0 && (moe.top_k < 1 || moe.top_k > moe.experts)) {
        return {"moe", "top_k", fmt::format("{} of {} experts", moe.top_k, moe.experts),
                "a token goes to at least one expert and at most to all"};
    }
    if (moe.experts == 0 && (moe.top_k > 0 || moe.shared_experts > 0)) {
        return {"moe", "experts", "0", "a section about experts states how many there are"};
    }
    if (moe.first_dense > model.layers) {
        return {"moe", "first_dense", fmt::format("{} of {} layers", moe.first_dense, model.layers),
                "the first layers are some of all"};
    }
    return {};
}

ShapeFault pattern_fault(Model const& model) {
    auto const& pattern = model.pattern;
    auto const has = [&](char letter) { return pattern.find(letter) != std::string::npos; };
    if (auto const odd = pattern.find_first_not_of("M*-E"); odd != std::string::npos) {
        return {"layers", "pattern", fmt::format("unknown letter {}", headroom::quoted(pattern.substr(odd, 1))),
                "M state space, * attention, - dense, E experts"};
    }
    if (has('M') && model.state_space.heads == 0) {
        return {"layers", "pattern", "M without [state_space]", "these layers have dimensions of their own"};
    }
    if (has('E') != (model.moe.experts > 0) && !pattern.empty()) {
        return {"layers", "pattern", has('E') ? "E without [moe]" : "no E with [moe]",
                "experts and the layers that hold them come together"};
    }
    if (!pattern.empty() && (model.window > 0 || model.latent.used() || model.encoder_layers > 0)) {
        return {"layers", "pattern", "with windows, latent attention or an encoder",
                "layers of a pattern are of its four kinds"};
    }
    auto const& scan = model.state_space;
    if (scan.heads > 0 && (scan.groups < 1 || scan.heads % scan.groups != 0)) {
        return {"state_space", "groups", fmt::format("{} do not divide {} heads", scan.groups, scan.heads),
                "each group serves the same number of heads"};
    }
    bool const placed = has('M') || std::ranges::any_of(model.plan, [](auto const& k) { return scans(k.mixer); });
    if (scan.heads > 0 && !placed) {
        return {"state_space", "heads", "without a layer that scans",
                "M in layers.pattern, or S in layers.mixers, places them"};
    }
    if (scan.heads == 0 && std::ranges::any_of(model.plan, [](auto const& k) { return scans(k.mixer); })) {
        return {"layers", "mixers", "S without [state_space]", "these layers have dimensions of their own"};
    }
    return {};
}

ShapeFault stack_fault(Model const& model) {
    if (model.encoder_layers > 0 && model.encoder_layers >= model.layers) {
        return {"layers", "encoder", fmt::format("{} of {} layers", model.encoder_layers, model.layers),
                "the others are the decoder's"};
    }
    if (model.decoder_length != 1.0 && model.encoder_layers == 0) {
        return {"layers", "decoder_length", "without encoder", "it is the decoder's length over the encoder's"};
    }
    if (!(model.head_share > 0.0 && model.head_share <= 1.0)) {
        return {"architecture", "head_share", fmt::format("{:g}", model.head_share), "above 0 and at most 1"};
    }
    return {};
}

} // namespace

ShapeFault shape_fault(Model const& model) {
    if (!model.operators.empty()) { return {}; }
    for (auto const check : {attention_fault, experts_fault, pattern_fault, stack_fault}) {
        if (auto fault = check(model); !fault.problem.empty()) { return fault; }
    }
    return {};
}

ModelRecord read_model_record(std::string_view toml, std::string_view where) {
    Record record{toml, where};
    Section root = record.root();
    ModelRecord result;
    root.read("name", result.model.name, required);
    root.read("kind", result.kind);
    read_published(root, result.published);
    skip_provenance(root);
    root.skip({"family", "parameters", "parameters_stated"});
    read_sections(root, result.model);
    record.refuse_the_rest();
    if (auto const fault = shape_fault(result.model); !fault.problem.empty()) {
        root.section(fault.section).fail(fault.key, fault.problem, fault.why);
    }
    return result;
}

Model read_model(std::string_view toml, std::string_view where) { return read_model_record(toml, where).model; }

} // namespace headroom::io
