#pragma once

#include "headroom/issue.hpp"
#include "headroom/laws/dag.hpp"
#include "headroom/timeline.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::trace {

/// Kind of an interval of a trace. The first three occupy a device, and only they count in its times.
enum class SpanKind : std::uint8_t {
    compute,         ///< a kernel that computes
    communication,   ///< a kernel that moves data between ranks
    memory,          ///< a copy or a fill on the device
    device_wait,     ///< a stream that waits for an event or for another stream: no work
    launch,          ///< a host call that starts device work, or any other call of the driver
    synchronization, ///< a host call that waits for the device
    host,            ///< an operator, or other work of the host
    annotation,      ///< a range that a user or the framework named; steps among them
};
inline constexpr std::array span_kinds{SpanKind::compute,     SpanKind::communication, SpanKind::memory,
                                       SpanKind::device_wait, SpanKind::launch,        SpanKind::synchronization,
                                       SpanKind::host,        SpanKind::annotation};
std::string_view name_of(SpanKind kind);
/// Whether intervals of this kind occupy the device.
constexpr bool occupies_device(SpanKind kind) { return kind <= SpanKind::memory; }

/// Where intervals run: a stream of a device, or a thread of a host.
struct TraceLane {
    bool device = false;
    std::int64_t process = 0; ///< the device's number, or the process
    std::int64_t thread = 0;  ///< the stream's number, or the thread
    bool operator==(TraceLane const&) const = default;
};

/// Size, group and number of one collective, as the trace states them. Numbers that it does not state are zero.
struct TracedCollective {
    std::uint32_t span = 0;     ///< of the timeline
    std::uint32_t group = 0;    ///< into `RankTrace::groups`
    std::uint32_t what = 0;     ///< into `RankTrace::collective_names`: "allreduce", "_allgather_base", ...
    std::int64_t sequence = -1; ///< within the group, where it is stated; -1: it is not
    std::int64_t elements_in = 0, elements_out = 0;
    std::int32_t element_bytes = 0;
    std::int32_t group_size = 0;
};

/// A process group, as the trace names it.
struct TraceGroup {
    std::string name, description;
    std::vector<std::int32_t> ranks; ///< empty: not stated
    bool operator==(TraceGroup const&) const = default;
};

/// Shapes of one operator or kernel, where they were recorded: what a count of its work starts from.
struct RecordedShape {
    std::uint32_t span = 0;
    std::uint32_t text = 0; ///< into `RankTrace::shape_texts`: "[[64, 1024], [1024, 4096]] float"
};

/// Phase of an inference engine in a step, as the name of its range states it: vLLM and SGLang do.
enum class PhaseKind : std::uint8_t { none, prefill, decode, mixed };
inline constexpr std::array phase_kinds{PhaseKind::none, PhaseKind::prefill, PhaseKind::decode, PhaseKind::mixed};
std::string_view name_of(PhaseKind kind);
struct StepPhase {
    PhaseKind kind = PhaseKind::none;
    std::int64_t requests = 0, tokens = 0; ///< 0: not stated
    bool operator==(StepPhase const&) const = default;
};

/// One step, by its window on the host.
struct TraceStep {
    std::int64_t number = 0;
    Ticks begin = 0, end = 0;
    StepPhase phase = {};
};

/// Range that states the number of its step.
struct NumberedRange {
    std::uint32_t span = 0;
    std::int64_t number = 0;
};

/// A copy of data or a fill, where its size is stated.
struct CopyBytes {
    std::uint32_t span = 0;
    std::int64_t bytes = 0;
};

/// A kernel whose work a profiler counted while it ran. Numbers that were not counted are zero.
struct ProfiledKernel {
    std::uint32_t span = 0;
    double flops = 0.0; ///< floating-point operations, a multiply-add as two
    double bytes = 0.0; ///< between the device's memory and its caches, both ways
};

/// Stated wait of a stream or of a call of the host.
struct TracedWait {
    std::uint32_t span = 0;   ///< of kind `device_wait`: its lane waits, its correlation is the call
    std::uint32_t lane = 0;   ///< the stream that it waits for
    std::uint32_t record = 0; ///< correlation of the call that recorded the event there; 0: not stated, all before it
};

/// Fault of a trace, with its place in words.
using TraceIssue = headroom::Issue;
using headroom::count_issue;

