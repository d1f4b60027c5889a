#include "measured_steps.hpp"

#include "predict/prediction_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/training/warm_start.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

namespace headroom::cli {

using namespace headroom::training;

namespace {

constexpr std::string_view step_key = "step_seconds";
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

/// The entry as a call of predict, with its step.
std::pair<Arguments, Seconds> call_of(io::MeasuredEntry const& entry) {
    Arguments call;
    std::optional<Seconds> step;
    auto const options = description_options();
    for (auto const& [key, value] : entry.words) {
        if (key == step_key) {
            step = read_step(value, entry.place + ": " + key);
        } else if (key == "model") {
            call.add("MODEL", {value});
        } else if (auto const known = std::ranges::find(options, key, [](auto const& o) { return key_of(o); });
                   known != options.end()) {
            call.add(*known, {value});
        } else {
            std::vector<std::string> names{"model", std::string{step_key}};
            for (auto const& option : options) { names.push_back(key_of(option)); }
            std::string const near = nearest(key, names);
            refuse(entry.place, "unknown key " + headroom::quoted(key),
                   "a measured step is described like a call of predict",
                   near.empty() ? "" : "did you mean '" + near + "'?");
        }
    }
    if (!step) { refuse(entry.place, "step_seconds is missing", "nothing was measured"); }
    return {std::move(call), *step};
}

void add_step(Setting& setting, Question const& question, Seconds step, std::string name) {
    auto measured = measured_step(question, step, setting.calibration, std::move(name));
    if (measured.excess > 0.0) {
        setting.notes.push_back(measured.name + ": the measured step of " + significant(step.base()) +
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
        auto [call, step] = call_of(entry);
        if (auto const catalog = arguments.text("--catalog")) { call.add("--catalog", {*catalog}); }
        try {
            Setting its = read_setting(call);
            add_step(setting, make_question(call, its), step, printable(entry.place));
        } catch (InputError const& error) {
            ErrorText text = error.text();
            text.where = entry.place + ": " + text.where;
            throw InputError{error.fault(), std::move(text)};
        }
    }
}

std::optional<SavedStep> read_measured_step(Arguments const& arguments, Question const& question, Setting& setting) {
    auto const text = arguments.text("--measured-step");
    auto const file = arguments.text("--save-calibration");
    if (file && !text) {
        refuse("--save-calibration", "nothing to save", "no step was measured", "add --measured-step 12.3s");
    }
    if (!text) { return std::nullopt; }
    Seconds const step = parse<Seconds>(*text, "--measured-step");
    if (!(step.base() > 0.0)) { refuse("--measured-step", "no time", "a measured step takes longer than nothing"); }
    add_step(setting, question, step, "--measured-step");
    if (!file) { return std::nullopt; }
    SavedStep saved{.file = *file, .entry = {}};
    auto& words = saved.entry.words;
    words.emplace_back("model", *arguments.text("MODEL"));
    for (auto const& option : description_options()) {
        if (auto const given = arguments.text(option)) { words.emplace_back(key_of(option), *given); }
    }
    auto const stated = [&](std::string const& key) {
        return std::ranges::any_of(words, [&](auto const& word) { return word.first == key; });
    };
    auto const keep = [&](std::string const& key, std::string const& value) { // a default may change, this run did not
        if (!stated(key)) { words.emplace_back(key, value); }
    };
    if (!stated("nodes")) { keep("workers", std::to_string(question.strategy.workers())); }
    keep("global_batch", std::to_string(question.workload.global_batch));
    keep("sequence_length", std::to_string(question.workload.sequence_length));
    keep("framework", question.framework.name);
    words.emplace_back(std::string{step_key}, digits_of(step));
    return saved;
}

void save_measured_step(SavedStep const& step, Output const& output) {
    bool const exists = std::filesystem::exists(step.file);
    std::string text = exists ? io::read_file(step.file)
                              : "# Measured steps: predictions of steps that are like them lean on these.\n"
                                "partial = true\n";
    if (exists) { io::read_calibration(text, step.file); } // not to add to what is no calibration
    if (!text.ends_with('\n')) { text += '\n'; }
    io::write_file(step.file, text + io::written_measured_entry(step.entry));
    note(output, "note: the measured step was added to " + printable(step.file));
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
