#include "training_logs/training_log_formats.hpp"

#include <charconv>

namespace headroom::io {
namespace {

int count_in(std::string_view text) {
    int count = 0;
    std::from_chars(text.data(), text.data() + text.size(), count);
    return count;
}

/// Steps of a block between two evaluations, by the samples at its begin and end and its times.
void take_block(bool begins, FlatObject const& event, FlatObject const* metadata, TrainingLogBuilder& log) {
    auto const time = event.number("time_ms");
    auto samples = metadata != nullptr ? metadata->number("samples_count") : std::nullopt;
    int const batch = count_in(log.fact("--global-batch"));
    if (!time || !samples) { return log.issue("block without a time or samples_count", {}); }
    if (batch < 1) { return log.issue("block before its global_batch_size is stated", {}); }
    constexpr double half_millisecond = 5e-4;
    auto const number = static_cast<std::int64_t>(samples->value / batch);
    constexpr std::int64_t blocks = 1; ///< a clock of its own; evaluations lie between blocks
    if (begins) { log.restart_clock(blocks); }
    log.clock(blocks, number, time->value * 1e-3, half_millisecond);
}

} // namespace

void take_mlperf_line(std::string_view line, TrainingLogBuilder& log) {
    auto const at = line.find(":::MLLOG");
    if (at == std::string_view::npos) { return; }
    std::string_view const text = line.substr(at);
    std::vector<FlatObject> objects;
    ObjectRest const rest = scan_objects(text, [&](FlatObject const& object) { objects.push_back(object); });
    if (!rest.whole || objects.empty()) { return log.issue("line that is cut short", line); }
    FlatObject const& event = objects.back();
    std::string_view const key = event.text("key").value_or("");
    std::string_view const value = event.text("value").value_or("");
    auto const in = [&](std::string_view name) -> FlatObject const* {
        for (FlatObject const& object : objects) {
            if (object.depth == 2 && object.text(name)) { return &object; }
        }
        return nullptr;
    };
    if (key == "run_start") { return log.begin_run(); }
    if (key == "global_batch_size") { return log.count_fact("--global-batch", value); }
    if (key == "max_sequence_length" || key == "sequence_length") { return log.count_fact("--sequence-length", value); }
    if (key == "block_start" || key == "block_stop") {
        return take_block(key == "block_start", event, in("samples_count"), log);
    }
    if (key != "tracked_stats") { return; }
    FlatObject const* const timed = in("train_step_time");
    FlatObject const* const numbered = in("step");
    FlatObject const* const counted = in("samples_count");
    int const batch = count_in(log.fact("--global-batch"));
    if (timed == nullptr || (numbered == nullptr && (counted == nullptr || batch < 1))) { return; }
    auto const seconds = timed->number("train_step_time");
    auto const number = numbered != nullptr ? numbered->number("step") : counted->number("samples_count");
    if (!seconds || !number || !(number->value >= 0.0) || number->value > 1e15) { return; }
    double const step = numbered != nullptr ? number->value : number->value / batch;
    log.step({.number = static_cast<std::int64_t>(step), .value = *seconds});
}

} // namespace headroom::io
