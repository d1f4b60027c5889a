// Chakra execution traces, messages of protobuf behind their lengths.

#include "traces/chakra_layout.hpp"
#include "traces/trace_formats.hpp"
#include "traces/trace_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::io {

using namespace headroom::trace;

std::vector<RankTrace> read_chakra(ByteSource& source, std::string const& where, TraceReading const& reading) {
    constexpr std::uint64_t most_text = std::uint64_t{4} << 30;
    WholeText const text{source, std::min(most_text, reading.text_limit)};
    TraceBuilder builder{where, "chakra"};
    ProtoFile const file{text.view(), where};
    ChakraNodes const trace = read_chakra_nodes(file, [&](char const* at, std::string_view problem) {
        builder.issue(problem, static_cast<std::uint64_t>(at - file.bytes.data()));
    });
    text.tell(builder);
    if (trace.nodes.empty()) {
        auto const& issues = builder.trace().issues;
        no_events(where, "a Chakra trace without nodes",
                  issues.empty() ? "the file ends behind its metadata"
                                 : fmt::format("{}, {}", issues.front().kind, issues.front().first_at));
    }
    builder.trace().events = trace.nodes.size();
    lay_out_chakra(trace, builder,
                   [&](std::size_t node) { return fmt::format("{}: node {}", where, trace.nodes[node].id); });
    std::vector<RankTrace> traces;
    traces.push_back(builder.finish());
    return traces;
}

} // namespace headroom::io
