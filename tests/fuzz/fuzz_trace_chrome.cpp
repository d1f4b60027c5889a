// Any bytes as a trace of events: traces that hold together, or one InputError of one line; and the same by small
// windows and, in long runs, by several threads: what these cover depends on which of them is faster, and so would the
// inputs that follow.

#include "traces/byte_source.hpp"
#include "traces/trace_formats.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

using namespace headroom::trace;

namespace {

bool holds_together(RankTrace const& trace) {
    auto const& line = trace.timeline;
    std::size_t const spans = trace.size();
    bool sound = line.end.size() == spans && line.lane.size() == spans && line.name.size() == spans &&
                 trace.kind.size() == spans && trace.correlation.size() == spans &&
                 trace.lanes.size() == line.lanes.size();
    for (std::size_t span = 0; sound && span < spans; ++span) {
        sound = line.begin[span] >= 0 && line.end[span] >= line.begin[span] && line.lane[span] < line.lanes.size() &&
                line.name[span] < line.names.size();
    }
    auto const known = [&](auto const& rows) {
        return std::ranges::all_of(rows, [&](auto const& row) { return row.span < spans; });
    };
    return sound && known(trace.collectives) && known(trace.shapes) && known(trace.copies) &&
           std::ranges::all_of(trace.collectives, [&](TracedCollective const& row) {
               return row.group < trace.groups.size() && row.what < trace.collective_names.size();
           });
}

/// Digest of the traces that were read; an error's line where nothing could be.
std::vector<std::int64_t> read_with(std::string_view bytes, std::size_t block, int threads) {
    io::TraceReading reading;
    reading.block = block;
    reading.threads = threads;
    std::vector<std::int64_t> said;
    try {
        auto const source = io::open_source(bytes, "trace.json", {std::uint64_t{1} << 26, 1100.0});
        for (RankTrace const& trace : io::read_chrome(*source, "trace.json", reading)) {
            if (!holds_together(trace)) { std::abort(); }
            said.insert(said.end(), {trace.epoch_ns, static_cast<std::int64_t>(trace.events)});
            said.insert(said.end(), trace.timeline.begin.begin(), trace.timeline.begin.end());
            said.insert(said.end(), trace.timeline.end.begin(), trace.timeline.end.end());
            said.insert(said.end(), trace.timeline.name.begin(), trace.timeline.name.end());
            said.insert(said.end(), trace.timeline.lane.begin(), trace.timeline.lane.end());
            for (auto const& issue : trace.issues) { said.push_back(static_cast<std::int64_t>(issue.count)); }
        }
    } catch (InputError const& error) {
        if (std::string_view(error.what()).find('\n') != std::string_view::npos) { std::abort(); }
    }
    return said;
}

} // namespace
} // namespace headroom

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const bytes{reinterpret_cast<char const*>(data), size};
    auto const whole = headroom::read_with(bytes, std::size_t{1} << 20, 1);
    static bool const long_run = std::getenv("HEADROOM_FUZZ_SECONDS") != nullptr;
    if (headroom::read_with(bytes, 64, long_run && size % 4 == 0 ? 2 : 1) != whole) { std::abort(); }
    return 0;
}
