#include "training_logs/training_log_formats.hpp"

#include <cmath>

namespace headroom::io {
namespace {

void take_memory(std::string_view line, TrainingLogBuilder& log) {
    constexpr double rounded = 1073741824.0; // its GB are 2^30 bytes
    if (auto const most = number_after(line, "MaxMemAllocated=")) { log.memory(most->value * rounded); }
}

/// "steps: 200 loss: 5.5508 iter time (s): 0.936 samples/sec: 136.706" of pipelines
bool take_pipeline(std::string_view line, TrainingLogBuilder& log) {
    auto const number = whole_after(line, "steps:");
    auto const seconds = number_after(line, "iter time (s):");
    if (!number || !seconds) { return false; }
    auto const rate = number_after(line, "samples/sec:");
    double const batch = rate ? std::round(rate->value * seconds->value) : 0.0;
    bool const sure =
        batch >= 1.0 && batch < 1e6 && std::abs(rate->value * seconds->value / batch - 1.0) < 0.3 / batch + 2e-3;
    if (sure && log.fact("--global-batch").empty()) {
        log.fact("--global-batch", std::to_string(static_cast<int>(batch)));
    }
    log.step({.number = *number, .value = *seconds});
    return true;
}

/// "[timer.py:157:stop] 0/10, SamplesPerSec=25.7, MemAllocated=21.1GB" until 2022: epoch and step
bool take_older(std::string_view line, TrainingLogBuilder& log) {
    constexpr std::string_view mark = ":stop] ";
    auto const at = line.find(mark);
    auto const slash = line.find('/', at), comma = line.find(',', slash);
    auto const rate = number_after(line, "SamplesPerSec=");
    if (at == line.npos || slash == line.npos || comma == line.npos || !rate) { return false; }
    auto const number = printed_count(line.substr(slash + 1, comma - slash - 1));
    if (!number) { return false; }
    log.step({.number = *number, .figure = StepFigure::samples_per_second, .value = *rate});
    return true;
}

} // namespace

void take_deepspeed_line(std::string_view line, TrainingLogBuilder& log) {
    if (line.find("iter time (s):") != std::string_view::npos && take_pipeline(line, log)) { return; }
    if (line.find("SamplesPerSec=") == std::string_view::npos || take_older(line, log)) { return; }
    if (line.find("CurrSamplesPerSec=") == std::string_view::npos) { return; }
    auto const number = whole_after(line, "global_step=");
    auto const rate = number_after(line, "CurrSamplesPerSec=");
    if (!number || !rate) { return log.issue("step without a number or a rate", line); }
    take_memory(line, log);
    log.step({.number = *number, .figure = StepFigure::samples_per_second, .value = *rate});
}

} // namespace headroom::io
