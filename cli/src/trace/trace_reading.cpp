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
    auto const progress = [&](std::uint64_t done, std::uint64_t all) {
        watch.progress(all == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(all));
        bool const go_on = !watch.interrupted();
        read.complete = read.complete && (go_on || done >= all);
        return go_on;
    };
    try {
        read.set = trace_set_reader()(files, question.digest, question.reading,
                                      question.shard.value_or(io::TraceShard{}), progress);
    } catch (InputError const&) {
        if (read.complete) { throw; } // else: stopped before the first file was finished
    }
    read.files = files.files.size();
    read.left_out = std::move(files.left_out);
    return read;
}

} // namespace headroom::cli
