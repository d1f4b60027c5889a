#include "headroom/quantity.hpp"
#include "headroom/text.hpp"
#include "headroom/trace/trace_path.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

namespace headroom::trace {
namespace {

/// Words of a rule. A finding holds {s}, the subject, {t}, its time on the path, {d}, the length of the path, {x}, the
/// speedup without it.
struct AdviceRow {
    AdviceRule rule;
    std::string_view name;
    bool names_subject; ///< the subject is a name of the trace
    std::string_view finding, remedy;
};

// Sources of the remedies: documentation of PyTorch (CUDA semantics, performance tuning guide, DataLoader, FSDP), of
// Megatron-LM, of nvidia-smi and of NCCL.
constexpr std::array rows{
    AdviceRow{AdviceRule::unrecorded, "unrecorded", false,
              "Nothing was recorded for {t} of the {d} on the critical path.",
              "Record what fills them: with_stack=True (PyTorch), NVTX ranges (Nsight); or cut them off with --from "
              "and --to."},
    AdviceRow{AdviceRule::unexplained_delays, "unexplained_delays", false,
              "Device work begins later than the trace explains, for {t} of the {d} on the critical path; without "
              "these delays {x}x.",
              "Record all ranks and the waits between streams (enable_cuda_sync_events), and no other process on the "
              "device."},
    AdviceRow{AdviceRule::idle_start, "idle_start", false,
              "{t} of the {d} pass before the first device work; without them {x}x.",
              "Cut the start off with --from, or record steps after the warm-up (schedule(wait=..., warmup=...))."},
    AdviceRow{AdviceRule::allocator, "allocator", true,
              "The memory allocator stops the device: {s} has {t} of the {d} on the critical path; without it {x}x.",
              "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or reuse buffers."},
    AdviceRow{AdviceRule::blocking_calls, "blocking_calls", true,
              "The host waits for the device ({s}) and then launches late; without these waits {x}x.",
              "Read values (.item(), .cpu(), a printed loss) once in many steps; copy from pinned memory with "
              "non_blocking=True."},
    AdviceRow{AdviceRule::data_loading, "data_loading", true,
              "Data loading holds the step up: {s} has {t} of the {d} on the critical path; without it {x}x.",
              "Raise num_workers and prefetch_factor, or prepare the data before the run."},
    AdviceRow{AdviceRule::late_ranks, "late_ranks", false, "Ranks wait for late ones; without that {x}x.",
              "See which rank arrives last, and whether it computes longer or launches later than the others."},
    AdviceRow{AdviceRule::slow_rank, "slow_rank", false, "Ranks wait for {s} for the same work; without that {x}x.",
              "Compare its clocks, power and temperature with the others' (nvidia-smi -q -d CLOCK,PERFORMANCE); else "
              "take the node out."},
    AdviceRow{AdviceRule::more_work, "more_work", false, "Ranks wait for {s}; without that {x}x.",
              "Give each rank the same work: pack sequences, sort batches by length, or move layers between stages."},
    AdviceRow{AdviceRule::late_host, "late_host", false, "Ranks wait for {s}; without that {x}x.",
              "See what else runs on its CPUs; pin processes to cores near their GPU (numactl), and collect garbage on "
              "all ranks in the same step."},
    AdviceRow{AdviceRule::experts, "experts", false,
              "Work between all-to-all exchanges is unequal: ranks wait for {s}; without that {x}x.",
              "Balance experts (auxiliary loss or bias of the router, capacity factor, copies of busy experts) or "
              "embedding tables."},
    AdviceRow{AdviceRule::pipeline_bubble, "pipeline_bubble", false,
              "Stages of the pipeline wait for each other in sends and receives; without that {x}x.",
              "Raise the number of micro-batches, interleave stages (--num-layers-per-virtual-pipeline-stage), or "
              "make stages equal."},
    AdviceRow{AdviceRule::exposed_communication, "exposed_communication", true,
              "Communication has {t} of the {d} on the critical path, most of it {s}; hidden, {x}x.",
              "Overlap it with computation (buckets of gradients, prefetched weights), send less, or less often."},
    AdviceRow{AdviceRule::copies, "copies", true,
              "Copies that could overlap with computation have {t} of the {d} on the critical path, most of it {s}; "
              "hidden, {x}x.",
              "Copy the next batch with non_blocking=True on a stream of its own."},
    AdviceRow{AdviceRule::pageable_copies, "pageable_copies", true,
              "Copies have {t} of the {d} on the critical path, most of it from or to pageable memory ({s}); hidden, "
              "{x}x.",
              "Pin the memory (DataLoader(pin_memory=True), tensor.pin_memory()) and copy with non_blocking=True."},
    AdviceRow{AdviceRule::device_copies, "device_copies", true,
              "Copies have {t} of the {d} on the critical path, most of it inside the device ({s}); without them {x}x.",
              "Write results in place: .contiguous(), .clone() and cat of large tensors copy."},
    AdviceRow{AdviceRule::small_kernels, "small_kernels", false,
              "Short kernels of one name follow each other ({s}); fused into one each, {x}x.",
              "Fuse them: torch.compile, foreach=True or fused=True of the optimizer, one kernel over a list of "
              "tensors."},
    AdviceRow{AdviceRule::launches, "launches", true,
              "The host has {t} of the {d} on the critical path, most of it {s}; twice as fast, {x}x.",
              "Launch less: CUDA graphs, torch.compile, fused optimizers, a larger micro-batch."},
    AdviceRow{AdviceRule::slowing_kernels, "slowing_kernels", false,
              "The same kernels take longer late in the run than early ({s}); as fast as early, {x}x.",
              "Look for lowered clocks: nvidia-smi -q -d PERFORMANCE,POWER,TEMPERATURE while it runs."},
    AdviceRow{AdviceRule::uneven_steps, "uneven_steps", false, "Steps are uneven: {s}; all as the median one, {x}x.",
              "Do it less often, in another process, or on all ranks in the same step."},
    AdviceRow{AdviceRule::below_roof, "below_roof", false,
              "{s} has {t} of the {d} on the critical path; at the roofline, {x}x.", ""},
    AdviceRow{AdviceRule::kernel, "kernel", true,
              "Computation decides: {s} has {t} of the {d} on the critical path; twice as fast, {x}x.", ""},
    AdviceRow{AdviceRule::operators, "operators", true,
              "Computation on the CPU decides: {s} has {t} of the {d} on the critical path; twice as fast, {x}x.",
              "Give the process its cores (OMP_NUM_THREADS, numactl), or use bf16 and torch.compile."},
    AdviceRow{AdviceRule::unseen_device, "unseen_device", true,
              "The trace holds calls of a device's runtime and none of its work: {s} and others have {t} of the {d} on "
              "the critical path.",
              "Record the device, too (activities=[CPU, CUDA] or the profiler of your accelerator)."},
    AdviceRow{AdviceRule::two_chains, "two_chains", false,
              "Two chains are equally long, the device's and the host's{s}: no single change shortens the step.",
              "A gap of the host shows what fills it when it is recorded with with_stack=True."},
};

AdviceRow const& row_of(AdviceRule rule) { return *std::ranges::find(rows, rule, &AdviceRow::rule); }

/// Remedy by a part of the subject's name.
struct PartRemedy {
    std::string_view part, words;
};

/// Ways to hide one sort of collective.
constexpr std::array collective_remedies{
    PartRemedy{"AllReduce", "Overlap it with the backward pass: buckets (bucket_cap_mb, --overlap-grad-reduce); "
                            "tensor parallelism: fewer ranks, inside a node (--tp-comm-overlap)."},
    PartRemedy{"AllGather", "Prefetch weights (forward_prefetch=True, --overlap-param-gather), or shard over "
                            "fewer ranks (HYBRID_SHARD)."},
    PartRemedy{"ReduceScatter", "Overlap it with the backward pass (--overlap-grad-reduce), or reduce less often "
                                "(no_sync, more micro-batches)."},
    PartRemedy{"SendRecv", "Keep exchanges inside a node, and overlap them with the next block's computation "
                           "(--overlap-p2p-communication, DeepEP)."},
};

/// Remedy for steps that are long by one sort of work, by a part of its name.
constexpr std::array uneven_remedies{
    PartRemedy{"heckpoint",
               "Save checkpoints asynchronously (torch.distributed.checkpoint.async_save), or less often."},
    PartRemedy{"save", "Save asynchronously (torch.distributed.checkpoint.async_save), or less often."},
    PartRemedy{"eval", "Evaluate less often, or on other machines."},
    PartRemedy{"valid", "Validate less often, or on other machines."},
    PartRemedy{"garbage", "Call gc.disable(), and gc.collect() by hand every few hundred steps on all ranks at once."},
};

/// Words of the first row whose part the subject holds; empty where none does.
std::string remedy_by_part(std::span<PartRemedy const> rows_of_rule, std::string_view subject) {
    auto const known = std::ranges::find_if(
        rows_of_rule, [&](PartRemedy const& one) { return subject.find(one.part) != std::string_view::npos; });
    return std::string{known == rows_of_rule.end() ? std::string_view{} : known->words};
}

/// Whether a recorded shape, "f<128> [[63, 1024], [1024, 4096]] Half (31 % of the roofline)", has a size that is no
/// multiple of 8.
bool fills_no_tile(std::string_view subject) {
    auto const from = subject.find("[["), to = subject.rfind("]]");
    if (from == std::string_view::npos || to == std::string_view::npos || to < from) { return false; }
    int size = 0;
    bool odd = false;
    for (char const c : subject.substr(from, to + 1 - from)) {
        bool const digit = c >= '0' && c <= '9';
        odd = odd || (!digit && size > 8 && size % 8 != 0);
        size = digit ? (size * 10 + (c - '0')) % 1'000'000 : 0;
    }
    return odd;
}

} // namespace

std::string_view name_of(AdviceRule rule) { return row_of(rule).name; }

bool subject_is_name(AdviceRule rule) { return row_of(rule).names_subject; }

std::string finding_words(Advice const& advice, Ticks depth) {
    std::string words{row_of(advice.rule).finding};
    std::array const parts{std::pair{"{s}", advice.subject},
                           std::pair{"{t}", format(Seconds{static_cast<double>(advice.on_path) / 1e9})},
                           std::pair{"{d}", format(Seconds{static_cast<double>(depth) / 1e9})},
                           std::pair{"{x}", text::significant(advice.speedup)}};
    for (auto const& [mark, text] : parts) {
        if (auto const at = words.find(mark); at != std::string::npos) { words.replace(at, 3, text); }
    }
    return words;
}

std::string remedy_words(Advice const& advice) {
    std::string by_part;
    if (advice.rule == AdviceRule::exposed_communication) {
        by_part = remedy_by_part(collective_remedies, advice.subject);
    }
    if (advice.rule == AdviceRule::uneven_steps) { by_part = remedy_by_part(uneven_remedies, advice.subject); }
    if (!by_part.empty()) { return by_part; }
    if (advice.rule == AdviceRule::below_roof) {
        return fills_no_tile(advice.subject)
                   ? "Pad its dimensions to multiples of 64: sizes that are no multiples of 8 "
                     "miss the tensor cores' tiles."
                   : "Make its matrices larger (micro-batch), use bf16 or FP8, or another "
                     "kernel (torch.compile max-autotune).";
    }
    return std::string{row_of(advice.rule).remedy};
}

} // namespace headroom::trace
