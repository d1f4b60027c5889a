// Any bytes as a log of collectives: rows within the limits, reasons for the others, or one InputError.

#include "fuzz/require.hpp"

#include "headroom/error.hpp"
#include "headroom/io/benchmark_log.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace headroom;
using namespace headroom::network;

void check(MeasuredCollective const& row, io::BenchmarkLog const& log) {
    double const bytes = row.size.size.base(), seconds = row.time.base();
    require(seconds >= 1e-9 && seconds <= 86'400.0);
    require(row.collective == Collective::barrier ? bytes >= 0.0 : bytes >= 1.0 && bytes <= 1e18);
    require(row.ranks >= 2 && row.nodes >= 1 && row.ranks % row.nodes == 0);
    require(!row.bus_bandwidth || std::isfinite(row.bus_bandwidth->base()));
    require(row.line >= 1 && (row.line <= log.lines || log.format == "nccl-tests json"));
}

void read(std::string_view text, std::string_view name, io::LogQuestion const& question) {
    try {
        io::BenchmarkLog const log = io::read_benchmark_log(text, name, question);
        require(!log.rows.empty() && !log.format.empty());
        for (MeasuredCollective const& row : log.rows) { check(row, log); }
        for (Issue const& trouble : log.issues) {
            bool const placed = trouble.line > 0 || !trouble.column.empty(); // a column has the place of its name
            require(trouble.count > 0 && placed && !trouble.kind.empty());
            require((trouble.text + trouble.column).find('\n') == std::string::npos);
        }
    } catch (InputError const& error) { require(std::string_view{error.what()}.find('\n') == std::string_view::npos); }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    read(text, "log.txt", {});
    read(text, "all_gather_perf_8ranks_2nodes.txt", {});
    read(text, text.substr(0, 64),
         {.system = "x", .ranks = 8, .nodes = 2, .collective = "all_reduce", .in_place = true});
    return 0;
}
