#include "tables/cell_text.hpp"
#include "training_logs/progress_bar.hpp"
#include "training_logs/training_log_formats.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom::io {
namespace {

using BarSign = TrainingLogBuilder::BarSign;

constexpr std::size_t most_bars = 256;

/// The time of a whole run, which is all that some logs state, without its evaluations.
void take_runtime(FlatObject const& object, double evaluations, std::optional<std::int64_t> steps,
                  TrainingLogBuilder& log) {
    auto const runtime = object.number("train_runtime");
    auto const rate = object.number("train_steps_per_second");
    if (!runtime || !(runtime->value > evaluations)) { return; }
    double rounding = runtime->half_unit / runtime->value;
    if (steps && rate) { // of another bar
        double const by_rate = rate->value * runtime->value;
        if (std::abs(static_cast<double>(*steps) - by_rate) > 0.05 * by_rate + 1.0) { steps.reset(); }
    }
    if (!steps && log.announced.total > 0) { steps = log.announced.total; }
    if (!steps && rate) {
        steps = static_cast<std::int64_t>(std::llround(std::clamp(rate->value * runtime->value, 0.0, 1e12)));
        rounding += rate->value > 0.0 ? rate->half_unit / rate->value : 0.0;
    }
    // The trainer's own rate counts the steps before a resumption, which train_runtime does not.
    std::int64_t const last = steps.value_or(0), done = last - log.announced.resumed;
    if (done < 1) { return log.issue("train_runtime without a number of steps", {}); }
    double const seconds = (runtime->value - evaluations) / static_cast<double>(done);
    log.step({.number = last, .value = {seconds, seconds * rounding}, .steps = done, .whole_run = true});
}

void take_memory(FlatObject const& object, TrainingLogBuilder& log) {
    constexpr double gibibyte = 1073741824.0;
    for (char const* const key :
         {"memory/max_allocated (GiB)", "memory/max_mem_allocated(gib)", "memory/max_alloc (GiB)"}) {
        if (auto const most = object.number(key)) { log.memory(most->value * gibibyte); }
    }
}

/// The length of sequences by TRL's "num_tokens", which counts those of all steps so far.
void take_tokens(FlatObject const& object, TrainingLogBuilder& log) {
    auto const tokens = object.number("num_tokens");
    if (!tokens || !log.block || !(tokens->value > 0.0) || tokens->value > 1e15) { return; }
    TrainingLogBuilder::Trained const now{.batches = *log.block, .tokens = static_cast<std::int64_t>(tokens->value)};
    auto const before = std::exchange(log.trained, now);
    int const batch = printed_count(log.fact("--global-batch")).value_or(log.question().global_batch);
    std::int64_t const samples = (now.batches - before.batches) * batch, added = now.tokens - before.tokens;
    if (before.tokens == 0 || samples < 1 || added < 1 || !log.fact("--sequence-length").empty()) { return; }
    if (added % samples == 0) { return log.count_fact("--sequence-length", std::to_string(added / samples)); }
    if (!log.announced.tokens_noted) {
        log.note("its sequences have about " + std::to_string((added + samples / 2) / samples) +
                 " tokens: it counts those that are no padding");
    }
    log.announced.tokens_noted = true;
}

/// Lines that announce the batch and the steps; they stand before the first step.
void take_announced(std::string_view line, TrainingLogBuilder& log) {
    constexpr std::string_view steps_label = "Total optimization steps";
    if (line.find(steps_label) != std::string_view::npos) {
        log.announced.total = whole_after(line, steps_label).value_or(0);
        log.bar(log.announced.total, BarSign::total);
    }
    log.count_fact("--micro-batch", word_after(line, "Instantaneous batch size per device"));
    std::string_view const total = word_after(line, "Total train batch size (w. parallel, distributed & accumulation)");
    log.count_fact("--global-batch", total);
    std::string_view const accumulation = word_after(line, "Gradient Accumulation steps");
    auto const each = printed_count(log.fact("--micro-batch")), all = printed_count(log.fact("--global-batch"));
    log.count_fact("accumulation", accumulation);
    auto const steps = printed_count(accumulation);
    if (accumulation.empty() || !each || !all || !steps || *each < 1 || *steps < 1 || *all % *each != 0) { return; }
    if (*all / *each % *steps == 0) { log.fact("--workers", std::to_string(*all / *each / *steps)); }
}

/// Whether a bar counts micro-batches: those of all the steps that the header announces.
bool counts_micro_batches(ProgressBar const& bar, std::int64_t total, int each) {
    return each > 1 && total > 0 && total < bar.all && std::abs(bar.all - total * each) < each;
}

void take_bar(ProgressBar bar, std::string_view line, TrainingLogBuilder& log) {
    BarTitle const title = meaning_of(bar.title);
    if (title == BarTitle::other) { return; }
    bool const losses = title != BarTitle::none || line.find("loss=") != std::string_view::npos;
    bool steps = title == BarTitle::steps;
    for (char const* const label : {"global_step=", "optimizer_step=", "opt_step="}) {
        if (auto const number = whole_after(bar.behind, label); number) {
            bar.done = *number;
            steps = true;
        }
    }
    int const each = printed_count(log.fact("accumulation")).value_or(1);
    if (!steps && counts_micro_batches(bar, log.announced.total, each)) {
        if (bar.done % each != 0) { return; }
        bar.done /= each;
        bar.all = log.announced.total;
        log.note("its progress bar counts micro-batches: " + std::to_string(each) + " to a step");
    } else if (!steps && each > 1 && log.announced.header && log.announced.total == 0) {
        log.note("its progress bar may count micro-batches: the log states no total of steps, and " +
                 std::to_string(each) + " micro-batches to a step");
    }
    log.block = std::max(log.block.value_or(0), bar.done); // for the time of the whole run, which ends it
    log.bar(bar.all, losses ? BarSign::losses : log.announced.header ? BarSign::header : BarSign::none);
    log.latest_bar = bar.all;
    log.announced.counted_steps |= steps;
    bool const skipped = bar.done < log.announced.resumed; // steps of the run before
    if (log.bar_clocks.size() >= most_bars && !log.bar_clocks.contains(bar.all)) { return; }
    auto& clock = log.bar_clocks[bar.all];
    if (bar.seconds < 0.5 * clock.seconds) { clock = {}; } // begins again
    clock.seconds = std::max(clock.seconds, bar.seconds);
    if (skipped || (bar.done == 0 && !(bar.seconds > 0.0))) { return; }
    log.clock(bar.all, bar.done, bar.seconds - clock.evaluations, bar_rounding);
}

/// Unsloth's banner: "Num examples = 9,000 | Num Epochs = 1 | Total steps = 420", and two lines of batches below it.
void take_banner(std::string_view line, TrainingLogBuilder& log) {
    if (line.find("Num Epochs =") != std::string_view::npos && line.find("Total steps =") != std::string_view::npos) {
        log.begin_run();
        log.announced = {.header = true, .total = whole_after(line, "Total steps =").value_or(0)};
        log.bar(log.announced.total, BarSign::total);
    }
    if (auto const at = line.find("Total batch size ("); at != std::string_view::npos) {
        log.count_fact("--global-batch", word_after(line.substr(at), ") ="));
        log.count_fact("--workers", word_after(line, "Data Parallel GPUs ="));
    }
    if (line.find("| Gradient accumulation steps =") != std::string_view::npos) {
        log.count_fact("--micro-batch", word_after(line, "Batch size per device ="));
        log.count_fact("accumulation", word_after(line, "Gradient accumulation steps ="));
    }
}

} // namespace

