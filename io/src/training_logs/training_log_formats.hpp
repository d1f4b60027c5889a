#pragma once

#include "tables/rows.hpp"
#include "training_logs/metrics_columns.hpp"
#include "training_logs/training_log_builder.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

/// nanoGPT: "iter 100: loss 3.1234, time 250.10ms, mfu 30.10%"; an iteration is a step.
void take_nanogpt_line(std::string_view line, TrainingLogBuilder& log);
/// modded-nanogpt: "step:10/1750 train_time:1234ms step_avg:123.40ms", a clock.
void take_modded_nanogpt_line(std::string_view line, TrainingLogBuilder& log);
/// llm.c: "step   20/19560 | loss 7.5 (+nanz)| norm 2.1 (+nanz)| lr 1.2e-05 | 512.30 ms | 41.2% bf16 MFU | 1023456 tok/s".
void take_llm_c_line(std::string_view line, TrainingLogBuilder& log);
/// torchtune's bar: "1|10|Loss: 1.23:  10%|# | 10/100 [00:40<06:00,  4.0s/it]"; it counts steps.
void take_torchtune_bar(std::string_view line, TrainingLogBuilder& log);
/// torchtune's log on disk: "Step 10 | loss:1.2 lr:2e-05 tokens_per_second_per_gpu:3421.1 ...".
void take_torchtune_line(std::string_view line, TrainingLogBuilder& log);
/// Lightning, and loops that draw a bar an epoch: "Epoch 0:  10%|# | 100/1000 [01:40<15:00,  1.00it/s, v_num=0]"; it counts batches.
void take_epoch_bar(std::string_view line, TrainingLogBuilder& log);
/// litgpt: "Epoch 1 | iter 4 step 1 | loss train: 2.1, val: n/a | iter time: 512.33 ms (step)"; an iteration is a micro-batch.
void take_litgpt_line(std::string_view line, TrainingLogBuilder& log);
/// levanter: "Progress on:train 100it/10.0kit rate:1.2it/s remaining:2:14:30 elapsed:01:30 postfix:loss=3.2".
void take_levanter_line(std::string_view line, TrainingLogBuilder& log);

/// Facts that many frameworks print alike: "tensor_model_parallel_size ........ 8", "micro_batch_size: 4".
void take_fact_line(std::string_view line, TrainingLogBuilder& log);

/// Whether a text is JSON: trainer_state.json, trainer_log.jsonl.
bool looks_like_json(std::string_view head);
void read_hf_json(std::string_view text, TrainingLogBuilder& log);

/// Whether a first line names the columns of a table that times steps; which table it is.
enum class MetricsTable { none, plain, lightning, wandb, tensorboard, mlflow, lines };
MetricsTable metrics_table(std::string_view first_line);
/// Reads the rows of such a table, when all are there: what commas mean, the unit of times, and which columns are clocks shows in
/// many. `where`: the file, whose name tells what TensorBoard's values are. Errors: InputError{unreadable} where the steps are of
/// several runs or no whole numbers, where nothing shows whether a comma is a decimal mark, where times contradict the clock or
/// the other times next to them, and where "time" neither rises like a clock nor stands in a row a step.
class MetricsReader {
public:
    MetricsReader(MetricsTable table, std::string_view first_line, std::string where, TrainingLogBuilder& log);
    void take(std::uint64_t number, std::string_view line, TrainingLogBuilder& log);
    /// Learns the meaning of commas and points from numbers outside of its columns.
    void learn(NumberMarks const& marks) { all_marks_.learn(marks); }
    void finish(TrainingLogBuilder& log);
    /// Whether its steps are iterations, which may be micro-batches, and no rate of tokens or sequences times them.
    [[nodiscard]] bool times_iterations() const;
    /// Its steps are batches, of which a step has several.
    void count_batches() { batches_ = true; }

private:
    struct Column {
        int at = -1;
        MetricsName name = {};
    };
    struct Row {
        std::uint64_t line = 0;
        std::int64_t number = -1; ///< of the step; below 0: none
        std::int64_t micro = -1;  ///< of the micro-batch
        std::optional<PrintedNumber> time = {}, clock = {};
        double epoch = 0.0;
        int batch = 0;
        bool evaluates = false, saves = false;
        std::size_t at = 0; ///< of its line
    };
    using Values = std::vector<std::optional<double>>; ///< of a column, by rows
    void add_units();
    void choose(TrainingLogBuilder& log);
    void find_column(MetricsKind kind, Column& column, TrainingLogBuilder& log) const;
    void settle_marks();
    [[nodiscard]] std::optional<PrintedNumber> measured_in(std::string_view cell, int column) const;
    [[nodiscard]] std::optional<PrintedNumber> time_in(std::string_view cell) const;
    [[nodiscard]] std::optional<PrintedNumber> clock_in(std::string_view cell) const;
    Row row_of(std::uint64_t line, CellRow const& cells, TrainingLogBuilder& log) const;
    std::string key_of_table(TrainingLogBuilder& log);
    void refuse_several_runs() const;
    std::vector<Row> rows(TrainingLogBuilder& log);
    void put_in_order(std::vector<Row>& rows, TrainingLogBuilder& log) const;
    [[nodiscard]] Values values_of(int column, std::vector<Row> const& rows) const;

