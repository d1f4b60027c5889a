#include "traces/chrome_finish.hpp"
#include "traces/chrome_lane_ranks.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace headroom::io {

using namespace headroom::trace;

namespace {

/// Contents of a lane.
enum class Role : std::uint8_t {
    host,
    work,       ///< kernels, copies and waits, distinguished by their names
    operations, ///< of a compiled program, some inside others
    transfers,  ///< of a compiled program, in parallel with its operations
    computation,
    copies,
    communication,
    restated, ///< time that other lanes show, too
};

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }
bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

std::string small(std::string_view text) {
    std::string letters(text);
    std::transform(letters.begin(), letters.end(), letters.begin(),
                   [](char byte) { return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte | 0x20) : byte; });
    return letters;
}

/// "Stream 7", "Stream #13(Compute,MemcpyH2D)".
bool names_stream(std::string_view thread) {
    std::string const text = small(thread.substr(0, 16));
    if (!starts(text, "stream")) { return false; }
    auto const number = text.find_first_not_of(" #", 6);
    return number != std::string::npos && number > 6 && is_digit(text[number]);
}

/// The number behind the last `word`, where nothing else follows: "/device:GPU:3", "6 GPU0".
std::optional<std::int64_t> number_after(std::string_view text, std::string_view word) {
    auto const at = text.rfind(word);
    if (at == std::string_view::npos) { return {}; }
    std::int64_t number = 0;
    auto const* const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data() + at + word.size(), end, number);
    return error == std::errc{} && stop == end && number >= 0 ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t number = 0;
    auto const* const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && stop == end && number >= 0 ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> device_number(std::string_view process) {
    process = process.substr(0, std::min(process.find("/stream:"), process.find(" (pid ")));
    for (std::string_view const word : {"/device:GPU:", "/device:TPU:"}) {
        if (auto const number = number_after(process, word)) { return number; }
    }
    auto const space = process.rfind(' '); // rocprof puts a number of its own before it
    std::string_view const last = process.substr(space == std::string_view::npos ? 0 : space + 1);
    bool const bare = space == std::string_view::npos ||
                      std::all_of(process.begin(), process.begin() + static_cast<std::ptrdiff_t>(space), is_digit);
    if (bare && starts(last, "GPU")) { return number_after(last, "GPU"); }
    for (std::string_view const word : {"Device ", "stage ", "rank ", "Rank ", "MPI rank ", "MPI Rank "}) {
        if (starts(process, word)) { return number_after(process, word); }
    }
    return {};
}

bool names_rank(std::string_view process) {
    constexpr std::array words{"stage ", "rank ", "Rank ", "MPI rank ", "MPI Rank "};
    return std::any_of(words.begin(), words.end(), [&](auto word) { return starts(process, word); });
}

/// Lanes of XLA's profiler that draw the work of others by its module, step or source.
bool names_restatement(std::string_view thread) {
    constexpr std::array names{
        "Steps",          "XLA Modules",           "XLA TraceMe", "Framework Ops", "Framework Name Scope",
        "TensorFlow Ops", "TensorFlow Name Scope", "Source code", "Source",        "Launch Stats",
        "XLA Ops",        "Async XLA Ops"};
    return std::find(names.begin(), names.end(), thread) != names.end();
}

SpanKind kind_of_work(std::string_view name) {
    if (names_communication(name)) { return SpanKind::communication; }
    std::string const text = small(name.substr(0, 64));
    for (std::string_view const copy :
         {"memcpy", "memset", "[cuda mem", "hipmem", "copyhostto", "copydeviceto", "fillbuffer", "sdma", "rdma"}) {
        if (starts(text, copy)) { return SpanKind::memory; }
    }
    for (std::string_view const wait : {"notify_", "event_", "notify wait", "event wait"}) {
        if (starts(text, wait)) { return SpanKind::device_wait; }
    }
    return starts(text, "graph ") ? SpanKind::annotation : SpanKind::compute; // rpd draws graphs around their kernels
}

