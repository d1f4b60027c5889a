#include "headroom/io/measured_steps.hpp"

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/text.hpp"
#include "headroom/training/warm_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr char const* of_model[] = {"layers", "hidden"};

bool is_option(LogFact const& fact) { return fact.option.starts_with("--"); }

/// Facts as options, with the batch of the steady lines and the framework of the format.
std::vector<LogFact> options_of(LogAnswer const& log, Catalog const& catalog) {
    std::vector<LogFact> facts;
    for (LogFact const& fact : log.facts) {
        bool const batch = fact.option == "--global-batch" && log.steady.batch > 0;
        if (is_option(fact) && !batch) { facts.push_back(fact); }
    }
    if (log.steady.batch > 0) { facts.push_back({"--global-batch", std::to_string(log.steady.batch), 0}); }
    auto const frameworks = catalog.names(RecordKind::framework);
    if (std::ranges::find(frameworks, log.framework) != frameworks.end()) {
        facts.push_back({"--framework", log.framework, 0});
    }
    return facts;
}

/// Value that the options give to a fact; empty where they give none.
std::string given_for(LogFact const& fact, Arguments const& arguments, Setting const& setting) {
    if (fact.option == "--workers") {
        return setting.workers.size() == 1 ? std::to_string(setting.workers.front()) : std::string{};
    }
    auto const text = arguments.text(fact.option);
    if (!text) { return {}; }
    bool const count = fact.value.find_first_not_of("0123456789") == std::string::npos;
    if (!count || text->find_first_not_of("0123456789") == std::string::npos) { return *text; }
    auto const number = arguments.count(fact.option);
    return number ? std::to_string(*number) : *text;
}

void add_notes(LogAnswer& log) {
    SteadyStep const& steady = log.steady;
    auto& notes = log.notes;
    if (steady.runs > 1) { notes.push_back("training was started " + std::to_string(steady.runs) + " times"); }
    constexpr int few = 5; ///< lines of a run
    if (steady.runs > few && steady.counts.read < static_cast<std::size_t>(few * steady.runs)) {
        log.warnings.push_back("its steps begin anew " + std::to_string(steady.runs) + " times in " +
                               std::to_string(steady.counts.read) + " lines: they may be of two jobs");
    }
    if (steady.ranks > 1) {
        notes.push_back("lines of " + std::to_string(steady.ranks) + " ranks: each step is that of the slowest");
    }
    if (steady.marked_everywhere) {
        log.warnings.emplace_back(
            "nearly all lines have an evaluation or a checkpoint: their time is part of the step");
    }
    if (steady.mixed) {
        log.warnings.push_back("its steps take several times: the step is their mean, " +
                               text::significant(steady.step.base()) + " s");
    }
    if (steady.drift) {
        notes.push_back("steps drift by " + text::percent(steady.drift->change) +
                        " % from the first to the last: the interval holds both");
    }
    if (steady.mean_at_end) {
        log.warnings.push_back("its times fall as means since the first step do: the last steps take about " +
                               text::significant(steady.mean_at_end->base()) + " s");
    }
    constexpr double far = 1.1; ///< times with outliers over those without
    if (steady.counts.outliers >= 3 && steady.with_outliers > far * steady.step) {
        log.warnings.push_back(std::to_string(steady.counts.outliers) +
                               " outliers are left out: with them a step takes " +
                               text::significant(steady.with_outliers.base()) + " s");
    }
    if (steady.lines_a_step > 1.5) {
        log.warnings.push_back(fmt::format("{:.3g}", steady.lines_a_step) +
                               " lines about each step without a mark of their rank: the slowest counts. if they are "
                               "micro-batches, a step takes their sum");
    }
    if (!log.complete) { notes.emplace_back("reading was interrupted: the lines up to there count"); }
}

} // namespace

