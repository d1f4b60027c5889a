#include "headroom/io/launch_emit.hpp"

#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace headroom::io {

using namespace headroom::training;

namespace {

using Text = std::string_view;

/// Values that a software without the key has anyway.
bool asks_for_nothing(Text option, Text value) {
    constexpr std::array degrees{"--tp", "--pp", "--virtual-pp", "--cp", "--ep", "--etp"};
    return (value == "1" && std::ranges::count(degrees, option) > 0) || (option == "--shard" && value == "0") ||
           (option == "--recompute" && value == "none");
}

/// Writes one option in a target's keys; false for a value that it has no key for.
class Writer {
public:
    explicit Writer(LaunchPlan const& plan) : plan_{plan} {}

    [[nodiscard]] std::string value(Text option) const {
        for (auto const& [name, value] : plan_.options) {
            if (name == option) { return value; }
        }
        return {};
    }
    /// The value, as one that the file expresses.
    std::string take(Text option) {
        taken_.emplace_back(option);
        return value(option);
    }
    [[nodiscard]] int number(Text option) const {
        std::string const text = value(option);
        return text.empty() ? 1 : std::atoi(text.c_str());
    }
    void line(std::string text) { lines_ += std::move(text) + "\n"; }

    [[nodiscard]] int nodes() const { return std::max(1, (plan_.workers + per_node() - 1) / per_node()); }
    /// Processes of a node: all nodes hold as many.
    [[nodiscard]] int per_node() const {
        int each = std::min(plan_.workers, plan_.accelerators_per_node);
        while (plan_.workers % each != 0) { --each; }
        return each;
    }