/// "all-reduce.5", "%all-gather-start", "fusion.3", "copy-done.1".
SpanKind kind_of_operation(std::string_view name) {
    if (starts(name, "%")) { name.remove_prefix(1); }
    for (std::string_view const word :
         {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "ragged-all-to-all", "collective-permute",
          "collective-broadcast", "async-collective", "async-done", "send", "recv"}) {
        if (!starts(name, word)) { continue; }
        bool const ends =
            name.size() == word.size() || std::string_view{".-_"}.find(name[word.size()]) != std::string_view::npos;
        if (ends) { return SpanKind::communication; }
    }
    for (std::string_view const word : {"copy-start", "copy-done", "infeed", "outfeed"}) {
        if (starts(name, word)) { return SpanKind::memory; }
    }
    return names_communication(name) ? SpanKind::communication : SpanKind::compute;
}

/// A device that is no accelerator's core, and no host: "/device:TPU:0 SparseCore 1", "/device:CUSTOM:Megascale".
bool names_side_device(std::string_view process) {
    return starts(process, "/device:") && !starts(process, "/device:CPU");
}

/// TensorFlow 1 draws a process for each stream of a device, one for its copies, and one for all streams, which says the
/// time of the others again: "/device:GPU:0/stream:13 Compute", "/gpu:0/memcpy Compute".
std::optional<Role> timeline_role(std::string_view process, bool numbered_streams) {
    std::string const text = small(process.substr(0, 256));
    bool const of_device = text.find("gpu:") != std::string::npos || text.find("tpu:") != std::string::npos;
    if (!of_device || text.find('/') == std::string::npos) { return {}; }
    if (text.find("/memcpy") != std::string::npos) { return Role::copies; }
    auto const stream = text.find("/stream:");
    if (stream != std::string::npos) {
        bool const all = text.compare(stream + 8, 3, "all") == 0;
        return all && numbered_streams ? Role::restated : Role::work;
    }
    // the operations that the host puts on the device, by when it does
    return text.ends_with(" compute") && text.find("/job:") != std::string::npos ? std::optional{Role::host}
                                                                                 : std::nullopt;
}

/// Lanes of a step that `headroom predict --timeline` wrote.
Role predicted_role(std::string_view thread) {
    constexpr std::array links{"tensor",    "context", "experts",      "send",
                               "send back", "receive", "receive back", "data parallel"};
    if (thread == "compute") { return Role::computation; }
    if (thread == "to the host" || thread == "from the host") { return Role::copies; }
    return std::find(links.begin(), links.end(), thread) != links.end() ? Role::communication : Role::host;
}

/// An operation that starts a transfer takes no time to speak of; the one that waits for its end says again what the
/// lane of transfers shows, where there is one. `exchanges`: the category of the operation says so, whatever its name.
SpanKind kind_of_step(std::string_view name, bool transfers_shown, bool exchanges) {
    SpanKind const kind = exchanges ? SpanKind::communication : kind_of_operation(name);
    bool const moves = kind == SpanKind::communication || kind == SpanKind::memory;
    if (moves && name.find("-start") != std::string_view::npos) { return SpanKind::annotation; }
    bool const waits = moves && transfers_shown && name.find("-done") != std::string_view::npos;
    return waits ? SpanKind::device_wait : kind;
}

class DeviceLanes {
public:
    explicit DeviceLanes(ChromePart& part);
    void apply();

private:
    using Place = ChromePart::Place;
    struct Process {
        std::string_view name;
        bool streams = false, operations = false, transfers = false;
    };
    [[nodiscard]] std::string_view word_of(Place place) const;
    [[nodiscard]] std::string_view thread_name(ChromePart::Lane const& lane) const;
    [[nodiscard]] Role role_of(ChromePart::Lane const& lane) const;
    void leave_containers_out(std::uint32_t lane);
    void join_transfers(std::uint32_t lane);
    void join_transfer(std::uint32_t start, std::uint32_t done, std::uint32_t lane);
    void number_devices(std::vector<Role> const& roles);
    void take_device_steps(std::vector<Role> const& roles);

