#include "output.hpp"
#include "tail/tail_report.hpp"

#include "headroom/error.hpp"
#include "headroom/fit/tail_fit.hpp"
#include "headroom/io/catalog.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli {
namespace {

constexpr std::array positionals{
    Positional{"SAMPLES",
               "latencies: CSV, JSON lines, HdrHistogram logs, output of wrk, vegeta, hey or k6, - for standard input, "
               "plain, gzip or zstd; traces or folders of them: their steps; store:ID: a measurement",
               true},
};

constexpr char const* examples = "  headroom tail examples/after.csv\n"
                                 "  headroom tail examples/requests.jsonl --column duration --unit ms \\\n"
                                 "      --where status=200\n"
                                 "  headroom tail examples/client1.hgrm examples/client2.hgrm --each \\\n"
                                 "      --fan-out 1,100,1000 --fit\n"
                                 "  headroom tail examples/after.csv --baseline examples/before.csv \\\n"
                                 "      --require 'p50-change<=5%'\n"
                                 "  headroom tail examples/crowded.csv --interval 10ms --hedge p95\n"
                                 "  headroom tail examples/profiler --backups 1,2,4\n"
                                 "  headroom tail examples/after.csv --objective 'p99<=200ms' --replicas 20 \\\n"
                                 "      --html tail.html";

/// A condition that no unit of the samples could make right is refused before anything is read.
void check_conditions(Arguments const& arguments) {
    try {
        check_gates(arguments, [&] { return metrics_of(nullptr, true); });
    } catch (InputError const& error) {
        try {
            check_gates(arguments, [&] { return metrics_of(nullptr, false); });
        } catch (InputError const&) { throw error; }
    }
}

/// A report of quantiles answers none of the options that ask about samples.
void demand_samples(TailRequest const& request, TailAnswer const& answer) {
    if (answer.has_samples() || request.needs_samples.empty()) { return; }
    too_little(request.needs_samples.front(),
               "it takes samples, and " + headroom::quoted(answer.set.sources.front().name) + " states only quantiles",
               "what the others did between them is not in it",
               "give the raw latencies: wrk2 -L, vegeta encode, k6 --out json or csv");
}

int end_of(TailAnswer const& answer, std::vector<GateOutcome> const& gates) {
    bool const kept = report_gates(gates);
    if (answer.slo && !answer.slo->answered()) {
        refusal("--objective", "it takes " + answer.slo->missing_words.front());
        return Exit::insufficient;
    }
    if (answer.slo && !answer.slo->replicas()) {
        refusal("--objective", "no number of replicas keeps " + headroom::quoted(answer.slo->objective.text));
        return Exit::infeasible;
    }
    return kept ? Exit::done : Exit::gate;
}

/// JSON and CSV by the fields of `answer`, of times or of plain numbers.
template <class Answer, class Row>
Result result_with(Answer const& answer, std::vector<Row> const& rows, TailAnswer const& shown,
                   io::Catalog const& catalog, ResultTail tail) {
    Result result = result_of(
        head_of("tail", catalog, ""), answer, [&] { return document_of(shown, catalog); }, std::move(tail),
        [&] { return row_sheet(rows); });
    result.page = [&] { return page_of(shown, catalog); };
    result.issues = {}; // they are among the warnings
    return result;
}

void write(Output const& output, TailAnswer const& answer, io::Catalog const& catalog, ResultTail tail) {
    std::vector<TailRow> const rows = rows_of(answer);
    if (answer.set.times) {
        write_result(output, result_with(answer, rows, answer, catalog, std::move(tail)));
        return;
    }
    PlainNumbers<TailAnswer> const plain{&answer};
    std::vector<PlainNumbers<TailRow>> plain_rows;
    for (TailRow const& row : rows) { plain_rows.push_back({&row}); }
    write_result(output, result_with(plain, plain_rows, answer, catalog, std::move(tail)));
}

int run(Arguments const& arguments) {
    Output const output = read_output(arguments, screen_lines);
    TailRequest const request = read_tail_request(arguments);
    check_conditions(arguments);
    io::Catalog const catalog;
    std::vector<TailPart> parts = read_parts(request.paths, request, output.quiet), baseline;
    if (!request.baseline.empty()) { baseline = read_parts(request.baseline, request, output.quiet); }
    check_time_unit(request, parts, baseline);
    TailAnswer answer = tail_answer(request.question, parts, baseline, fit::fit_families_and_tail);
    auto const is_whole = [](TailPart const& part) { return part.samples.complete; };
    answer.complete = std::ranges::all_of(parts, is_whole) && std::ranges::all_of(baseline, is_whole);
    demand_samples(request, answer);
    add_words(answer);
    auto const gates = check_gates(arguments, [&] { return metrics_of(&answer, answer.set.times); });
    if (output.format == "csv") { // the others carry them
        for (std::string const& one : answer.warnings) { note(output, "tail: " + one); }
    }
    write(output, answer, catalog, {gates, stats_of(output)});
    if (!answer.complete) {
        refusal("tail",
                "interrupted (" + grouped(answer.set.values.count()) + " samples finished). the result covers those");
        return Exit::interrupted;
    }
    return end_of(answer, gates);
}

} // namespace

Verb tail_verb() {
    Verb verb{"tail", "latencies: percentiles, the slowest of many, replicas", positionals, examples, run};
    verb.options = {tail_options(), length_options(), output_options()};
    verb.answers = tables_of<TailAnswer, PlainNumbers<TailAnswer>>();
    return verb;
}

} // namespace headroom::cli
