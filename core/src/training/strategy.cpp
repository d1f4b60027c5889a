#include "headroom/training/strategy.hpp"

#include "headroom/training/pipeline.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace headroom::training {

using namespace headroom::network;

namespace {

void append(std::string& name, std::string_view word) {
    if (!name.empty()) { name += ' '; }
    name += word;
}

void append_degree(std::string& name, std::string_view word, int degree, bool always = false) {
    if (degree != 1 || always) { append(name, std::string{word} + std::to_string(degree)); }
}

/// A number with six significant digits and no zeros at its end.
std::string six_digits(double value) {
    std::array<char, 32> buffer{};
    auto const end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, 6).ptr;
    return {buffer.data(), end};
}

} // namespace

std::string_view name_of(Recompute recompute) {
    switch (recompute) {
    case Recompute::none: return "none";
    case Recompute::selective: return "selective";
    case Recompute::alternate: return "alternate";
    case Recompute::modules: return "modules";
    case Recompute::full: return "full";
    }
    return "";
}

std::string_view name_of(ContextExchange exchange) {
    switch (exchange) {
    case ContextExchange::gather: return "gather";
    case ContextExchange::ring: return "ring";
    case ContextExchange::all_to_all: return "all-to-all";
    }
    return "";
}

std::string_view name_of(Offload offload) {
    switch (offload) {
    case Offload::none: return "none";
    case Offload::optimizer: return "optimizer";
    case Offload::activations: return "activations";
    case Offload::both: return "both";
    case Offload::parameters: return "parameters";
    case Offload::all: return "all";
    }
    return "";
}

std::string_view name_of(TrafficKind kind) {
    switch (kind) {
    case TrafficKind::tensor: return "tensor";
    case TrafficKind::context: return "context";
    case TrafficKind::expert: return "expert";
    case TrafficKind::gradients: return "gradients";
    case TrafficKind::parameters: return "parameters";
    case TrafficKind::pipeline: return "pipeline";
    case TrafficKind::offload: return "offload";
    }
    return "";
}

double expert_load(Strategy const& strategy, Workload const& workload) {
    if (strategy.capacity > 0.0) { return strategy.capacity; }
    return strategy.ep > 1 ? workload.expert_skew : 1.0; // one rank has all tokens
}

double micro_batch_count(Strategy const& strategy, Workload const& workload) {
    double const share = std::max(1.0, static_cast<double>(strategy.dp) * strategy.micro_batch);
    return std::max(1.0, workload.global_batch / share);
}

int whole_micro_batches(Strategy const& strategy, Workload const& workload) {
    return static_cast<int>(std::ceil(micro_batch_count(strategy, workload)));
}

PipelineShape pipeline_shape(Strategy const& strategy, Workload const& workload) {
    int const own = schedule_row(strategy.schedule()).chunks;
    return {.stages = strategy.pp,
            .chunks = own > 0 ? own : strategy.virtual_pp,
            .micro_batches = whole_micro_batches(strategy, workload)};
}

std::string short_name(Strategy const& strategy) {
    std::string name;
    append_degree(name, "tp", strategy.tp);
    if (strategy.sequence_parallel && strategy.tp > 1) { append(name, "sp"); }
    append_degree(name, "cp", strategy.cp);
    append_degree(name, "pp", strategy.pp);
    append_degree(name, "vp", strategy.virtual_pp);
    auto const schedule = strategy.schedule();
    bool const told = schedule == PipelineSchedule::one_f_one_b || schedule == PipelineSchedule::interleaved;
    if (!told) { append(name, name_of(schedule)); } // by the chunks
    append_degree(name, "ep", strategy.ep);
    if (strategy.ep > 1) { append_degree(name, "etp", strategy.etp); }
    append_degree(name, "dp", strategy.dp, true);
    if (strategy.zero > 0) { append_degree(name, "zero", strategy.zero, true); }
    if (strategy.shard > 0) { append_degree(name, "shard", strategy.shard, true); }
    append_degree(name, "mb", strategy.micro_batch, true);
    if (strategy.recompute != Recompute::none) { append(name, spelled_recomputation(strategy)); }
    if (strategy.recompute != Recompute::none && strategy.recompute_layers > 0) {
        name += std::to_string(strategy.recompute_layers);
    }
    if (strategy.cp > 1 && strategy.exchange != ContextExchange::gather) { append(name, name_of(strategy.exchange)); }
    if (strategy.offload != Offload::none) { append(name, "offload-" + std::string{name_of(strategy.offload)}); }
    bool const scaled = (strategy.adapter_modules & adapter_module::magnitudes) != 0;
    if (strategy.trained == Trained::lora) { append(name, scaled ? "dora" : "lora"); }
    if (strategy.trained == Trained::last_layers) { append_degree(name, "top", strategy.trained_layers, true); }
    if (strategy.local_steps > 1) { append_degree(name, "every", strategy.local_steps); }
    if (strategy.servers > 0) { append_degree(name, "servers", strategy.servers, true); }
    if (strategy.compression.kind != Compression::none) { append(name, name_of(strategy.compression.kind)); }
    return name;
}