    ChromePart& part_;
    std::map<Place, Process> processes_;
    std::map<std::pair<Place, Place>, std::string_view> threads_;
    std::map<std::uint32_t, std::uint32_t> transfer_lanes_; ///< by lane of operations, of what `join_transfers` moved
    bool ascend_ = false, xla_ = false, numbered_streams_ = false, devices_ = false;
};

DeviceLanes::DeviceLanes(ChromePart& part) : part_{part} {
    for (auto const& row : part.process_names) { processes_[row.process].name = part.words[row.text]; }
    for (auto const& row : part.lane_names) { threads_[{row.process, row.thread}] = part.words[row.text]; }
    for (auto const& lane : part.lanes) {
        Process& process = processes_[lane.process];
        if (process.name.empty()) { process.name = word_of(lane.process); }
        ascend_ = ascend_ || process.name == "Ascend Hardware";
        xla_ = xla_ || starts(process.name, "/device:");
        devices_ = devices_ || device_number(process.name);
        auto const stream = process.name.find("/stream:");
        bool const numbered =
            stream != std::string_view::npos && stream + 8 < process.name.size() && is_digit(process.name[stream + 8]);
        numbered_streams_ = numbered_streams_ || numbered;
        process.streams = process.streams || names_stream(thread_name(lane));
        process.operations = process.operations || thread_name(lane) == "XLA Ops";
        process.transfers = process.transfers || thread_name(lane) == "Async XLA Ops";
    }
}

std::string_view DeviceLanes::word_of(Place place) const {
    auto const number = static_cast<std::uint64_t>(place) - static_cast<std::uint64_t>(ChromePart::word_base);
    bool const word = ChromePart::is_word(place) && number < part_.words.size();
    return word ? part_.words[static_cast<std::uint32_t>(number)] : std::string_view{};
}

std::string_view DeviceLanes::thread_name(ChromePart::Lane const& lane) const {
    auto const stated = threads_.find({lane.process, lane.thread});
    return stated == threads_.end() ? word_of(lane.thread) : stated->second;
}

Role DeviceLanes::role_of(ChromePart::Lane const& lane) const {
    if (lane.device) { return Role::host; }
    Process const& process = processes_.at(lane.process);
    std::string_view const thread = thread_name(lane);
    if (names_stream(thread)) { return Role::work; }
    if (auto const role = timeline_role(process.name, numbered_streams_)) { return *role; }
    if (ascend_ && process.name == "Overlap Analysis") { return Role::restated; }
    if (ascend_ && (process.name == "Communication" || process.name == "HCCL")) {
        return starts(thread, "Plane") ? Role::restated : Role::communication;
    }
    if (process.name == "CUDA functions") { return Role::work; } // PyTorch's, before Kineto
    if (process.name == "COPY" || process.name == "1 COPY") { return Role::copies; }
    if (process.name == "critical path") { return Role::restated; }
    if (starts(process.name, "stage ")) { return predicted_role(thread); }
    if (process.name != "Ascend Hardware" && process.name.find("GPU") == std::string_view::npos &&
        process.name.find("TPU") == std::string_view::npos) {
        // also with the streams of "Device 0" and "rank 3"
        return devices_ && names_side_device(process.name) ? Role::restated : Role::host;
    }
    bool const of_device = device_number(process.name) || process.name == "Ascend Hardware";
    if (!of_device) { return devices_ && names_side_device(process.name) ? Role::restated : Role::host; }
    if (process.streams) { return Role::restated; }
    if (process.operations && thread == "Async XLA Ops") { return Role::transfers; }
    if (process.operations) { return thread == "XLA Ops" ? Role::operations : Role::restated; }
    return names_restatement(thread) ? Role::restated : Role::work;
}

