#include "tail/tail_report.hpp"

#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"

#include <array>

namespace headroom::cli {
namespace {

constexpr std::array positionals{
    Positional{"SAMPLES",
               "latencies: CSV, JSON lines, HdrHistogram logs, output of wrk, vegeta, hey or k6, - for standard input, "
               "plain, gzip or zstd; traces or folders of them: their steps; store:ID: a measurement",
               true},
};

constexpr char const* examples = "  headroom tail latencies.csv\n"
                                 "  headroom tail requests.jsonl --column duration --unit ms --where status=200\n"
                                 "  headroom tail client1.hgrm client2.hgrm --each --fan-out 1,100,1000 --fit\n"
                                 "  headroom tail after.csv --baseline before.csv --require 'p99-change<=5%'\n"
                                 "  headroom tail load.csv --interval 10ms --hedge p95\n"
                                 "  headroom tail ./profiler/ --backups 1,2,4\n"
                                 "  headroom tail now.csv --objective 'p99<=200ms' --arrivals 500/s --replicas 8 \\\n"
                                 "      --html tail.html";

/// A condition that no unit of the samples could make right is refused before anything is read.
void check_conditions(Arguments const& arguments) {
    TailAnswer times{.question = {}, .unit = {true}, .set = {}}, plain{.question = {}, .unit = {false}, .set = {}};
    try {
        check_gates(arguments, metrics_of(times));
    } catch (InputError const& error) {
        try {
            check_gates(arguments, metrics_of(plain));
        } catch (InputError const&) { throw error; }
    }
}

int end_of(TailAnswer const& answer) {
    bool const kept = report_gates(answer.gates);
    if (answer.slo && !answer.slo->answered()) {
        refusal("--objective", "it takes " + answer.slo->missing.front());
        return Exit::insufficient;
    }
    if (answer.slo && !answer.slo->replicas()) {
        refusal("--objective", "no number of replicas keeps " + headroom::quoted(answer.slo->objective.text));
        return Exit::infeasible;
    }
    return kept ? Exit::done : Exit::gate;
}

int run(Arguments const& arguments) {
    Stopwatch const stopwatch;
    Output const output = read_output(arguments);
    TailQuestion const question = read_tail_question(arguments);
    check_conditions(arguments);
    io::Catalog const catalog;
    std::vector<TailPart> parts = read_parts(question.paths, question, output.quiet), baseline;
    if (!question.baseline.empty()) { baseline = read_parts(question.baseline, question, output.quiet); }
    TailAnswer answer = answer_of(question, std::move(parts), std::move(baseline));
    answer.gates = check_gates(arguments, metrics_of(answer));
    if (output.stats) { answer.wall_seconds = stopwatch.seconds(); }
    if (output.format == "csv") { // the others carry them
        for (std::string const& one : warnings_of(answer)) { note(output, "tail: " + one); }
    }
    write_result(output, {[&] { return document_of(answer, catalog); }, [&] { return json_of(answer, catalog); },
                          [&] { return sheet_of(answer); }, [&] { return page_of(answer, catalog); }});
    return end_of(answer);
}

} // namespace

Verb tail_verb() {
    return {"tail",      "latencies: percentiles, the slowest of many, replicas",
            positionals, {tail_options(), output_options()},
            examples,    run};
}

} // namespace headroom::cli
