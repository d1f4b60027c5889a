#include "training_logs/training_log_builder.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

// The log of one format, from what its lines stated: times of rates, micro-batches and units, and what contradicts them.

namespace headroom::io {

using namespace headroom::training;

namespace {

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

/// Whether a batch that the log states as sequences may be one of tokens: whole sequences of text, and a step of over an hour.
bool counts_tokens(double batch, double length, double seconds) {
    constexpr double hour = 3600.0, shortest = 512.0;
    return length >= shortest && seconds > hour && std::fmod(batch, length) == 0.0;
}

bool is_plausible(double seconds) {
    constexpr double shortest = 1e-6, longest = 30.0 * 86'400.0;
    return seconds >= shortest && seconds <= longest;
}

} // namespace

TrainingLogBuilder::Facts const& TrainingLogBuilder::last_facts(std::size_t format) const {
    return steps_[format].empty() ? runs_.back() : runs_[static_cast<std::size_t>(steps_[format].back().step.run)];
}

bool TrainingLogBuilder::agrees(int run, Facts const& with) const {
    return std::ranges::all_of(runs_[static_cast<std::size_t>(run)], [&](auto const& one) {
        auto const other = with.find(one.first);
        return other == with.end() || other->second.value == one.second.value;
    });
}

std::optional<double> TrainingLogBuilder::seconds_of(RawStep const& raw, Facts const& facts,
                                                     std::string& lacking) const {
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
    bool const tokens =
        raw.figure == StepFigure::tokens_per_second || raw.figure == StepFigure::tokens_per_second_per_accelerator;
    if (lacking.empty() && tokens && batch() != question_.global_batch && counts_tokens(batch(), length(), seconds)) {
        lacking = "--global-batch";
    }
    return lacking.empty() ? std::optional{seconds} : std::nullopt;
}

double TrainingLogBuilder::workers() const {
    return std::max(1, fact("--workers").empty() ? question_.workers : count_in(fact("--workers")));
}

std::optional<double> TrainingLogBuilder::seconds_by(StepFigure figure, double value, int batch) const {
    std::string lacking;
    RawStep const raw{.step = {.seconds = value, .batch = batch}, .figure = figure};
    return value > 0.0 ? seconds_of(raw, runs_.back(), lacking) : std::nullopt;
}

/// The batch of the tokens that a step has, where the length is known.
void TrainingLogBuilder::state_batch(Facts& facts) const {
    auto const length = facts.find("--sequence-length");
    int const known = length != facts.end() ? count_in(length->second.value) : question_.sequence_length;
    bool const divides = tokens_ > 0 && known > 0 && tokens_ % known == 0 && tokens_ / known <= 1'000'000'000;
    if (!divides || facts.contains("--global-batch")) { return; }
    facts["--global-batch"] = {"--global-batch", std::to_string(tokens_ / known), 0};
}

/// Sequences of a batch: a whole number of sequences of text, it counts tokens beyond 65,536, where as sequences it would have 268
/// million tokens, and where it has those of the question.
int TrainingLogBuilder::sequences_of(int batch, Facts const& facts) {
    constexpr int most = 65'536, shortest = 512;
    auto const stated = facts.find("--sequence-length");
    int const length = stated != facts.end() ? count_in(stated->second.value) : question_.sequence_length;
    if (batch <= 0 || length < shortest || batch % length != 0) { return batch; }
    constexpr double largest = 268'435'456.0; ///< tokens
    if (batch <= most && static_cast<double>(batch) * length < largest && batch / length != question_.global_batch) {
        return batch;
    }
    note(fmt::format("its batch of {} counts tokens: {} sequences", batch, batch / length));
    return batch / length;
}

/// Joins micro-batches to steps, with what contradicts the number of them that is stated.
void TrainingLogBuilder::make_steps(std::size_t format, std::string& lacking) {
    auto& raws = steps_[format];
    bool const any = std::ranges::any_of(raws, [](RawStep const& r) { return r.micro >= 0 || r.counts_micro_batches; });
    if (!any) { return; }
    Facts const facts = last_facts(format);
    auto const stated = facts.find("accumulation");
    int const each = stated != facts.end() ? count_in(stated->second.value) : question_.accumulation;
    MicroBatches found{.stated = static_cast<double>(each)};
    if (!headroom::io::join_micro_batches(raws, found)) {
        lacking = "--grad-accum";
        raws.clear();
        return;
    }
    constexpr double far = 0.25;
    if (found.stated > 0.0 && found.counted > 0.0 && std::abs(found.counted / found.stated - 1.0) > far) {
        warnings_.push_back(fmt::format("it states {:.4g} micro-batches a step; the numbers of its lines show {:.3g}, "
                                        "which count",
                                        found.stated, found.counted));
    }
    if (found.one_of_each) {
        warn("its lines time one micro-batch of each step, always at the same place: where it is the last it holds the "
             "optimizer, and a step is shorter");
    }
    if (found.each() > 1.0) { note(fmt::format("its lines time micro-batches: {:.3g} make a step", found.each())); }
}

/// Compares times with the stamps of their lines: a factor of 1000 is one of units.
void TrainingLogBuilder::check_stamps(std::vector<CheckedStep>& steps, bool seconds, std::string_view where) {
    auto const ratio = ratio_to_stamps(steps);
    constexpr double far = 1.5, never = 100.0, low_thousand = 500.0, high_thousand = 2000.0;
    if (!ratio || (*ratio <= far && *ratio >= 1.0 / far)) { return; }
    double const step = steps[steps.size() / 2].step.seconds;
    auto const covered = static_cast<double>(steps[steps.size() / 2].step.steps);
    constexpr double slack = 0.05;
    if (covered > far && std::abs(*ratio / covered - 1.0) < slack) {
        for (CheckedStep& one : steps) {
            one.step.seconds /= static_cast<double>(one.step.steps);
            one.step.half_unit /= static_cast<double>(one.step.steps);
        }
        return warn(
            fmt::format("it prints {:.4g} s and its time stamps show {:.3g} s a step: its times are read as those "
                        "of the {:.0f} steps since the line before",
                        step, step / *ratio, covered));
    }
    bool const large = *ratio > low_thousand && *ratio < high_thousand;
    bool const small = 1.0 / *ratio > low_thousand && 1.0 / *ratio < high_thousand;
    if (seconds && (large || small)) {
        for (CheckedStep& one : steps) {
            one.step.seconds *= large ? 1e-3 : 1e3;
            one.step.half_unit *= large ? 1e-3 : 1e3;
        }
        std::erase_if(steps, [](CheckedStep const& one) { return !is_plausible(one.step.seconds); });
        warnings_.push_back(
            fmt::format("it prints {:.4g} s a step and its time stamps show {:.3g} s: its times are read "
                        "as {}",
                        step, step / *ratio, large ? "milliseconds" : "seconds, not milliseconds"));
    } else if (*ratio > never || *ratio < 1.0 / never) {
        throw InputError{Fault::unreadable,
                         {.where = std::string{where},
                          .problem = "times that contradict the time stamps of their lines",
                          .why = fmt::format("{:.4g} s a step, and {:.3g} s by the stamps", step, step / *ratio),
                          .hint = "state the step that is right: --measured-step"}};
    } else {
        warnings_.push_back(fmt::format("its times are {:.3g} s a step and its time stamps show {:.3g} s between steps",
                                        step, step / *ratio));
    }
}

TrainingLog TrainingLogBuilder::resolved(std::size_t format, std::string_view where) {
    TrainingLog log;
    std::string lacking;
    std::string_view figure = "times of batches, perhaps micro-batches,";
    for (Facts& run : runs_) {
        auto const batch = run.find("--global-batch");
        if (batch == run.end()) { continue; }
        int const stated = count_in(batch->second.value), sequences = sequences_of(stated, run);
        if (sequences != stated) { batch->second.value = std::to_string(sequences); }
    }
    Facts facts = last_facts(format);
    state_batch(facts);
    for (RawStep& raw : steps_[format]) { raw.step.batch = sequences_of(raw.step.batch, facts); }
    make_steps(format, lacking);
    std::vector<CheckedStep> steps;
    bool seconds_alone = true;
    bool const asked = std::ranges::count(steps_[format], question_.global_batch,
                                          [](RawStep const& raw) { return raw.step.batch; }) >= 3;
    for (RawStep const& raw : steps_[format]) {
        line_ = raw.step.line;
        if (asked && question_.global_batch > 0 && raw.step.batch > 0 && raw.step.batch != question_.global_batch) {
            issue("step of another batch than --global-batch", {});
            continue;
        }
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
        if (!is_plausible(*seconds)) {
            issue("step shorter than a microsecond or longer than 30 days", {});
            continue;
        }
        LoggedStep step = raw.step;
        if (raw.figure != StepFigure::seconds) { step.half_unit = *seconds * raw.step.half_unit / raw.step.seconds; }
        step.seconds = *seconds;
        seconds_alone = seconds_alone && raw.figure == StepFigure::seconds;
        steps.push_back({step, raw.stamp, raw.rates});
    }
    check_stamps(steps, seconds_alone, where);
    log.rates = works_by_rates(steps);
    for (CheckedStep const& one : steps) { log.steps.push_back(one.step); }
    bool const means = std::ranges::any_of(steps_[format], [](RawStep const& raw) { return raw.series == whole_run; });
    if (means) { note("the time is the mean of a whole run, warm-up and checkpoints among it"); }
    if (means && !announced.header) {
        note(
            "a step of a resumed run takes longer"); // train_runtime covers the steps since; the printed log says which
    }
    for (auto const& [option, fact] : facts) { log.facts.push_back(fact); }
    if (log.steps.empty() && !lacking.empty()) {
        log.notes.push_back(fmt::format("it states {} and no {}", figure, lacking));
    }
    for (auto const& [run, bytes] : memory_) {
        if (bytes > 0.0 && agrees(static_cast<int>(run), facts)) {
            log.memory_bytes = std::max(log.memory_bytes.value_or(0.0), bytes);
        }
    }
    return log;
}

/// Errors: InputError{insufficient} where a bar alone times steps, accumulation is stated, and nothing says whether the bar counts
/// steps or micro-batches.
void TrainingLogBuilder::refuse_micro_batch_bar(std::size_t format, std::string_view where) const {
    auto const& facts = last_facts(format);
    auto const stated = facts.find("accumulation");
    auto const bar = [&](RawStep const& raw) { return bars_.contains(raw.series) && !raw.counts_micro_batches; };
    bool const alone = !announced.header && !announced.dictionaries && !announced.counted_steps;
    if (!alone || stated == facts.end() || count_in(stated->second.value) < 2) { return; }
    if (std::ranges::none_of(steps_[format], bar)) { return; }
    throw InputError{Fault::insufficient,
                     {.where = std::string{where},
                      .problem = "its progress bar counts steps or micro-batches",
                      .why = "it states " + stated->second.value +
                             " accumulation steps, and no line says how many batches make a step of the bar",
                      .hint = "state the time of a step: --measured-step"}};
}

/// Warns where the steps of a clock are multiples of the batch, at no usual distance: they may count sequences.
void TrainingLogBuilder::warn_of_samples(std::size_t format) {
    constexpr int least = 8; // smaller ones divide what lines are apart
    constexpr std::size_t enough = 3;
    int const batch = question_.global_batch;
    std::int64_t common = 0;
    std::size_t count = 0;
    for (RawStep const& raw : steps_[format]) {
        if (!raw.of_clock) { return; }
        common = std::gcd(std::gcd(common, raw.step.number), raw.step.steps);
        ++count;
    }
    if (batch < least || count < enough || common % batch != 0) { return; }
    while (common > 0 && common % 10 == 0) { common /= 10; }
    if (common <= 5) { return; } // every 1, 2 or 5 times 10^n steps
    warn(fmt::format(
        "its steps are multiples of --global-batch {0}: if they count sequences, a step takes {0} times as long",
        batch));
}

TrainingLog TrainingLogBuilder::finish(std::size_t format, std::string_view where) {
    flush_clocks();
    keep_training_bars(format);
    keep_longest_series(format);
    refuse_micro_batch_bar(format, where);
    TrainingLog log = resolved(format, where);
    if (log.steps.empty()) {
        if (!bars_.empty() && !has_training_bar()) {
            throw InputError{Fault::insufficient,
                             {.where = std::string{where},
                              .problem = "no line says that its progress bar is of training",
                              .why = "bars of preparing data and of generating text look alike",
                              .hint = "give the whole log, with '***** Running training *****' or losses"}};
        }
        bool const lacks = !log.notes.empty();
        std::string hint = lacks ? "add " + log.notes.front().substr(log.notes.front().find("--")) : "";
        if (hint.ends_with("--grad-accum")) {
            hint += " 1 where each of its batches is a step, else the number of them";
        }
        throw InputError{Fault::insufficient,
                         {.where = std::string{where},
                          .problem = lacks ? "its steps have no times" : "it times no step",
                          .why = lacks ? log.notes.front() : "no line has a step with a time above zero",
                          .hint = hint}};
    }
    warn_of_samples(format);
    log.issues = std::move(issues_);
    log.notes = std::move(notes_);
    log.warnings = std::move(warnings_);
    return log;
}

std::string TrainingLog::fact(std::string_view option) const {
    auto const found = std::ranges::find(facts, option, &LogFact::option);
    return found == facts.end() ? std::string{} : found->value;
}

} // namespace headroom::io