    /// The file, with the options that it does not express; those that follow from others count as expressed.
    [[nodiscard]] EmittedLaunch finish(std::string text, std::vector<std::string> const& derived) const {
        EmittedLaunch result{.text = std::move(text), .not_expressed = {}};
        for (auto const& [name, value] : plan_.options) {
            bool const is_taken = std::ranges::count(taken_, name) > 0 || std::ranges::count(derived, name) > 0;
            if (!is_taken && !asks_for_nothing(name, value)) { result.not_expressed.push_back(name + " " + value); }
        }
        return result;
    }
    [[nodiscard]] std::string const& lines() const { return lines_; }
    [[nodiscard]] LaunchPlan const& plan() const { return plan_; }

private:
    LaunchPlan const& plan_;
    std::vector<std::string> taken_;
    std::string lines_;
};

std::string comments(EmittedLaunch const& launch, LaunchPlan const& plan) {
    std::string text = "# " + plan.command + "\n";
    for (std::string const& option : launch.not_expressed) { text += "# not in this file: " + option + "\n"; }
    return text;
}

/// A name of another software for a value; empty where it has none.
std::string renamed(Text value, std::initializer_list<std::pair<Text, Text>> names) {
    for (auto const& [own, other] : names) {
        if (own == value) { return std::string{other}; }
    }
    return {};
}

/// Layers of a chunk that are recomputed; empty where all are, or where chunks differ.
std::string recomputed_of_chunk(Writer const& out) {
    int const layers = out.value("--recompute-layers").empty() ? 0 : out.number("--recompute-layers");
    int const chunks = out.number("--pp") * out.number("--virtual-pp");
    return layers > 0 && layers % chunks == 0 ? std::to_string(layers / chunks) : std::string{};
}

// ---- Megatron-LM --------------------------------------------------------------------------------------------------

/// Switches of what overlaps; Megatron overlaps nothing without them.
void megatron_overlap(Writer& out) {
    std::string const stated = out.value("--overlap");
    auto const overlaps = [&](std::string const& kind) {
        return stated != "off" && stated.find(kind + "=off") == std::string::npos;
    };
    bool const shards = !out.value("--zero").empty() && out.value("--zero") != "0";
    bool const splits = out.number("--tp") > 1 && out.value("--sequence-parallel") == "on";
    if (overlaps("gradients")) { out.line("    --overlap-grad-reduce \\"); }
    if (overlaps("gradients") && overlaps("parameters") && shards) { out.line("    --overlap-param-gather \\"); }
    if (overlaps("tensor") && splits) { out.line("    --tp-comm-overlap \\"); }
}

void megatron_arguments(Writer& out) {
    auto const pass = [&out](Text key, Text option) { out.line(fmt::format("    {} {} \\", key, out.take(option))); };
    pass("--tensor-model-parallel-size", "--tp");
    pass("--pipeline-model-parallel-size", "--pp");
    pass("--context-parallel-size", "--cp");
    pass("--expert-model-parallel-size", "--ep");
    pass("--expert-tensor-parallel-size", "--etp");
    if (out.number("--virtual-pp") > 1) { pass("--num-virtual-stages-per-pipeline-rank", "--virtual-pp"); }
    pass("--micro-batch-size", "--micro-batch");
    pass("--global-batch-size", "--global-batch");
    pass("--seq-length", "--sequence-length");
    auto const exchange = // names of Transformer Engine, not of Megatron's help text
        renamed(out.value("--exchange"),
                {{"gather", "all_gather"}, {"ring", "p2p"}, {"all_to_all", "a2a"}, {"all-to-all", "a2a"}});
    if (!exchange.empty()) {
        out.take("--exchange");
        out.line("    --cp-comm-type " + exchange + " \\");
    }
    if (out.take("--sequence-parallel") == "on") { out.line("    --sequence-parallel \\"); }
    std::string const zero = out.take("--zero");
    if (zero == "1") { out.line("    --use-distributed-optimizer \\"); }
    if (zero == "2" || zero == "3") {
        out.line(fmt::format("    --use-megatron-fsdp --data-parallel-sharding-strategy {} \\\n"
                             "    --ckpt-format fsdp_dtensor \\",
                             zero == "3" ? "optim_grads_params" : "optim_grads"));
    }
    megatron_overlap(out);
    std::string const recompute = out.value("--recompute");
    if (recompute == "none" || recompute == "full" || recompute == "selective") { out.take("--recompute"); }
    if (recompute == "full" || recompute == "selective") {
        out.line("    --recompute-granularity " + recompute + " \\");
    }
    std::string const layers = recomputed_of_chunk(out);
    if (recompute == "full" && !layers.empty()) {
        out.take("--recompute-layers");
        out.line(fmt::format("    --recompute-method block --recompute-num-layers {} \\", layers));
    } else if (recompute == "full") {
        out.line("    --recompute-method uniform --recompute-num-layers 1 \\");
    }
    std::string const precision = out.value("--precision");
    if (precision == "bf16" || precision == "fp16") { out.line("    --" + out.take("--precision") + " \\"); }
    if (precision == "fp8") {
        out.take("--precision");
        out.line("    --bf16 --fp8-format hybrid \\");
    }
    out.line("    \"$@\"");
}

/// Connections of a GPU, which Megatron-LM asks for where tensors or sequences are split, and refuses with FSDP.
std::string megatron_environment(Writer const& out) {
    bool const splits = out.number("--tp") > 1 || out.number("--cp") > 1, fsdp = out.number("--zero") > 1;
    return splits && !fsdp ? "export CUDA_DEVICE_MAX_CONNECTIONS=1\n" : "";
}

EmittedLaunch megatron(LaunchPlan const& plan, bool slurm) {
    Writer out{plan};
    megatron_arguments(out);
    EmittedLaunch launch = out.finish({}, {"--dp"});
    std::string text = "#!/bin/bash\n";
    if (slurm) {
        text += fmt::format("#SBATCH --nodes={}\n#SBATCH --gpus-per-node={}\n#SBATCH --ntasks-per-node=1\n",
                            out.nodes(), out.per_node());
    }
    text += comments(launch, plan);
    text += "# give this script the options of the model, the data and the checkpoints: they follow at \"$@\"\n" +
            megatron_environment(out);
    text += slurm ? fmt::format("srun torchrun --nnodes {} --nproc_per_node {} \\\n    --rdzv_backend c10d "
                                "--rdzv_endpoint \"$(hostname):29500\" \\\n    pretrain_gpt.py \\\n",
                                out.nodes(), out.per_node())
                  : fmt::format("torchrun --nnodes {} --nproc_per_node {} pretrain_gpt.py \\\n", out.nodes(),
                                out.per_node());
    launch.text = text + out.lines();
    return launch;
}

// ---- torchtitan ---------------------------------------------------------------------------------------------------

EmittedLaunch torchtitan(LaunchPlan const& plan) {
    Writer out{plan};
    int const dp = out.number("--dp"),
              shard = out.value("--shard") == "0" || out.value("--shard").empty() ? dp : out.number("--shard");
    std::string const zero = out.value("--zero");
    bool const pipeline = out.number("--pp") > 1;
    out.line("[parallelism]");
    bool const shards = zero == "2" || zero == "3", whole = dp % shard == 0;
    out.line(fmt::format("data_parallel_replicate_degree = {}", shards && whole ? dp / shard : shards ? 1 : dp));
    int const degree = shards ? (whole ? shard : dp) : 1;
    out.line(fmt::format("data_parallel_shard_degree = {}", shards && dp == 1 ? -1 : degree)); // -1: all ranks
    out.take("--dp");
    if (shards && whole) { out.take("--shard"); }
    if (zero != "1") { out.take("--zero"); }
    if (zero == "2") { out.line("fsdp_reshard_after_forward = \"never\""); }
    out.line("tensor_parallel_degree = " + out.take("--tp"));
    out.line("pipeline_parallel_degree = " + out.take("--pp"));
    out.line("context_parallel_degree = " + out.take("--cp"));
    if (out.number("--ep") > 1) { out.line("expert_parallel_degree = " + out.take("--ep")); }
    if (out.number("--etp") > 1) { out.line("expert_tensor_parallel_degree = " + out.take("--etp")); }
    if (pipeline) {
        std::string const name = renamed(out.value("--schedule"), {{"1f1b", "1F1B"},
                                                                   {"gpipe", "GPipe"},
                                                                   {"zbv", "ZBVZeroBubble"},
                                                                   {"dualpipe-v", "DualPipeV"},
                                                                   {"interleaved", "Interleaved1F1B"}});
        if (!name.empty()) {
            out.line(fmt::format("pipeline_parallel_schedule = \"{}\"", name)), out.take("--schedule");
        }
        out.line("pipeline_parallel_microbatch_size = " + out.take("--micro-batch"));
    }
    bool const sequence = (out.value("--sequence-parallel") == "on") == (out.number("--tp") > 1);
    if (sequence) { out.take("--sequence-parallel"); }
    out.line("\n[training]");
    int const share = std::max(1, out.number("--global-batch") / std::max(1, dp));
    if (pipeline) {
        out.line(fmt::format("local_batch_size = {}", share));
    } else {
        out.line("local_batch_size = " + out.take("--micro-batch"));
        if (out.value("--virtual-pp") == "1") { out.take("--virtual-pp"); }
    }
    out.line("global_batch_size = " + out.take("--global-batch"));
    out.line("seq_len = " + out.take("--sequence-length"));
    std::string const recompute =
        renamed(out.value("--recompute"), {{"none", "none"}, {"full", "full"}, {"alternate", "selective"}});
    if (!recompute.empty()) {
        out.take("--recompute");
        out.line("\n[activation_checkpoint]\nmode = \"" + recompute + "\"");
    }
    if (out.value("--precision") == "bf16") { out.take("--precision"); }
    EmittedLaunch launch = out.finish({}, {});
    launch.text = comments(launch, plan) + out.lines();
    return launch;
}

// ---- DeepSpeed, Accelerate, NeMo ----------------------------------------------------------------------------------

EmittedLaunch deepspeed(LaunchPlan const& plan) {
    Writer out{plan};
    if (out.value("--sequence-parallel") == "off") { out.take("--sequence-parallel"); } // it has none
    std::string const batch = out.take("--global-batch"), micro = out.take("--micro-batch"), zero = out.take("--zero");
    std::string text =
        fmt::format("{{\n  \"train_batch_size\": {},\n  \"train_micro_batch_size_per_gpu\": {},\n", batch, micro);
    std::string const precision = out.value("--precision");
    if (precision == "bf16" || precision == "fp16") {
        text += fmt::format("  \"{}\": {{\"enabled\": true}},\n", out.take("--precision"));
    }
    std::string const offload = out.value("--offload");
    std::string more;
    if (offload == "optimizer" || offload == "parameters") {
        out.take("--offload");
        more += ", \"offload_optimizer\": {\"device\": \"cpu\"}";
        if (offload == "parameters") { more += ", \"offload_param\": {\"device\": \"cpu\"}"; }
    }
    text += fmt::format("  \"zero_optimization\": {{\"stage\": {}{}}}\n}}\n", zero, more);
    return out.finish(std::move(text), {"--dp"});
}

EmittedLaunch accelerate(LaunchPlan const& plan) {
    Writer out{plan};
    if (out.value("--sequence-parallel") == "off") { out.take("--sequence-parallel"); } // it has none
    std::string const zero = out.value("--zero");
    bool const fsdp = zero == "2" || zero == "3", zero1 = zero == "1";
    out.line(std::string{"distributed_type: "} + (fsdp ? "FSDP" : zero1 ? "DEEPSPEED" : "MULTI_GPU"));
    out.line(fmt::format("num_machines: {}\nnum_processes: {}", out.nodes(), plan.workers));
    if (out.value("--precision") == "bf16" || out.value("--precision") == "fp16" || out.value("--precision") == "fp8") {
        out.line("mixed_precision: " + out.take("--precision"));
    }
    if (fsdp) {
        out.take("--zero");
        out.line(std::string{"fsdp_config:\n  fsdp_sharding_strategy: "} +
                 (zero == "3" ? "FULL_SHARD" : "SHARD_GRAD_OP"));
        std::string const recompute = out.value("--recompute");
        if (recompute == "full" || recompute == "none") {
            out.take("--recompute");
            out.line(std::string{"  fsdp_activation_checkpointing: "} + (recompute == "full" ? "true" : "false"));
        }
        if (out.value("--offload") == "parameters") { out.line("  fsdp_offload_params: true"), out.take("--offload"); }
    }
    if (zero1) { out.line("deepspeed_config:\n  zero_stage: " + out.take("--zero")); }
    EmittedLaunch launch = out.finish({}, {"--dp"});
    launch.text = comments(launch, plan) + out.lines();
    return launch;
}

void nemo_full_recomputation(Writer& out) {
    std::string const layers = recomputed_of_chunk(out);
    if (!layers.empty()) { out.take("--recompute-layers"); }
    out.line(fmt::format("  activations_checkpoint_method: {}\n  activations_checkpoint_num_layers: {}",
                         layers.empty() ? "uniform" : "block", layers.empty() ? "1" : layers));
}

EmittedLaunch nemo(LaunchPlan const& plan) {
    Writer out{plan};
    auto const pass = [&out](Text key, Text option) { out.line(fmt::format("  {}: {}", key, out.take(option))); };
    out.line(fmt::format("trainer:\n  devices: {}\n  num_nodes: {}", out.per_node(), out.nodes()));
    if (out.value("--precision") == "bf16" || out.value("--precision") == "fp32") { pass("precision", "--precision"); }
    if (out.value("--precision") == "fp16") { out.line("  precision: 16-mixed"), out.take("--precision"); }
    out.line("model:");
    pass("tensor_model_parallel_size", "--tp");
    pass("pipeline_model_parallel_size", "--pp");
    if (out.number("--virtual-pp") > 1) { pass("virtual_pipeline_model_parallel_size", "--virtual-pp"); }
    pass("context_parallel_size", "--cp");
    pass("expert_model_parallel_size", "--ep");
    pass("expert_tensor_parallel_size", "--etp");
    pass("micro_batch_size", "--micro-batch");
    pass("global_batch_size", "--global-batch");
    pass("encoder_seq_length", "--sequence-length");
    out.line(std::string{"  sequence_parallel: "} + (out.take("--sequence-parallel") == "on" ? "true" : "false"));
    std::string const recompute = out.value("--recompute");
    if (recompute == "full" || recompute == "selective") { pass("activations_checkpoint_granularity", "--recompute"); }
    if (recompute == "full") { nemo_full_recomputation(out); }
    if (recompute == "none") { out.line("  activations_checkpoint_granularity: null"), out.take("--recompute"); }
    if (out.value("--zero") == "0" || out.value("--zero") == "1") {
        out.line(std::string{"  optim:\n    name: "} +
                 (out.take("--zero") == "1" ? "distributed_fused_adam" : "fused_adam"));
    }
    EmittedLaunch launch = out.finish({}, {"--dp"});
    launch.text = comments(launch, plan) + out.lines();
    return launch;
}

} // namespace

