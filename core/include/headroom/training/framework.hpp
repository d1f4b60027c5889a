#pragma once

#include "headroom/precision.hpp"
#include "headroom/training/strategy.hpp"

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::training {

/// Attention kernel that a framework calls.
enum class AttentionKernel {
    unfused, ///< two batched products and a softmax over the whole score matrix
    flash1,  ///< first FlashAttention and its Triton port
    flash2,  ///< FlashAttention-2
    flash3,  ///< FlashAttention-3
    sdpa,    ///< PyTorch's, as fast as FlashAttention-2 where that exists
    cudnn,   ///< fused attention of cuDNN
    fused,   ///< the accelerator's fastest, whatever its name
};

/// Scales of FP8 products. Those of 32 numbers, MX, are a format of their own.
enum class Fp8Recipe {
    tensorwise, ///< a scale for a tensor, delayed or current
    rowwise,    ///< a scale for each row and column
    block,      ///< a scale for each block of 128 numbers (DeepSeek)
};

/// Rate at which the host issues kernels.
enum class HostPace {
    eager_2022, ///< Python, checkpointing and unfused small kernels, 2021-22
    eager,      ///< lines of PyTorch: every primitive is a kernel, issued at the cost of a launch
    modern,     ///< fused kernels, compiled regions
    native,     ///< C++ or CUDA graphs: never launch-bound
};

/// Overlap of data-parallel communication with the backward pass.
enum class GradientOverlap {
    exposed, ///< most of it runs after the backward pass
    hidden,  ///< buckets overlap with the backward pass
};

/// Facts of a framework's memory that held before a release of the software below it.
struct OlderFacts {
    std::string before; ///< "torch 2.1"
    std::optional<double> update_copies, activation_copies;
};

/// Properties of a training framework: a record of the catalog, selectable by name.
struct Framework {
    std::string name;      ///< file stem: the name that users type
    std::string title;     ///< name in lists and reports
    int year = 0;          ///< from when on it behaves so
    bool ordinary = false; ///< its users put it together: its runs scatter more than tuned ones
    AttentionKernel attention = AttentionKernel::flash2;
    Fp8Recipe fp8_recipe = Fp8Recipe::tensorwise;
    HostPace host = HostPace::modern;
    GradientOverlap gradient_overlap = GradientOverlap::hidden;
    bool fused_elementwise = true;     ///< norms, biases and activations in few kernels
    std::optional<bool> compiled = {}; ///< whether torch.compile makes the kernels; empty: it plays no part
    double update_launches = 0.0;      ///< kernels of an update for each tensor; 0: an update is few kernels
    int gathered_modules = 1;          ///< ZeRO-3: parts of a block that Python gathers and frees one by one
    bool pads_vocabulary = false;      ///< to a multiple of 128 tp
    bool tensor_overlap = false;       ///< tensor-parallel collectives overlap with matrix products
    bool sequence_parallel = false;    ///< default when tp > 1
    bool expert_overlap = false;       ///< tokens travel to experts during another micro-batch's computation
    bool sends_tokens_once = false;    ///< to each domain, where experts are reached over the scale-out network
    bool interleaves = false;          ///< default virtual stages when pp > 1
    bool never_interleaves = false;    ///< its pipeline has no virtual stages: one chunk a stage is no assumption
    bool tensor_parallel = true, pipeline = true;               ///< it can split matrix products, and layers
    bool context_parallel = true;                               ///< a search splits sequences with it
    std::vector<std::string> vendors = {};                      ///< whose accelerators it is for; empty: any
    bool expert_parallel = true;                                ///< it can spread routed experts over ranks
    int most_zero = 3;                                          ///< largest stage that it has
    int pipeline_zero = 3;                                      ///< largest stage that it has with a pipeline
    std::vector<std::pair<Recompute, unsigned>> recomputations; ///< that it offers, next to none, selective and full
    std::optional<Recompute> recompute;                         ///< default; empty: the least that fits
    unsigned recomputed = 0;                                    ///< parts of a block, where that is `modules`
    int zero = 1;                                               ///< default stage
    Precision precision = Precision::bf16;
    double gradient_bytes = 4.0;               ///< per parameter, as kept
    std::optional<double> bf16_gradient_bytes; ///< in bf16, where they differ
    double reduced_bytes = 4.0;                ///< per gradient element, as communicated
    double parameter_bytes = 2.0;              ///< working copy
    double optimizer_bytes = 12.0;             ///< master copy and two moments
    double frozen_bytes = 2.0;  ///< of a frozen weight under LoRA, mean of the model; never 4 but in 32 bits
    double updated_bytes = 1.0; ///< that an update moves, over those of AdamW with a master copy
    double update_flops = 0.0;  ///< of products in an update, a parameter of the model's mean (Muon)
    std::string optimizer = {}; ///< that the user named; empty: AdamW as the record keeps it
    FrozenFormat frozen = FrozenFormat::sixteen_bit; ///< of frozen weights under LoRA
    bool dropout = false;             ///< dropout masks of a byte are kept after attention and feed-forward
    bool tiled_loss = false;          ///< logits are made, used and dropped a tile of tokens at a time
    bool in_place_gradients = false;  ///< gradients of a gated product are written over its inputs
    bool cuts_segments = false;       ///< the allocator cuts kept tensors out of wider ones that were freed
    double logit_copy_bytes = 4.0;    ///< kept for each logit in addition to it: 32-bit copies that the loss makes
    double compiled_copy_bytes = 4.0; ///< most of such copies where torch.compile makes the loss
    bool wide_residual = false;       ///< block inputs are 32-bit: autocast over 32-bit weights
    bool widens_rest = false;         ///< next to a base in int8 or nf4 other frozen weights become 32-bit
    bool wide_frozen = false;         ///< frozen weights stay in the 32 bits that they were loaded in
    bool gathers_wide = false;        ///< ZeRO-3: weights are gathered as they are kept, autocast narrows them later
    bool keeps_cache = false;         ///< keys and values of recomputed blocks stay as for generation (`use_cache`)
    bool foreach_update = false;      ///< the optimizer works on lists of tensors, with copies as wide as the weights
    double update_copies = 1.0;       ///< such copies that are there at once
    bool wide_update = false;         ///< the update makes 32-bit gradients of 16-bit ones, when activations are gone
    double update_elements = 0.0;     ///< ZeRO-3: parameters updated at once; 0: all of a rank's
    bool paged_state = false;         ///< the optimizer's state gives way to host memory, page by page
    double activation_copies = 0.0;   ///< tensors of the feed-forward's width that an activation in Python keeps
    bool score_mask = false;          ///< a mask of every score of a sequence is made once for all blocks
    bool keeps_buckets =
        false; ///< without ZeRO: buckets of all gradients, in addition to them (DistributedDataParallel)
    bool frees_gradients = false;  ///< gradients are made in the backward pass and freed by the update
    bool fills_stages = false;     ///< a pipeline's first stages hold ceil(blocks / stages) each, the last has the rest
    bool narrow_caches = false;    ///< FP8: inputs of gated products are kept in 8 bits, attention's output in 12
    bool holds_outputs = false;    ///< the model's outputs, logits and that cache, live through the backward pass
    bool gathers_ends = false;     ///< ZeRO-3: embedding and output projection stay gathered through the step
    bool shards_gradients = false; ///< with a pipeline, too: each micro-batch reduces and scatters its gradients
    bool accumulates_whole = false;      ///< ZeRO-3: gradients stay whole over the micro-batches of a step
    double allocator_loss = 0.0;         ///< beyond the usual 3 %: of what is not state, held and not handed out
    double mixed_loss = 0.0;             ///< of the loss's tensors, in segments that batches of other lengths left
    double loss_bytes = 0.0;             ///< moved for each logit, by a loss that was counted; 0: by eager kernels
    double bucket_elements = 40e6;       ///< of a gradient bucket [MegatronLM]
    double bucket_copies = 1.0;          ///< of it, where communication overlaps
    double live_elements = 0.0;          ///< ZeRO-3: parameters gathered at once; 0: the block in use and the next one
    bool gathers_per_micro_batch = true; ///< ZeRO-3: gathers and reduces once a micro-batch
    bool paced = false;                  ///< has its own kernels: one fitted factor on computation, which answers list
    std::string image_kernels = {};      ///< record whose fitted factor image and recurrent models have here, too
    int sequence_bin = 0;                ///< tokens: batches of like length, padded to a multiple; 0: to the longest
    double extra_reduction = 1.0;        ///< passes of gradient communication beyond the textbook
    std::vector<OlderFacts> older = {};  ///< of software before some version, the newest first
};

/// A version of software.
struct Release {
    int major = 0, minor = 0;
    auto operator<=>(Release const&) const = default;
};
/// Name of the software in "torch 2.1".
std::string_view software_of(std::string_view release);
/// Version that a text states for some software: 2.13 of "torch 2.13, transformers 5.13".
std::optional<Release> release_of(std::string_view text, std::string_view software);

/// The framework as of a release of the software below it: facts of every `OlderFacts` that the release is before.
Framework as_of(Framework framework, std::string_view release);

} // namespace headroom::training
