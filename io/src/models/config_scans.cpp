#include "models/config_parts.hpp"
#include "records/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr std::string_view why = "recurrent layers state their dimensions";

/// The layers of a hybrid, a letter each, from the pattern or from the list of their names.
std::string hybrid_pattern(JsonKeys& keys) {
    if (auto const pattern = keys.text("hybrid_override_pattern")) { return *pattern; }
    std::string letters;
    for (auto const& name : keys.texts("layers_block_type")) {
        letters += name == "mamba" || name == "linear_attention"     ? 'M'
                   : name == "attention" || name == "full_attention" ? '*'
                   : name == "moe"                                   ? 'E'
                   : name == "mlp"                                   ? '-'
                                                                     : '?';
    }
    if (letters.empty()) { keys.fail("hybrid_override_pattern", "missing", "a hybrid says what each layer is"); }
    return letters;
}

void refuse_flag(JsonKeys& keys, std::string_view key, bool refused) {
    if (keys.flag(key).value_or(!refused) != refused) { return; }
    keys.fail(key, refused ? "true" : "false", "the other is what state-space layers are modelled with");
}

/// Mamba-2 layers under the names of Bamba, Granite and Falcon-H1.
void read_mamba2_of_hybrid(JsonKeys& keys, Model& model) {
    auto& scan = model.state_space;
    scan.kind = ScanKind::mamba2;
    scan.heads = due(keys, "mamba_n_heads", limits::heads, why);
    int const expand = keys.whole("mamba_expand", {1, 64}).value_or(2);
    int const inner = keys.whole("mamba_d_ssm", limits::ffn).value_or(expand * model.hidden);
    bool const by_name = keys.has("mamba_d_head") && !keys.is_text("mamba_d_head"); // "auto" otherwise
    scan.head_dim = by_name ? due(keys, "mamba_d_head", limits::head_dim, why) : inner / scan.heads;
    scan.state = due(keys, "mamba_d_state", limits::head_dim, why);
    scan.groups = keys.whole("mamba_n_groups", limits::heads).value_or(1);
    scan.convolution = keys.whole("mamba_d_conv", {1, 1024}).value_or(4);
    scan.convolution_bias = keys.flag("mamba_conv_bias").value_or(true);
    scan.projection_bias = keys.flag("mamba_proj_bias").value_or(false);
}

/// The rank of the step size: a number, or a sixteenth of the hidden size.
int step_size_rank(JsonKeys& keys, std::string_view key, int hidden) {
    return !keys.has(key) || keys.is_text(key) ? (hidden + 15) / 16 : due(keys, key, limits::hidden, why);
}

} // namespace

// ---- alone ----------------------------------------------------------------------------------------------------------

void read_mamba2(JsonKeys& keys, Model& model, Notes&) {
    auto& scan = model.state_space;
    scan.heads = model.heads;
    scan.head_dim = model.head_dim;
    scan.state = due(keys, "state_size", limits::head_dim, why);
    scan.groups = keys.whole("n_groups", limits::heads).value_or(8);
    scan.convolution = keys.whole("conv_kernel", {1, 1024}).value_or(4);
    refuse_flag(keys, "use_bias", true);
    refuse_flag(keys, "use_conv_bias", false);
    keys.flag("rms_norm"); // the only kind of norm of its code
    model.pattern = "M";
}

void read_mamba1(JsonKeys& keys, Model& model, Notes&) {
    auto& scan = model.state_space;
    scan.kind = ScanKind::mamba1;
    int const expand = keys.whole("expand", {1, 64}).value_or(2);
    scan.heads = keys.whole({"intermediate_size", "d_inner"}, limits::ffn).value_or(expand * model.hidden);
    scan.head_dim = 1; // a decay a channel
    scan.state = due(keys, "state_size", limits::head_dim, why);
    scan.convolution = due(keys, "conv_kernel", {1, 1024}, why);
    scan.rank = step_size_rank(keys, "time_step_rank", model.hidden);
    scan.convolution_bias = keys.flag("use_conv_bias").value_or(true);
    scan.projection_bias = keys.flag("use_bias").value_or(false);
    model.heads = model.kv_heads = model.head_dim = 1;
    keys.flag("rms_norm");
    model.pattern = "M";
}

// ---- among attention ------------------------------------------------------------------------------------------------