LogAnswer read_log(std::string const& file, TrainingLogQuestion const& known, std::stop_token const& stop) {
    TrainingLog read = read_training_log(file, known, stop);
    auto const steady = steady_step(read.steps);
    bool const first_alone = read.steps.size() == 1 && read.steps[0].steps == 1 && read.steps[0].number <= 1;
    LogAnswer log{.file = file,
                  .format = std::move(read.format),
                  .framework = std::move(read.framework),
                  .complete = read.complete,
                  .bytes = read.bytes,
                  .lines = read.lines,
                  .steady = *steady, // a log without steps is refused by its reader
                  .tokens_per_second = {},
                  .memory = read.memory_bytes ? std::optional{Bytes{*read.memory_bytes}} : std::nullopt,
                  .facts = std::move(read.facts),
                  .rates = std::move(read.rates),
                  .warnings = std::move(read.warnings),
                  .notes = std::move(read.notes),
                  .issues = {}};
    add_issues(log.issues, read.issues, file);
    if (first_alone) { log.warnings.emplace_back("it times the first step alone, which warms up"); }
    add_notes(log);
    return log;
}

TrainingLogQuestion facts_of(Arguments const& arguments, Setting const& setting) {
    return {.workers = setting.workers.size() == 1 ? setting.workers.front() : 0,
            .global_batch = arguments.count("--global-batch").value_or(0),
            .sequence_length = arguments.count("--sequence-length").value_or(0),
            .accumulation = arguments.count("--grad-accum").value_or(0)};
}

std::vector<Contradiction> contradictions(LogAnswer const& log, Arguments const& arguments, Setting const& setting) {
    std::vector<Contradiction> found;
    for (LogFact const& fact : options_of(log, setting.catalog)) {
        if (fact.option == "--framework") { continue; } // a guess, which an option corrects
        std::string const given = given_for(fact, arguments, setting);
        if (!given.empty() && normalised(given) != normalised(fact.value)) { found.push_back({fact, given}); }
    }
    return found;
}

Arguments completed_by(LogAnswer const& log, Arguments const& arguments, Catalog const& catalog) {
    Arguments all = arguments;
    for (LogFact const& fact : options_of(log, catalog)) {
        bool const workers = fact.option == "--workers" && arguments.has("--nodes");
        if (!workers && !arguments.has(fact.option)) { all.add(fact.option, {fact.value}); }
    }
    return all;
}

Arguments described_by(LogAnswer const& log, Arguments const& arguments, Catalog const& catalog) {
    Arguments all = arguments;
    for (LogFact const& fact : options_of(log, catalog)) {
        bool const guess = fact.option == "--framework" && arguments.has("--framework");
        if (fact.option == "--workers") { all = all.without("--nodes").without("--dp"); }
        if (fact.option == "--global-batch") { all = all.without("--grad-accum"); }
        if (!guess) { all.add(fact.option, {fact.value}); }
    }
    return all;
}

void refuse_other_model(LogAnswer const& log, Model const& model) {
    if (!model.operators.empty() || model.encoder_layers > 0) { return; }
    std::array const sizes{model.layers, model.hidden};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        std::string const stated = log.fact(of_model[i]);
        if (stated.empty() || stated == std::to_string(sizes[i])) { continue; }
        refuse(log.file, "is of another model than " + model.name,
               "it states " + stated + (i == 0 ? " layers" : " as the width") + ", " + model.name + " has " +
                   std::to_string(sizes[i]),
               "name the model that was trained");
    }
}

void require_batch(LogAnswer const& log, Arguments const& description) {
    bool const product = description.has("--dp") && description.has("--micro-batch") && description.has("--grad-accum");
    if (product || description.has("--global-batch")) { return; }
    too_little(log.file, "it states no batch", "the number of sequences of a step is not known", "add --global-batch");
}

std::string assumed_words(Question const& run) {
    static constexpr std::array fields{"sequence_length", "tp",        "pp",        "cp",       "ep", "zero",
                                       "micro_batch",     "recompute", "precision", "framework"};
    std::vector<std::string> words;
    for (Assumption const& one : run.assumptions) {
        bool const counts = std::ranges::find(fields, one.field) != fields.end();
        if (counts && one.provenance == Provenance::guessed) { words.push_back(one.field + " " + one.value); }
    }
    return text::join(words, ", ");
}

