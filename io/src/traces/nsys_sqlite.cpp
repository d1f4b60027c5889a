// Nsight Systems' export to SQLite, schemas of 2020 to 3.25: tables and columns come and go with versions and with
// what was recorded, so every one of them may be missing.

#include "traces/nsys_reader.hpp"
#include "traces/trace_formats.hpp"
#include "traces/trace_text.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace headroom::io {

using namespace headroom::trace;

namespace {

constexpr std::int64_t latest = std::int64_t{1} << 61; ///< nanoseconds: 73 years after the start of the recording
constexpr std::int64_t thread_bits = 0xFFFFFF;
constexpr std::size_t most_ranks = 4096; ///< of one file

constexpr std::array device_tables{NsysDeviceTable{"CUPTI_ACTIVITY_KIND_KERNEL", NsysWork::kernel},
                                   NsysDeviceTable{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", NsysWork::graph},
                                   NsysDeviceTable{"CUPTI_ACTIVITY_KIND_MEMCPY", NsysWork::copy},
                                   NsysDeviceTable{"CUPTI_ACTIVITY_KIND_MEMSET", NsysWork::fill}};

std::string_view copy_name(std::int64_t kind) {
    constexpr std::array<std::string_view, 14> names{
        "Memcpy",      "Memcpy HtoD",       "Memcpy DtoH",       "Memcpy HtoA",      "Memcpy AtoH",
        "Memcpy AtoA", "Memcpy AtoD",       "Memcpy DtoA",       "Memcpy DtoD",      "Memcpy HtoH",
        "Memcpy PtoP", "Memcpy HtoD (UVM)", "Memcpy DtoH (UVM)", "Memcpy DtoD (UVM)"};
    return kind > 0 && kind < static_cast<std::int64_t>(names.size()) ? names[static_cast<std::size_t>(kind)]
                                                                      : names[0];
}

} // namespace

NsysReader::NsysReader(ByteSource& source, std::string const& where, TraceReading const& reading)
    : source_{&source}, file_{source, where, reading.text_limit, reading.stop} {
    constexpr std::array<std::string_view, 2> columns{"value", "id"};
    if (file_.is_key("StringIds", "id")) {
        strings_.emplace(file_, "StringIds", columns, "id");
    } else {
        for (SqliteRows rows{file_, "StringIds", columns}; rows.next();) {
            if (auto const id = rows.whole(1)) { texts_.try_emplace(*id, plain_name(rows.text(0))); }
        }
    }
}

std::string const& NsysReader::text_of(std::int64_t id) {
    auto const [known, is_new] = texts_.try_emplace(id);
    if (is_new && strings_ && strings_->find(id)) { known->second = plain_name(strings_->text(0)); }
    return known->second;
}

/// Begin and end of a row; empty when it has none that can be.
std::optional<NsysTimes> NsysReader::times(SqliteRows& rows) {
    auto const begin = rows.whole(0), end = rows.whole(1);
    if (!begin || !end) {
        file_.issue(begin ? "range without an end" : "row without a start", rows.place());
        return std::nullopt;
    }
    if (*begin < -latest || *begin > latest || *end < -latest || *end > latest) {
        file_.issue("time out of range", rows.place());
        return std::nullopt;
    }
    if (*end < *begin) { file_.issue("ends before it begins", rows.place()); }
    return NsysTimes{*begin, std::max(*begin, *end)};
}

std::uint32_t NsysReader::correlation(std::optional<std::int64_t> id, SqliteRows const& rows) {
    if (!id || *id == 0) { return 0; }
    if (*id < 0 || *id > std::numeric_limits<std::uint32_t>::max()) {
        file_.issue("correlation out of range", rows.place());
        return 0;
    }
    return static_cast<std::uint32_t>(*id);
}

std::int64_t NsysReader::process_of(std::optional<std::int64_t> id) const {
    return has_processes_ && id ? *id & ~thread_bits : 0;
}

NsysRank* NsysReader::rank_of(std::int64_t process, std::int64_t device) {
    auto const found = ranks_.find({process, device});
    if (found != ranks_.end()) { return &found->second; }
    if (ranks_.size() >= most_ranks) { return nullptr; }
    return &ranks_.try_emplace({process, device}, process, device, file_.where()).first->second;
}

// ---- the device -----------------------------------------------------------------------------------------------------

/// Kernel names: in full where they are, as other profilers have them.
std::string NsysReader::kernel_name(SqliteRows& rows) {
    for (std::size_t const column : {6U, 7U, 8U}) {
        auto const id = rows.whole(column);
        if (!id) { continue; }
        if (std::string const& name = text_of(*id); !name.empty()) { return name; }
    }
    file_.issue("kernel without a name", rows.place());
    return "kernel";
}

void NsysReader::read_device_table(NsysDeviceTable const& table) {
    constexpr std::array<std::string_view, 12> columns{"start",         "end",       "deviceId",      "streamId",
                                                       "correlationId", "globalPid", "demangledName", "shortName",
                                                       "mangledName",   "copyKind",  "bytes",         "graphId"};
    for (SqliteRows rows{file_, table.name, columns}; rows.next();) {
        ++rows_;
        auto const time = times(rows);
        if (!time) { continue; }
        auto const device = rows.whole(2).value_or(0);
        NsysRank* const rank = rank_of(process_of(rows.whole(5)), device);
        if (rank == nullptr) {
            file_.issue("more devices than a file can have", rows.place());
            continue;
        }
        TraceBuilder& builder = rank->builder;
        std::uint32_t const lane = builder.lane({true, device, rows.whole(3).value_or(0)});
        std::uint32_t const cause = correlation(rows.whole(4), rows);
        if (table.work == NsysWork::kernel) {
            std::string const name = kernel_name(rows);
            auto const kind = names_communication(name) ? SpanKind::communication : SpanKind::compute;
            builder.span(kind, builder.name(name), lane, time->begin, time->end, cause);
        } else if (table.work == NsysWork::graph) {
            file_.issue("graph of kernels recorded as one", rows.place());
            auto const name = builder.name(fmt::format("CUDA graph {}", rows.whole(11).value_or(0)));
            builder.span(SpanKind::compute, name, lane, time->begin, time->end, cause);
        } else {
            auto const name = table.work == NsysWork::fill ? "Memset" : copy_name(rows.whole(9).value_or(0));
            auto const span = builder.span(SpanKind::memory, builder.name(name), lane, time->begin, time->end, cause);
            if (auto const bytes = rows.whole(10); bytes && *bytes >= 0) { builder.copy(span, *bytes); }
        }
    }
}

/// A stream that waits for an event occupies nothing; all other rows repeat a call of the host.
void NsysReader::read_waits() {
    constexpr std::array<std::string_view, 7> columns{"start",         "end",       "deviceId", "streamId",
                                                      "correlationId", "globalPid", "syncType"};
    constexpr std::int64_t stream_waits = 2;
    constexpr std::int64_t no_stream = 0xFFFFFFFF;
    bool const calls = file_.has_table("CUPTI_ACTIVITY_KIND_RUNTIME");
    for (SqliteRows rows{file_, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", columns}; rows.next();) {
        ++rows_;
        bool const on_device = rows.whole(6) == stream_waits;
        auto const time = on_device || !calls ? times(rows) : std::nullopt;
        auto const rank = ranks_.find({process_of(rows.whole(5)), rows.whole(2).value_or(0)});
        if (!time || rank == ranks_.end()) { continue; }
        TraceBuilder& builder = rank->second.builder;
        auto const stream = rows.whole(3).value_or(no_stream);
        TraceLane const lane{on_device, on_device ? rank->first.second : rank->first.first >> 24 & thread_bits,
                             on_device ? stream : 0};
        builder.span(on_device ? SpanKind::device_wait : SpanKind::synchronization,
                     builder.name(on_device ? "Stream Wait Event" : "Synchronize"), builder.lane(lane), time->begin,
                     time->end, correlation(rows.whole(4), rows));
    }
}

// ---- the whole ------------------------------------------------------------------------------------------------------

std::vector<RankTrace> NsysReader::read() {
    has_processes_ =
        std::ranges::any_of(device_tables,
                            [&](auto const& table) { return file_.has_column(table.name, "globalPid"); }) ||
        !std::ranges::any_of(device_tables, [&](auto const& table) { return file_.has_table(table.name); });
    for (auto const& table : device_tables) { read_device_table(table); }
    has_device_ = !ranks_.empty();
    read_waits();
    read_host();
    if (ranks_.empty()) {
        bool const known =
            std::ranges::any_of(device_tables, [&](auto const& table) { return file_.has_table(table.name); }) ||
            file_.has_table("StringIds");
        if (!known) {
            throw InputError{Fault::unreadable,
                             {file_.where(), "a database of another kind", "it has no table of Nsight Systems",
                              "write one with nsys export --type sqlite"}};
        }
        std::string const why = file_.issues().empty() ? "neither kernels nor calls of the host were recorded"
                                                       : fmt::format("{}, {}", file_.issues().front().kind,
                                                                     file_.issues().front().first_at);
        no_events(file_.where(), "an export without events", why);
    }
    read_descriptions();
    return finish();
}

std::vector<RankTrace> NsysReader::finish() {
    auto issues = file_.issues();
    if (auto const damage = source_->damage(); !damage.empty()) {
        count_issue(issues, damage, fmt::format("{}: byte {}", file_.where(), file_.bytes()));
    }
    std::vector<RankTrace> traces;
    for (auto& [key, rank] : ranks_) {
        traces.push_back(rank.builder.finish());
        std::int64_t& epoch = traces.back().epoch_ns;
        traces.back().clock_is_absolute = start_ && !__builtin_add_overflow(epoch, *start_, &epoch);
    }
    std::ranges::stable_sort(traces, {}, [](RankTrace const& trace) {
        return trace.rank.value_or(std::numeric_limits<std::int64_t>::max());
    });
    RankTrace& first = traces.front(); // what belongs to the file counts once
    first.events = rows_;
    first.text_bytes = file_.bytes();
    bool const whole = source_->plain_file() >= 0 || !source_->in_memory().empty(); // not read through the source
    first.bytes_read = whole ? file_.bytes() : source_->bytes_read();
    std::ranges::stable_sort(issues, {}, &TraceIssue::kind);
    first.issues = std::move(issues);
    return traces;
}

bool looks_like_nsys(std::string_view head) { return head.starts_with(std::string_view{"SQLite format 3\0", 16}); }

std::vector<RankTrace> read_nsys(ByteSource& source, std::string const& where, TraceReading const& reading) {
    return NsysReader{source, where, reading}.read();
}

} // namespace headroom::io
