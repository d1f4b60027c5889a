// Parts of a set of traces as bytes: a line that says what it is, the length and a checksum of what follows, and then
// the set, field by field.

#include "traces/part_fields.hpp"

#include <algorithm>
#include <cmath>
#include <isa-l/crc.h>

namespace headroom::io {

using namespace headroom::laws;
using namespace headroom::trace;

namespace {

constexpr std::string_view family = "headroom.trace-part/", magic = "headroom.trace-part/4\n";
constexpr std::size_t header = magic.size() + sizeof(std::uint64_t) + sizeof(std::uint32_t);

std::uint32_t checksum(std::string_view bytes) {
    return crc32_gzip_refl(0, reinterpret_cast<unsigned char const*>(bytes.data()), bytes.size());
}

template <class Values> bool all_below(Values const& values, std::size_t limit) {
    return std::all_of(values.begin(), values.end(), [&](auto value) { return value < limit; });
}

/// Whether numbers of a graph point at what is there. What a checksum cannot tell: a file made on purpose.
bool holds_together(StepGraph const& graph, std::size_t runs) {
    std::size_t const tasks = graph.cost.size(), edges = graph.edges.size();
    bool const columns = graph.begin.size() == tasks && graph.kind.size() == tasks && graph.name.size() == tasks &&
                         graph.lane.size() == tasks && graph.interval.size() == tasks &&
                         graph.collective.size() == tasks && graph.edge_kind.size() == edges &&
                         graph.edge_delay.size() == edges;
    auto const is_run = [&](std::int32_t run) {
        return run >= -1 && (run < 0 || static_cast<std::size_t>(run) < runs);
    };
    return columns && std::all_of(graph.cost.begin(), graph.cost.end(), [](Ticks cost) { return cost >= 0; }) &&
           all_below(graph.name, graph.names.size()) && all_below(graph.lane, graph.lanes.size()) &&
           std::all_of(graph.collective.begin(), graph.collective.end(), is_run) &&
           std::all_of(graph.edges.begin(), graph.edges.end(),
                       [&](Edge const& edge) { return edge.from < tasks && edge.to < tasks; });
}

bool holds_together(RankDigest const& digest) {
    auto const& runs = digest.runs.runs;
    bool const labelled = std::all_of(runs.begin(), runs.end(), [&](CollectiveRun const& run) {
        return run.label < digest.runs.labels.size() && run.end >= run.begin;
    });
    bool const counted = std::all_of(digest.kernels.begin(), digest.kernels.end(), [](ShapedKernel const& kernel) {
        return std::isfinite(kernel.flops) && kernel.flops >= 0.0 && std::isfinite(kernel.bytes) && kernel.bytes >= 0.0;
    });
    bool const paced = std::isfinite(digest.pace.slowing) && digest.pace.slowing >= 1.0;
    return labelled && counted && paced && (!digest.graph || holds_together(*digest.graph, runs.size()));
}

} // namespace

bool looks_like_trace_part(std::string_view bytes) { return bytes.starts_with(family); }

std::string write_trace_part(TraceSet const& part) {
    PartWriter body;
    body(part);
    PartWriter whole;
    whole.bytes() = magic;
    whole(std::uint64_t{body.bytes().size()}, checksum(body.bytes()));
    return std::move(whole.bytes().append(body.bytes()));
}

TraceSet read_trace_part(std::string_view bytes, std::string const& where) {
    PartReader reader{bytes, std::min(magic.size(), bytes.size()), where};
    if (looks_like_trace_part(bytes) && bytes.size() >= magic.size() && !bytes.starts_with(magic)) {
        reader.fail("another version of it");
    }
    if (!bytes.starts_with(magic)) { reader.fail("it begins otherwise"); }
    std::uint64_t length = 0;
    std::uint32_t sum = 0;
    reader(length, sum);
    if (length != bytes.size() - header) {
        reader.fail(length < bytes.size() - header ? "other bytes follow" : "it is cut short");
    }
    if (sum != checksum(bytes.substr(header))) { reader.fail("its bytes were changed: the checksum differs"); }
    TraceSet set;
    reader(set);
    if (!reader.at_end()) { reader.fail("it is longer than what it holds"); }
    if (set.faults.size() != set.unread.size()) { reader.fail("lists differ in length"); }
    bool const numbered = std::all_of(set.shards.begin(), set.shards.end(), [](TraceShard const& shard) {
        return shard.index >= 0 && shard.index < shard.of;
    });
    if (!numbered) { reader.fail("a number of a part is out of range"); }
    bool const whole = std::all_of(set.ranks.begin(), set.ranks.end(),
                                   [](RankDigest const& digest) { return holds_together(digest); });
    if (!whole) { reader.fail("a number in it points at nothing"); }
    return set;
}

} // namespace headroom::io
