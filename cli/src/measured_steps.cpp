#include "measured_steps.hpp"

#include "predict/prediction_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/io/file.hpp"

#include <filesystem>

namespace headroom::cli {
namespace {

std::string left_out_words(StepCounts const& counts) {
    std::vector<std::string> parts;
    auto const add = [&](std::size_t count, char const* what) {
        if (count > 0) { parts.push_back(std::to_string(count) + " " + what); }
    };
    add(counts.warm_up, "of warm-up");
    add(counts.evaluation, "with an evaluation");
    add(counts.checkpoint, "with a checkpoint");
    add(counts.outliers, "far off");
    add(counts.other_batch, "of another batch");
    add(counts.other_regime, "of another regime");
    add(counts.other_run, "of another run");
    return parts.empty() ? "" : "; left out: " + join(parts, ", ");
}

/// "two regimes: 8.2 s until step 20, 6.8 s after"; "3 regimes: 6.8 s until step 20, 8.2 s until step 35, 6.8 s after"
std::string regimes_words(std::vector<StepRegime> const& regimes) {
    constexpr std::size_t most = 6;
    std::string text = regimes.size() == 2 ? "two" : std::to_string(regimes.size());
    text += " regimes: ";
    for (std::size_t i = 0; i + 1 < std::min(regimes.size(), most); ++i) {
        text += format(regimes[i].step) + " until step " + std::to_string(regimes[i].last_step) + ", ";
    }
    if (regimes.size() > most) { text += "..., "; }
    return text + format(regimes.back().step) + " after";
}

/// "two runs that differ in speed or batch: 3.5 s a step, then 7 s; the last one counts"
std::string runs_words(SteadyStep const& steady) {
    constexpr std::size_t most = 5;
    std::size_t const count = steady.earlier_runs.size();
    std::string text = (count == 1 ? "two" : std::to_string(count + 1)) + " runs that differ in speed or batch: ";
    for (std::size_t i = 0; i < std::min(count, most); ++i) {
        text += (i > 0 ? ", " : "") + format(steady.earlier_runs[i]) + (i == 0 ? " a step" : "");
    }
    return text + (count > most ? ", ..." : "") + ", then " + format(steady.step) + "; the last one counts";
}

/// "median of 10 of 12 lines; left out: 2 of warm-up; two regimes: 8.2 s until step 20, 6.8 s after"
std::string counts_words(SteadyStep const& steady) {
    std::string text = (steady.mixed ? "mean of " : "median of ") + std::to_string(steady.counts.steady) + " of " +
                       counted(steady.counts.read, "line") + left_out_words(steady.counts);
    if (!steady.regimes.empty()) { text += "; " + regimes_words(steady.regimes); }
    if (!steady.earlier_runs.empty()) { text += "; " + runs_words(steady); }
    return text;
}

} // namespace

std::string log_doubts(LogAnswer const& answer) {
    constexpr double many = 0.2;
    SteadyStep const& steady = answer.steady;
    bool const one = steady.counts.read == 1;
    bool const sure = steady.regimes.empty() && steady.earlier_runs.empty() && answer.warnings.empty();
    if (sure && !one && steady.share_left_out() <= many) { return ""; }
    std::string text = printable(answer.file) + ": " + format(steady.step) + " a step (" + format(steady.low) + " to " +
                       format(steady.high) + "), " + counts_words(steady);
    for (std::string const& warning : answer.warnings) { text += "; " + printable(warning); }
    for (std::string const& note : answer.notes) {
        if (one) { text += "; " + printable(note); } // how that mean came about
    }
    return text;
}

std::string log_words(LogAnswer const& answer) {
    SteadyStep const& steady = answer.steady;
    std::string text = printable(answer.file) + " (" + answer.format + "): " + format(steady.step) + " a step";
    if (steady.low < steady.high) { text += " (" + format(steady.low) + " to " + format(steady.high) + ")"; }
    text += ", " + counts_words(steady) + "; steady steps are " + percent(steady.steady_share) + " % of the time";
    if (answer.memory) { text += "; " + format_binary(*answer.memory) + " of memory at most"; }
    for (std::string const& warning : answer.warnings) { text += "; " + printable(warning); }
    for (std::string const& note : answer.notes) { text += "; " + printable(note); }
    for (Issue const& issue : answer.issues) { text += "; " + words_of(issue); }
    return text;
}

void save_measured_step(SavedStep const& step, Output const& output) {
    bool const exists = std::filesystem::exists(step.file);
    std::string text = exists ? io::read_file(step.file)
                              : "# Measured steps: predictions of steps that are like them lean on these.\n"
                                "partial = true\n";
    if (exists) { io::read_calibration(text, step.file); } // not to add to what is no calibration
    if (!text.ends_with('\n')) { text += '\n'; }
    for (io::MeasuredEntry const& entry : step.entries) { text += io::written_measured_entry(entry); }
    io::write_file(step.file, text);
    note(output, std::string{"note: the measured "} + (step.entries.size() == 1 ? "step was" : "steps were") +
                     " added to " + printable(step.file));
}

std::string warm_words(Prediction const& p) {
    if (!p.warm) { return ""; }
    TimeScale const scale = scale_of(p.step());
    auto const times = [&](Seconds step, Interval const& interval) {
        return significant(step.in(scale.unit)) + " " + scale.name + " (" + significant(interval.low.in(scale.unit)) +
               " to " + significant(interval.high.in(scale.unit)) + ")";
    };
    std::string text = std::to_string(p.warm->related) +
                       (p.warm->related == 1 ? " measured step makes" : " measured steps make") + " it x" +
                       significant(p.warm->factor) + ": " + times(p.step(), p.interval) + " instead of " +
                       times(p.warm->step_before, p.warm->interval_before);
    if (p.warm->outside > 0) {
        text += "; " + std::to_string(p.warm->outside) + (p.warm->outside == 1 ? " of them lies" : " of them lie") +
                " outside of its own interval and was clipped";
    }
    return text;
}

} // namespace headroom::cli
