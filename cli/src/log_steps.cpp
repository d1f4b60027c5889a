#include "log_steps.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace headroom::cli {

using namespace headroom::document;
using namespace headroom::training;

namespace {

constexpr char const* of_model[] = {"layers", "hidden"};

bool is_option(LogFact const& fact) { return fact.option.starts_with("--"); }

/// Facts as options, with the batch of the steady lines and the framework of the format.
std::vector<LogFact> options_of(LogAnswer const& log, io::Catalog const& catalog) {
    std::vector<LogFact> facts;
    for (LogFact const& fact : log.facts) {
        bool const batch = fact.option == "--global-batch" && log.steady.batch > 0;
        if (is_option(fact) && !batch) { facts.push_back(fact); }
    }
    if (log.steady.batch > 0) { facts.push_back({"--global-batch", std::to_string(log.steady.batch), 0}); }
    auto const frameworks = catalog.names(io::RecordKind::framework);
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
    return parts.empty() ? "" : "; left out: " + join(parts, ", ");
}

void add_notes(LogAnswer& log) {
    SteadyStep const& steady = log.steady;
    auto& notes = log.notes;
    if (steady.runs > 1) { notes.push_back("training was started " + std::to_string(steady.runs) + " times"); }
    if (steady.ranks > 1) {
        notes.push_back("lines of " + std::to_string(steady.ranks) + " ranks: each step is that of the slowest");
    }
    if (steady.marked_everywhere) {
        notes.emplace_back("most lines have an evaluation or a checkpoint: their time is part of the step");
    }
    if (steady.drift) {
        notes.push_back("steps drift by " + percent(steady.drift->change) +
                        " % from the first to the last: the interval holds both");
    }
    if (!log.complete) { notes.emplace_back("reading was interrupted: the lines up to there count"); }
}

} // namespace

LogAnswer read_log(std::string const& file, io::TrainingLogQuestion const& known, std::stop_token const& stop) {
    io::TrainingLog read = io::read_training_log(file, known, stop);
    auto const steady = steady_step(read.steps);
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
                  .notes = std::move(read.notes),
                  .issues = {}};
    add_issues(log.issues, read.issues, file);
    add_notes(log);
    return log;
}

io::TrainingLogQuestion facts_of(Arguments const& arguments, Setting const& setting) {
    return {.workers = setting.workers.size() == 1 ? setting.workers.front() : 0,
            .global_batch = arguments.count("--global-batch").value_or(0),
            .sequence_length = arguments.count("--sequence-length").value_or(0)};
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

Arguments completed_by(LogAnswer const& log, Arguments const& arguments, io::Catalog const& catalog) {
    Arguments all = arguments;
    for (LogFact const& fact : options_of(log, catalog)) {
        bool const workers = fact.option == "--workers" && arguments.has("--nodes");
        if (!workers && !arguments.has(fact.option)) { all.add(fact.option, {fact.value}); }
    }
    return all;
}

Arguments described_by(LogAnswer const& log, Arguments const& arguments, io::Catalog const& catalog) {
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
    return join(words, ", ");
}

void set_rate(LogAnswer& answer, Workload const& workload, bool batch_stated) {
    bool const lines = answer.steady.batch > 0;
    if (!lines && !batch_stated) { return; }
    double const sequences = lines ? answer.steady.batch : workload.global_batch;
    answer.tokens_per_second = sequences * workload.tokens() / answer.steady.step.base();
}

std::string log_words(LogAnswer const& answer) {
    SteadyStep const& steady = answer.steady;
    std::string text = printable(answer.file) + " (" + answer.format + "): " + format(steady.step) + " a step";
    if (steady.low < steady.high) { text += " (" + format(steady.low) + " to " + format(steady.high) + ")"; }
    text += ", median of " + std::to_string(steady.counts.steady) + " of " + counted(steady.counts.read, "line") +
            left_out_words(steady.counts) + "; steady steps are " + percent(steady.steady_share) + " % of the time";
    if (answer.memory) { text += "; " + format_binary(*answer.memory) + " of memory at most"; }
    for (std::string const& note : answer.notes) { text += "; " + printable(note); }
    for (Issue const& issue : answer.issues) { text += "; " + words_of(issue); }
    return text;
}

} // namespace headroom::cli
