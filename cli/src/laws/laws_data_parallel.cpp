#include "arguments.hpp"
#include "laws/laws_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/training/laws.hpp"
#include "headroom/training/step_laws_answers.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

template <class Q>
Q read_between(Arguments const& arguments, std::string const& option, char const* hint, double low, double high) {
    std::string const text = arguments.required(option, hint);
    Q const value = parse<Q>(text, option);
    if (!(value.base() >= low && value.base() <= high)) {
        refuse(option, headroom::quoted(text) + " is out of range", "", hint);
    }
    return value;
}

std::optional<double> read_tokens(Arguments const& arguments, std::string const& option) {
    auto const text = arguments.text(option);
    return text ? std::optional{parse_count(*text, option)} : std::nullopt;
}

DataParallelQuestion read_question(Arguments const& arguments) {
    DataParallelQuestion question;
    for (std::string const& part :
         split(arguments.required("--parameters", "the model's size: --parameters 7B"), ',')) {
        question.parameters.push_back(parse_count(part, "--parameters"));
    }
    question.rate =
        read_between<FlopsPerSecond>(arguments, "--rate", "sustained by one worker: --rate 312TFLOP/s", 1.0, 1e24);
    question.link.bandwidth = read_between<BytesPerSecond>(arguments, "--bandwidth",
                                                           "of one worker, each way: --bandwidth 600GB/s", 1.0, 1e18);
    question.per_parameter = parse<Bytes>(arguments.text("--gradient-bytes").value_or("2B"), "--gradient-bytes");
    if (question.per_parameter <= Bytes{} || question.per_parameter > 1024.0 * units::byte) {
        refuse("--gradient-bytes", "is out of range", "", "bytes of one gradient: 2B or 4B");
    }
    if (auto const text = arguments.text("--latency")) { question.link.latency = read_time(*text, "--latency"); }
    question.global_batch = read_tokens(arguments, "--global-batch");
    question.local_batch = read_tokens(arguments, "--local-batch");
    if (!question.global_batch && !question.local_batch) {
        refuse("--global-batch", "missing", "gamma depends on the batch: it has no meaning without one",
               "give --global-batch 2048 (tokens a step, divided among the workers), or --local-batch 512 (of "
               "each worker)");
    }
    question.workers = read_law_workers(arguments, doubling_workers());
    check_cells(question.parameters.size(), question.workers.size(), "--workers");
    return question;
}

bool has_latency(DataParallelQuestion const& question) { return question.link.latency > Seconds{}; }

std::string verdict(DataParallelQuestion const& question) {
    std::string text;
    if (auto const even = break_even(question, question.parameters.front())) {
        text = "A global batch of " + plain(*question.global_batch) +
               " tokens keeps computing ahead of its gradients up to " + plain(*even) +
               " workers; with more, communication is the longer of the two.";
    }
    if (question.local_batch) {
        double const gamma = weak_scaling_gamma(data_parallel(question, 1.0), *question.local_batch);
        text += (text.empty() ? "" : " ") + std::string{"With "} + plain(*question.local_batch) +
                " tokens on each of many workers gamma settles at " + plain(gamma) +
                (gamma > 1.0 ? ": bound by communication." : ": computing stays ahead.");
    }
    return text;
}

Table rows_table(DataParallelQuestion const& question, std::vector<DataParallelRow> const& rows) {
    bool const several = question.parameters.size() > 1;
    Table table{.title = "Gradients against computing, nothing overlapped"};
    if (several) { table.columns.push_back("model"); }
    table.columns.insert(table.columns.end(), {"workers", "tokens each", "compute", "all-reduce"});
    if (has_latency(question)) { table.columns.push_back("of it latency"); }
    table.columns.insert(table.columns.end(), {"gamma", left("bound by")});
    for (DataParallelRow const& row : rows) {
        std::vector<std::string> cells;
        if (several) { cells.push_back(scaled(row.parameters)); }
        cells.insert(cells.end(), {std::to_string(row.workers), plain(row.local_batch), format(row.compute),
                                   format(row.all_reduce.total())});
        if (has_latency(question)) { cells.push_back(format(row.all_reduce.latency)); }
        cells.insert(cells.end(), {plain(row.gamma), row.gamma > 1.0 ? "communication" : "computing"});
        table.rows.push_back(std::move(cells));
    }
    return table;
}

