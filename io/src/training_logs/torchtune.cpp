#include "tables/cell_text.hpp"
#include "training_logs/progress_bar.hpp"
#include "training_logs/training_log_formats.hpp"

namespace headroom::io {

void take_torchtune_bar(std::string_view line, TrainingLogBuilder& log) {
    log.announced.torchtune |= line.find("torchtune.") != std::string_view::npos; // its configuration follows
    if (log.announced.torchtune && line.starts_with("batch_size: ")) {
        log.count_fact("--micro-batch", word_after(line, "batch_size:"));
    }
    auto const bar_of_title = line.find("|Loss:");
    if (bar_of_title == std::string_view::npos) { return; }
    auto const bar = progress_bar(line); // "%|" stands behind the title
    if (!bar) { return; }
    std::string_view const epoch = trimmed_line(line.substr(0, line.find('|')));
    auto const number = printed_count(epoch);
    if (!number || *number < 1) { return; }
    log.clock(bar_series, (std::int64_t{*number} - 1) * bar->all + bar->done, bar->seconds, bar_rounding);
}

void take_torchtune_line(std::string_view line, TrainingLogBuilder& log) {
    constexpr std::string_view label = "tokens_per_second_per_gpu:";
    if (line.find(label) == std::string_view::npos) { return; }
    auto const number = whole_after(line, "Step ");
    auto const rate = number_after(line, label);
    if (!number || !rate) { return; }
    constexpr double gibibyte = 1073741824.0;
    if (auto const most = number_after(line, "peak_memory_alloc:")) { log.memory(most->value * gibibyte); }
    log.note("its tokens are those without padding: a step is taken for one of full sequences");
    log.step({.number = *number, .figure = StepFigure::tokens_per_second_per_accelerator, .value = *rate});
}

} // namespace headroom::io
