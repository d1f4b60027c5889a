#include "traces/chrome_finish.hpp"
#include "traces/chrome_parallel.hpp"
#include "traces/trace_formats.hpp"

#include "headroom/error.hpp"

#include <utility>

namespace headroom::io {

using namespace headroom::trace;

namespace {

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

} // namespace

bool looks_like_chrome(std::string_view head) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    if (head.starts_with(mark)) { head.remove_prefix(mark.size()); }
    auto const first = head.find_first_not_of(" \n\r\t");
    if (first == std::string_view::npos) { return false; }
    if (head[first] == '[') { return holds(head, "\"ph\""); }
    if (head[first] != '{') { return false; }
    // Descriptions of many process groups may be longer than the beginning that is looked at.
    bool const kineto =
        holds(head, "\"schemaVersion\"") && (holds(head, "\"deviceProperties\"") || holds(head, "\"distributedInfo\""));
    return holds(head, "\"traceEvents\"") || kineto;
}

std::vector<RankTrace> read_chrome(ByteSource& source, std::string const& where, TraceReading const& reading) {
    ChromePart part;
    ChromeMetadata metadata;
    std::uint64_t const text = read_chrome_text(source, reading, part, metadata);
    if (part.events == 0) { too_little(where, "no event in this trace", {}, "record at least one step"); }
    auto traces = finish_chrome(std::move(part), metadata, where);
    // A plain file is read at several places at once, past the source.
    traces.front().bytes_read = source.size() > 0 ? source.size() : source.bytes_read();
    traces.front().text_bytes = text;
    return traces;
}

} // namespace headroom::io
