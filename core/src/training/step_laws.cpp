#include "headroom/training/laws.hpp"
#include "headroom/training/prediction.hpp"
#include "headroom/training/step_laws_answers.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace headroom::training {

using namespace headroom::network;

namespace {

DataParallelRow row_of(DataParallelQuestion const& question, double parameters, int count) {
    Ranks const workers{count};
    DataParallel const step = data_parallel(question, parameters);
    TotalBytes const gradients{question.per_parameter * parameters};
    double const local =
        question.global_batch ? std::max(std::floor(*question.global_batch / count), 1.0) : *question.local_batch;
    DataParallelRow row{.parameters = parameters,
                        .workers = count,
                        .local_batch = local,
                        .compute = compute_time_data_parallel(step, local),
                        .all_reduce = ring_all_reduce(gradients, workers, question.link),
                        .sent = ring_all_reduce_bytes(gradients, workers)};
    row.gamma = communication_to_computation(row.all_reduce.total(), row.compute);
    if (question.link.latency > Seconds{}) {
        row.latency_bound_below = parameters_at_latency_crossover(workers, question.link.latency,
                                                                  question.link.bandwidth, question.per_parameter);
    }
    return row;
}

} // namespace

DataParallel data_parallel(DataParallelQuestion const& question, double parameters) {
    return {.parameters = parameters,
            .rate = question.rate,
            .bandwidth = question.link.bandwidth,
            .per_parameter = question.per_parameter};
}

std::optional<double> break_even(DataParallelQuestion const& question, double parameters) {
    if (!question.global_batch) { return std::nullopt; }
    return break_even_workers(data_parallel(question, parameters), *question.global_batch, question.link.latency);
}

DataParallelAnswer gammas_of(DataParallelQuestion question) {
    DataParallelAnswer answer{std::move(question), {}};
    for (double const parameters : answer.question.parameters) {
        for (int const count : answer.question.workers) {
            answer.rows.push_back(row_of(answer.question, parameters, count));
        }
    }
    return answer;
}

PipelineLawAnswer bubbles_of(PipelineLawQuestion const& question) {
    PipelineLawAnswer answer{question.virtual_stages, {}};
    Ranks const v{question.virtual_stages};
    for (int const p : question.stages) {
        for (int const m : question.micro_batches) {
            Ranks const stages{p}, batches{m};
            answer.rows.push_back({.stages = p,
                                   .micro_batches = m,
                                   .virtual_stages = question.virtual_stages,
                                   .bubble = pipeline_bubble_fraction(stages, batches, v),
                                   .bubble_of_ideal = (p - 1.0) / (static_cast<double>(v.count()) * m),
                                   .speedup = pipeline_speedup(stages, batches, v)});
        }
    }
    return answer;
}

// ---- field tables ---------------------------------------------------------------------------------------------------