void take_hf_trainer_line(std::string_view line, TrainingLogBuilder& log) {
    if (line.find("***** Running training *****") != std::string_view::npos) {
        log.begin_run();
        log.announced = {.header = true};
        return;
    }
    constexpr std::string_view resumed = "Continuing training from global step";
    if (line.find(resumed) != std::string_view::npos) {
        log.announced.resumed = whole_after(line, resumed).value_or(0);
        return;
    }
    if (line.find("***** Running Evaluation *****") != std::string_view::npos) { return log.evaluation(); }
    if (line.find(" = ") != std::string_view::npos) {
        take_announced(line, log);
        take_banner(line, log);
    }
    if (auto const bar = progress_bar(line)) { return take_bar(*bar, line, log); }
    auto const brace = std::min(line.find("{'"), line.find("{\""));
    bool const ours = brace != std::string_view::npos && line.find(":::MLLOG") == std::string_view::npos;
    if (!ours) { return; }
    scan_objects(line.substr(brace), [&](FlatObject const& object) {
        if (object.text("eval_loss") || object.text("eval_runtime")) { log.evaluation(); }
        if (auto const took = object.number("eval_runtime"); took && took->value > 0.0) {
            log.announced.evaluations += took->value;
            for (auto& [series, clock] : log.bar_clocks) { // its own ended before, and begins again
                if (took->value > 2.0 * bar_rounding) { clock.evaluations += took->value; }
            }
        }
        take_memory(object, log);
        take_tokens(object, log);
        log.announced.dictionaries |= object.text("loss") || object.text("eval_loss") || object.text("train_runtime");
        if (object.text("loss") && log.latest_bar > 0) { log.bar(log.latest_bar, BarSign::losses); }
        if (object.text("eval_loss")) { log.other_bars(log.latest_bar, BarSign::header); } // the latest may be its own
        if (object.text("train_runtime")) { log.other_bars(0, BarSign::header); }
        if (object.text("train_runtime")) { take_runtime(object, log.announced.evaluations, log.block, log); }
    });
}

