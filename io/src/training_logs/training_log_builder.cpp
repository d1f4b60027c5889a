#include "training_logs/training_log_builder.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr std::size_t most_clocks = 256;
constexpr std::int64_t whole_run = -1; ///< series of the mean of a whole run

} // namespace

void TrainingLogBuilder::begin_run() {
    if (!run_has_steps_) { return; }
    flush_clocks();
    runs_.push_back(runs_.back());
    stated_.clear();
    run_has_steps_ = false;
    for (auto& [of, seen] : seen_) { seen.number = -1; }
    block.reset();
}

void TrainingLogBuilder::add(RawStep raw, bool marks_known) {
    auto& steps = steps_[format_];
    if (steps.size() >= most_logged_steps) { return issue("step beyond the first million", {}); }
    run_has_steps_ = true;
    raw.step.run = static_cast<int>(runs_.size()) - 1;
    raw.step.rank = rank_;
    raw.step.line = line_;
    Seen& seen = seen_[{format_, rank_}];
    if (!marks_known) {
        raw.step.evaluation = seen.marks.evaluations != marks_.evaluations;
        raw.step.checkpoint = seen.marks.checkpoints != marks_.checkpoints;
    }
    seen.marks = marks_;
    steps.push_back(std::move(raw));
}

void TrainingLogBuilder::step(Timed const& timed) {
    if (!(timed.value.value > 0.0)) { return issue("step without a time above zero", {}); }
    Seen* seen = &seen_[{format_, rank_}];
    bool const falls = seen->number >= 0 && timed.number < seen->number;
    // Lines of ranks without marks may come out of order by one line; a restart goes further back.
    if (falls && (seen->number - timed.number > seen->interval || timed.number <= seen->first)) { begin_run(); }
    if (seen->number < 0) { seen->first = timed.number; }
    std::int64_t const since = seen->number >= 0 ? timed.number - seen->number : 1;
    if (since > 0) { seen->number = timed.number; }
    if (since > 0 && since < std::int64_t{1} << 40) { seen->interval = since; }
    LoggedStep step{.number = timed.number,
                    .steps = timed.steps > 0 ? timed.steps : std::clamp<std::int64_t>(since, 1, 1'000'000),
                    .seconds = timed.value.value,
                    .half_unit = timed.value.half_unit,
                    .batch = timed.batch};
    add({.step = step,
         .figure = timed.figure,
         .series = timed.whole_run ? whole_run : 0,
         .micro = timed.micro,
         .counts_micro_batches = timed.micro_batch,
         .stamp = stamp_of(text_),
         .rates = timed.rates});
}

/// A clock whose rounding was too coarse for any of its steps gives their mean over all.
void TrainingLogBuilder::end_clock(ClockKey const& key, Tick tick) {
    auto const [format, rank] = std::pair{format_, rank_};
    std::tie(format_, rank_) = key.first;
    if (auto const step = tick.clock.rest()) {
        add({.step = *step, .series = key.second, .counts_micro_batches = tick.micro_batches, .of_clock = true}, true);
    }
    for (std::size_t i = 0; i < tick.clock.outliers(); ++i) { issue("step far longer than those around it", {}); }
    for (std::size_t i = 0; i < tick.clock.marked(); ++i) { issue("step with an evaluation or a checkpoint", {}); }
    format_ = format;
    rank_ = rank;
}

void TrainingLogBuilder::flush_clocks() {
    auto const ticks = std::move(ticks_);
    ticks_.clear();
    for (auto const& [key, tick] : ticks) { end_clock(key, tick); }
}

/// Whether a bar runs inside of another that is as surely of training: that of an evaluation.
bool TrainingLogBuilder::is_nested(ClockKey const& key) const {
    auto const sign_of = [&](std::int64_t series) {
        auto const found = bars_.find(series);
        return found == bars_.end() ? BarSign::none : found->second;
    };
    if (!bars_.contains(key.second)) { return false; }
    return std::ranges::any_of(ticks_, [&](auto const& one) {
        auto const& [of, series] = one.first;
        bool const open = series != key.second && bars_.contains(series) && one.second.clock.latest_number() < series;
        return of == key.first && open && sign_of(series) >= sign_of(key.second);
    });
}

void TrainingLogBuilder::clock(std::int64_t series, std::int64_t number, double seconds, double half_unit,
                               bool micro_batches) {
    if (!std::isfinite(seconds)) { return; }
    ClockKey const key{{format_, rank_}, series};
    if (auto const old = ticks_.find(key); old != ticks_.end()) {
        double const latest = old->second.clock.latest_seconds();
        bool const back = number < old->second.clock.latest_number();
        if (back && seconds > 0.5 * latest && seconds < latest) { return; } // a line of another rank, late
        if (back || seconds < latest - 2.0 * half_unit) {                   // a bar, or its clock alone, begins again
            Tick const ended = old->second;
            ticks_.erase(old);
            end_clock(key, ended);
            if (back && !is_nested(key)) { begin_run(); }
        }
    }
    if (ticks_.size() >= most_clocks) { return; }
    auto const [at, begins] =
        ticks_.try_emplace(key, Tick{StepClock{number, seconds, half_unit, marks_}, micro_batches});
    StepClock& clock = at->second.clock;
    if (begins || number == clock.latest_number()) { return; } // drawn again
    if (auto const step = clock.read(number, seconds, half_unit, marks_)) {
        add({.step = *step, .series = series, .counts_micro_batches = micro_batches, .of_clock = true}, true);
    }
}

