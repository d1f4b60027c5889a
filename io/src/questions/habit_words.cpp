#include "headroom/io/habit_words.hpp"

#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

#include <algorithm>
#include <array>

namespace headroom::io {

namespace {

using Text = std::string_view;

struct WordMeaning {
    Text written, meant; ///< `written` normalised
};

/// Translation by a list; a value that is not on it is passed on, so that the option refuses it.
template <std::size_t N> std::string meant(Text value, std::array<WordMeaning, N> const& list) {
    std::string const wanted = normalised(value);
    auto const found = std::ranges::find(list, wanted, &WordMeaning::written);
    return std::string{found == list.end() ? value : found->meant};
}

/// Sharding of PyTorch and of the Trainer: "full_shard auto_wrap", "SHARD_GRAD_OP", "1"; a switch counts as full.
std::string zero_of_fsdp(Text value) {
    std::string const first = words::split(words::split(value, ' ').front(), ',').front();
    constexpr std::array list{WordMeaning{"fullshard", "3"},
                              WordMeaning{"hybridshard", "3"},
                              WordMeaning{"hybridshardzero2", "2"},
                              WordMeaning{"shardgradop", "2"},
                              WordMeaning{"noshard", ""},
                              WordMeaning{"true", "3"},
                              WordMeaning{"on", "3"},
                              WordMeaning{"yes", "3"},
                              WordMeaning{"false", ""},
                              WordMeaning{"off", ""},
                              WordMeaning{"autowrap", "3"},
                              WordMeaning{"optim", "1"},
                              WordMeaning{"optimgrads", "2"},
                              WordMeaning{"optimgradsparams", "3"},
                              WordMeaning{"full", "3"},
                              WordMeaning{"hybrid", "3"},
                              WordMeaning{"grad", "2"},
                              WordMeaning{"", ""}};
    return meant(first, list);
}

std::string recomputation(Text value) {
    constexpr std::array list{
        WordMeaning{"true", "full"}, WordMeaning{"on", "full"},      WordMeaning{"false", "none"},
        WordMeaning{"no", "none"},   WordMeaning{"off", "none"},     WordMeaning{"unsloth", "full"},
        WordMeaning{"", "none"},     WordMeaning{"uniform", "full"}, WordMeaning{"block", "full"}};
    return meant(value, list);
}

/// "lora", "qlora", "dora", "qdora", "full", "freeze".
std::string training(Text value) {
    constexpr std::array list{
        WordMeaning{"full", "all"},   WordMeaning{"fullfinetune", "all"}, WordMeaning{"none", "all"},
        WordMeaning{"qlora", "lora"}, WordMeaning{"peft", "lora"},        WordMeaning{"", "all"},
        WordMeaning{"qdora", "dora"}, WordMeaning{"sft", "all"},          WordMeaning{"null", "all"}};
    return meant(value, list);
}

HabitSetting quantised_base(Text) { return {"--base", "nf4"}; }
HabitSetting quantised_base_of(Text value) {
    std::string const name = normalised(value);
    return name == "qlora" || name == "qdora" ? quantised_base(value) : HabitSetting{};
}
/// "hybrid_shard" shards within a node; "full_shard offload" keeps parameters in host memory.
HabitSetting more_of_fsdp(Text value) {
    if (normalised(value).starts_with("hybrid")) { return {"--shard", "node"}; }
    return value.find("offload") != Text::npos ? HabitSetting{"--offload", "parameters"} : HabitSetting{};
}
HabitSetting exchange_of_heads(Text) { return {"--exchange", "all-to-all"}; }

std::string lora_rank(Text value) { return "lora:" + std::string{value}; }

std::string frozen_bits(Text value) {
    constexpr std::array list{WordMeaning{"4", "nf4"}, WordMeaning{"8", "int8"}, WordMeaning{"16", "bf16"},
                              WordMeaning{"none", ""}};
    return meant(value, list);
}

std::string offload_of(Text value) {
    constexpr std::array list{WordMeaning{"true", "optimizer"}, WordMeaning{"cpu", "optimizer"},
                              WordMeaning{"false", "none"}, WordMeaning{"nvme", "optimizer"}};
    return meant(value, list);
}

std::string format_of(Text value) {
    constexpr std::array list{WordMeaning{"no", ""}, WordMeaning{"none", ""}, WordMeaning{"auto", ""}};
    return meant(value, list);
}

std::string eight_bits(Text) { return "fp8"; }

constexpr Text batch_of_all = "read as the sequences of a step over all accelerators; those of one are --micro-batch";

constexpr std::array habit_rows{
    // ---- the machine and its number ----
    HabitWord{"gpus num-gpus n-gpus total-gpus gpu-count world-size num-processes accelerators chips "
              "num-chips num-devices n-devices gpus-total",
              "--workers --ranks"},
    HabitWord{"nnodes num-nodes node-count num-machines hosts num-hosts", "--nodes"},
    HabitWord{"nproc-per-node nproc gpus-per-node num-gpus-per-node n-gpus-per-node devices devices-per-node "
              "ntasks-per-node tasks-per-node gpus-per-machine accelerators-per-host chips-per-host per-node",
              "--accelerators-per-node"},
    HabitWord{"gpu gpu-type gpu-model accelerator accelerator-type hardware hw device device-type node-type instance "
              "instance-type machine machine-type system",
              "--cluster --machine"},
    HabitWord{"interconnect fabric nics nic", "--network"},
    HabitWord{"model model-name model-name-or-path model-id pretrained-model pretrained-model-name-or-path base-model "
              "hf-model config-json",
              "MODEL"},
    // ---- the batch and the data ----
    HabitWord{
        "gbs global-batch-size global-train-batch-size train-batch-size total-batch-size total-train-batch-size gbsz",
        "--global-batch"},
    HabitWord{"batch-size batch bs bsz", "--global-batch", {}, nullptr, batch_of_all},
    HabitWord{"mbs micro-batch-size micro-bs per-device-train-batch-size per-device-batch-size "
              "train-micro-batch-size-per-gpu per-gpu-train-batch-size per-gpu-batch-size batch-size-per-gpu "
              "local-batch-size mbsz "
              "micro-train-batch-size "
              "micro-batch-size-per-gpu device-train-microbatch-size",
              "--micro-batch"},
    HabitWord{"gradient-accumulation-steps gradient-accumulation grad-accumulation-steps grad-accum-steps "
              "grad-acc-steps grad-acc gradient-accumulation-iters accumulate-grad-batches accumulation-steps gas ga",
              "--grad-accum"},
    HabitWord{
        "seq-len seq-length sequence-len sequence length context-length context-len context ctx-len ctx ctx-length "
        "n-ctx "
        "max-seq-len max-seq-length max-sequence-length max-length max-len cutoff-len block-size max-target-length "
        "model-max-length",
        "--sequence-length"},
    HabitWord{"num-tokens total-tokens train-tokens training-tokens max-tokens token-budget dataset-tokens "
              "tokens-total n-tokens",
              "--tokens"},
    HabitWord{"max-steps train-iters train-steps training-steps num-steps num-train-steps iterations", "--steps"},
    // ---- money and time ----
    HabitWord{"gpu-price price-per-gpu price-per-gpu-hour price-per-hour gpu-hour-price cost-per-hour "
              "cost-per-gpu-hour gpu-cost hourly-price hourly rate-per-hour",
              "--price"},
    HabitWord{"max-cost max-budget max-dollars", "--budget"},
    HabitWord{"max-days max-time within", "--deadline"},
    // ---- number formats ----
    HabitWord{"dtype torch-dtype model-dtype compute-dtype mixed-precision train-precision data-type autocast-dtype",
              "--precision",
              {},
              format_of},
    HabitWord{"bf16 use-bf16 bfloat16", "--precision", "bf16"},
    HabitWord{"fp16 use-fp16 float16 half amp", "--precision", "fp16"},
    HabitWord{"fp8 use-fp8", "--precision", "fp8"},
    HabitWord{"fp8-format fp8-hybrid", "--precision", {}, eight_bits},
    HabitWord{"fp32 float32", "--precision", "fp32"},
    HabitWord{"tf32", "--precision", "tf32"},
    HabitWord{"attn-implementation attn-impl attention-implementation", "--attention-kernel"},
    HabitWord{"use-flash-attn use-flash-attention flash-attn use-flash-attn-2 flash-attention flash-attention-2",
              "--attention-kernel", "flash2"},
    HabitWord{"torch-compile use-torch-compile use-compile", "--compile", "on"},
    HabitWord{"no-compile no-torch-compile eager", "--compile", "off"},
    // ---- parallelism ----
    HabitWord{"tp-size tp-degree tensor-parallel tensor-parallelism tensor-parallel-size tensor-parallel-degree "
              "tensor-model-parallel-size model-parallel-size",
              "--tp"},
    HabitWord{
        "pp-size pp-degree pipeline-parallel pipeline-parallelism pipeline-parallel-size pipeline-parallel-degree "
        "pipeline-model-parallel-size pipeline-stages num-stages",
        "--pp"},
    HabitWord{"vpp vp virtual-pipeline-model-parallel-size virtual-pipeline-parallel-size "
              "num-virtual-stages-per-pipeline-rank",
              "--virtual-pp"},
    HabitWord{"num-layers-per-virtual-pipeline-stage", "--layers-per-chunk"},
    HabitWord{"dp-size dp-degree data-parallel data-parallel-size data-parallel-degree", "--dp"},
    HabitWord{"cp-size cp-degree context-parallel context-parallel-size context-parallel-degree sequence-parallel-size",
              "--cp"},
    HabitWord{"ulysses-degree ulysses-size ulysses-sequence-parallel-size", "--cp", {}, nullptr, {}, exchange_of_heads},
    HabitWord{"cp-comm-type context-parallel-rotate-method",
              "--exchange",
              {},
              [](Text value) {
                  constexpr std::array list{WordMeaning{"p2p", "ring"}, WordMeaning{"a2a", "all-to-all"},
                                            WordMeaning{"allgather", "gather"}, WordMeaning{"alltoall", "all-to-all"}};
                  return meant(value, list);
              }},
    HabitWord{"ep-size ep-degree expert-parallel expert-parallel-size expert-parallel-degree "
              "expert-model-parallel-size",
              "--ep"},
    HabitWord{"etp-size expert-tensor-parallel-size expert-tensor-parallel-degree", "--etp"},
    HabitWord{"sp use-sequence-parallel", "--sequence-parallel", "on"},
    HabitWord{"pipeline-schedule pipeline-parallel-schedule pp-schedule", "--schedule"},
    // ---- sharding ----
    HabitWord{"use-distributed-optimizer distributed-optimizer", "--zero", "1"},
    HabitWord{"zero-stage zero-optimization-stage", "--zero"},
    HabitWord{"zero1", "--zero", "1"},
    HabitWord{"zero2", "--zero", "2"},
    HabitWord{"zero3", "--zero", "3"},
    HabitWord{"fsdp fsdp2 use-fsdp use-fsdp2 use-torch-fsdp2 use-megatron-fsdp use-custom-fsdp fully-sharded",
              "--zero",
              "3",
              zero_of_fsdp,
              {},
              more_of_fsdp},
    HabitWord{"fsdp-sharding-strategy sharding-strategy data-parallel-sharding-strategy",
              "--zero",
              {},
              zero_of_fsdp,
              {},
              more_of_fsdp},
    HabitWord{"hsdp-shard-size data-parallel-shard-degree fsdp-size", "--shard"},
    // ---- recomputation and offload ----
    HabitWord{"gradient-checkpointing use-gradient-checkpointing activation-checkpointing "
              "use-activation-checkpointing checkpoint-activations enable-gradient-checkpointing grad-ckpt "
              "grad-checkpoint grad-checkpointing",
              "--recompute", "full", recomputation},
    HabitWord{"recompute-activations", "--recompute", "selective"},
    HabitWord{"recompute-granularity recomputation activation-checkpoint-mode remat-policy",
              "--recompute",
              {},
              recomputation},
    HabitWord{"recompute-modules", "--recompute"},
    HabitWord{"recompute-num-layers", "--recompute-layers"},
    HabitWord{"cpu-offload offload-optimizer optimizer-cpu-offload offload-optimizer-device optimizer-offload",
              "--offload", "optimizer", offload_of},
    HabitWord{"activation-offload activation-offloading cpu-offloading-activations", "--offload", "activations"},
    HabitWord{"tp-comm-overlap", "--overlap", "tensor=framework"},
    HabitWord{"overlap-grad-reduce", "--overlap", "gradients=framework"},
    HabitWord{"overlap-param-gather", "--overlap", "parameters=framework"},
    // ---- fine-tuning, optimizer, software ----
    HabitWord{"lora use-lora", "--train", "lora"},
    HabitWord{"qlora", "--train", "lora", nullptr, {}, quantised_base},
    HabitWord{"dora use-dora", "--train", "dora"},
    HabitWord{"qdora", "--train", "dora", nullptr, {}, quantised_base},
    HabitWord{"finetuning-type finetune-method method peft-type peft", "--train", {}, training, {}, quantised_base_of},
    HabitWord{"lora-r lora-rank lora-dim", "--train", {}, lora_rank},
    HabitWord{"load-in-4bit use-4bit", "--base", "nf4"},
    HabitWord{"load-in-8bit use-8bit", "--base", "int8"},
    HabitWord{"quantization-bit bits", "--base", {}, frozen_bits},
    HabitWord{"optim optimizer-name optimiser", "--optimizer"},
    HabitWord{"adam-8bit use-8bit-adam", "--optimizer", "adamw-8bit"},
    HabitWord{"backend trainer library training-framework software", "--framework"},
};

} // namespace

std::span<HabitWord const> habit_words() { return habit_rows; }

HabitWord const* habit_word(std::string_view name) {
    std::string const wanted = normalised(name);
    if (wanted.empty()) { return nullptr; }
    for (HabitWord const& row : habit_rows) {
        for (std::string const& one : words::split(row.names, ' ')) {
            if (normalised(one) == wanted) { return &row; }
        }
    }
    return nullptr;
}

std::optional<bool> switch_in(std::string_view text) {
    std::string const word = normalised(text);
    for (Text const yes : {"true", "yes", "on", "1"}) {
        if (word == yes) { return true; }
    }
    for (Text const no : {"false", "no", "off", "0", "none", "null"}) {
        if (word == no) { return false; }
    }
    return std::nullopt;
}

std::string habit_value(HabitWord const& word, std::string_view value) {
    if (word.fixed.empty()) { return word.translate == nullptr ? std::string{value} : word.translate(value); }
    auto const is_on = switch_in(value);
    if (is_on && *is_on) { return std::string{word.fixed}; }
    if (word.translate != nullptr) { return word.translate(is_on ? "false" : value); }
    return is_on ? std::string{} : std::string{value};
}

HabitSetting habit_addition(HabitWord const& word, std::string_view value) {
    if (word.also == nullptr || switch_in(value) == false) { return {}; }
    return word.also(value);
}

} // namespace headroom::io
