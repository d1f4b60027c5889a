#include "arguments.hpp"
#include "document/text.hpp"
#include "laws/laws_report.hpp"

#include "headroom/collective.hpp"
#include "headroom/error.hpp"
#include "headroom/laws.hpp"
#include "headroom/prediction.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

struct BatchQuestion {
    std::vector<double> parameters;
    FlopsPerSecond rate;
    Link link;
    Bytes per_parameter;
    std::optional<double> global_batch, local_batch; ///< tokens
    std::vector<int> workers;
    bool with_latency = false;
};

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

BatchQuestion read_question(Arguments const& arguments) {
    BatchQuestion question;
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
    question.with_latency = arguments.has("--latency");
    if (question.with_latency) { question.link.latency = read_time(*arguments.text("--latency"), "--latency"); }
    question.global_batch = read_tokens(arguments, "--global-batch");
    question.local_batch = read_tokens(arguments, "--local-batch");
    if (!question.global_batch && !question.local_batch) {
        refuse("--global-batch", "missing", "gamma depends on the batch: it says nothing without one",
               "give --global-batch 2048 (tokens a step, divided among the workers), or --local-batch 512 (of "
               "each worker)");
    }
    question.workers = read_law_workers(arguments);
    check_cells(question.parameters.size(), question.workers.size(), "--workers");
    return question;
}

DataParallel step_of(BatchQuestion const& question, double parameters) {
    return {.parameters = parameters,
            .rate = question.rate,
            .bandwidth = question.link.bandwidth,
            .per_parameter = question.per_parameter};
}

struct BatchRow {
    double parameters = 0.0;
    int workers = 1;
    double local_batch = 1.0;
    Seconds compute;
    CollectiveTime all_reduce;
    Bytes sent;
    double gamma = 0.0;
    std::optional<double> latency_bound_below; ///< parameters
};

BatchRow row_of(BatchQuestion const& question, double parameters, int count) {
    Ranks const workers{count};
    DataParallel const step = step_of(question, parameters);
    TotalBytes const gradients{question.per_parameter * parameters};
    double const local =
        question.global_batch ? std::max(std::floor(*question.global_batch / count), 1.0) : *question.local_batch;
    BatchRow row{.parameters = parameters,
                 .workers = count,
                 .local_batch = local,
                 .compute = compute_time_data_parallel(step, local),
                 .all_reduce = ring_all_reduce(gradients, workers, question.link),
                 .sent = ring_all_reduce_bytes(gradients, workers),
                 .latency_bound_below = {}};
    row.gamma = communication_to_computation(row.all_reduce.total(), row.compute);
    if (question.with_latency && question.link.latency > Seconds{}) {
        row.latency_bound_below = parameters_at_latency_crossover(workers, question.link.latency,
                                                                  question.link.bandwidth, question.per_parameter);
    }
    return row;
}

// ---- for machines -------------------------------------------------------------------------------------------------

Json row_json(BatchRow const& row) {
    return Json::object()
        .set("parameters", row.parameters)
        .set("workers", row.workers)
        .set("local_batch", row.local_batch)
        .set("global_batch_used", row.local_batch * row.workers)
        .set("compute_seconds", row.compute.base())
        .set("all_reduce_seconds", row.all_reduce.total().base())
        .set("latency_seconds", row.all_reduce.latency.base())
        .set("bandwidth_seconds", row.all_reduce.bandwidth.base())
        .set("bytes_per_worker", row.sent.base())
        .set("gamma", row.gamma)
        .set("communication_bound", row.gamma > 1.0)
        .set("latency_equals_bandwidth_at_parameters", row.latency_bound_below);
}

Json weak_json(BatchQuestion const& question) {
    DataParallel const step = step_of(question, 1.0);
    Json infinity;
    if (question.local_batch) { infinity = weak_scaling_gamma(step, *question.local_batch); }
    return Json::object()
        .set("local_batch", question.local_batch)
        .set("gamma_infinity", infinity)
        .set("local_batch_where_gamma_infinity_is_1", local_batch_at_break_even(step));
}

Json break_even_json(BatchQuestion const& question) {
    Json found = Json::array();
    if (!question.global_batch) { return found; }
    for (double const parameters : question.parameters) {
        found.push(Json::object()
                       .set("parameters", parameters)
                       .set("workers", break_even_workers(step_of(question, parameters), *question.global_batch,
                                                          question.link.latency)));
    }
    return found;
}

void fill_machines(LawsAnswer& answer, BatchQuestion const& question, std::vector<BatchRow> const& rows) {
    Json json_rows = Json::array();
    answer.sheet.header = {"parameters",         "workers",         "local_batch",      "compute_seconds",
                           "all_reduce_seconds", "latency_seconds", "bytes_per_worker", "gamma"};
    for (BatchRow const& row : rows) {
        json_rows.push(row_json(row));
        answer.sheet.rows.push_back({exact(row.parameters), std::to_string(row.workers), exact(row.local_batch),
                                     exact(row.compute.base()), exact(row.all_reduce.total().base()),
                                     exact(row.all_reduce.latency.base()), exact(row.sent.base()), exact(row.gamma)});
    }
    auto const add = [&answer](char const* key, Json value) { answer.members.emplace_back(key, std::move(value)); };
    add("step", Json::object()
                    .set("flops_per_second", question.rate.base())
                    .set("bandwidth_bytes_per_second", question.link.bandwidth.base())
                    .set("latency_seconds", question.link.latency.base())
                    .set("bytes_per_gradient", question.per_parameter.base())
                    .set("global_batch", question.global_batch)
                    .set("local_batch", question.local_batch));
    add("rows", json_rows);
    add("break_even_workers",
        question.global_batch ? Json{break_even_workers(step_of(question, 1.0), *question.global_batch)} : Json{});
    add("break_even", break_even_json(question));
    add("weak_scaling", weak_json(question));
}