/// Batches that do not divide, or that some workers get nothing of.
std::string leftover_words(DataParallelQuestion const& question, std::vector<DataParallelRow> const& rows) {
    if (!question.global_batch) { return ""; }
    std::vector<std::string> counts;
    for (DataParallelRow const& row : rows) {
        std::string const count = std::to_string(row.workers);
        bool const differs = row.local_batch * row.workers != *question.global_batch;
        if (differs && std::ranges::find(counts, count) == counts.end()) { counts.push_back(count); }
    }
    if (counts.empty()) { return ""; }
    if (counts.size() > 8) {
        counts.resize(8);
        counts.emplace_back("...");
    }
    return plain(*question.global_batch) + " tokens do not divide among " + join(counts, ", ") +
           " workers: each works on the whole tokens of its share, and on one at least";
}

void add_chart(std::vector<Block>& blocks, DataParallelQuestion const& question,
               std::vector<DataParallelRow> const& rows) {
    Chart chart{.title = "Communication over computation",
                .caption = "Above 1 the gradients take longer than the computing: more workers then mostly wait.",
                .x = {"workers", AxisScale::logarithmic},
                .y = {"gamma", AxisScale::logarithmic}};
    for (double const parameters : question.parameters) {
        Series series{.name = scaled(parameters) + " parameters", .mark = Mark::line};
        for (DataParallelRow const& row : rows) {
            if (row.parameters != parameters || row.gamma <= 0.0) { continue; }
            series.x.push_back(row.workers);
            series.y.push_back(row.gamma);
        }
        if (series.x.size() > 1) { chart.series.push_back(std::move(series)); }
    }
    if (chart.series.empty()) { return; }
    chart.rules.push_back({false, 1.0, "as long as computing"});
    auto const even = break_even(question, question.parameters.front());
    if (even && question.parameters.size() == 1) {
        chart.rules.push_back({true, *even, "break-even at " + plain(*even)});
    }
    blocks.emplace_back(std::move(chart));
}

Table latency_table(DataParallelQuestion const& question) {
    Table table{.title = "Models below these sizes are bound by latency", .columns = {"workers", "parameters"}};
    for (int const count : question.workers) {
        double const parameters = parameters_at_latency_crossover(Ranks{count}, question.link.latency,
                                                                  question.link.bandwidth, question.per_parameter);
        table.rows.push_back({std::to_string(count), count > 1 ? scaled(parameters) : "-"});
    }
    return table;
}

} // namespace

int run_data_parallel(Arguments const& arguments, LawsCall const& call) {
    DataParallelAnswer const answer = gammas_of(read_question(arguments));
    DataParallelQuestion const& question = answer.question;
    std::vector<Block> blocks{Paragraph{verdict(question), "", true}};
    if (std::string const words = leftover_words(question, answer.rows); !words.empty()) {
        blocks.emplace_back(Paragraph{words, "batch"});
    }
    blocks.emplace_back(rows_table(question, answer.rows));
    if (has_latency(question)) { blocks.emplace_back(latency_table(question)); }
    add_chart(blocks, question, answer.rows);
    blocks.emplace_back(Paragraph{"it belongs to its batch: with a smaller one it is larger in proportion, "
                                  "so it is printed with its batch only. A local "
                                  "batch of " +
                                      plain(local_batch_at_break_even(data_parallel(question, 1.0)), 4) +
                                      " tokens breaks even on many workers, whatever the model's size",
                                  "gamma"});
    blocks.emplace_back(Paragraph{
        "6 operations a parameter and token, the rate is sustained, gradients go around one ring, nothing overlaps",
        "assumes"});
    return write_answer(call, answer, rows_of, "Data parallelism: gradients against computing", std::move(blocks));
}

} // namespace headroom::cli