/// Loops, conditions and calls stand around what runs in them: only that counts, else its communication would seem to
/// overlap with computation.
void DeviceLanes::leave_containers_out(std::uint32_t lane) {
    std::vector<std::uint32_t> spans;
    for (std::uint32_t span = 0; span < part_.size(); ++span) {
        bool const runs = part_.kind[span] != SpanKind::annotation && part_.end[span] > part_.begin[span];
        if (runs && part_.lane[span] == lane) { spans.push_back(span); }
    }
    std::sort(spans.begin(), spans.end(), [&](auto left, auto right) {
        return std::tuple(part_.begin[left], -part_.end[left], left) <
               std::tuple(part_.begin[right], -part_.end[right], right);
    });
    for (std::size_t next = 1; next < spans.size(); ++next) {
        auto const outer = spans[next - 1], inner = spans[next];
        bool const same = part_.begin[outer] == part_.begin[inner] && part_.end[outer] == part_.end[inner];
        if (part_.end[inner] <= part_.end[outer] && !same) { part_.kind[outer] = SpanKind::annotation; }
    }
}

/// A transfer from its "all-gather-start.1" to its "all-gather-done.1", where no lane shows transfers: what runs between
/// the two hides it. Starts and ends that do not have one number go by their order.
void DeviceLanes::join_transfers(std::uint32_t lane) {
    std::vector<std::uint32_t> spans;
    for (std::uint32_t span = 0; span < part_.size(); ++span) {
        if (part_.lane[span] == lane) { spans.push_back(span); }
    }
    std::ranges::stable_sort(spans, {}, [&](std::uint32_t span) { return part_.begin[span]; });
    struct Start {
        std::string_view number;
        std::uint32_t span = 0;
    };
    std::map<std::string_view, std::vector<Start>> open;
    constexpr std::string_view begins = "-start", ends = "-done";
    for (auto const span : spans) {
        std::string_view const name = part_.names[part_.name[span]];
        if (auto const at = name.find(begins); at != std::string_view::npos) {
            open[name.substr(0, at)].push_back({name.substr(at + begins.size()), span});
        }
        auto const at = name.find(ends);
        if (at == std::string_view::npos || part_.kind[span] != SpanKind::communication) { continue; }
        auto const begun = open.find(name.substr(0, at));
        if (begun == open.end() || begun->second.empty()) { continue; } // before the trace
        auto const same = std::ranges::find(begun->second, name.substr(at + ends.size()), &Start::number);
        auto const start = same == begun->second.end() ? begun->second.begin() : same;
        join_transfer(start->span, span, lane);
        begun->second.erase(start);
    }
}

void DeviceLanes::join_transfer(std::uint32_t start, std::uint32_t done, std::uint32_t lane) {
    std::uint32_t& transfers =
        transfer_lanes_.try_emplace(lane, static_cast<std::uint32_t>(part_.lanes.size())).first->second;
    if (transfers == part_.lanes.size()) {
        ChromePart::Lane const operations = part_.lanes[lane];
        part_.lanes.push_back({true, operations.process, ChromePart::word_base + part_.words.plain("Async XLA Ops")});
    }
    part_.kind[start] = SpanKind::communication;
    part_.end[start] = part_.end[done];
    part_.lane[start] = transfers;
    part_.kind[done] = SpanKind::device_wait;
}

/// A rank for each device of several, and for processes that are called ranks; nothing where their numbers do not tell
/// them apart.
void DeviceLanes::number_devices(std::vector<Role> const& roles) {
    std::map<Place, std::int64_t> numbers;
    std::set<std::int64_t> given;
    for (std::size_t at = 0; at < roles.size(); ++at) {
        Place const process = part_.lanes[at].process;
        bool const works = roles[at] == Role::work || roles[at] == Role::operations || roles[at] == Role::computation;
        if ((!works && !names_rank(processes_.at(process).name)) || numbers.contains(process)) { continue; }
        auto const number = device_number(processes_.at(process).name);
        if (!number || !given.insert(*number).second) { return; }
        numbers.emplace(process, *number);
    }
    if (numbers.size() < 2 || !part_.ranks.empty()) { return; }
    part_.lane_ranks = ranks_of_lanes(part_, numbers, true);
}

