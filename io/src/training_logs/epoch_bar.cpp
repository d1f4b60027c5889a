#include "tables/cell_text.hpp"
#include "training_logs/progress_bar.hpp"
#include "training_logs/training_log_formats.hpp"

namespace headroom::io {
namespace {

/// The epoch of "Epoch 0", "Epoch 1/3", "Train step of epoch 0"; empty for another title. "Training Epoch: 1" counts steps.
std::optional<int> epoch_of(std::string_view title) {
    std::string_view word = next_word(title);
    while (same_caseless(word, "train") || same_caseless(word, "step") || same_caseless(word, "of")) {
        word = next_word(title);
    }
    if (!same_caseless(word, "epoch")) { return std::nullopt; }
    return printed_count(trimmed_line(title.substr(0, title.find('/'))));
}

} // namespace

void take_epoch_bar(std::string_view line, TrainingLogBuilder& log) {
    if (line.find("poch ") == std::string_view::npos || line.find("train_step_timing") != std::string_view::npos) {
        return;
    }
    auto const bar = progress_bar(line);
    auto const epoch = bar ? epoch_of(bar->title) : std::nullopt;
    if (!epoch) { return; }
    log.announced.lightning |= bar->behind.find("v_num=") != std::string_view::npos;
    for (char const* const label : {"global_step=", "optimizer_step=", "opt_step="}) {
        if (auto const step = whole_after(bar->behind, label)) {
            return log.clock(bar_series, *step, bar->seconds, bar_rounding);
        }
    }
    // Batches, of which a step takes as many as accumulate_grad_batches says.
    log.clock(batch_series, std::int64_t{*epoch} * bar->all + bar->done, bar->seconds, bar_rounding, true);
}

} // namespace headroom::io