std::string spelled(GradientCompression const& compression) {
    std::string kind{name_of(compression.kind)};
    std::ranges::replace(kind, '_', '-');
    switch (compression.kind) {
    case Compression::none: break;
    case Compression::low_rank: return kind + ":" + std::to_string(compression.rank);
    case Compression::quantised: return kind + ":" + six_digits(compression.bits);
    case Compression::top_k: return kind + ":" + six_digits(compression.share);
    case Compression::one_bit: return kind + ":" + six_digits(compression.warm_up);
    }
    return kind;
}

std::string spelled(Overlaps const& overlaps) {
    if (overlaps == Overlap::on) { return "on"; }
    if (overlaps == Overlap::off) { return "off"; }
    std::string text;
    for (TrafficKind const kind : traffic_kinds) {
        if (overlaps[kind] == Overlap::on) { continue; }
        text += text.empty() ? "" : ",";
        text += std::string{name_of(kind)} + (overlaps[kind] == Overlap::off ? "=off" : "=on");
    }
    return text;
}

std::string_view name_of(FrozenFormat format) {
    switch (format) {
    case FrozenFormat::sixteen_bit: return "bf16";
    case FrozenFormat::int8: return "int8";
    case FrozenFormat::int4: return "int4";
    case FrozenFormat::nf4: return "nf4";
    }
    return "";
}

double bytes_of(FrozenFormat format) {
    switch (format) {
    case FrozenFormat::sixteen_bit: break;
    case FrozenFormat::int8: return 1.0;
    case FrozenFormat::int4: return 0.5 + 2.5 / 128.0;
    case FrozenFormat::nf4: return 0.5 + 1.0 / 64.0 + 4.0 / (64.0 * 256.0);
    }
    return 2.0;
}

std::string spelled_modules(unsigned modules) {
    std::string text;
    unsigned left = modules;
    for (auto const& [name, all] :
         {std::pair{"linear", adapter_module::linear}, {"attention", adapter_module::attention}}) {
        if ((left & adapter_module::linear) == all) { text = name, left &= ~all; }
    }
    for (auto const& [name, bit] : adapter_modules) {
        if ((left & bit) != 0) { text += (text.empty() ? "" : "+") + std::string{name}; }
    }
    return text;
}

std::string spelled_recomputation(Strategy const& strategy) {
    if (strategy.recompute != Recompute::modules) { return std::string{name_of(strategy.recompute)}; }
    std::string text;
    for (auto const& [name, bit] : recompute_modules) {
        if ((strategy.recomputed & bit) != 0) { text += (text.empty() ? "" : "+") + std::string{name}; }
    }
    return text;
}

std::string spelled_training(Strategy const& strategy) {
    switch (strategy.trained) {
    case Trained::all: break;
    case Trained::lora: {
        bool const scaled = (strategy.adapter_modules & adapter_module::magnitudes) != 0;
        unsigned const modules = strategy.adapter_modules & ~adapter_module::magnitudes;
        std::string const rank = (scaled ? "dora:" : "lora:") + std::to_string(strategy.adapter_rank);
        return modules == adapter_module::attention ? rank : rank + ":" + spelled_modules(modules);
    }
    case Trained::last_layers: return "last:" + std::to_string(strategy.trained_layers);
    }
    return "all";
}

} // namespace headroom::training
