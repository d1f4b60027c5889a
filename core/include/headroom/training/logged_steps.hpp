#pragma once

#include "headroom/fields.hpp"
#include "headroom/issue.hpp"
#include "headroom/quantity.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::training {

/// A line of a training log that times steps.
struct LoggedStep {
    std::int64_t number = 0; ///< of the last step that it covers
    std::int64_t steps = 1;  ///< that it covers
    double seconds = 0.0;    ///< a step, the mean of those
    double half_unit = 0.0;  ///< half a unit of the last printed digit, seconds
    int run = 0;             ///< a log holds several where training was started again
    int rank = -1;           ///< that printed it; -1: the line does not say
    int batch = 0;           ///< sequences a step; 0: the line does not say
    std::uint64_t line = 0;
    bool evaluation = false; ///< an evaluation since the line before
    bool checkpoint = false; ///< a checkpoint since the line before
};

/// Use of the lines of a log, in the order in which they are distinguished.
enum class StepUse { other_run, other_batch, evaluation, checkpoint, warm_up, other_regime, outlier, steady };

/// Lines of a log by their use.
struct StepCounts {
    std::size_t read = 0;        ///< all that time steps; lines of several ranks about one step count once
    std::size_t other_run = 0;   ///< of an earlier run of another speed or batch than the last
    std::size_t other_batch = 0; ///< with another batch than most
    std::size_t evaluation = 0, checkpoint = 0;
    std::size_t warm_up = 0;
    std::size_t other_regime = 0; ///< of a stretch with another time of a step than most steps have
    std::size_t outliers = 0;
    std::size_t steady = 0; ///< all others: the step is their median
    std::size_t& operator[](StepUse use);
};

/// Change of the steady steps from the first to the last line, where it is no chance.
struct StepDrift {
    double change = 0.0; ///< over the median
    double probability = 1.0;
};

/// A stretch of lines with one time of a step, where that time changed at once during the log.
struct StepRegime {
    Seconds step;                               ///< median
    std::int64_t first_step = 0, last_step = 0; ///< numbers of its first and its last steady step
};

/// Steady step of a log.
struct SteadyStep {
    StepCounts counts;
    int runs = 1, ranks = 1;
    double lines_a_step = 1.0; ///< where no line has the mark of a rank
    int batch = 0;             ///< sequences of the steady steps; 0: the lines do not say
    Seconds step;              ///< median of the steady lines; their mean where they are mixed
    Seconds low, high;         ///< its 90 % interval; equal to the step where one line alone says it
    double spread = 0.0;       ///< of a line: robust standard deviation over the median
    double steady_share = 1.0; ///< steps times the steady step over the time that all lines cover
    Seconds with_outliers;     ///< mean of the steady lines and the outliers
    std::optional<StepDrift> drift;
    std::optional<Seconds> mean_at_end; ///< the last steps, where the times of lines are means since the first step
    std::vector<StepRegime> regimes;    ///< in their order; empty where the time of a step did not change
    std::vector<Seconds> earlier_runs;  ///< medians of earlier runs of another speed or batch, whose lines do not count
    bool mixed = false;                 ///< steps of several times, as of text of several lengths
    bool marked_everywhere = false; ///< evaluation or checkpoint in nearly all lines: they could not be distinguished
    /// Lines that do not count, over all.
    [[nodiscard]] double share_left_out() const;
    /// Standard deviation of ln(step) that the interval stands for; 0 where it has no width.
    [[nodiscard]] double deviation() const;
};