    // metrics_checks.cpp
    /// Decides which of the columns that may be a clock is one.
    void settle_clock(std::vector<Row>& rows, TrainingLogBuilder& log);
    /// Leaves out numbers of micro-batches that rise as those of steps do.
    void settle_micro(std::vector<Row>& rows);
    void count_iterations(std::vector<Row>& rows, TrainingLogBuilder& log);
    void compare_with_clock(std::vector<Row> const& rows, TrainingLogBuilder& log);
    /// Leaves out times or rates that are printed so coarsely that the clock next to them says more.
    void prefer_clock(std::vector<Row>& rows, TrainingLogBuilder& log);
    void compare_with_others(std::vector<Row> const& rows, TrainingLogBuilder& log);
    /// Refuses the time of a step that is shorter than forward and backward pass together: it is the optimizer's.
    void compare_with_passes(std::vector<Row> const& rows) const;
    [[noreturn]] void refuse_contradiction(std::string_view problem, std::string why) const;

    MetricsTable table_;
    std::string where_;
    char delimiter_ = ',';
    std::vector<std::string> names_;
    Column step_, micro_, time_, clock_, memory_, batch_;
    int key_ = -1, run_ = -1, epoch_ = -1, checkpoints_ = -1; ///< `key_`, `run_`: of a table with one metric a row
    std::vector<int> evaluations_, parts_; ///< columns of metrics of evaluations, of words such as "val"
    std::vector<NumberMarks> marks_;       ///< of columns
    std::vector<bool> counts_, small_;     ///< columns of counts, of numbers below a thousand
    NumberMarks all_marks_;
    bool batches_ = false;
    std::vector<std::pair<std::uint64_t, std::string>> lines_;
    std::uintmax_t bytes_ = 0;
};

/// Figures of lines that no format knows, by the words before them and their units, as the rows of a table: "step: 10 | dt: 250 ms",
/// "Epoch: [0] [10/500] time: 0.41". Blocks of lines about one step are one row; the time stamps of lines are a clock.
class LabelledLines {
public:
    /// `line` without marks, `whole` with them.
    void take(std::uint64_t number, std::string_view line, std::string_view whole);
    /// Whether a line has a step with a time, a rate or, in training, a time stamp.
    [[nodiscard]] bool shows_steps() const;
    [[nodiscard]] bool counts_batches() const; ///< of an epoch, where no step is numbered
    [[nodiscard]] std::string heads() const;   ///< between tabs
    /// Marks of the numbers that are in no row.
    [[nodiscard]] NumberMarks const& marks() const { return marks_; }
    void each(std::function<void(std::uint64_t, std::string const&)> const& take) const;

private:
    using Cell = std::pair<std::size_t, std::string>; ///< with its column
    struct Row {
        std::uint64_t line = 0;
        std::vector<Cell> cells = {};
        std::optional<LineStamp> stamp = {};
        bool times = false, trains = false, batches = false;
        bool marks = false; ///< of an evaluation or a checkpoint
    };
    struct Meaning {
        std::string head;                 ///< empty: it says nothing about steps and times
        bool step = false, times = false; ///< `times`: also a clock
        bool small = false;               ///< of a loss or a learning rate
    };
    Meaning const& meaning_of(std::string const& key, std::string_view label, std::function<std::string()> const& head);
    std::size_t column(std::string_view head);
    [[nodiscard]] bool has_clock() const;
    void join(Row row, bool steps);
    std::optional<LineStamp> following_stamp(std::string_view line);
    void add_mark(std::uint64_t number, std::string_view head);

    std::map<std::string, Meaning, std::less<>> meanings_;
    std::vector<std::string> heads_;
    std::vector<Row> rows_;
    double latest_ = 0.0, added_ = 0.0; ///< stamps without a year: the latest, and the periods added to them
    std::string epoch_;                 ///< of the lines that follow
    bool trains_ = false;               ///< a line has a loss or a learning rate
    NumberMarks marks_;
};

/// Rows of a text of JSON whose objects have a step and a time, as a table between tabs; empty without one.
std::string table_of_json(std::string_view text);
/// Lines that a log collector wrapped in JSON ("message", "log", "textPayload"), as they were; empty without one.
std::string lines_of_json(std::string_view text);

} // namespace headroom::io
