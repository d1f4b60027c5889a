#pragma once

#include "tables/step_rate.hpp"
#include "training_logs/log_checks.hpp"
#include "training_logs/log_text.hpp"
#include "training_logs/step_clock.hpp"

#include "headroom/io/training_log.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::io {

/// A line that times steps, before rates and micro-batches are made times of steps.
struct RawStep {
    training::LoggedStep step;
    StepFigure figure = StepFigure::seconds;
    std::int64_t series = 0;
    std::int64_t micro = -1;           ///< number of its micro-batch; below 0: it times steps
    bool counts_micro_batches = false; ///< its steps are micro-batches
    bool of_clock = false;             ///< a mean between two readings of a clock
    std::optional<LineStamp> stamp = {};
    LineRates rates = {};
};

/// Micro-batches of a step.
struct MicroBatches {
    double stated = 0.0;      ///< by the log or the question; 0: not stated
    double counted = 0.0;     ///< by the numbers of lines; 0: they do not show it
    bool one_of_each = false; ///< the lines time the same micro-batch of every step
    [[nodiscard]] double each() const { return counted > 0.0 ? counted : stated; }
};
/// Makes steps of lines that time micro-batches: of those between two lines at which the number of the step grows, their mean by as
/// many as a step has. Adds to `found` how many the numbers show. False where nothing says how many a step has.
bool join_micro_batches(std::vector<RawStep>& raws, MicroBatches& found);

/// Findings of the readers of all formats in one log, a line at a time. Facts, marks and runs are common to all formats, because
/// a log often holds the lines of two (DeepSpeed below Hugging Face Trainer); steps are each format's own.
class TrainingLogBuilder {
public:
    TrainingLogBuilder(std::size_t formats, TrainingLogQuestion const& question)
        : steps_(formats), question_{question} {}

    /// Where the calls that follow come from.
    void at(std::size_t format, std::uint64_t line, int rank) {
        format_ = format;
        line_ = line;
        rank_ = rank;
    }

    void at_line(std::uint64_t line) { line_ = line; }
    /// The text of the line that the calls that follow come from, for its time stamp; it must outlive them.
    void text(std::string_view line) { text_ = line; }

    /// A line that times steps: so many steps up to `number`.
    struct Timed {
        std::int64_t number = 0;
        StepFigure figure = StepFigure::seconds;
        PrintedNumber value;
        int batch = 0;            ///< sequences of a step; 0: the line does not say
        std::int64_t steps = 0;   ///< that it covers; 0: those since the line before
        bool whole_run = false;   ///< counts only where nothing else times steps
        std::int64_t micro = -1;  ///< number of the micro-batch whose time it states; below 0: that of a step
        bool micro_batch = false; ///< it times a micro-batch that has no number of its own
        LineRates rates = {};
    };
    void step(Timed const& timed);
    /// A clock that says when step `number` was done. Its differences are steps, over as many as its rounding asks for.
    /// `series` tells several clocks apart, of which the one that covers most time counts. Numbers of micro-batches where
    /// `micro_batches`: a step is as many as the log or the question says.
    void clock(std::int64_t series, std::int64_t number, double seconds, double half_unit, bool micro_batches = false);

    /// Clocks that were too coarse for a step give their mean over all.
    void flush_clocks();
    /// Begins a step with the time that the clock shows next.
    void restart_clock(std::int64_t series);

    void fact(std::string_view option, std::string_view value);
    /// A fact that is a count from 1 to 10^9 (a ZeRO stage: 0 to 3); all else is passed over.
    void count_fact(std::string_view option, std::string_view value);
    /// A fact that a surer one takes the place of: fp8 of the bf16 below it.
    void replace_fact(std::string_view option, std::string_view value);
    void memory(double bytes);
    /// Tokens of a step, which give its batch where the length is known.
    void tokens_of_step(std::int64_t tokens) { tokens_ = tokens; }
    void evaluation() { ++marks_.evaluations; }
    void checkpoint() { ++marks_.checkpoints; }
    /// Training starts (again) here.
    void begin_run();
    void issue(std::string_view kind, std::string_view text);
    void note(std::string text);
    void warn(std::string text) { warnings_.push_back(std::move(text)); }

