#include "training_logs/training_log_builder.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr double shortest_step = 1e-6, longest_step = 30.0 * 86'400.0; ///< seconds
constexpr std::size_t most_clocks = 256;
constexpr std::int64_t whole_run = -1; ///< series of the mean of a whole run

int count_in(std::string_view text) {
    int count = 0;
    std::from_chars(text.data(), text.data() + text.size(), count);
    return count;
}

std::string_view name_of(StepFigure figure) {
    switch (figure) {
    case StepFigure::tokens_per_second: return "tokens a second";
    case StepFigure::tokens_per_second_per_accelerator: return "tokens a second and accelerator";
    case StepFigure::samples_per_second: return "sequences a second";
    case StepFigure::samples_per_second_per_accelerator: return "sequences a second and accelerator";
    case StepFigure::steps_per_second_per_accelerator: return "steps a second and accelerator";
    case StepFigure::steps_per_second:
    case StepFigure::seconds: break;
    }
    return "times";
}

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

void TrainingLogBuilder::add(Raw raw) {
    auto& steps = steps_[format_];
    if (steps.size() >= most_logged_steps) { return issue("step beyond the first million", {}); }
    run_has_steps_ = true;
    raw.step.run = static_cast<int>(runs_.size()) - 1;
    raw.step.rank = rank_;
    raw.step.line = line_;
    Seen& seen = seen_[{format_, rank_}];
    raw.step.evaluation = seen.evaluations != evaluations_;
    raw.step.checkpoint = seen.checkpoints != checkpoints_;
    seen.evaluations = evaluations_;
    seen.checkpoints = checkpoints_;
    steps.push_back(raw);
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
    add({.step = step, .figure = timed.figure, .series = timed.whole_run ? whole_run : 0});
}

/// A clock whose rounding was too coarse for any of its steps gives their mean over all.
void TrainingLogBuilder::give_whole(ClockKey const& key, Tick const& tick) {
    double const steps = static_cast<double>(tick.latest_number - tick.number);
    double const passed = tick.latest_seconds - tick.seconds;
    if (tick.gave || steps < 1.0 || !(passed > 0.0)) { return; }
    auto const [format, rank] = std::pair{format_, rank_};
    std::tie(format_, rank_) = key.first;
    add({.step = {.number = tick.latest_number,
                  .steps = tick.latest_number - tick.number,
                  .seconds = passed / steps,
                  .half_unit = 2.0 * tick.half_unit / steps},
         .series = key.second});
    format_ = format;
    rank_ = rank;
}

void TrainingLogBuilder::flush_clocks() {
    auto const ticks = std::move(ticks_);
    ticks_.clear();
    for (auto const& [key, tick] : ticks) { give_whole(key, tick); }
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
        bool const open = series != key.second && bars_.contains(series) && one.second.latest_number < series;
        return of == key.first && open && sign_of(series) >= sign_of(key.second);
    });
}

void TrainingLogBuilder::clock(std::int64_t series, std::int64_t number, double seconds, double half_unit) {
    constexpr double fine = 0.02; ///< rounding of a step that is small enough
    if (!std::isfinite(seconds)) { return; }
    ClockKey const key{{format_, rank_}, series};
    if (auto const old = ticks_.find(key); old != ticks_.end() && number < old->second.latest_number) {
        double const latest = old->second.latest_seconds;
        if (seconds > 0.5 * latest && seconds < latest) { return; } // a line of another rank, late
        Tick const ended = old->second;                             // a bar that begins again
        ticks_.erase(old);
        give_whole(key, ended);
        if (!is_nested(key)) { begin_run(); }
    }
    if (ticks_.size() >= most_clocks) { return; }
    auto const [at, begins] = ticks_.try_emplace(key, Tick{.number = number,
                                                           .latest_number = number,
                                                           .seconds = seconds,
                                                           .latest_seconds = seconds,
                                                           .half_unit = half_unit});
    Tick& tick = at->second;
    tick.latest_number = number;
    tick.latest_seconds = seconds;
    double const steps = static_cast<double>(number - tick.number), passed = seconds - tick.seconds;
    if (begins || steps < 1.0 || !(passed > 0.0) || 2.0 * half_unit > fine * passed) { return; }
    add({.step = {.number = number,
                  .steps = number - tick.number,
                  .seconds = passed / steps,
                  .half_unit = 2.0 * half_unit / steps},
         .series = series});
    tick.number = number;
    tick.seconds = seconds;
    tick.gave = true;
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
    if (bytes > 0.0 && bytes < most) { memory_ = std::max(memory_.value_or(0.0), bytes); }
}