LaunchTarget launch_target(std::string_view name, std::string_view where) {
    std::vector<std::string> const names{"megatron", "torchtitan", "deepspeed", "accelerate", "nemo", "slurm"};
    std::string const chosen = parse_choice(name, names, where);
    return static_cast<LaunchTarget>(std::ranges::find(names, chosen) - names.begin());
}

std::string_view framework_of(LaunchTarget target, bool splits_layers, std::optional<std::string> const& zero) {
    switch (target) {
    case LaunchTarget::torchtitan: return "torchtitan";
    case LaunchTarget::deepspeed: return splits_layers ? "megatron-deepspeed" : "hf-deepspeed";
    case LaunchTarget::accelerate: return zero == "0" ? "hf-trainer" : zero == "1" ? "hf-deepspeed" : "hf-fsdp";
    case LaunchTarget::megatron:
    case LaunchTarget::nemo:
    case LaunchTarget::slurm: return "megatron-core";
    }
    return {};
}

LaunchOptions options_of(Strategy const& s, Workload const& work) {
    LaunchOptions all;
    auto const add = [&all](char const* option, std::string value) { all.emplace_back(option, std::move(value)); };
    auto const count = [&](char const* option, int value) { add(option, std::to_string(value)); };
    count("--dp", s.dp);
    count("--tp", s.tp);
    count("--pp", s.pp);
    count("--virtual-pp", s.virtual_pp);
    bool const plain = s.pipeline == PipelineSchedule::one_f_one_b || s.pp == 1;
    if (!plain) { add("--schedule", std::string{name_of(s.pipeline)}); }
    count("--cp", s.cp);
    if (s.cp > 1) { add("--exchange", std::string{name_of(s.exchange)}); }
    count("--ep", s.ep);
    count("--etp", s.etp);
    count("--zero", s.zero);
    if (s.zero > 0) { count("--shard", s.shard); }
    count("--micro-batch", s.micro_batch);
    add("--sequence-parallel", s.sequence_parallel ? "on" : "off");
    add("--recompute", spelled_recomputation(s));
    if (s.recompute_layers > 0) { count("--recompute-layers", s.recompute_layers); }
    add("--precision", std::string{name_of(s.precision)});
    if (s.offload != Offload::none) { add("--offload", std::string{name_of(s.offload)}); }
    if (s.overlap != Overlaps{}) { add("--overlap", spelled(s.overlap)); }
    if (s.trained != Trained::all) { add("--train", spelled_training(s)); }
    if (s.capacity > 0.0) { add("--capacity", fmt::format("{}", s.capacity)); }
    if (s.local_steps > 1) { count("--local-steps", s.local_steps); }
    if (s.servers > 0) { count("--servers", s.servers); }
    if (s.compression != network::GradientCompression{}) { add("--compression", spelled(s.compression)); }
    count("--global-batch", work.global_batch);
    count("--sequence-length", work.sequence_length);
    return all;
}

EmittedLaunch emit_launch(LaunchTarget target, LaunchPlan const& plan) {
    switch (target) {
    case LaunchTarget::megatron: return megatron(plan, false);
    case LaunchTarget::slurm: return megatron(plan, true);
    case LaunchTarget::torchtitan: return torchtitan(plan);
    case LaunchTarget::deepspeed: return deepspeed(plan);
    case LaunchTarget::accelerate: return accelerate(plan);
    case LaunchTarget::nemo: return nemo(plan);
    }
    return {};
}

} // namespace headroom::io
