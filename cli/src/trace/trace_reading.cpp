#include "trace/trace_reading.hpp"

#include "headroom/error.hpp"

namespace headroom::cli {

TraceSetReader& trace_set_reader() {
    static TraceSetReader reader = io::read_trace_set;
    return reader;
}

ReadFiles read_files(TraceQuestion const& question, Watch& watch) {
    ReadFiles read;
    io::TraceFiles files = io::trace_files(question.paths);
    bool finished = false;
    auto const progress = [&](std::uint64_t done, std::uint64_t all) {
        finished = done >= all;
        watch.progress(all == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(all));
        return !watch.interrupted();
    };
    auto const is_complete = [&] { return finished || !watch.interrupted(); };
    io::TraceReading reading = question.reading;
    reading.stop = watch.token();
    try {
        read.set =
            trace_set_reader()(files, question.digest, reading, question.shard.value_or(io::TraceShard{}), progress);
    } catch (InputError const&) {
        if (is_complete()) { throw; } // else: stopped before the first file was finished
    }
    read.complete = is_complete();
    if (!question.shard) { io::refuse_several_runs(read.set.ranks); }
    read.files = files.files.size();
    read.left_out = std::move(files.left_out);
    return read;
}

} // namespace headroom::cli
