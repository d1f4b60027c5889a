#include "queue/queue_report.hpp"
#include "verb.hpp"
#include "watch.hpp"

#include "headroom/io/catalog.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli {
namespace {

constexpr char const* load_group = "Load";
constexpr char const* shape_group = "Replicas";
constexpr char const* wish_group = "What is wanted";
constexpr char const* simulation_group = "Simulation";

constexpr std::array options{
    Option{"--arrivals", "RATE", "requests that arrive: 500/s, 30k/min", load_group},
    Option{"--arrival-variation", "NUMBER", "of the gaps between them, c_a^2: variance / squared mean (default: 1)",
           load_group},
    Option{"--service", "TIME", "what serving one takes, on average: 12ms", load_group},
    Option{"--service-variation", "NUMBER", "c_s^2; 0: always the same, 1: exponential (default)", load_group},
    Option{"--service-samples", "FILE", "measured times in place of both: their mean, variation and tail", load_group},
    Option{"--column", "NAME", "of the samples, where the file has several", load_group},
    Option{"--unit", "UNIT", "of the samples, where the file does not say: ms", load_group},
    Option{"--replicas", "COUNTS", "8, 4,8,16, 1..64 (doubling) or 8..64:8 (default: from what keeps up to twice that)",
           shape_group},
    Option{"--dispatch", "HOW",
           "shared-line (one line before all, the default), or a line each: random, round-robin, two-choices (the "
           "shorter of two by chance) or shortest-line",
           shape_group},
    Option{"--places", "N", "waiting or served at most, others are turned away (default: any number)", shape_group},
    Option{"--batch", "N", "served together by one replica at most (default: 1)", shape_group},
    Option{"--batch-growth", "G", "a batch of n takes 1 + G (n - 1) services (default: 0)", shape_group},
    Option{"--objective", "LIMITS", "'p99<=200ms', with --places also 'p99<=200ms,blocked<=0.1%': the fewest replicas",
           wish_group},
    Option{"--price", "PRICE", "of one replica: 2.5 $/h", wish_group},
    Option{"--scale-up", "FACTOR", "replicas 2x as fast against twice as many, at the same price", wish_group},
    Option{"--require", "CONDITIONS", "exit 99 unless they hold: 'p99<=200ms,utilization<=80%'", wish_group},
    Option{"--simulate", "DURATION", "request by request, to check the formulas (default: a million requests or more)",
           simulation_group, Takes::perhaps_value},
    Option{"--hedge", "DELAY", "a second copy to another line after so long: 30ms (simulated)", simulation_group},
    Option{"--seed", "N", "of the simulation (default: 1)", simulation_group},
};

constexpr char const* examples = "  headroom queue --arrivals 500/s --service 12ms --replicas 8\n"
                                 "  headroom queue --arrivals 500/s --service 12ms --objective 'p99<=80ms'\n"
                                 "      --price '2.5 $/h'\n"
                                 "  headroom queue --arrivals 500/s --service 12ms --service-variation 4\n"
                                 "      --replicas 6..12:1 --simulate\n"
                                 "  headroom queue --arrivals 30k/min --service-samples examples/served.csv \\\n"
                                 "      --replicas 8\n"
                                 "  headroom queue --arrivals 900/s --service 12ms --replicas 8 --places 40\n"
                                 "  headroom queue --arrivals 900/s --service 12ms --replicas 2 --batch 16\n"
                                 "      --batch-growth 0.1\n"
                                 "  headroom queue --arrivals 500/s --service 12ms --replicas 8\n"
                                 "      --dispatch two-choices --hedge 40ms\n"
                                 "  headroom queue --arrivals 60/s --service 12ms --replicas 1 --scale-up 2x";

/// Numbers that --require may ask about; of a report that is not known yet: null.
std::vector<Metric> metrics_of(QueueReport const* report) {
    auto metrics = cli::metrics_of(field_table_of(report), report,
                                   {{"utilization", "answer.utilization"},
                                    {"wait-probability", "answer.wait_probability"},
                                    {"blocked", "answer.blocked"},
                                    {"throughput", "answer.throughput_per_second"},
                                    {"capacity", "answer.capacity_per_second"},
                                    {"wait", "answer.wait_seconds"},
                                    {"latency", "answer.latency_seconds"},
                                    {"replicas", "answer.replicas"},
                                    {"cost", "answer.cost_dollars_per_hour"},
                                    {"p50", "answer.p50_seconds"},
                                    {"p90", "answer.p90_seconds"},
                                    {"p99", "answer.p99_seconds"},
                                    {"p99.9", "answer.p999_seconds"}});
    for (Metric& metric : metrics) {
        if (metric.dimension.dollars != 0) {
            metric.unknown = "unknown: it needs --price";
        } else if (report != nullptr && !report->answer.answer.stable) {
            metric.unknown = "without end: the replicas cannot keep up";
        }
    }
    return metrics;
}

int exit_code(QueueReport const& report) {
    QueueQuestion const& question = report.question;
    if (question.objective && !report.fewest) {
        refusal("queue", "no number of replicas keeps " + objective_words(question));
        return Exit::infeasible;
    }
    if (!report.answer.answer.stable) {
        refusal("queue", replicas_words(report.answer.replicas) + " cannot keep up with " +
                             rate_words(report.answer.arrivals_per_second));
        return Exit::infeasible;
    }
    return Exit::done;
}

/// Whether anything was drawn: else a seed changes nothing.
bool draws(QueueReport const& report) {
    return report.question.simulate || report.question.hedge || report.simulation ||
           std::ranges::any_of(report.rows,
                               [](QueueRow const& row) { return row.answer.method == QueueMethod::simulation; });
}

int run(Arguments const& arguments) {
    Output const output = read_output(arguments, screen_lines);
    check_gates(arguments, [&] { return metrics_of(nullptr); }); // a wrong condition is refused before any work
    QueueQuestion question = read_queue_question(arguments);
    QueueReport report = [&] {
        Watch const watch{"queue", output.quiet};
        question.queue.stop = watch.token();
        return queue_report(std::move(question));
    }();
    if (arguments.has("--seed") && !draws(report)) {
        refuse("--seed", "belongs to a simulation", "it would be ignored", "add --simulate, or leave it out");
    }
    add_words(report);
    io::Catalog const catalog;
    auto const gates = check_gates(arguments, [&] { return metrics_of(&report); });
    write_result(output,
                 result_of(
                     head_of("queue", catalog, ""), report, [&] { return document_of(report, footer(catalog, "")); },
                     {gates, stats_of(output)}, [&] { return row_sheet(report.rows); }));
    bool const held = report_gates(gates);
    if (!report.complete) {
        refusal("queue", "interrupted (the answer is finished, not all that is compared with it)");
        return Exit::interrupted;
    }
    int const code = exit_code(report);
    return code != Exit::done || held ? code : int{Exit::gate};
}

} // namespace

Verb queue_verb() {
    Verb verb{"queue", "how long requests wait, and how many replicas keep an objective", {}, examples, run};
    verb.options = {options, length_options(), output_options()};
    verb.answers = tables_of<QueueReport>();
    return verb;
}

} // namespace headroom::cli
