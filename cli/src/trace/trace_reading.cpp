#include "trace/trace_parts.hpp"
#include "trace/trace_report.hpp"

#include "headroom/error.hpp"
#include "headroom/io/executor.hpp"

#include <algorithm>

namespace headroom::cli {

TraceRead read_for(TraceQuestion const& question, TraceProgress const& progress) {
    Stopwatch const stopwatch;
    TraceRead read;
    io::TraceFiles const files = io::trace_files(question.paths);
    auto const told = [&](std::uint64_t done, std::uint64_t all) {
        bool const go_on = progress(all == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(all));
        read.complete = read.complete && (go_on || done >= all);
        return go_on;
    };
    try {
        read.set = trace_set_reader()(files, question.digest, question.reading,
                                      question.shard.value_or(io::TraceShard{}), told);
    } catch (InputError const&) {
        if (read.complete) { throw; } // else: stopped before the first file was finished
    }
    read.files = files.files.size();
    read.left_out = files.left_out;
    read.seconds = stopwatch.seconds();
    return read;
}

TraceOutcome outcome_of(TraceRead read, int threads) {
    TraceOutcome outcome{.answer = {},
                         .left_out = std::move(read.left_out),
                         .unread = std::move(read.set.unread),
                         .files = read.files,
                         .complete = read.complete,
                         .read_seconds = read.seconds};
    outcome.answer = trace_answer(std::move(read.set.ranks), io::executor(threads));
    if (!outcome.unread.empty()) {
        count_issue(outcome.answer.issues, "file that could not be read", outcome.unread.front(),
                    outcome.unread.size());
    }
    return outcome;
}

} // namespace headroom::cli