void TrainingLogBuilder::issue(std::string_view kind, std::string_view text) {
    count_issue(issues_, Issue{.kind = std::string{kind}, .count = 1, .line = line_, .text = shortened(text)});
}

void TrainingLogBuilder::note(std::string text) {
    if (std::ranges::find(notes_, text) == notes_.end()) { notes_.push_back(std::move(text)); }
}

TrainingLogBuilder::Facts const& TrainingLogBuilder::last_facts(std::size_t format) const {
    return steps_[format].empty() ? runs_.back() : runs_[static_cast<std::size_t>(steps_[format].back().step.run)];
}

bool TrainingLogBuilder::agrees(int run, Facts const& with) const {
    return std::ranges::all_of(runs_[static_cast<std::size_t>(run)], [&](auto const& one) {
        auto const other = with.find(one.first);
        return other == with.end() || other->second.value == one.second.value;
    });
}

std::optional<double> TrainingLogBuilder::seconds_of(Raw const& raw, Facts const& facts, std::string& lacking) const {
    auto const need = [&](std::string_view option, int known) {
        auto const found = facts.find(option);
        int const value = found != facts.end() ? count_in(found->second.value) : known;
        if (value <= 0 && lacking.empty()) { lacking = option; }
        return static_cast<double>(value);
    };
    double const value = raw.step.seconds;
    auto const batch = [&] {
        return raw.step.batch > 0 ? static_cast<double>(raw.step.batch)
                                  : need("--global-batch", question_.global_batch);
    };
    auto const length = [&] { return need("--sequence-length", question_.sequence_length); };
    auto const workers = [&] { return need("--workers", question_.workers); };
    double seconds = 0.0;
    switch (raw.figure) {
    case StepFigure::seconds: seconds = value; break;
    case StepFigure::steps_per_second: seconds = 1.0 / value; break;
    case StepFigure::tokens_per_second: seconds = batch() * length() / value; break;
    case StepFigure::tokens_per_second_per_accelerator: seconds = batch() * length() / (value * workers()); break;
    case StepFigure::samples_per_second: seconds = batch() / value; break;
    case StepFigure::samples_per_second_per_accelerator: seconds = batch() / (value * workers()); break;
    case StepFigure::steps_per_second_per_accelerator: seconds = 1.0 / (value * workers()); break;
    }
    return lacking.empty() ? std::optional{seconds} : std::nullopt;
}

std::optional<double> TrainingLogBuilder::seconds_by(StepFigure figure, double value, int batch) const {
    std::string lacking;
    Raw const raw{.step = {.seconds = value, .batch = batch}, .figure = figure};
    return value > 0.0 ? seconds_of(raw, runs_.back(), lacking) : std::nullopt;
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
    auto const sign_of = [&](Raw const& raw) {
        auto const found = bars_.find(raw.series);
        return found == bars_.end() ? std::nullopt : std::optional{found->second}; // no bar
    };
    BarSign surest = BarSign::header;
    for (Raw const& raw : steps_[format]) { surest = std::max(surest, sign_of(raw).value_or(surest)); }
    std::erase_if(steps_[format], [&](Raw const& raw) {
        if (sign_of(raw).value_or(surest) == surest) { return false; }
        line_ = raw.step.line;
        issue("time of a progress bar that no line shows to be of training", {});
        return true;
    });
}

