#pragma once

#include "headroom/fields.hpp"
#include "headroom/laws/laws.hpp"
#include "headroom/machine.hpp"
#include "headroom/network/collective.hpp"
#include "headroom/training/laws.hpp"

#include <optional>
#include <vector>

namespace headroom::training {

// Answers of `headroom laws` about data parallelism and pipelines, with their field tables.

// ---- data parallelism -----------------------------------------------------------------------------------------------

struct DataParallelQuestion {
    std::vector<double> parameters = {}; ///< sizes of models
    FlopsPerSecond rate = {};            ///< sustained by one worker
    Link link = {};
    Bytes per_parameter = {};                                  ///< of one gradient
    std::optional<double> global_batch = {}, local_batch = {}; ///< tokens of a step, and of each worker
    std::vector<int> workers = {};
};

/// A model of the question in the numbers that decide whether its step is bound by communication.
DataParallel data_parallel(DataParallelQuestion const& question, double parameters);
/// Number of workers with gamma = 1 at the global batch; empty without a global batch.
std::optional<double> break_even(DataParallelQuestion const& question, double parameters);

struct DataParallelRow {
    double parameters = 0.0;
    int workers = 1;
    double local_batch = 1.0; ///< whole tokens of each worker, one at least
    Seconds compute = {};
    network::CollectiveTime all_reduce = {};
    Bytes sent = {}; ///< by each worker
    double gamma = 0.0;
    std::optional<double> latency_bound_below = {}; ///< parameters; empty without a latency
};

struct DataParallelAnswer {
    DataParallelQuestion question = {};
    std::vector<DataParallelRow> rows = {}; ///< of each model and worker count
};
DataParallelAnswer gammas_of(DataParallelQuestion question);

// ---- pipeline -------------------------------------------------------------------------------------------------------

struct PipelineLawQuestion {
    std::vector<int> stages = {}, micro_batches = {};
    int virtual_stages = 1;
};

struct PipelineLawRow {
    int stages = 1, micro_batches = 1, virtual_stages = 1;
    double bubble = 0.0, bubble_of_ideal = 0.0, speedup = 1.0;
};

struct PipelineLawAnswer {
    int virtual_stages = 1;
    std::vector<PipelineLawRow> rows = {}; ///< of each pair of counts
};
PipelineLawAnswer bubbles_of(PipelineLawQuestion const& question);

// ---- field tables ---------------------------------------------------------------------------------------------------

FieldTable const& field_table_of(DataParallelQuestion const*);
FieldTable const& field_table_of(DataParallelRow const*);
FieldTable const& field_table_of(DataParallelAnswer const*);
FieldTable const& field_table_of(PipelineLawRow const*);
FieldTable const& field_table_of(PipelineLawAnswer const*);

} // namespace headroom::training