void read_nemotron_h(JsonKeys& keys, Model& model, Notes& notes) {
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

void read_jamba(JsonKeys& keys, Model& model, Notes& notes) {
    auto& scan = model.state_space;
    scan.kind = ScanKind::mamba1;
    scan.heads = due(keys, "mamba_expand", {1, 64}, why) * model.hidden;
    scan.head_dim = 1;
    scan.state = due(keys, "mamba_d_state", limits::head_dim, why);
    scan.convolution = due(keys, "mamba_d_conv", {1, 1024}, why);
    scan.rank = step_size_rank(keys, "mamba_dt_rank", model.hidden);
    scan.convolution_bias = keys.flag("mamba_conv_bias").value_or(true);
    scan.projection_bias = keys.flag("mamba_proj_bias").value_or(false);
    scan.parameter_norms = true;
    read_experts(keys, model, notes);
    if (model.moe.experts != 1) { return; }
    model.moe = {}; // its code takes one expert for a dense layer
}

void read_bamba(JsonKeys& keys, Model& model, Notes& notes) {
    read_mamba2_of_hybrid(keys, model);
    read_biases(keys, model, notes);
}

/// Every layer has a shared feed-forward part, and routed experts where there are any.
void read_granite_hybrid(JsonKeys& keys, Model& model, Notes& notes) {
    read_mamba2_of_hybrid(keys, model);
    read_biases(keys, model, notes);
    int const experts = keys.whole("num_local_experts", {0, limits::experts.high}).value_or(0);
    if (experts > 0) { return read_experts(keys, model, notes); }
    model.ffn = due(keys, "shared_intermediate_size", limits::ffn, "feed-forward layers state their width");
    keys.whole("num_experts_per_tok", {0, limits::experts.high}); // of none
}

/// Attention and a scan side by side in every layer.
void read_falcon_h1(JsonKeys& keys, Model& model, Notes& notes) {
    read_mamba2_of_hybrid(keys, model);
    read_biases(keys, model, notes);
    model.state_space.gated_norm = keys.flag("mamba_rms_norm").value_or(false);
    if (auto const bias = keys.flag("projectors_bias"); bias && *bias) {
        keys.fail("projectors_bias", "true", "a scan with a bias in one of its products is not modelled");
    }
    model.plan.assign(static_cast<std::size_t>(model.layers), {.mixer = Mixer::attention_and_scan});
}

/// Short convolutions among attention; the width of the feed-forward layers is adjusted as a gated one's usually is.
void read_lfm2(JsonKeys& keys, Model& model, Notes& notes) {
    auto& scan = model.state_space;
    scan.kind = ScanKind::convolution;
    scan.heads = model.heads;
    scan.head_dim = model.hidden / std::max(1, model.heads);
    scan.groups = model.heads;
    scan.convolution = due(keys, "conv_L_cache", {1, 1024}, why);
    scan.convolution_bias = scan.projection_bias = keys.flag("conv_bias").value_or(false);
    if (!keys.flag("block_use_swiglu").value_or(true)) { model.feed_forward = FeedForward::plain; }
    if (keys.has("num_experts")) {
        read_experts(keys, model, notes);
        model.moe.router_bias = keys.flag("use_expert_bias").value_or(false);
        return;
    }
    if (!keys.flag("block_auto_adjust_ff_dim").value_or(true)) { return; }
    double const factor = keys.real("block_ffn_dim_multiplier").value_or(1.0);
    int const step = keys.whole("block_multiple_of", limits::ffn).value_or(256);
    double const width = std::floor(factor * std::floor(2.0 * model.ffn / 3.0));
    if (!(width >= 1.0 && width <= limits::ffn.high / 2.0)) {
        keys.fail("block_ffn_dim_multiplier", fmt::format("a width of {:.4g} is out of range", width));
    }
    model.ffn = static_cast<int>(std::ceil(width / step)) * step;
    notes.push_back(fmt::format("ffn = {} (two thirds of the width stated, as its code adjusts it)", model.ffn));
}

void read_gated_delta(JsonKeys& keys, Model& model, Notes& notes) {
    auto& scan = model.state_space;
    scan.kind = ScanKind::gated_delta;
    scan.heads = due(keys, "linear_num_value_heads", limits::heads, why);
    scan.head_dim = due(keys, "linear_value_head_dim", limits::head_dim, why);
    scan.groups = due(keys, "linear_num_key_heads", limits::heads, why);
    scan.state = due(keys, "linear_key_head_dim", limits::head_dim, why);
    scan.convolution = due(keys, "linear_conv_kernel_dim", {1, 1024}, why);
    scan.convolution_bias = false;
    if (auto const gated = keys.flag("attn_output_gate"); gated && !*gated) { model.output_gate = OutputGate::none; }
    read_biases(keys, model, notes);
    if (!keys.has("num_experts")) { return; }
    read_experts(keys, model, notes);
    model.moe.shared_gate = model.moe.shared_experts > 0;
    if (auto const dense = keys.whole("intermediate_size", limits::ffn)) { model.ffn = *dense; }
}

void read_kimi_linear(JsonKeys& keys, Model& model, Notes& notes) {
    auto& scan = model.state_space;
    scan.kind = ScanKind::kimi_delta;
    scan.heads = due(keys, "linear_attn_config.num_heads", limits::heads, why);
    scan.head_dim = scan.state = scan.rank = due(keys, "linear_attn_config.head_dim", limits::head_dim, why);
    scan.groups = scan.heads;
    scan.convolution = due(keys, "linear_attn_config.short_conv_kernel_size", {1, 1024}, why);
    scan.convolution_bias = false;
    read_latent_attention(keys, model, notes);
    read_experts(keys, model, notes);
}

void read_minimax(JsonKeys& keys, Model& model, Notes& notes) {
    auto& scan = model.state_space;
    scan.kind = ScanKind::lightning;
    scan.heads = scan.groups = model.heads;
    scan.head_dim = scan.state = model.head_dim;
    scan.convolution = 0;
    scan.convolution_bias = false;
    read_experts(keys, model, notes);
}

} // namespace headroom::io
