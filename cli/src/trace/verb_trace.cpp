#include "trace/trace_question.hpp"
#include "trace/trace_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/io/executor.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/processor.hpp"

#include <algorithm>
#include <array>
#include <iterator>
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

constexpr char const* examples = "  headroom trace examples/profiler\n"
                                 "  headroom trace examples/profiler/rank0.json examples/profiler/rank1.json \\\n"
                                 "      --html trace.html\n"
                                 "  headroom trace examples/profiler --baseline examples/profiler-before \\\n"
                                 "      --top 20\n"
                                 "  headroom trace examples/profiler --timeline step.json --step 3\n"
                                 "  headroom trace examples/profiler \\\n"
                                 "      --require 'exposed<=20%,step-p99<=400ms'\n"
                                 "  headroom trace examples/profiler --shard 1/2 --out part1\n"
                                 "  headroom trace examples/profiler --shard 2/2 --out part2\n"
                                 "  headroom trace part1 part2";

void say(Output const& output, std::string_view text) { note(output, "trace: " + std::string{text}); }

/// Prints the files that were not read.
void say_unread(Output const& output, std::vector<std::string> const& unread) {
    constexpr std::size_t most = 8;
    for (std::size_t i = 0; i < std::min(most, unread.size()); ++i) { say(output, unread[i]); }
    if (unread.size() > most) { say(output, std::to_string(unread.size() - most) + " more files could not be read"); }
}

std::string interrupted_words(std::size_t read, std::size_t files) {
    return "interrupted (" + std::to_string(read) + " of " + counted(files, "file") +
           " finished). the result covers those";
}

/// The part of the files that this call was asked for, for a later call to take.
int write_part(ReadFiles const& read, Output const& output) {
    say_unread(output, read.set.unread);
    if (!read.complete) { // a part with holes would be taken for a whole one
        say(output, "interrupted. no part is written");
        return Exit::interrupted;
    }
    io::write_file(output.file, io::write_trace_part(read.set)); // with the names of what was not read
    return read.set.faults.empty() ? Exit::done : exit_code(read.set.faults.front());
}

TraceReport report_of(ReadFiles read, TraceReportQuestion question, int threads) {
    TraceReport report = trace_report(std::move(question),
                                      {.ranks = std::move(read.set.ranks),
                                       .unread = std::move(read.set.unread),
                                       .left_out = std::move(read.left_out),
                                       .complete = read.complete},
                                      io::executor(threads));
    report.verdict = verdict_words(report);
    return report;
}

/// Report on --baseline.
struct Baseline {
    TraceReport report;
    std::vector<Fault> faults; ///< of files that could not be read
};

/// Reads --baseline, and says in the report what changed.
Baseline compare_with_baseline(TraceReport& report, TraceAsked const& asked, Watch& watch, Output const& output) {
    ReadFiles before = read_files(*asked.baseline, watch);
    std::vector<Fault> faults = before.set.faults;
    say_unread(output, before.set.unread);
    TraceReport baseline = report_of(std::move(before), {}, asked.files.reading.threads);
    report.baseline = compare(baseline.answer, report.answer);
    std::vector<std::string> sentences = change_sentences(report);
    report.verdict.insert(report.verdict.begin(), sentences.begin(), sentences.end());
    return {std::move(baseline), std::move(faults)};
}

/// Time and memory of the call, and how fast the files were read.
std::optional<CallStats> reading_stats(Output const& output, TraceAnswer const& answer, double read) {
    auto stats = stats_of(output);
    if (!stats) { return stats; }
    stats->read_seconds = read;
    if (read > 0.0) {
        stats->text_bytes_per_second = static_cast<double>(answer.text_bytes) / read;
        stats->read_bytes_per_second = static_cast<double>(answer.bytes_read) / read;
    }
    return stats;
}

void write(Output const& output, TraceReport const& report, io::Catalog const& catalog, ResultTail tail) {
    std::string const foot = footer(catalog, "");
    Result result = result_of(
        head_of("trace", catalog, ""), report, [&] { return document_of(report, foot); }, std::move(tail),
        [&] { return row_sheet(times_rows(report.answer)); });
    result.page = [&] { return page_of(report, foot); };
    write_result(output, result);
    say_unread(output, report.unread);
}

int run(Arguments const& arguments) {
    Output const output = read_output(arguments, screen_lines);
    require_larger(arguments);
    TraceAsked const asked = read_trace_question(arguments, output);
    io::Catalog const catalog;
    TraceReportQuestion question = asked.report;
    std::optional<laws::NamedMachine> machine;
    if (asked.machine) { machine = io::load_machine(catalog, *asked.machine, "--machine"); }
    std::optional<Watch> watch{std::in_place, "reading", output.quiet};
    Stopwatch const reading;
    ReadFiles read = read_files(asked.files, *watch);
    double const read_seconds = reading.seconds();
    if (asked.files.shard) { return write_part(read, output); }
    std::size_t const finished = read.set.ranks.size(), files = read.files;
    bool const interrupted = !read.complete;
    std::vector<Fault> faults = read.set.faults;
    if (finished == 0) {
        say(output, "interrupted before any file was finished");
        return Exit::interrupted;
    }
    std::string const elsewhere = machine ? io::traced_elsewhere(catalog, *machine, read.set.ranks) : std::string{};
    if (machine && elsewhere.empty()) { question.machine = std::move(machine->processor); }
    TraceReport report = report_of(std::move(read), std::move(question), asked.files.reading.threads);
    if (!elsewhere.empty()) { report.answer.notes.push_back(elsewhere); }
    std::optional<Baseline> baseline;
    if (asked.baseline && !interrupted) {
        baseline = compare_with_baseline(report, asked, *watch, output);
        std::ranges::copy(baseline->faults, std::back_inserter(faults));
    }
    if (arguments.has("--plan")) { predict_larger(report, arguments); }
    watch.reset(); // its line goes before the result comes
    auto const gates = check_gates(
        arguments, [&] { return baseline ? metrics_beside(report, baseline->report) : metrics_of(&report); });
    if (asked.timeline && result_has_place(output)) { io::write_file(*asked.timeline, analysis_trace(report.answer)); }
    write(output, report, catalog, {gates, reading_stats(output, report.answer, read_seconds)});
    if (interrupted) {
        say(output, interrupted_words(finished, files));
        return Exit::interrupted;
    }
    bool const gates_hold = report_gates(gates);
    if (!faults.empty()) { return exit_code(faults.front()); }
    return gates_hold ? Exit::done : Exit::gate;
}

} // namespace

Verb trace_verb() {
    static std::vector<Option> const more = larger_options();
    Verb verb{"trace", "where the time of a run went, from profiler traces: who was late", positionals, examples, run};
    verb.options = {trace_options(), more, length_options(), output_options()};
    verb.answers = tables_of<TraceReport>();
    return verb;
}

} // namespace headroom::cli