    /// Sign that a progress bar is one of training, the surest last.
    enum class BarSign { none, header, losses, total };
    /// A sign of a bar, by its series; the surest of each counts, and of all bars those with the surest.
    void bar(std::int64_t series, BarSign sign);
    /// Gives a sign to all bars so far but one.
    void other_bars(std::int64_t but, BarSign sign);
    [[nodiscard]] bool has_training_bar() const {
        return std::ranges::any_of(bars_, [](auto const& one) { return one.second != BarSign::none; });
    }
    /// Steps that a header announces, and the one from which a run goes on; 0: none.
    struct Announced {
        bool header = false, dictionaries = false, tokens_noted = false; ///< of Hugging Face's Trainer
        bool counted_steps = false;                                      ///< next to the batches of a bar
        bool lightning = false;                                          ///< figures that Lightning's bars have
        bool torchtune = false;
        std::int64_t total = 0, resumed = 0;
        double evaluations = 0.0; ///< seconds of those so far
    };
    Announced announced = {};
    /// Clock of a progress bar, and seconds of evaluations that it ran through.
    struct BarClock {
        double seconds = 0.0, evaluations = 0.0;
    };
    std::map<std::int64_t, BarClock> bar_clocks = {}; ///< by series
    std::int64_t latest_bar = 0;                      ///< its series

    /// Counts that a log prints of what was trained so far; 0: not yet.
    struct Trained {
        std::int64_t batches = 0, samples = 0, tokens = 0;
    };
    Trained trained = {};

    /// Number of a block of lines about one step, as Composer prints them; empty outside.
    std::optional<std::int64_t> block = {};

    [[nodiscard]] std::size_t lines_of(std::size_t format) const { return steps_[format].size(); }
    [[nodiscard]] bool has_steps() const {
        return std::ranges::any_of(steps_, [](auto const& steps) { return !steps.empty(); });
    }
    [[nodiscard]] std::string_view fact(std::string_view option) const;
    TrainingLogQuestion const& question() const { return question_; }
    [[nodiscard]] double workers() const; ///< 1 where they are not known
    /// The kind of what was passed over most; empty without one.
    [[nodiscard]] std::string first_issue() const { return issues_.empty() ? std::string{} : issues_.front().kind; }
    /// Seconds of a step by a figure, with the facts of this run; empty where one is not known.
    [[nodiscard]] std::optional<double> seconds_by(StepFigure figure, double value, int batch) const;
    /// The log of one format. Errors: InputError{insufficient} at `where` without a step.
    TrainingLog finish(std::size_t format, std::string_view where);

private:
    struct Seen { ///< of one format and rank
        std::int64_t number = -1, first = -1, interval = 1;
        MarksSoFar marks = {};
    };
    struct Tick { ///< of one format, rank and series
        StepClock clock;
        bool micro_batches = false;
    };
    using Facts = std::map<std::string, training::LogFact, std::less<>>;

    using ClockKey = std::pair<std::pair<std::size_t, int>, std::int64_t>;

    void add(RawStep raw, bool marks_known = false);
    void end_clock(ClockKey const& key, Tick tick);
    [[nodiscard]] bool is_nested(ClockKey const& key) const;
    [[nodiscard]] Facts const& last_facts(std::size_t format) const;
    [[nodiscard]] bool agrees(int run, Facts const& with) const;
    [[nodiscard]] std::optional<double> seconds_of(RawStep const& raw, Facts const& facts, std::string& lacking) const;
    void keep_training_bars(std::size_t format);
    void keep_longest_series(std::size_t format);
    void warn_of_samples(std::size_t format);
    void refuse_micro_batch_bar(std::size_t format, std::string_view where) const;
    void make_steps(std::size_t format, std::string& lacking);
    void state_batch(Facts& facts) const;
    int sequences_of(int batch, Facts const& facts);
    void check_stamps(std::vector<CheckedStep>& steps, bool seconds, std::string_view where);
    TrainingLog resolved(std::size_t format, std::string_view where);

    std::vector<std::vector<RawStep>> steps_;
    TrainingLogQuestion const& question_;
    std::vector<Facts> runs_ = std::vector<Facts>(1);
    std::set<std::string, std::less<>> stated_; ///< facts of this run
    bool run_has_steps_ = false;
    std::map<std::pair<std::size_t, int>, Seen> seen_;
    std::map<ClockKey, Tick> ticks_;
    std::map<std::int64_t, BarSign> bars_;
    MarksSoFar marks_;
    std::map<std::size_t, double> memory_; ///< by run
    std::int64_t tokens_ = 0;
    std::vector<std::string> warnings_;
    std::vector<Issue> issues_;
    std::vector<std::string> notes_;
    std::size_t format_ = 0;
    std::uint64_t line_ = 0;
    std::string_view text_;
    int rank_ = -1;
};

/// Lines that time steps in one log, at most.
inline constexpr std::size_t most_logged_steps = 1'000'000;

} // namespace headroom::io