void TrainingLogBuilder::restart_clock(std::int64_t series) { ticks_.erase({{format_, rank_}, series}); }

void TrainingLogBuilder::fact(std::string_view option, std::string_view value) {
    if (value.empty()) { return; }
    Facts* facts = &runs_.back();
    auto found = facts->find(option);
    if (found != facts->end() && found->second.value == value) { return; }
    if (found != facts->end() && run_has_steps_) {
        begin_run(); // a new configuration was printed
        facts = &runs_.back();
    }
    if (!stated_.emplace(option).second) {
        issue("fact stated twice with different values, of which the last is taken",
              fmt::format("{} {}", option, value));
    }
    (*facts)[std::string{option}] = {std::string{option}, std::string{value.substr(0, 64)}, line_};
}

void TrainingLogBuilder::count_fact(std::string_view option, std::string_view value) {
    auto const count = printed_count(value);
    bool const zero = option == "--zero";
    int const least = zero ? 0 : 1, most = zero ? 3 : 1'000'000'000;
    bool const plain = value.size() == 1 || !value.starts_with('0');
    if (count && plain && *count >= least && *count <= most) { fact(option, value); }
}

void TrainingLogBuilder::replace_fact(std::string_view option, std::string_view value) {
    if (run_has_steps_) { return fact(option, value); }
    runs_.back()[std::string{option}] = {std::string{option}, std::string{value}, line_};
}

std::string_view TrainingLogBuilder::fact(std::string_view option) const {
    auto const found = runs_.back().find(option);
    return found == runs_.back().end() ? std::string_view{} : found->second.value;
}

void TrainingLogBuilder::memory(double bytes) {
    constexpr double most = 1e14;
    double& largest = memory_[runs_.size() - 1];
    if (bytes > 0.0 && bytes < most) { largest = std::max(largest, bytes); }
}

void TrainingLogBuilder::issue(std::string_view kind, std::string_view text) {
    count_issue(issues_, Issue{.kind = std::string{kind}, .count = 1, .line = line_, .text = shortened(text)});
}

void TrainingLogBuilder::note(std::string text) {
    if (std::ranges::find(notes_, text) == notes_.end()) { notes_.push_back(std::move(text)); }
}

void TrainingLogBuilder::bar(std::int64_t series, BarSign sign) {
    if (bars_.size() >= most_clocks && !bars_.contains(series)) { return; }
    auto const at = bars_.try_emplace(series, BarSign::none).first;
    at->second = std::max(at->second, sign);
}

void TrainingLogBuilder::other_bars(std::int64_t but, BarSign sign) {
    for (auto& [series, known] : bars_) {
        if (series != but) { known = std::max(known, sign); }
    }
}

/// Leaves out the bars that are less surely of training than another, and those of which nothing says it.
void TrainingLogBuilder::keep_training_bars(std::size_t format) {
    auto const sign_of = [&](RawStep const& raw) {
        auto const found = bars_.find(raw.series);
        return found == bars_.end() ? std::nullopt : std::optional{found->second}; // no bar
    };
    BarSign surest = BarSign::header;
    for (RawStep const& raw : steps_[format]) { surest = std::max(surest, sign_of(raw).value_or(surest)); }
    std::erase_if(steps_[format], [&](RawStep const& raw) {
        if (sign_of(raw).value_or(surest) == surest) { return false; }
        line_ = raw.step.line;
        issue("time of a progress bar that no line shows to be of training", {});
        return true;
    });
}

/// Keeps the clock or bar that covers most time; warns where another bar of training is as sure and covers a third of that.
void TrainingLogBuilder::keep_longest_series(std::size_t format) {
    struct Covered {
        double seconds = 0.0, steps = 0.0;
    };
    std::map<std::int64_t, Covered> covered;
    if (steps_[format].empty()) { return; }
    Facts const facts = last_facts(format);
    for (RawStep const& raw : steps_[format]) {
        if (!agrees(raw.step.run, facts)) { continue; }
        Covered& of = covered[raw.series];
        of.seconds += raw.step.seconds * static_cast<double>(raw.step.steps);
        of.steps += static_cast<double>(raw.step.steps);
    }
    if (covered.size() < 2) { return; }
    covered.erase(whole_run);
    auto const longest = std::ranges::max_element(covered, {}, [](auto const& one) { return one.second.seconds; });
    for (auto const& [series, of] : covered) {
        auto const sign = bars_.find(series), surest = bars_.find(longest->first);
        bool const sure = sign != bars_.end() && surest != bars_.end() && sign->second >= BarSign::losses &&
                          sign->second == surest->second;
        if (series == longest->first || !sure || 3.0 * of.seconds < longest->second.seconds) { continue; }
        warnings_.push_back(fmt::format(
            "it has two progress bars of training: {:.3g} s a step over {:.0f} steps counts, "
            "{:.3g} s over {:.0f} does not",
            longest->second.seconds / longest->second.steps, longest->second.steps, of.seconds / of.steps, of.steps));
    }
    std::erase_if(steps_[format], [&](RawStep const& raw) {
        if (raw.series == longest->first) { return false; }
        line_ = raw.step.line;
        issue("time of another clock or progress bar than the longest", {});
        return true;
    });
}

} // namespace headroom::io