/// Device of a rank, as the trace describes it.
struct TraceDevice {
    std::string name; ///< empty: not stated
    std::int64_t memory_bytes = 0;
    std::int32_t units = 0; ///< SMs or compute units
};

/// Trace of one rank: a timeline in nanoseconds, each interval with its kind and its links to others. Intervals stand
/// in the order of the input; a name has one kind on a device and may have another on a host. `timeline.begin` counts
/// from `epoch_ns`, which is the smallest begin (so that columns stay exact and small).
struct RankTrace {
    std::string source;               ///< the file, as it was given
    std::string format;               ///< "kineto", "chrome", "nsys", ...
    std::optional<std::int64_t> rank; ///< as the trace or its name states it
    std::string rank_from;            ///< "metadata", "file name", "order", ...
    std::optional<std::int64_t> world_size;
    std::string host_name;
    TraceDevice device;

    std::int64_t epoch_ns = 0;      ///< of tick 0, on the trace's own clock
    bool clock_is_absolute = false; ///< nanoseconds since 1970: ranks of one machine share it
    Timeline timeline;
    std::vector<SpanKind> kind;             ///< by interval
    std::vector<std::uint32_t> correlation; ///< by interval: ties a launch to what it started; 0: nothing
    std::vector<TraceLane> lanes;           ///< as many as `timeline.lanes`
    std::vector<TraceGroup> groups;
    std::vector<std::string> collective_names;
    std::vector<TracedCollective> collectives; ///< by rising `span`
    std::vector<std::string> shape_texts;
    std::vector<RecordedShape> shapes;   ///< by rising `span`
    std::vector<CopyBytes> copies;       ///< by rising `span`
    std::vector<ProfiledKernel> counted; ///< by rising `span`
    std::vector<TracedWait> waits;       ///< by rising `span`
    std::vector<TraceStep> steps;        ///< from annotations on the host, by begin; see `steps_of`
    /// Steps as a lane of the device draws them, by begin: they count where the host names none.
    std::vector<TraceStep> device_steps;
    std::vector<NumberedRange> step_ranges; ///< until `steps` and `device_steps` are taken from them

    std::uint64_t bytes_read = 0;   ///< of the file as it lies on the disk
    std::uint64_t text_bytes = 0;   ///< after decompression
    std::uint64_t events = 0;       ///< that the input has, kept or not
    std::vector<TraceIssue> issues; ///< by kind, each kind once
    /// Durations are as they were recorded, and when they ran was not: intervals stand one after the other, so that
    /// sums are right and neither overlap nor idle time is known.
    bool only_sums = false;
    bool work_missing = false;       ///< device work of the run is not in the input: sums are too small
    bool host_is_shared = false;     ///< calls of the host may start work of other ranks' devices
    std::vector<std::int64_t> calls; ///< by interval where one stands for several; empty: each is one
    /// Neither is known: the input says what ran, in which order, of what shape; every interval is empty.
    bool no_times = false;

    [[nodiscard]] std::size_t size() const { return timeline.size(); }
};

/// Intervals of each lane by begin, of equal ones the longer first, of those the earlier in the input: what nests comes
/// after what it nests in. O(n) where the input is in order.
std::vector<std::vector<std::uint32_t>> spans_by_lane(RankTrace const& trace);

// ---- what names say ------------------------------------------------------------------------------------------------

/// Whether a kernel of this name moves data between ranks: NCCL's and RCCL's, expert exchanges (DeepEP and alike),
/// NVSHMEM, all-reduces of inference engines (one-shot, two-shot, multimem, cross_device_reduce), MSCCL++, oneCCL, HCCL;
/// on hosts `gloo:`, `mpi:`, `nccl:` ranges.
bool names_communication(std::string_view name);
/// Whether a host call of this name waits for the device: cudaDeviceSynchronize, hipStreamSynchronize, ...
bool names_synchronization(std::string_view name);
/// Whether a range of the host is the wait for the next batch: PyTorch marks its loaders so.
bool names_data_loading(std::string_view name);
/// Sort of work of a kernel by its name: "matrix products", "attention"; empty where the name tells none.
std::string_view kernel_family(std::string_view name);
/// The number of "ProfilerStep#12" and alike; empty for other names.
std::optional<std::int64_t> step_number(std::string_view name);

} // namespace headroom::trace
