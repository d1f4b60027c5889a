// Host side of an export of Nsight Systems: calls of the runtime, ranges that were named, messages of MPI; and facts of
// the machine.

#include "traces/nsys_reader.hpp"
#include "traces/trace_text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <set>

namespace headroom::io {

using namespace headroom::trace;

namespace {

constexpr std::int64_t thread_bits = 0xFFFFFF;
constexpr std::size_t most_shared = 32; ///< devices of one process that a call of no device is shown on
constexpr std::uint64_t most_devices = 4096;
constexpr std::int64_t several_devices = std::numeric_limits<std::int64_t>::min();
constexpr std::array<std::string_view, 2> call_tables{"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"};

/// "cudaLaunchKernel_v7000" is cudaLaunchKernel.
std::string_view without_version(std::string_view name) {
    auto const mark = name.rfind("_v");
    bool const versioned = mark != std::string_view::npos && mark + 2 < name.size() &&
                           name.find_first_not_of("0123456789", mark + 2) == std::string_view::npos;
    return versioned ? name.substr(0, mark) : name;
}

/// The number of "MPI Rank 3".
std::optional<std::int64_t> mpi_rank(std::string_view text) {
    constexpr std::string_view marker = "MPI Rank ";
    if (!text.starts_with(marker)) { return std::nullopt; }
    std::int64_t rank = 0;
    auto const [stop, error] = std::from_chars(text.data() + marker.size(), text.data() + text.size(), rank);
    bool const all = error == std::errc{} && stop == text.data() + text.size();
    return all && rank >= 0 ? std::optional{rank} : std::nullopt;
}

} // namespace

/// Ranks that a thread's work belongs to: those of its process, or the one whose device it drives.
std::vector<NsysRank*> NsysReader::ranks_of_thread(std::int64_t thread) {
    std::int64_t const process = process_of(thread);
    if (!has_device_) {
        NsysRank* const rank = rank_of(process, 0);
        return rank == nullptr ? std::vector<NsysRank*>{} : std::vector{rank};
    }
    auto const driven = device_of_thread_.find(thread);
    std::vector<NsysRank*> ranks;
    auto at = ranks_.lower_bound({process, std::numeric_limits<std::int64_t>::min()});
    for (; at != ranks_.end() && at->first.first == process && ranks.size() < most_shared; ++at) {
        bool const other = driven != device_of_thread_.end() && driven->second != several_devices &&
                           driven->second != at->first.second;
        if (!other) { ranks.push_back(&at->second); }
    }
    return ranks;
}

void NsysReader::put_on_host(std::int64_t thread, SpanKind kind, std::string_view name, NsysTimes time,
                             std::uint32_t cause, SqliteRows const& rows) {
    auto const ranks = ranks_of_thread(thread);
    if (ranks.empty()) { file_.issue("process without device work, left out", rows.place()); }
    for (NsysRank* const rank : ranks) {
        TraceBuilder& builder = rank->builder;
        builder.trace().host_is_shared = builder.trace().host_is_shared || ranks.size() > 1;
        auto const lane = builder.lane({false, thread >> 24 & thread_bits, thread & thread_bits});
        builder.span(kind, builder.name(name), lane, time.begin, time.end, cause);
    }
}

/// Where a process has several devices, each of its threads goes to the one that it starts work on.
void NsysReader::find_threads() {
    std::unordered_map<std::uint64_t, std::int64_t> device_of_call; // by process and correlation
    std::set<std::int64_t> processes, several;
    for (auto const& [key, rank] : ranks_) {
        if (!processes.insert(key.first).second) { several.insert(key.first); }
    }
    if (several.empty()) { return; }
    auto const call_key = [](std::int64_t process, std::uint32_t cause) {
        return static_cast<std::uint64_t>(process) << 8 ^ cause; // the low 24 bits of a process are zero
    };
    for (auto& [key, rank] : ranks_) {
        if (!several.contains(key.first)) { continue; }
        for (auto const cause : rank.builder.trace().correlation) {
            if (cause != 0) { device_of_call.try_emplace(call_key(key.first, cause), key.second); }
        }
    }
    constexpr std::array<std::string_view, 2> columns{"globalTid", "correlationId"};
    for (auto const table : call_tables) {
        for (SqliteRows rows{file_, table, columns}; rows.next();) {
            auto const thread = rows.whole(0), cause = rows.whole(1);
            if (!thread || !cause || *cause <= 0 || *cause > std::numeric_limits<std::uint32_t>::max()) { continue; }
            auto const call = device_of_call.find(call_key(process_of(thread), static_cast<std::uint32_t>(*cause)));
            if (call == device_of_call.end()) { continue; }
            auto const [known, is_new] = device_of_thread_.try_emplace(*thread, call->second);
            if (!is_new && known->second != call->second) { known->second = several_devices; }
        }
    }
}

void NsysReader::read_calls(std::string_view table) {
    constexpr std::array<std::string_view, 5> columns{"start", "end", "globalTid", "correlationId", "nameId"};
    for (SqliteRows rows{file_, table, columns}; rows.next();) {
        ++rows_;
        auto const time = times(rows);
        if (!time) { continue; }
        auto const id = rows.whole(4);
        std::string_view const name = id ? without_version(text_of(*id)) : std::string_view{};
        if (name.empty()) { file_.issue("call without a name", rows.place()); }
        put_on_host(rows.whole(2).value_or(0),
                    names_synchronization(name) ? SpanKind::synchronization : SpanKind::launch,
                    name.empty() ? "call" : name, *time, correlation(rows.whole(3), rows), rows);
    }
}

// ---- named ranges ---------------------------------------------------------------------------------------------------

namespace {

constexpr std::array<std::string_view, 8> range_columns{"start",  "end",      "globalTid", "eventType",
                                                        "textId", "domainId", "text",      "endGlobalTid"};
enum NvtxEvent : std::int64_t { mark = 34, thread_name = 39, push_pop = 59, start_end = 60, domain = 75 };

/// Whether a call of MPI moves data between ranks or waits for them; starting up, types and clocks do not.
bool exchanges(std::string_view call) {
    if (!call.starts_with("MPI_") && !call.starts_with("MPIX_")) { return true; } // not by its standard name
    constexpr std::array local{"MPI_Reduce_local", "MPI_Get_", "MPI_Info_", "MPI_Type_", "MPI_Op_", "MPI_Attr_"};
    constexpr std::array words{"send", "recv", "bcast", "reduce", "gather",     "scatter", "alltoall", "barrier",
                               "wait", "test", "scan",  "put",    "accumulate", "fence",   "probe",    "start"};
    if (std::any_of(local.begin(), local.end(), [&](auto part) { return call.starts_with(part); })) { return false; }
    if (call == "MPI_Get") { return true; }
    std::string lower{call};
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return std::any_of(words.begin(), words.end(), [&](auto word) { return lower.find(word) != std::string::npos; });
}

} // namespace

void NsysReader::put_mpi(std::int64_t thread, std::string const& call, NsysTimes time, SqliteRows& rows) {
    bool const message = exchanges(call);
    put_on_host(thread, message ? SpanKind::communication : SpanKind::annotation, message ? "mpi:" + call : call, time,
                0, rows);
}

void NsysReader::read_domains() {
    if (!file_.has_column("NVTX_EVENTS", "domainId")) { return; }
    for (SqliteRows rows{file_, "NVTX_EVENTS", range_columns}; rows.next();) {
        auto const type = rows.whole(3);
        if (type == domain) {
            domains_.try_emplace({process_of(rows.whole(2)), rows.whole(5).value_or(0)}, plain_name(rows.text(6)));
        }
        if (type == thread_name) {
            if (auto const rank = mpi_rank(rows.text(6))) { mpi_ranks_.try_emplace(process_of(rows.whole(2)), *rank); }
        }
    }
}

void NsysReader::read_range(SqliteRows& rows) {
    auto const time = times(rows);
    if (!time) { return; }
    auto const id = rows.whole(4);
    std::string name = plain_name(rows.text(6));
    if (name.empty() && id) { name = text_of(*id); }
    if (name.empty()) { name = "range"; }
    auto const thread = rows.whole(2).value_or(0);
    auto const of = domains_.find({process_of(thread), rows.whole(5).value_or(0)});
    if (of != domains_.end() && of->second == "MPI") {
        put_mpi(thread, name, *time, rows);
    } else {
        put_on_host(thread, SpanKind::annotation, name, *time, 0, rows);
    }
}

/// Push and pop, start and end; marks and names of things have no duration. Old exports do not say the type.
void NsysReader::read_ranges() {
    read_domains();
    bool const typed = file_.has_column("NVTX_EVENTS", "eventType");
    for (SqliteRows rows{file_, "NVTX_EVENTS", range_columns}; rows.next();) {
        auto const type = rows.whole(3);
        if (typed ? type == push_pop || type == start_end : rows.whole(1).has_value()) {
            ++rows_;
            read_range(rows);
        }
    }
}

void NsysReader::read_messages(std::string_view table) {
    constexpr std::array<std::string_view, 4> columns{"start", "end", "globalTid", "textId"};
    for (SqliteRows rows{file_, table, columns}; rows.next();) {
        ++rows_;
        auto const time = times(rows);
        if (!time) { continue; }
        auto const id = rows.whole(3);
        put_mpi(rows.whole(2).value_or(0), id ? text_of(*id) : std::string{}, *time, rows);
    }
}

void NsysReader::read_thread_names() {
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    constexpr std::array<std::string_view, 2> columns{"globalTid", "nameId"};
    for (SqliteRows rows{file_, "ThreadNames", columns}; rows.next();) {
        auto const thread = rows.whole(0), id = rows.whole(1);
        if (!thread || !id || !seen.insert({process_of(thread), *thread & thread_bits}).second) { continue; }
        TraceLane const lane{false, *thread >> 24 & thread_bits, *thread & thread_bits};
        auto at = ranks_.lower_bound({process_of(thread), std::numeric_limits<std::int64_t>::min()});
        for (; at != ranks_.end() && at->first.first == process_of(thread); ++at) {
            if (!at->second.builder.has_lane(lane)) { continue; }
            at->second.builder.name_lane(lane, fmt::format("thread {} ({})", lane.thread, text_of(*id)));
        }
    }
}

void NsysReader::read_host() {
    if (has_device_) { find_threads(); }
    for (auto const table : call_tables) { read_calls(table); }
    read_ranges();
    for (auto const* const table :
         {"MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_OTHER_EVENTS"}) {
        read_messages(table);
    }
    read_thread_names();
}

// ---- the machine ----------------------------------------------------------------------------------------------------

/// A process numbers the devices that it sees; the machine has numbers of its own.
void NsysReader::read_device_numbers() {
    constexpr std::array<std::string_view, 3> columns{"gpuId", "cudaId", "pid"};
    for (SqliteRows rows{file_, "TARGET_INFO_CUDA_DEVICE", columns}; rows.next();) {
        auto const gpu = rows.whole(0), own = rows.whole(1);
        if (gpu && own) { device_numbers_.try_emplace({rows.whole(2).value_or(0) & thread_bits, *own}, *gpu); }
    }
}

void NsysReader::read_devices() {
    constexpr std::array<std::string_view, 9> columns{
        "id", "deviceId", "name", "totalMemory", "smCount", "cuDevice", "globalMemorySize", "numMultiprocessors",
        "pid"};
    for (auto const* const table : {"TARGET_INFO_GPU", "TARGET_INFO_CUDA_GPU"}) {
        for (SqliteRows rows{file_, table, columns}; rows.next() && rows.row() <= most_devices;) {
            auto const number = rows.whole(0) ? rows.whole(0) : rows.whole(1);
            std::string const name = plain_name(rows.text(2));
            auto const memory = rows.whole(3) ? rows.whole(3) : rows.whole(6);
            auto const units = rows.whole(4) ? rows.whole(4) : rows.whole(7);
            for (auto& [key, rank] : ranks_) {
                auto const own = device_numbers_.find({key.first >> 24 & thread_bits, key.second});
                bool const is_it = number == (own == device_numbers_.end() ? key.second : own->second);
                if (!is_it || !has_device_) { continue; }
                TraceDevice& device = rank.builder.trace().device;
                if (device.name.empty()) { device.name = name; }
                if (device.memory_bytes == 0 && memory.value_or(0) > 0) { device.memory_bytes = *memory; }
                if (device.units == 0 && units.value_or(0) > 0 && *units < 1'000'000) {
                    device.units = static_cast<std::int32_t>(*units);
                }
            }
        }
    }
}

void NsysReader::read_mpi_ranks() {
    constexpr std::array<std::string_view, 2> columns{"globalPid", "rank"};
    for (SqliteRows rows{file_, "MPI_RANKS", columns}; rows.next();) {
        auto const process = rows.whole(0), rank = rows.whole(1);
        if (process && rank && *rank >= 0) { mpi_ranks_[process_of(process)] = *rank; }
    }
    std::map<std::int64_t, int> devices;
    for (auto const& [key, rank] : ranks_) { ++devices[key.first]; }
    for (auto& [key, rank] : ranks_) {
        auto const known = mpi_ranks_.find(key.first);
        if (known == mpi_ranks_.end() || devices[key.first] != 1) { continue; }
        rank.builder.trace().rank = known->second;
        rank.builder.trace().rank_from = "metadata";
    }
}

void NsysReader::read_descriptions() {
    constexpr std::array<std::string_view, 1> start{"utcEpochNs"};
    for (SqliteRows rows{file_, "TARGET_INFO_SESSION_START_TIME", start}; rows.next();) {
        if (auto const at = rows.whole(0); at && *at > 0 && !start_) { start_ = at; }
    }
    constexpr std::array<std::string_view, 2> words{"name", "value"};
    for (SqliteRows rows{file_, "TARGET_INFO_SYSTEM_ENV", words}; rows.next();) {
        if (rows.text(0) != "Hostname") { continue; }
        for (auto& [key, rank] : ranks_) { rank.builder.trace().host_name = plain_name(rows.text(1)); }
    }
    read_device_numbers();
    read_devices();
    read_mpi_ranks();
}

} // namespace headroom::io
