// A file or bytes to traces: the format is known by the beginning, and what is wrong with the bytes themselves is
// reported with what the reader found.

#include "records/record.hpp"
#include "traces/head_source.hpp"
#include "traces/trace_formats.hpp"

#include "headroom/error.hpp"
#include "headroom/io/trace.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace headroom::io {

using namespace headroom::trace;

HeadSource::HeadSource(std::unique_ptr<ByteSource> source, std::size_t head, std::stop_token stop)
    : source_{std::move(source)}, stop_{std::move(stop)} {
    head_.resize(head);
    head_.resize(source_->read(head_.data(), head));
}

std::size_t HeadSource::read(char* into, std::size_t size) {
    if (stop_.stop_requested()) { return 0; }
    std::size_t const count = std::min(size, head_.size() - given_);
    if (count > 0) { std::memcpy(into, head_.data() + given_, count); }
    given_ += count;
    return count < size ? count + source_->read(into + count, size - count) : count;
}

namespace {

SourceLimits limits_of(TraceReading const& reading) { return {reading.text_limit, reading.ratio_limit}; }

TraceFormat const& known_format(HeadSource const& source, std::string const& where) {
    std::string_view const damage = source.damage();
    if (source.head().empty() && !damage.empty()) {
        unreadable_error(where, "cannot be read as a trace", "nothing could be decompressed: " + std::string{damage});
    }
    if (TraceFormat const* const format = format_of(source.head())) { return *format; }
    auto const [why, hint] = what_else(source.head(), where);
    unreadable_error(where, "cannot be read as a trace", why, hint);
}

/// Adds facts of the bytes to those of the reader: damage of the file, its size, and ranks that share it.
void complete(std::vector<RankTrace>& traces, ByteSource const& source, std::string const& where) {
    RankTrace& first = traces.front();
    if (std::string_view const damage = source.damage(); !damage.empty()) {
        auto const same = [&](TraceIssue const& issue) { return issue.kind == damage; };
        if (std::none_of(first.issues.begin(), first.issues.end(), same)) {
            count_issue(first.issues, damage, where + ": byte " + std::to_string(source.bytes_read()));
        }
    }
    if (traces.size() > 1) { count_issue(first.issues, "several ranks in one file", where, traces.size()); }
    auto const unsaid = [](RankTrace const& trace) { return trace.bytes_read == 0; };
    if (std::all_of(traces.begin(), traces.end(), unsaid)) { first.bytes_read = source.bytes_read(); }
    auto const by_kind = [](TraceIssue const& left, TraceIssue const& right) { return left.kind < right.kind; };
    std::stable_sort(first.issues.begin(), first.issues.end(), by_kind);
}

std::vector<RankTrace> read_from(std::unique_ptr<ByteSource> bytes, std::string const& where,
                                 TraceReading const& reading) {
    HeadSource source{std::move(bytes), sniffed_bytes, reading.stop};
    TraceFormat const& format = known_format(source, where);
    std::vector<RankTrace> traces = format.read(source, where, reading);
    if (traces.empty()) { throw InputError{Fault::insufficient, {where, "holds no event", "", ""}}; }
    complete(traces, source, where);
    return traces;
}

} // namespace

std::vector<RankTrace> read_traces(std::filesystem::path const& path, TraceReading const& reading) {
    return read_from(open_source(path, limits_of(reading), reading.stop), path.string(), reading);
}

std::vector<RankTrace> read_traces(std::string_view bytes, std::string const& where, TraceReading const& reading) {
    return read_from(open_source(bytes, where, limits_of(reading)), where, reading);
}

} // namespace headroom::io
