#pragma once

#include "traces/chrome_text.hpp"

#include "headroom/trace/rank_trace.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Facts outside of the events.
struct ChromeMetadata {
    struct Device {
        std::int64_t id = 0;
        trace::TraceDevice device;
    };
    std::optional<std::int64_t> rank, world_size, base_ns;
    std::string host_name;
    std::vector<Device> devices;
    std::vector<trace::TraceGroup> groups;
    bool is_kineto = false; ///< has what only Kineto writes

    /// Takes one member of the file's object; what is of no use is passed over.
    void take(std::string_view key, std::string_view value);
};

/// The end of a JSON value in text as it comes: a quote that no comma, colon or closing bracket follows is part of its
/// string and counted. `npos`: the text ends within the value. `last` says that no more text comes.
std::size_t value_end(std::string_view text, std::size_t at, bool last, std::uint64_t base, ChromeFaults* faults);

} // namespace headroom::io