/// The lane "Steps" of XLA's profiler draws each step from its first to its last work on the device.
void DeviceLanes::take_device_steps(std::vector<Role> const& roles) {
    auto& ranges = part_.step_ranges;
    std::erase_if(ranges, [&](auto const& range) { return roles[part_.lane[range.span]] != Role::host; });
    std::vector<bool> draws(part_.lanes.size());
    std::transform(part_.lanes.begin(), part_.lanes.end(), draws.begin(), [&](ChromePart::Lane const& lane) {
        return starts(processes_.at(lane.process).name, "/device:") && thread_name(lane) == "Steps";
    });
    for (std::uint32_t span = 0; span < part_.size(); ++span) {
        if (!draws[part_.lane[span]]) { continue; }
        if (auto const number = whole_number(part_.names[part_.name[span]])) { ranges.push_back({span, *number}); }
    }
}

void DeviceLanes::apply() {
    std::vector<Role> roles(part_.lanes.size());
    std::transform(part_.lanes.begin(), part_.lanes.end(), roles.begin(),
                   [&](ChromePart::Lane const& lane) { return role_of(lane); });
    for (std::size_t span = 0; span < part_.size(); ++span) { // of calls and annotations a category tells
        bool const bare = part_.kind[span] == SpanKind::host || part_.kind[span] == SpanKind::communication;
        if (!bare) { roles[part_.lane[span]] = Role::host; }
    }
    std::map<std::uint32_t, std::int64_t> on_streams; // by name: Ascend's lanes of groups draw exchanges again
    for (std::size_t span = 0; span < part_.size(); ++span) {
        Role const role = roles[part_.lane[span]];
        bool const exchange = role == Role::work && names_communication(part_.names[part_.name[span]]);
        if (exchange || role == Role::communication) { on_streams[part_.name[span]] += exchange ? 1 : -1; }
    }
    for (std::size_t span = 0; span < part_.size(); ++span) {
        std::string_view const name = part_.names[part_.name[span]];
        SpanKind& kind = part_.kind[span];
        switch (roles[part_.lane[span]]) {
        case Role::host:
            if (kind != SpanKind::host) { break; }
            if (xla_ && starts(name, "$")) { kind = SpanKind::annotation; } // a frame of Python's call stack
            if (xla_ && names_synchronization(name)) { kind = SpanKind::synchronization; }
            break;
        case Role::work: kind = kind == SpanKind::communication ? kind : kind_of_work(name); break;
        case Role::computation: kind = SpanKind::compute; break;
        case Role::operations:
            kind = kind_of_step(name, processes_.at(part_.lanes[part_.lane[span]].process).transfers,
                                kind == SpanKind::communication);
            break;
        case Role::transfers: kind = kind == SpanKind::communication ? kind : kind_of_operation(name); break;
        case Role::copies: kind = SpanKind::memory; break;
        case Role::communication:
            kind = ascend_ && on_streams[part_.name[span]] >= 0 ? SpanKind::annotation : SpanKind::communication;
            break;
        case Role::restated: kind = SpanKind::annotation; break;
        }
    }
    for (std::uint32_t lane = 0; lane < roles.size(); ++lane) {
        part_.lanes[lane].device = part_.lanes[lane].device || roles[lane] != Role::host;
        if (roles[lane] == Role::operations) { leave_containers_out(lane); }
    }
    std::erase_if(part_.ranks, [&](auto const& row) { return roles[part_.lane[row.span]] == Role::restated; });
    take_device_steps(roles);
    for (std::uint32_t lane = 0; lane < roles.size(); ++lane) {
        bool const shown = processes_.at(part_.lanes[lane].process).transfers;
        if (roles[lane] == Role::operations && !shown) { join_transfers(lane); }
    }
    number_devices(roles);
}

} // namespace

void name_device_lanes(ChromePart& part) {
    bool const told = std::any_of(part.lanes.begin(), part.lanes.end(), [](auto const& lane) { return lane.device; });
    if (!told) { DeviceLanes{part}.apply(); }
}

} // namespace headroom::io