void set_rate(LogAnswer& answer, Workload const& workload, bool batch_stated) {
    bool const lines = answer.steady.batch > 0;
    if (!lines && !batch_stated) { return; }
    double const sequences = lines ? answer.steady.batch : workload.global_batch;
    answer.tokens_per_second = sequences * workload.tokens() / answer.steady.step.base();
}

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

/// All digits that make the number.
std::string digits_of(Seconds step) {
    std::array<char, 32> digits;
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), step.base()).ptr;
    return {digits.data(), end};
}

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
MeasuredTime time_of(MeasuredEntry const& entry, std::optional<Seconds> step, std::optional<Seconds> low,
                     std::optional<Seconds> high) {
    if (!step) { refuse(entry.place, "step_seconds is missing", "nothing was measured"); }
    MeasuredTime const time{*step, low.value_or(*step), high.value_or(*step)};
    if (time.low > time.step || time.high < time.step) {
        refuse(entry.place, "step_seconds lies outside of its interval",
               "it runs from step_low_seconds to step_high_seconds");
    }
    return time;
}

MeasuredCall call_of(MeasuredEntry const& entry) {
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
        double const ratio = time.step.base() / measured.predicted.base();
        bool const thousand = ratio > 400.0 && ratio < 2500.0;
        setting.notes.push_back(measured.name + ": the measured step of " + text::significant(time.step.base()) +
                                " s lies outside of the predicted interval of its configuration (" +
                                text::significant(measured.predicted.base()) +
                                " s). it is clipped and trusted less; check its description" +
                                (thousand ? ", and whether its times are milliseconds" : ""));
    }
    setting.calibration.warm.steps.push_back(std::move(measured));
}

std::vector<MeasuredEntry> entries_of_calibration(Arguments const& arguments) {
    auto const file = arguments.text("--calibration");
    if (!file) { return {}; }
    return read_measured_entries(read_file(*file), *file);
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
            add_step(setting, make_question(call, its), time, text::printable(entry.place));
        } catch (InputError const& error) {
            ErrorText text = error.text();
            text.where = entry.place + ": " + text.where;
            throw InputError{error.fault(), std::move(text)};
        }
    }
}

namespace {

/// The step as an entry of a calibration file: a call of predict, with what it leaves to defaults, which may change.
MeasuredEntry entry_of(Arguments const& call, Question const& question, MeasuredTime const& time) {
    MeasuredEntry entry;
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
        setting.notes.push_back(text::printable(log.file) + ": " + text);
        log.notes.push_back(std::move(text));
    }
}

/// Names the framework of an option that is another than the lines of a log suggest.
void note_framework(LogAnswer& log, Arguments const& arguments, Setting& setting) {
    auto const given = arguments.text("--framework");
    if (!given || log.framework.empty() || normalised(*given) == normalised(log.framework)) { return; }
    std::string text = "its lines are those of " + log.framework + "; it counts as a run of " + *given + ", as you say";
    setting.notes.push_back(text::printable(log.file) + ": " + text);
    log.notes.push_back(std::move(text));
}

/// The step of a log joins the measured ones, described by the log where it states something.
MeasuredEntry add_log(LogAnswer& log, Arguments const& arguments, Setting& setting) {
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
        check_rates(log, run);
        add_step(setting, run, time, text::printable(log.file));
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

MeasuredEntry keep_measured_step(Arguments const& call, Question const& question, MeasuredTime const& time,
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

std::vector<MeasuredEntry> use_logs(MeasuredLogs& logs, Arguments const& given, Setting& setting) {
    std::vector<MeasuredEntry> entries;
    for (LogAnswer& log : logs.logs) {
        note_contradictions(log, given, setting);
        note_framework(log, given, setting);
        entries.push_back(add_log(log, logs.arguments, setting));
    }
    return entries;
}

} // namespace headroom::io