void TrainingLogBuilder::keep_longest_series(std::size_t format) {
    std::map<std::int64_t, double> covered;
    if (steps_[format].empty()) { return; }
    Facts const facts = last_facts(format);
    for (Raw const& raw : steps_[format]) {
        if (!agrees(raw.step.run, facts)) { continue; }
        covered[raw.series] += raw.step.seconds * static_cast<double>(raw.step.steps);
    }
    if (covered.size() < 2) { return; }
    covered.erase(whole_run);
    auto const longest = std::ranges::max_element(covered, {}, [](auto const& one) { return one.second; })->first;
    std::erase_if(steps_[format], [&](Raw const& raw) {
        if (raw.series == longest) { return false; }
        line_ = raw.step.line;
        issue("time of another clock or progress bar than the longest", {});
        return true;
    });
}

TrainingLog TrainingLogBuilder::resolved(std::size_t format) {
    TrainingLog log;
    Facts const facts = last_facts(format);
    std::string lacking;
    std::string_view figure;
    for (Raw const& raw : steps_[format]) {
        line_ = raw.step.line;
        if (!agrees(raw.step.run, facts)) {
            issue("step of a run with another configuration than the last", {});
            continue;
        }
        std::string lacks;
        auto const seconds = seconds_of(raw, facts, lacks);
        if (!seconds) {
            lacking = lacks;
            figure = name_of(raw.figure);
            continue;
        }
        if (!(*seconds >= shortest_step) || !(*seconds <= longest_step)) {
            issue("step shorter than a microsecond or longer than 30 days", {});
            continue;
        }
        LoggedStep step = raw.step;
        if (raw.figure != StepFigure::seconds) { step.half_unit = *seconds * raw.step.half_unit / raw.step.seconds; }
        step.seconds = *seconds;
        log.steps.push_back(step);
    }
    bool const means = std::ranges::any_of(steps_[format], [](Raw const& raw) { return raw.series == whole_run; });
    if (means) { note("the time is the mean of a whole run, warm-up and checkpoints among it"); }
    if (means && !announced.header) {
        note(
            "a step of a resumed run takes longer"); // train_runtime covers the steps since; the printed log says which
    }
    for (auto const& [option, fact] : facts) { log.facts.push_back(fact); }
    if (log.steps.empty() && !lacking.empty()) {
        log.notes.push_back(fmt::format("it states {} and no {}", figure, lacking));
    }
    return log;
}

TrainingLog TrainingLogBuilder::finish(std::size_t format, std::string_view where) {
    flush_clocks();
    keep_training_bars(format);
    keep_longest_series(format);
    TrainingLog log = resolved(format);
    if (log.steps.empty()) {
        if (!bars_.empty() && !has_training_bar()) {
            throw InputError{Fault::insufficient,
                             {.where = std::string{where},
                              .problem = "no line says that its progress bar is of training",
                              .why = "bars of preparing data and of generating text look alike",
                              .hint = "give the whole log, with '***** Running training *****' or losses"}};
        }
        bool const lacks = !log.notes.empty();
        throw InputError{Fault::insufficient,
                         {.where = std::string{where},
                          .problem = lacks ? "its steps have no times" : "it times no step",
                          .why = lacks ? log.notes.front() : "no line has a step with a time above zero",
                          .hint = lacks ? "add " + log.notes.front().substr(log.notes.front().find("--")) : ""}};
    }
    log.memory_bytes = memory_;
    log.issues = std::move(issues_);
    log.notes = std::move(notes_);
    return log;
}

std::string TrainingLog::fact(std::string_view option) const {
    auto const found = std::ranges::find(facts, option, &LogFact::option);
    return found == facts.end() ? std::string{} : found->value;
}

} // namespace headroom::io