// ---- for people ---------------------------------------------------------------------------------------------------

std::string verdict(BatchQuestion const& question) {
    std::string text;
    DataParallel const step = step_of(question, question.parameters.front());
    if (question.global_batch) {
        double const even = break_even_workers(step, *question.global_batch, question.link.latency);
        text = "A global batch of " + plain(*question.global_batch) +
               " tokens keeps computing ahead of its gradients up to " + plain(even) +
               " workers; with more, communication is the longer of the two.";
    }
    if (question.local_batch) {
        double const gamma = weak_scaling_gamma(step, *question.local_batch);
        text += (text.empty() ? "" : " ") + std::string{"With "} + plain(*question.local_batch) +
                " tokens on each of many workers gamma settles at " + plain(gamma) +
                (gamma > 1.0 ? ": bound by communication." : ": computing stays ahead.");
    }
    return text;
}

Table rows_table(BatchQuestion const& question, std::vector<BatchRow> const& rows) {
    bool const several = question.parameters.size() > 1;
    Table table{.title = "Gradients against computing, nothing overlapped", .columns = {}, .rows = {}};
    if (several) { table.columns.push_back({"model"}); }
    table.columns.insert(table.columns.end(), {{"workers"}, {"tokens each"}, {"compute"}, {"all-reduce"}});
    if (question.with_latency) { table.columns.push_back({"of it latency"}); }
    table.columns.insert(table.columns.end(), {{"gamma"}, {"bound by", Align::left}});
    for (BatchRow const& row : rows) {
        std::vector<std::string> cells;
        if (several) { cells.push_back(scaled(row.parameters)); }
        cells.insert(cells.end(), {std::to_string(row.workers), plain(row.local_batch), format(row.compute),
                                   format(row.all_reduce.total())});
        if (question.with_latency) { cells.push_back(format(row.all_reduce.latency)); }
        cells.insert(cells.end(), {plain(row.gamma), row.gamma > 1.0 ? "communication" : "computing"});
        table.rows.push_back(std::move(cells));
    }
    return table;
}

/// Batches that do not divide, or that some workers get nothing of.
std::string leftover_words(BatchQuestion const& question, std::vector<BatchRow> const& rows) {
    if (!question.global_batch) { return ""; }
    std::vector<std::string> counts;
    for (BatchRow const& row : rows) {
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

void add_chart(LawsAnswer& answer, BatchQuestion const& question, std::vector<BatchRow> const& rows) {
    Chart chart{.title = "Communication over computation",
                .caption = "Above 1 the gradients take longer than the computing: more workers then mostly wait.",
                .x = {"workers", AxisScale::logarithmic},
                .y = {"gamma", AxisScale::logarithmic},
                .series = {}};
    for (double const parameters : question.parameters) {
        Series series{.name = scaled(parameters) + " parameters", .mark = Mark::line};
        for (BatchRow const& row : rows) {
            if (row.parameters != parameters || row.gamma <= 0.0) { continue; }
            series.x.push_back(row.workers);
            series.y.push_back(row.gamma);
        }
        if (series.x.size() > 1) { chart.series.push_back(std::move(series)); }
    }
    if (chart.series.empty()) { return; }
    chart.rules.push_back({false, 1.0, "as long as computing"});
    if (question.global_batch && question.parameters.size() == 1) {
        double const even = break_even_workers(step_of(question, question.parameters.front()), *question.global_batch,
                                               question.link.latency);
        chart.rules.push_back({true, even, "break-even at " + plain(even)});
    }
    answer.blocks.emplace_back(std::move(chart));
}

Table latency_table(BatchQuestion const& question) {
    Table table{
        .title = "Models below these sizes are bound by latency", .columns = {{"workers"}, {"parameters"}}, .rows = {}};
    for (int const count : question.workers) {
        double const parameters = parameters_at_latency_crossover(Ranks{count}, question.link.latency,
                                                                  question.link.bandwidth, question.per_parameter);
        table.rows.push_back({std::to_string(count), count > 1 ? scaled(parameters) : "-"});
    }
    return table;
}

} // namespace

LawsAnswer data_parallel_answer(Arguments const& arguments) {
    BatchQuestion const question = read_question(arguments);
    std::vector<BatchRow> rows;
    for (double const parameters : question.parameters) {
        for (int const count : question.workers) { rows.push_back(row_of(question, parameters, count)); }
    }
    LawsAnswer answer{
        .title = "Data parallelism: gradients against computing", .members = {}, .blocks = {}, .sheet = {}};
    fill_machines(answer, question, rows);
    answer.blocks.emplace_back(Paragraph{verdict(question), "", true});
    if (std::string const words = leftover_words(question, rows); !words.empty()) {
        answer.blocks.emplace_back(Paragraph{words, "batch"});
    }
    answer.blocks.emplace_back(rows_table(question, rows));
    if (question.with_latency && question.link.latency > Seconds{}) {
        answer.blocks.emplace_back(latency_table(question));
    }
    add_chart(answer, question, rows);
    answer.blocks.emplace_back(Paragraph{"it belongs to its batch: with a smaller one it is larger in proportion, "
                                         "so it is never said without. A local "
                                         "batch of " +
                                             plain(local_batch_at_break_even(step_of(question, 1.0)), 4) +
                                             " tokens breaks even on many workers, whatever the model's size",
                                         "gamma"});
    answer.blocks.emplace_back(Paragraph{
        "6 operations a parameter and token, the rate is sustained, gradients go around one ring, nothing overlaps",
        "assumes"});
    return answer;
}

} // namespace headroom::cli
