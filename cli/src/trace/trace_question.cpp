#include "trace/trace_question.hpp"

#include "trace/trace_reading.hpp"
#include "trace/trace_report.hpp"

#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

#include <array>
#include <cmath>
#include <thread>

namespace headroom::cli {
namespace {

constexpr int most_threads = 256;
constexpr double least_limit = 1e3, largest_limit = 9e18;

constexpr std::array options{
    Option{"--step", "N", "the step whose critical path is reported (default: the middle one)", "Question"},
    Option{"--step-name", "TEXT",
           "ranges of the host with this name are the steps (else those that have it in theirs): forward, train_step",
           "Question"},
    Option{"--steps", "A..B", "these steps alone, as if the trace held no more: 3..5, or 4", "Question"},
    Option{"--from", "TIME", "cut off what comes before, from the first event of each file: 1.2s", "Question"},
    Option{"--to", "TIME", "... and what comes after", "Question"},
    Option{"--workers", "N", "accelerators of the run, where the traces do not state them (else: K is unknown)",
           "Question"},
    Option{"--top", "N", "kernels that are listed (default: 10)", "Question"},
    Option{"--baseline", "PATH", "another set to compare with (again for more files)", "Question", Takes::values},
    Option{"--machine", "NAME|FILE", "how near kernels are to its roofline, where their work is known", "Question"},
    Option{"--require", "CONDITIONS", "exit 99 unless they hold: 'exposed<=20%,step<=400ms,issues==0'", "Question"},
    Option{"--shard", "I/N",
           "read the I-th of N parts of the files alone (1/8 ... 8/8); --out then takes a part, which "
           "a later call takes as a PATH",
           "Large sets"},
    Option{"--threads", "N", "that read (default: all cores); the answer does not depend on it", "Large sets"},
    Option{"--limit", "SIZE", "of one file after decompression (default: 64GiB)", "Large sets"},
    Option{"--timeline", "FILE", "write the step as a Chrome trace, its critical path marked", "Output"},
};

io::TraceShard read_shard(std::string const& text) {
    auto const slash = text.find('/');
    constexpr char const* hint = "write it like 1/8: parts count from 1";
    if (slash == std::string::npos) {
        refuse("--shard", "cannot read " + headroom::quoted(text), "it is not I/N", hint);
    }
    std::string const first = text.substr(0, slash);
    if (first == "0") { refuse("--shard", headroom::quoted(text) + " names no part", "", hint); }
    int const index = parse_whole(first, "--shard"), of = parse_whole(text.substr(slash + 1), "--shard");
    if (index > of) { refuse("--shard", headroom::quoted(text) + " is beyond the last part", "", hint); }
    return {index - 1, of};
}

io::TraceReading read_reading(Arguments const& arguments) {
    io::TraceReading reading;
    int const cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    reading.threads = std::min(most_threads, arguments.count("--threads").value_or(cores));
    if (auto const limit = arguments.quantity<Bytes>("--limit")) {
        if (limit->base() < least_limit || limit->base() > largest_limit) {
            refuse("--limit", headroom::quoted(*arguments.text("--limit")) + " is out of range", "",
                   "write it like 64GiB; at least 1kB");
        }
        reading.text_limit = static_cast<std::uint64_t>(limit->base());
    }
    return reading;
}

/// A part is not an answer: what shapes or checks one has nothing to work on.
void refuse_beside_shard(Arguments const& arguments) {
    for (char const* option :
         {"--baseline", "--require", "--timeline", "--html", "--top", "--machine", "--workers", "--format"}) {
        if (!arguments.has(option)) { continue; }
        refuse(option, "given with --shard", "a part of the files has no answer of its own",
               "give it to the call that takes all parts");
    }
}

std::int64_t read_step(std::string const& text) { return text == "0" ? 0 : parse_whole(text, "--step"); }

/// "3..5" or "4".
void read_steps(std::string const& text, TraceSlice& window) {
    auto const dots = text.find("..");
    auto const number = [](std::string const& one) { return one == "0" ? 0 : parse_whole(one, "--steps"); };
    window.first_step = number(text.substr(0, dots));
    window.last_step = dots == std::string::npos ? window.first_step : number(text.substr(dots + 2));
    if (window.last_step < window.first_step) {
        refuse("--steps", headroom::quoted(text) + " ends before it begins", "",
               "write the smaller number first: 3..5");
    }
}

std::optional<Ticks> read_moment(Arguments const& arguments, std::string const& option) {
    auto const time = arguments.quantity<Seconds>(option);
    if (!time) { return std::nullopt; }
    constexpr double most = 9e9;
    if (!(time->base() >= 0.0) || time->base() > most) {
        refuse(option, headroom::quoted(*arguments.text(option)) + " is out of range", "",
               "write seconds after the first event: 1.2s");
    }
    return static_cast<Ticks>(std::llround(time->base() * 1e9));
}

TraceSlice read_window(Arguments const& arguments) {
    TraceSlice window;
    if (auto const steps = arguments.text("--steps")) { read_steps(*steps, window); }
    window.from = read_moment(arguments, "--from").value_or(window.from);
    window.to = read_moment(arguments, "--to").value_or(window.to);
    if (window.to <= window.from) {
        refuse("--to", "not after --from", "the window would be empty", "write the later time after --to");
    }
    return window;
}

} // namespace

std::span<Option const> trace_options() { return options; }

TraceAsked read_trace_question(Arguments const& arguments, Output const& output) {
    TraceAsked asked;
    TraceQuestion& files = asked.files;
    files.paths = arguments.all("PATH");
    if (files.paths.empty()) { refuse("PATH", "missing", "", "name a trace, or a folder with one for each rank"); }
    if (auto const step = arguments.text("--step")) { files.digest.step = read_step(*step); }
    files.digest.step_name = arguments.text("--step-name").value_or("");
    files.digest.window = read_window(arguments);
    if (auto const shard = arguments.text("--shard")) {
        refuse_beside_shard(arguments);
        files.shard = read_shard(*shard);
    }
    files.reading = read_reading(arguments);
    if (arguments.has("--baseline")) {
        asked.baseline = files;
        asked.baseline->paths = arguments.all("--baseline");
        asked.baseline->digest.step = {};
        asked.baseline->digest.wants_path = false;
    } else if (arguments.text("--require").value_or("").find("baseline") != std::string::npos) {
        refuse("--require", "no baseline to compare with", "", "name it with --baseline PATH");
    }
    asked.report.paths = files.paths;
    asked.report.top = static_cast<std::size_t>(arguments.count("--top").value_or(10));
    asked.report.workers = arguments.count("--workers");
    asked.machine = arguments.text("--machine");
    asked.timeline = timeline_file(arguments, output);
    check_gates(arguments, [&] { return metrics_of(nullptr); });
    return asked;
}

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
