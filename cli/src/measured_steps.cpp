#include "measured_steps.hpp"

#include "predict/prediction_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/training/warm_start.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

namespace headroom::cli {

using namespace headroom::training;

namespace {

constexpr std::string_view step_key = "step_seconds", low_key = "step_low_seconds", high_key = "step_high_seconds";
constexpr std::size_t most_steps = 200; // a system of as many equations is solved for every prediction

/// Options of predict that say what was run; strategy fields come on top.
constexpr std::array described{"--cluster",   "--workers",   "--nodes",       "--global-batch", "--sequence-length",
                               "--documents", "--fill",      "--expert-skew", "--layers",       "--layers-per-stage",
                               "--strategy",  "--framework", "--precision"};

std::vector<std::string> description_options() {
    std::vector<std::string> names{described.begin(), described.end()};
    for (Option const& option : strategy_options()) { names.emplace_back(option.name); }
    return names;
}

std::string key_of(std::string_view option) {
    std::string key{option.substr(option.starts_with("--") ? 2 : 0)};
    std::ranges::replace(key, '-', '_');
    return key;
}

std::string digits_of(Seconds step) { return exact(step.base()); }

Seconds read_step(std::string const& text, std::string const& where) {
    bool const bare = text.find_first_not_of("0123456789.eE+-") == std::string::npos;
    auto const step = parse<Seconds>(bare ? text + " s" : text, where);
    if (!(step.base() > 0.0)) { refuse(where, "no time", "a measured step takes longer than nothing"); }
    return step;
}

/// An entry as a call of predict, with its step.
struct MeasuredCall {
    Arguments call;
    MeasuredTime time;
};

/// Errors: InputError{usage} where the ends of the interval do not hold the step.
MeasuredTime time_of(io::MeasuredEntry const& entry, std::optional<Seconds> step, std::optional<Seconds> low,
                     std::optional<Seconds> high) {
    if (!step) { refuse(entry.place, "step_seconds is missing", "nothing was measured"); }
    MeasuredTime const time{*step, low.value_or(*step), high.value_or(*step)};
    if (time.low > time.step || time.high < time.step) {
        refuse(entry.place, "step_seconds lies outside of its interval",
               "it runs from step_low_seconds to step_high_seconds");
    }
    return time;
}

MeasuredCall call_of(io::MeasuredEntry const& entry) {
    Arguments call;
    std::optional<Seconds> step, low, high;
    auto const options = description_options();
    for (auto const& [key, value] : entry.words) {
        if (key == step_key || key == low_key || key == high_key) {
            (key == step_key ? step : key == low_key ? low : high) = read_step(value, entry.place + ": " + key);
        } else if (key == "model") {
            call.add("MODEL", {value});
        } else if (auto const known = std::ranges::find(options, key, [](auto const& o) { return key_of(o); });
                   known != options.end()) {
            call.add(*known, {value});
        } else {
            std::vector<std::string> names{"model", std::string{step_key}};
            for (auto const& option : options) { names.push_back(key_of(option)); }
            refuse(entry.place, "unknown key " + headroom::quoted(key),
                   "a measured step is described like a call of predict", did_you_mean(key, names));
        }
    }
    MeasuredTime const time = time_of(entry, step, low, high);
    return {std::move(call), time};
}

void add_step(Setting& setting, Question const& question, MeasuredTime const& time, std::string name) {
    auto measured = measured_step(question, time.step, setting.calibration, std::move(name));
    measured.deviation = time.deviation();
    if (measured.excess > 0.0) {
        setting.notes.push_back(measured.name + ": the measured step of " + significant(time.step.base()) +
                                " s lies outside of the predicted interval of its configuration (" +
                                significant(measured.predicted.base()) +
                                " s). it is clipped and trusted less; check its description");
    }
    setting.calibration.warm.steps.push_back(std::move(measured));
}

std::vector<io::MeasuredEntry> entries_of_calibration(Arguments const& arguments) {
    auto const file = arguments.text("--calibration");
    if (!file) { return {}; }
    return io::read_measured_entries(io::read_file(*file), *file);
}

} // namespace

void use_measured_steps(Arguments const& arguments, Setting& setting) {
    auto const entries = entries_of_calibration(arguments);
    if (entries.size() > most_steps) {
        refuse("--calibration", std::to_string(entries.size()) + " measured steps", "at most 200 are weighed",
               "keep those that are most like what you ask");
    }
    for (auto const& entry : entries) {
        auto [call, time] = call_of(entry);
        if (auto const catalog = arguments.text("--catalog")) { call.add("--catalog", {*catalog}); }
        try {
            Setting its = read_setting(call);
            add_step(setting, make_question(call, its), time, printable(entry.place));
        } catch (InputError const& error) {
            ErrorText text = error.text();
            text.where = entry.place + ": " + text.where;
            throw InputError{error.fault(), std::move(text)};
        }
    }
}

namespace {

/// The step as an entry of a calibration file: a call of predict, with what it leaves to defaults, which may change.
io::MeasuredEntry entry_of(Arguments const& call, Question const& question, MeasuredTime const& time) {
    io::MeasuredEntry entry;
    auto& words = entry.words;
    words.emplace_back("model", *call.text("MODEL"));
    for (auto const& option : description_options()) {
        if (auto const given = call.text(option)) { words.emplace_back(key_of(option), *given); }
    }
    auto const stated = [&](std::string const& key) {
        return std::ranges::any_of(words, [&](auto const& word) { return word.first == key; });
    };
    auto const keep = [&](std::string const& key, std::string const& value) {
        if (!stated(key)) { words.emplace_back(key, value); }
    };
    if (!stated("nodes")) { keep("workers", std::to_string(question.strategy.workers())); }
    keep("global_batch", std::to_string(question.workload.global_batch));
    keep("sequence_length", std::to_string(question.workload.sequence_length));
    keep("framework", question.framework.name);
    words.emplace_back(std::string{step_key}, digits_of(time.step));
    if (time.low < time.high) {
        words.emplace_back(std::string{low_key}, digits_of(time.low));
        words.emplace_back(std::string{high_key}, digits_of(time.high));
    }
    return entry;
}

/// Notes where options and a log contradict each other.
void note_contradictions(LogAnswer& log, Arguments const& arguments, Setting& setting) {
    for (Contradiction const& one : contradictions(log, arguments, setting)) {
        std::string text = "the log states " + one.fact.option + " " + one.fact.value;
        if (one.fact.line > 0) { text += " (line " + std::to_string(one.fact.line) + ")"; }
        text += "; the prediction is for " + one.given + " as you say, and the log's step counts as one with " +
                one.fact.value;
        setting.notes.push_back(printable(log.file) + ": " + text);
        log.notes.push_back(std::move(text));
    }
}

/// The step of a log joins the measured ones, described by the log where it states something.
io::MeasuredEntry add_log(LogAnswer& log, Arguments const& arguments, Setting& setting) {
    Arguments const call = described_by(log, arguments, setting.catalog);
    SteadyStep const& steady = log.steady;
    MeasuredTime const time{steady.step, steady.low, steady.high};
    try {
        require_batch(log, call);
        Setting its = read_setting(call);
        refuse_other_model(log, its.model);
        Question const run = make_question(call, its);
        if (std::string const assumed = assumed_words(run); !assumed.empty()) {
            log.notes.push_back("assumed of its run, because it does not state them: " + assumed);
        }
        set_rate(log, run.workload, call.has("--global-batch"));
        add_step(setting, run, time, printable(log.file));
        return entry_of(call, run, time);
    } catch (InputError const& error) {
        ErrorText text = error.text();
        if (text.where != log.file) { text.where = log.file + ": " + text.where; }
        throw InputError{error.fault(), std::move(text)};
    }
}

/// Whether the options make a configuration that can run.
bool is_possible(Arguments const& arguments) {
    try {
        Setting setting = read_setting(arguments);
        make_question(arguments, setting);
        return true;
    } catch (InputError const&) { return false; }
}

/// Options without the plan and the batch that logs state and the user does not: they do not go with what he asks.
Arguments without_plan(Arguments completed, Arguments const& given) {
    for (char const* const option : {"--tp", "--pp", "--virtual-pp", "--cp", "--ep", "--etp", "--micro-batch",
                                     "--sequence-parallel", "--zero", "--global-batch"}) {
        if (!given.has(option)) { completed = completed.without(option); }
    }
    return completed;
}

} // namespace

double MeasuredTime::deviation() const {
    constexpr double ninety_per_cent = 1.6449; // of a normal distribution, in standard deviations to either side
    return std::log(high / low) / (2.0 * ninety_per_cent);
}

std::optional<SavedStep> read_measured_step(Arguments const& arguments, Question const& question, Setting& setting) {
    auto const text = arguments.text("--measured-step");
    auto const file = arguments.text("--save-calibration");
    if (file && !text && !arguments.has("--log")) {
        refuse("--save-calibration", "nothing to save", "no step was measured",
               "add --measured-step 12.3s or --log FILE");
    }
    if (!text) { return std::nullopt; }
    Seconds const step = parse<Seconds>(*text, "--measured-step");
    if (!(step.base() > 0.0)) { refuse("--measured-step", "no time", "a measured step takes longer than nothing"); }
    auto entry = keep_measured_step(arguments, question, {step, step, step}, "--measured-step", setting);
    if (!file) { return std::nullopt; }
    return SavedStep{.file = *file, .entries = {std::move(entry)}};
}

io::MeasuredEntry keep_measured_step(Arguments const& call, Question const& question, MeasuredTime const& time,
                                     std::string name, Setting& setting) {
    add_step(setting, question, time, std::move(name));
    return entry_of(call, question, time);
}

MeasuredLogs read_logs(Arguments const& arguments, Setting const& setting, std::stop_token const& stop) {
    MeasuredLogs logs{.arguments = arguments, .logs = {}};
    auto const known = facts_of(arguments, setting);
    bool contradicted = false;
    for (std::string const& file : arguments.all("--log")) {
        logs.logs.push_back(read_log(file, known, stop));
        logs.arguments = completed_by(logs.logs.back(), logs.arguments, setting.catalog);
        contradicted = contradicted || !contradictions(logs.logs.back(), arguments, setting).empty();
    }
    if (contradicted && !is_possible(logs.arguments)) { logs.arguments = without_plan(logs.arguments, arguments); }
    return logs;
}

std::vector<io::MeasuredEntry> use_logs(MeasuredLogs& logs, Arguments const& given, Setting& setting) {
    std::vector<io::MeasuredEntry> entries;
    for (LogAnswer& log : logs.logs) {
        note_contradictions(log, given, setting);
        entries.push_back(add_log(log, logs.arguments, setting));
    }
    return entries;
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
