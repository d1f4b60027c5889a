#include "headroom/trace/rank_trace.hpp"

#include <algorithm>
#include <charconv>

namespace headroom::trace {
namespace {

bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }
bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The name of a kernel's function, without what it returns, its namespaces, templates and arguments.
std::string_view function_name(std::string_view name) {
    constexpr std::string_view nameless = "(anonymous namespace)::";
    if (auto const at = name.find(nameless); at != std::string_view::npos) { name.remove_prefix(at + nameless.size()); }
    name = name.substr(0, name.find_first_of("(<"));
    return name.substr(name.find_last_of(" :") + 1);
}

} // namespace

std::string_view name_of(SpanKind kind) {
    constexpr std::array<std::string_view, span_kinds.size()> names{
        "compute", "communication", "memory", "device_wait", "launch", "synchronization", "host", "annotation"};
    return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(PhaseKind kind) {
    constexpr std::array<std::string_view, phase_kinds.size()> names{"none", "prefill", "decode", "mixed"};
    return names[static_cast<std::size_t>(kind)];
}

bool names_communication(std::string_view name) {
    constexpr std::array beginnings{"nccl", "rccl",   "mccl",  "cncl", "bkcl", "hccl",
                                    "hcom", "oneccl", "gloo:", "mpi:", "ucc:", "xccl:"};
    // Functions of inference engines and expert exchanges whose names are words that computation uses, too.
    constexpr std::array functions{
        "reduce_scatter_cross_device_", "allgather_", "moeA2A", "moeAllToAll", "EpDispatch", "EpCombine"};
    // Libraries of all makers, then expert exchanges, then all-reduces that inference engines and symmetric memory
    // bring along.
    constexpr std::array parts{"cclKernel",
                               "cclDevKernel",
                               "deep_ep::",
                               "dpsk::ep::",
                               "hybrid_ep::",
                               "MoeDistribute",
                               "nvshmem",
                               "rocshmem",
                               "symmetric_memory::",
                               "multimem_all_",
                               "multimem_one_shot",
                               "one_shot_all_reduce",
                               "two_shot_all_reduce",
                               "one_shot_allreduce",
                               "two_shot_allreduce",
                               "oneshot_allreduce",
                               "twoshot_allreduce",
                               "oneShotAllReduce",
                               "twoShotAllReduce",
                               "cross_device_reduce",
                               "msccl",
                               "allreduce_fusion_kernel",
                               "mnnvl_allreduce",
                               "pplx::a2a_",
                               "quickreduce::",
                               "userbuffers_"};
    return std::any_of(beginnings.begin(), beginnings.end(), [&](auto part) { return starts(name, part); }) ||
           std::any_of(parts.begin(), parts.end(), [&](auto part) { return holds(name, part); }) ||
           (!starts(name, "c10d::") && // PyTorch's operators, which start transfers of other names
            std::any_of(functions.begin(), functions.end(),
                        [function = function_name(name)](auto part) { return starts(function, part); }));
}

bool names_synchronization(std::string_view name) {
    // CUDA, HIP, MUSA, Level Zero and Ascend agree on the word; SYCL's runtimes and XLA have names of their own.
    constexpr std::array makers{"cu", "hip", "musa", "ze", "aclrt"};
    constexpr std::array others{"urQueueFinish", "urEventWait",         "piQueueFinish",
                                "piEventsWait",  "BlockHostUntilReady", "block_until_ready"};
    bool const of_maker = std::any_of(makers.begin(), makers.end(), [&](auto maker) { return starts(name, maker); });
    return (of_maker && holds(name, "Synchronize")) ||
           std::any_of(others.begin(), others.end(), [&](auto other) { return holds(name, other); });
}

bool names_data_loading(std::string_view name) {
    return holds(name, "DataLoader") || holds(name, "dataloader") || holds(name, "IterDataPipe");
}

std::optional<std::int64_t> step_number(std::string_view name) {
    constexpr std::string_view marker = "ProfilerStep#";
    if (!starts(name, marker)) { return {}; }
    std::int64_t number = 0;
    auto const* const begin = name.data() + marker.size();
    auto const* const end = name.data() + name.size();
    auto const [stop, error] = std::from_chars(begin, end, number);
    return error == std::errc{} && stop == end && begin != end ? std::optional(number) : std::nullopt;
}

} // namespace headroom::trace
