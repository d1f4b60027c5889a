#include "document/text.hpp"
#include "trace/trace_question.hpp"
#include "watch.hpp"

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/processor.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace headroom::cli {
namespace {

constexpr std::array positionals{
    Positional{
        "PATH",
        "traces of a run, a file a rank or folders of them: PyTorch profiler JSON, Chrome traces, Nsight "
        "Systems SQLite, tables of key_averages(), plain, gzip or zstd; parts that --shard wrote; - for standard input",
        true},
};

constexpr char const* examples = "  headroom trace ./profiler/\n"
                                 "  headroom trace rank0.json.gz rank1.json.gz --html trace.html\n"
                                 "  headroom trace ./after --baseline ./before --top 20\n"
                                 "  headroom trace ./profiler --timeline step.json --step 3\n"
                                 "  headroom trace ./profiler --require 'exposed<=20%,step-p99<=400ms'\n"
                                 "  headroom trace ./4096-ranks --shard 1/8 --out part1; ...\n"
                                 "  headroom trace part1 part2 part3 part4 part5 part6 part7 part8";

void say(Output const& output, std::string_view text) { note(output, "trace: " + std::string{text}); }

/// What was not read is said beside the result.
void say_unread(Output const& output, std::vector<std::string> const& unread) {
    constexpr std::size_t most = 8;
    for (std::size_t i = 0; i < std::min(most, unread.size()); ++i) { say(output, unread[i]); }
    if (unread.size() > most) { say(output, std::to_string(unread.size() - most) + " more files could not be read"); }
}

TraceRead read_watched(TraceQuestion const& question, Watch& watch) {
    return read_for(question, [&watch](double share) {
        watch.progress(share);
        return !watch.interrupted();
    });
}

std::string interrupted_words(std::size_t read, std::size_t files) {
    return "interrupted (" + std::to_string(read) + " of " + counted(files, "file") +
           " finished). the result covers those";
}

/// The part of the files that this call was asked for, for a later call to take.
int write_part(TraceRead const& read, Output const& output) {
    say_unread(output, read.set.unread);
    if (!read.complete) { // a part with holes would be taken for a whole one
        say(output, "interrupted. no part is written");
        return Exit::interrupted;
    }
    io::write_file(output.file, io::write_trace_part(read.set));
    return Exit::done;
}

TraceReport report_of(TraceRead read, TraceAsked const& asked, std::string footer) {
    TraceReport report{.outcome = outcome_of(std::move(read), asked.question.reading.threads),
                       .paths = asked.question.paths,
                       .top = asked.top,
                       .machine = {},
                       .footer = std::move(footer),
                       .comparison = {},
                       .baseline = {},
                       .gates = {},
                       .wall_seconds = {}};
    std::ranges::sort(report.paths);
    return report;
}

int run(Arguments const& arguments) {
    Stopwatch const stopwatch;
    Output const output = read_output(arguments);
    TraceAsked const asked = read_trace_question(arguments, output);
    io::Catalog const catalog;
    std::optional<Processor> machine;
    if (asked.machine) { machine = io::load_machine(catalog, *asked.machine, "--machine").processor; }
    std::optional<Watch> watch{std::in_place, "reading", output.quiet};
    TraceRead read = read_watched(asked.question, *watch);
    if (asked.question.shard) { return write_part(read, output); }
    if (read.set.ranks.empty()) {
        say(output, "interrupted before any file was finished");
        return Exit::interrupted;
    }
    std::size_t const finished = read.set.ranks.size();
    TraceReport report = report_of(std::move(read), asked, footer(catalog, ""));
    report.machine = std::move(machine);
    if (asked.baseline && report.outcome.complete) {
        TraceOutcome before = outcome_of(read_watched(*asked.baseline, *watch), asked.question.reading.threads);
        report.comparison = compare(before.answer, report.answer());
        report.baseline = asked.baseline->paths;
        say_unread(output, before.unread);
    }
    watch.reset(); // its line goes before the result comes
    report.gates = check_gates(arguments, metrics_of(report.answer()));
    if (asked.timeline && result_has_place(output)) {
        io::write_file(*asked.timeline, analysis_trace(report.answer()));
    }
    if (output.stats) { report.wall_seconds = stopwatch.seconds(); }
    write_result(output, {[&] { return document_of(report); },
                          [&] { return json_of(report, result_head("trace", catalog, "")); },
                          [&] { return sheet_of(report); }, [&] { return page_of(report); }});
    say_unread(output, report.outcome.unread);
    if (!report.outcome.complete) {
        say(output, interrupted_words(finished, report.outcome.files));
        return Exit::interrupted;
    }
    return report_gates(report.gates) ? Exit::done : Exit::gate;
}

} // namespace

Verb trace_verb() {
    return {"trace",     "where the time of a run went, from profiler traces: who was late",
            positionals, {trace_options(), output_options()},
            examples,    run};
}

} // namespace headroom::cli