bool looks_like_json(std::string_view head) {
    std::string_view const text = trimmed_line(head);
    if (!text.starts_with('{') && !text.starts_with('[')) { return false; }
    std::string_view const inside = trimmed_line(text.substr(1)); // Python's dictionaries begin with another quote
    return inside.starts_with('"') || (text.starts_with('[') && inside.starts_with('{'));
}

void read_hf_json(std::string_view text, TrainingLogBuilder& log) {
    double evaluations = 0.0;
    std::optional<std::int64_t> last;
    std::uint64_t line = 1;
    std::size_t counted = 0;
    scan_objects(text, [&](FlatObject const& object) {
        if (object.begin >= counted) {
            line +=
                static_cast<std::uint64_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                                                      text.begin() + static_cast<std::ptrdiff_t>(object.begin), '\n'));
            counted = object.begin;
        }
        log.at_line(line);
        constexpr double most = 1e15;
        auto const number = object.number("step");
        if (number && number->value >= 1.0 && number->value <= most) {
            last = static_cast<std::int64_t>(number->value);
        }
        bool const whole_run = object.text("train_runtime").has_value(); // its evaluation follows the training
        if (auto const evaluation = object.number("eval_runtime");
            evaluation && evaluation->value > 0.0 && !whole_run) {
            evaluations += evaluation->value;
        }
        if (auto const each = object.text("train_batch_size"); each && printed_count(*each)) {
            log.count_fact("--micro-batch", *each);
        }
        auto const done = object.number("current_steps");
        if (auto const elapsed = object.text("elapsed_time");
            elapsed && done && done->value >= 0.0 && done->value <= most) {
            if (auto const seconds = clock_duration(*elapsed)) {
                if (object.text("eval_loss")) { log.evaluation(); }
                log.clock(0, static_cast<std::int64_t>(done->value), *seconds, bar_rounding);
            }
        }
        if (object.text("train_runtime")) { take_runtime(object, evaluations, last, log); }
    });
}

} // namespace headroom::io