/// Median of the steady lines of a log with its interval.
///
///     runs          of several runs the last with three lines counts, and those of its batch whose medians differ from its
///                   median by at most 5 % or twice the sum of their deviations; two jobs in one file are not averaged
///     batch         lines of another batch than that of most lines (a batch that grows) do not count
///     marked        nor do lines with an evaluation or a checkpoint, unless more than half of all have one and at most two have none
///     warm-up       the first line of each run of three or more, and the lines behind it up to two in a row below
///                   (1 + max(5 %, 4 s)) m; m, s: median and robust deviation of the run's second half; at most ten steps or a
///                   tenth of the run's, whichever is more, and half of its lines. Where more are slow the time changed: they
///                   are a stretch of their own, which has a warm-up of its own
///     regimes       the stretch with the greatest sum of ranks [Pettitt1979] [Olshen2004] against all
///                   other lines, where both have three lines and more steps than a warm-up may have (or five lines and a tenth of the
///                   steps), and their medians differ by more than 5 % and twice the sum of their deviations, or by 5 % and four times the
///                   scatter of lines about their neighbours at the places of change; likewise within each [Vostrikova1981]
///     outliers      lines beyond max(5 %, 5 s) of the median (of their regime), on logarithms, to either side; where more than a
///                   fifth of ten or more lines are such within threefold, those are none
///     mixed         the step is the mean of all steady lines by their steps, the interval that of the mean, where such lines are
///                   left in, where two times of a regime come back three times each, or where that mean of ten or more lines is
///                   more than 5 % from their median
///     steady        of several regimes those that differ by at most 5 % from the one with most steps, of two such the later
///     interval      order statistics (`summarize`), 90 %; of fewer lines than that takes, widened as a normal error would be:
///                   half' = half z(90 %) / z(coverage); never below the rounding of the print; of one line, a mean, at least
///                   3 % to either side, the least by which runs of one configuration scatter; it holds the medians of all
///                   regimes
///     drift         Mann and Kendall's test, 1 %, with a change above 3 %: the interval then holds the medians of the first and
///                   the last third, too
///     means         t = a + b / n of ten or more lines, n the number of the step, with b > 0 and a coefficient of determination
///                   above 0.995, next to such a drift: t is the mean since the first step, the last steps take a, and the
///                   interval holds it
///
/// Takes the slowest rank where several print one step. Sorted by run and step.
/// Empty without a line.
/// Assumes:    a steady step is what most lines show.
/// Source:     [DavidNagaraja2003] [Kendall1975] [Pettitt1979] [Vostrikova1981] [Olshen2004]
std::optional<SteadyStep> steady_step(std::span<LoggedStep const> lines);

/// A fact that a log states, by the option of `predict` that says it; "layers" and "hidden" are of the model, "accumulation" is the
/// number of micro-batches of a step and replica.
struct LogFact {
    std::string option; ///< "--tp"
    std::string value;
    std::uint64_t line = 0;
};

/// Rate that the lines of a log print in addition to the time of a step.
enum class LogRateKind {
    tokens,                ///< of the whole job
    accelerator_tokens,    ///< of one accelerator
    samples,               ///< of the whole job
    accelerator_teraflops, ///< of one accelerator
};
/// Work of a step by such a rate: the rate times the step.
struct LogRate {
    LogRateKind kind = LogRateKind::tokens;
    double work = 0.0; ///< median; tokens, samples, 10^12 FLOP
};

/// A training log, as an answer shows it.
struct LogAnswer {
    std::string file;
    std::string format;
    std::string framework; ///< of the catalog, that the format suggests; empty: none
    bool complete = true;  ///< false where reading was interrupted
    std::uint64_t bytes = 0, lines = 0;
    SteadyStep steady;
    std::optional<double> tokens_per_second; ///< of the whole job; empty where the batch or the length is not known
    std::optional<Bytes> memory;             ///< largest that an accelerator reported
    std::vector<LogFact> facts;
    std::vector<LogRate> rates;        ///< by what its lines print in addition to times
    std::vector<std::string> warnings; ///< figures of the log that contradict each other or its run
    std::vector<std::string> notes;    ///< contradictions with options, and how the log was read
    std::vector<Issue> issues;
    /// The value of a fact; empty where the log does not state it.
    [[nodiscard]] std::string fact(std::string const& option) const;
};
FieldTable const& field_table_of(StepCounts const*);
FieldTable const& field_table_of(StepDrift const*);
FieldTable const& field_table_of(StepRegime const*);
FieldTable const& field_table_of(LogFact const*);
FieldTable const& field_table_of(LogAnswer const*);

} // namespace headroom::training
