#include "document/text.hpp"
#include "trace/trace_report.hpp"

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace headroom::cli {
namespace {

constexpr std::uintmax_t largest_part = std::uintmax_t{4} << 30U;

/// A file that an earlier call wrote with --shard.
bool is_part(std::string const& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) { return false; }
    std::ifstream in{path, std::ios::binary};
    std::string head(256, '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(in.gcount()));
    return io::looks_like_trace_part(head);
}

void add(io::TraceSet& all, io::TraceSet more) {
    std::ranges::move(more.ranks, std::back_inserter(all.ranks));
    std::ranges::move(more.unread, std::back_inserter(all.unread));
}

/// Nothing could be read: the first file's own reason, or that of all.
[[noreturn]] void refuse_all(io::TraceFiles const& files, TraceRead const& read, io::TraceReading const& reading) {
    if (files.files.size() == 1) { io::read_traces(files.files.front(), reading); }
    std::string const first = read.set.unread.empty() ? "" : read.set.unread.front();
    throw InputError{Fault::unreadable,
                     {.where = "PATH",
                      .problem = "none of " + counted(read.files, "file") + " could be read",
                      .why = first.empty() ? "" : "the first: " + first,
                      .hint = ""}};
}

} // namespace

TraceRead read_for(TraceQuestion const& question, TraceProgress const& progress) {
    Stopwatch const stopwatch;
    TraceRead read;
    std::vector<std::string> traces;
    for (std::string const& path : question.paths) {
        if (!is_part(path)) {
            traces.push_back(path);
            continue;
        }
        ++read.parts;
        add(read.set, io::read_trace_part(io::read_file(path, largest_part), path));
    }
    io::TraceFiles files;
    if (!traces.empty()) {
        files = io::trace_files(traces);
        io::TraceShard const shard = question.shard.value_or(io::TraceShard{});
        auto const own = [&](std::size_t i) {
            return static_cast<int>(i % static_cast<std::size_t>(shard.of)) == shard.index;
        };
        for (std::size_t i = 0; i < files.files.size(); ++i) { read.files += own(i) ? 1U : 0U; }
        auto const told = [&](std::uint64_t done, std::uint64_t all) {
            bool const go_on = progress(all == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(all));
            read.complete = read.complete && (go_on || done >= all);
            return go_on;
        };
        add(read.set, io::read_trace_set(files, question.digest, question.reading, shard, told));
        read.left_out = files.left_out;
    }
    read.seconds = stopwatch.seconds();
    if (read.set.ranks.empty() && read.complete && !question.shard) { refuse_all(files, read, question.reading); }
    return read;
}

TraceOutcome outcome_of(TraceRead read) {
    TraceOutcome outcome{.answer = {},
                         .left_out = std::move(read.left_out),
                         .unread = std::move(read.set.unread),
                         .files = read.files,
                         .parts = read.parts,
                         .complete = read.complete,
                         .read_seconds = read.seconds};
    outcome.answer = trace_answer(std::move(read.set.ranks));
    if (!outcome.unread.empty()) {
        count_issue(outcome.answer.issues, "file that could not be read", outcome.unread.front(),
                    outcome.unread.size());
    }
    return outcome;
}

} // namespace headroom::cli
