// Any bytes as a training log: steps with times, marks and runs in range, a steady step within its interval, reasons for
// what was left out, or one InputError.

#include "fuzz/require.hpp"

#include "headroom/error.hpp"
#include "headroom/io/training_log.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace headroom;
using namespace headroom::training;

void check(LoggedStep const& step, io::TrainingLog const& log) {
    require(step.seconds >= 1e-6 && step.seconds <= 30.0 * 86'400.0 && std::isfinite(step.half_unit) &&
            step.half_unit >= 0.0);
    require(step.steps >= 1 && step.run >= 0 && step.rank >= -1 && step.batch >= 0);
    require(step.line >= 1 && step.line <= log.lines);
}

void check(SteadyStep const& steady, std::size_t lines) {
    StepCounts const& counts = steady.counts;
    require(counts.read >= 1 && counts.read <= lines && counts.steady >= 1);
    require(counts.steady + counts.warm_up + counts.evaluation + counts.checkpoint + counts.outliers +
                counts.other_batch + counts.other_regime + counts.other_run ==
            counts.read);
    require(steady.step.base() > 0.0 && steady.low <= steady.step && steady.step <= steady.high);
    require(std::isfinite(steady.high.base()) && steady.low.base() > 0.0 && steady.deviation() >= 0.0);
    require(steady.regimes.size() != 1 && static_cast<int>(steady.earlier_runs.size()) < steady.runs);
    require(steady.steady_share >= 0.0 && steady.steady_share <= 1.0 && steady.runs >= 1 && steady.ranks >= 1);
}

void read(std::string_view text, std::string const& name, io::TrainingLogQuestion const& question) {
    try {
        io::TrainingLog const log = io::read_training_log_text(text, name, question);
        bool const packed = text.starts_with("\x1f\x8b") || text.starts_with("\x28\xb5\x2f\xfd"); // gzip, zstd
        require(!log.steps.empty() && !log.format.empty() && (packed || log.bytes == text.size()));
        for (LoggedStep const& step : log.steps) { check(step, log); }
        auto const steady = steady_step(log.steps);
        require(steady.has_value());
        check(*steady, log.steps.size());
        require(!log.memory_bytes || (*log.memory_bytes > 0.0 && std::isfinite(*log.memory_bytes)));
        for (LogFact const& fact : log.facts) { require(!fact.option.empty() && !fact.value.empty()); }
        for (Issue const& issue : log.issues) {
            require(issue.count > 0 && !issue.kind.empty() && issue.text.find('\n') == std::string::npos);
        }
    } catch (InputError const& error) { require(std::string_view{error.what()}.find('\n') == std::string_view::npos); }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    read(text, "train.log", {});
    read(text, "run-tag-iteration-time.csv", {.workers = 8, .global_batch = 64, .sequence_length = 2048});
    return 0;
}