namespace {

/// Worker count at which gradients take as long as computation, of one model.
struct BreakEven {
    double parameters = 0.0;
    std::optional<double> workers;
};

/// gamma of many workers at a fixed local batch.
struct WeakGamma {
    DataParallelQuestion const* question;
};

constexpr Field question_rows[] = {
    {"flops_per_second", "Rate that one worker sustains.", member<&DataParallelQuestion::rate>},
    {"bandwidth_bytes_per_second", "Bandwidth of one worker, each way.",
     [](DataParallelQuestion const& q) { return q.link.bandwidth; }},
    {"latency_seconds", "Latency of one message.", [](DataParallelQuestion const& q) { return q.link.latency; }},
    {"bytes_per_gradient", "Size of one gradient.", member<&DataParallelQuestion::per_parameter>},
    {"global_batch", "Tokens of a step; null where none were given.", member<&DataParallelQuestion::global_batch>},
    {"local_batch", "Tokens of each worker; null where none were given.", member<&DataParallelQuestion::local_batch>},
};
constexpr FieldTable question_table = field_table<DataParallelQuestion>("data_parallel_step", question_rows);

constexpr Field row_rows[] = {
    {"parameters", "Parameters of the model.", member<&DataParallelRow::parameters>},
    {"workers", "Number of workers.", member<&DataParallelRow::workers>},
    {"local_batch", "Tokens of each worker: whole, one at least.", member<&DataParallelRow::local_batch>},
    {"global_batch_used", "Tokens of all workers together.",
     [](DataParallelRow const& row) { return row.local_batch * row.workers; }},
    {"compute_seconds", "Computation of a step.", member<&DataParallelRow::compute>},
    {"all_reduce_seconds", "All-reduce of the gradients.",
     [](DataParallelRow const& row) { return row.all_reduce.total(); }},
    {"latency_seconds", "Latency of that all-reduce.",
     [](DataParallelRow const& row) { return row.all_reduce.latency; }},
    {"bandwidth_seconds", "Transfer of that all-reduce.",
     [](DataParallelRow const& row) { return row.all_reduce.bandwidth; }},
    {"bytes_per_worker", "Bytes that each worker sends.", member<&DataParallelRow::sent>},
    {"gamma", "Communication over computation, neither overlapped.", member<&DataParallelRow::gamma>},
    {"communication_bound", "Whether communication takes longer than computation.",
     [](DataParallelRow const& row) { return row.gamma > 1.0; }},
    {"latency_equals_bandwidth_at_parameters",
     "Parameters of a model whose all-reduce spends as long on latency as on transfer; null without a latency.",
     member<&DataParallelRow::latency_bound_below>},
};
constexpr FieldTable row_table = field_table<DataParallelRow>("data_parallel_row", row_rows);

constexpr Field even_rows[] = {
    {"parameters", "Parameters of the model.", [](BreakEven const& e) { return e.parameters; }},
    {"workers", "Number of workers with gamma = 1 at the global batch.", [](BreakEven const& e) { return e.workers; }},
};
constexpr FieldTable even_table = field_table<BreakEven>("break_even", even_rows);
FieldTable const& field_table_of(BreakEven const*) { return even_table; }

constexpr Field weak_rows[] = {
    {"local_batch", "Tokens of each worker; null where none were given.",
     [](WeakGamma const& w) { return w.question->local_batch; }},
    {"gamma_infinity", "Gamma of many workers at that batch.",
     [](WeakGamma const& w) {
         auto const batch = w.question->local_batch;
         return batch ? std::optional{weak_scaling_gamma(data_parallel(*w.question, 1.0), *batch)} : std::nullopt;
     }},
    {"local_batch_where_gamma_infinity_is_1", "Tokens of each worker at which gamma of many workers is 1.",
     [](WeakGamma const& w) { return local_batch_at_break_even(data_parallel(*w.question, 1.0)); }},
};
constexpr FieldTable weak_table = field_table<WeakGamma>("weak_scaling", weak_rows);
FieldTable const& field_table_of(WeakGamma const*) { return weak_table; }

std::optional<double> break_even_without_latency(DataParallelAnswer const& answer) {
    auto const& batch = answer.question.global_batch;
    return batch ? std::optional{break_even_workers(data_parallel(answer.question, 1.0), *batch)} : std::nullopt;
}

std::vector<BreakEven> break_evens(DataParallelAnswer const& answer) {
    std::vector<BreakEven> found;
    if (!answer.question.global_batch) { return found; }
    for (double const parameters : answer.question.parameters) {
        found.push_back({parameters, break_even(answer.question, parameters)});
    }
    return found;
}

constexpr Field answer_rows[] = {
    {"question", "Form of question that was asked.",
     [](DataParallelAnswer const&) { return std::string_view{"data_parallel"}; }},
    {"step", "Rates and batch of the step.", member<&DataParallelAnswer::question>},
    {"rows", "Step of each model at each worker count.", member<&DataParallelAnswer::rows>},
    {"break_even_workers", "Number of workers with gamma = 1 without latency; null without a global batch.",
     from<break_even_without_latency>},
    {"break_even", "Number of workers with gamma = 1, latency included, of each model.", from<break_evens>},
    {"weak_scaling", "Gamma of many workers at a fixed local batch.",
     [](DataParallelAnswer const& a) { return WeakGamma{&a.question}; }},
};
constexpr FieldTable answer_table = field_table<DataParallelAnswer>("data_parallel", answer_rows);

constexpr Field pipeline_row_rows[] = {
    {"stages", "Number of pipeline stages.", member<&PipelineLawRow::stages>},
    {"micro_batches", "Micro-batches of a step.", member<&PipelineLawRow::micro_batches>},
    {"virtual_stages", "Model chunks of a stage.", member<&PipelineLawRow::virtual_stages>},
    {"bubble_fraction", "Fraction of the step in which a stage waits.", member<&PipelineLawRow::bubble>},
    {"bubble_of_ideal", "Waiting time over the step without it.", member<&PipelineLawRow::bubble_of_ideal>},
    {"speedup", "Speedup over one stage.", member<&PipelineLawRow::speedup>},
    {"efficiency", "Speedup over the number of stages.",
     [](PipelineLawRow const& row) { return row.speedup / row.stages; }},
};
constexpr FieldTable pipeline_row_table = field_table<PipelineLawRow>("pipeline_row", pipeline_row_rows);

constexpr Field pipeline_rows[] = {
    {"question", "Form of question that was asked.",
     [](PipelineLawAnswer const&) { return std::string_view{"pipeline"}; }},
    {"virtual_stages", "Model chunks of a stage.", member<&PipelineLawAnswer::virtual_stages>},
    {"rows", "Bubble of each pair of stages and micro-batches.", member<&PipelineLawAnswer::rows>},
};
constexpr FieldTable pipeline_table = field_table<PipelineLawAnswer>("pipeline", pipeline_rows);

} // namespace

FieldTable const& field_table_of(DataParallelQuestion const*) { return question_table; }
FieldTable const& field_table_of(DataParallelRow const*) { return row_table; }
FieldTable const& field_table_of(DataParallelAnswer const*) { return answer_table; }
FieldTable const& field_table_of(PipelineLawRow const*) { return pipeline_row_table; }
FieldTable const& field_table_of(PipelineLawAnswer const*) { return pipeline_table; }

} // namespace headroom::training
