#pragma once

#include "traces/sqlite_file.hpp"
#include "traces/trace_builder.hpp"

#include "headroom/io/trace.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headroom::io {

enum class NsysWork : std::uint8_t { kernel, graph, copy, fill };
struct NsysDeviceTable {
    std::string_view name;
    NsysWork work;
};
struct NsysTimes {
    std::int64_t begin = 0, end = 0;
};

/// One process on one device: what stands for a rank.
struct NsysRank {
    NsysRank(std::int64_t of_process, std::int64_t of_device, std::string const& where)
        : process{of_process}, device{of_device}, builder{where, "nsys"} {}
    std::int64_t process = 0, device = 0;
    TraceBuilder builder;
};

/// Collects the ranks of one export. Device work first: it tells which processes are ranks.
class NsysReader {
public:
    NsysReader(ByteSource& source, std::string const& where, TraceReading const& reading);
    /// Errors: InputError{unreadable} for a database of another kind; InputError{insufficient} without events.
    std::vector<trace::RankTrace> read();

private:
    std::string const& text_of(std::int64_t id);
    std::optional<NsysTimes> times(SqliteRows& rows);
    std::uint32_t correlation(std::optional<std::int64_t> id, SqliteRows const& rows);
    [[nodiscard]] std::int64_t process_of(std::optional<std::int64_t> id) const;
    /// Null when the file has too many.
    NsysRank* rank_of(std::int64_t process, std::int64_t device);

    void read_device_table(NsysDeviceTable const& table);
    std::string kernel_name(SqliteRows& rows);
    void read_waits();

    void read_host();
    void find_threads();
    void read_calls(std::string_view table);
    void read_domains();
    void read_ranges();
    void read_range(SqliteRows& rows);
    void read_messages(std::string_view table);
    void read_thread_names();
    void put_mpi(std::int64_t thread, std::string const& call, NsysTimes time, SqliteRows& rows);
    void put_on_host(std::int64_t thread, trace::SpanKind kind, std::string_view name, NsysTimes time,
                     std::uint32_t cause, SqliteRows const& rows);
    std::vector<NsysRank*> ranks_of_thread(std::int64_t thread);

    void read_descriptions();
    void read_devices();
    void read_device_numbers();
    void read_mpi_ranks();

    std::vector<trace::RankTrace> finish();

    ByteSource* source_;
    SqliteFile file_;
    std::optional<SqliteRows> strings_;
    std::unordered_map<std::int64_t, std::string> texts_;
    bool has_processes_ = true; ///< rows say whose they are
    bool has_device_ = false;
    std::uint64_t rows_ = 0;
    std::optional<std::int64_t> start_;                               ///< nanoseconds since 1970
    std::map<std::pair<std::int64_t, std::int64_t>, NsysRank> ranks_; ///< by process and device
    /// Threads that start work on one device alone; processes with several devices only.
    std::unordered_map<std::int64_t, std::int64_t> device_of_thread_;
    std::map<std::pair<std::int64_t, std::int64_t>, std::string> domains_;         ///< by process and number
    std::map<std::int64_t, std::int64_t> mpi_ranks_;                               ///< by process
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> device_numbers_; ///< by process and its own number
};

} // namespace headroom::io
