#pragma once

#include "training_logs/training_log_builder.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

// Each format has one file: how its lines, or its objects or columns, are read.

/// Megatron-LM and its descendants: "iteration  100/ 500000 | ... elapsed time per iteration (ms): 6234.5 | ...".
void take_megatron_line(std::string_view line, TrainingLogBuilder& log);
/// NeMo: "Training epoch 0, iteration 45/99 | ... | train_step_timing in s: 6.08 | ..." and Lightning's bar with the same names.
void take_nemo_line(std::string_view line, TrainingLogBuilder& log);
/// torchtitan: "step: 10  loss: 8.1  memory: 42.08GiB(30.10%)  tps: 1,478 ..."; tps, wps in older ones, is of an accelerator.
void take_torchtitan_line(std::string_view line, TrainingLogBuilder& log);
/// nanotron: "iteration: 1 / 15 | consumed_tokens: 512 | elapsed_time_per_iteration_ms: 4.71K | ...".
void take_nanotron_line(std::string_view line, TrainingLogBuilder& log);
/// MaxText: "completed step: 45, seconds: 3.437, TFLOP/s/device: 494.168, Tokens/s/device: 5958.570, total_weights: ...".
void take_maxtext_line(std::string_view line, TrainingLogBuilder& log);
/// Composer: a block of "Train throughput/batches_per_sec: 0.1085" and others below "[batch=10/1000]:".
void take_composer_line(std::string_view line, TrainingLogBuilder& log);
/// DeepSpeed: "epoch=0/micro_step=10/global_step=10, ... CurrSamplesPerSec=111.3, ..."; its pipelines print "iter time (s): 1.2".
void take_deepspeed_line(std::string_view line, TrainingLogBuilder& log);
/// MLPerf: ":::MLLOG {...}".
void take_mlperf_line(std::string_view line, TrainingLogBuilder& log);
/// Hugging Face Trainer: printed dictionaries, and the progress bar with its clock.
void take_hf_trainer_line(std::string_view line, TrainingLogBuilder& log);

/// Facts that many frameworks print alike: "tensor_model_parallel_size ........ 8", "micro_batch_size: 4".
void take_fact_line(std::string_view line, TrainingLogBuilder& log);

/// Whether a text is JSON: trainer_state.json, trainer_log.jsonl.
bool looks_like_json(std::string_view head);
void read_hf_json(std::string_view text, TrainingLogBuilder& log);

/// Whether a first line names the columns of a table that times steps; which table it is.
enum class MetricsTable { none, lightning, wandb, tensorboard };
MetricsTable metrics_table(std::string_view first_line);
/// Reads the rows of such a table. `name`: of the file, which tells what TensorBoard's values are.
class MetricsReader {
public:
    MetricsReader(MetricsTable table, std::string_view first_line, std::string_view name, TrainingLogBuilder& log);
    void take(std::string_view line, TrainingLogBuilder& log);

private:
    struct Column {
        int at = -1;
        double scale = 1.0;
        StepFigure figure = StepFigure::seconds;
    };
    void choose(std::vector<std::string> const& names, TrainingLogBuilder& log);

    char delimiter_ = ',';
    Column step_, time_, clock_, memory_, batch_;
    std::vector<int> evaluations_;
};

} // namespace headroom::io
