#include "measure/scaling_runs.hpp"

#include "headroom/document/text.hpp"

#include "headroom/error.hpp"
#include "headroom/probe/machine_facts.hpp"

namespace headroom::cli {

using namespace headroom::document;

using namespace headroom::measure;

namespace {

constexpr std::size_t longest_message = 200;

/// The last line that says something: of what went wrong, else of what was printed.
std::string last_words(probe::CommandRun const& run) {
    for (std::string const* text : {&run.errors, &run.output}) {
        auto const last = text->find_last_not_of(" \t\r\n");
        if (last == std::string::npos) { continue; }
        auto const before = text->find_last_of("\r\n", last);
        std::string const line = text->substr(before == std::string::npos ? 0 : before + 1, last + 1);
        std::string words = trimmed(printable(line.substr(0, line.find_first_of("\r\n"))));
        if (words.size() > longest_message) { words = words.substr(0, longest_message) + "..."; }
        return words;
    }
    return "";
}

std::string failure_words(probe::CommandQuestion const& command, probe::CommandRun const& run) {
    std::string const said = last_words(run);
    return probe::end_words(run, command) + (said.empty() ? "" : ": " + said);
}

bool ended_well(probe::CommandRun const& run) { return run.end == probe::CommandEnd::exited && run.status == 0; }

/// In standard output, else in standard error.
io::CommandResult result_of(io::ResultPattern const& pattern, probe::CommandRun const& run) {
    io::CommandResult const out = pattern.read(run.output);
    if (out.value) { return out; }
    io::CommandResult const errors = pattern.read(run.errors);
    return errors.value ? errors : out;
}

struct Made {
    Sample sample;
    bool stopped = false;
};

/// One run with what prepares it.
Made make_run(ScalingQuestion const& question, PlannedRun const& planned, io::ResultPattern const* pattern,
              std::stop_token const& stop, RunsNoticed& noticed) {
    int const workers = question.workers.at(planned.point);
    auto const load = probe::load_now();
    if (!question.prepare.empty()) {
        probe::CommandQuestion prepare = prepare_at(question, workers);
        prepare.stop = stop;
        probe::CommandRun const run = probe::run_command(prepare);
        if (run.end == probe::CommandEnd::stopped) { return {.sample = {}, .stopped = true}; }
        if (!ended_well(run)) {
            Sample sample = sample_of(question, planned, prepare, run, nullptr);
            sample.message = "--prepare: " + sample.message;
            sample.began_ns = probe::now_ns();
            sample.load = load;
            return {.sample = std::move(sample)};
        }
    }
    probe::CommandQuestion command = command_at(question, workers);
    command.stop = stop;
    std::int64_t const began = probe::now_ns();
    probe::CommandRun const run = probe::run_command(command);
    if (run.end == probe::CommandEnd::stopped) { return {.sample = {}, .stopped = true}; }
    noticed.left_behind += run.left_behind > 0 ? 1 : 0;
    noticed.cut += pattern != nullptr && run.output_bytes > run.output.size() ? 1 : 0;
    Sample sample = sample_of(question, planned, command, run, pattern);
    sample.began_ns = began;
    sample.load = load;
    return {.sample = std::move(sample)};
}

} // namespace

Sample sample_of(ScalingQuestion const& question, PlannedRun const& planned, probe::CommandQuestion const& command,
                 probe::CommandRun const& run, io::ResultPattern const* pattern) {
    Sample sample{.point = planned.point, .repetition = planned.repetition};
    if (run.end == probe::CommandEnd::timed_out) {
        sample.outcome = SampleOutcome::timed_out;
    } else if (!ended_well(run)) {
        sample.outcome = SampleOutcome::failed;
    }
    if (sample.outcome != SampleOutcome::measured) {
        sample.message = failure_words(command, run);
        return sample;
    }
    sample.value = run.seconds;
    if (!question.pattern.empty() && pattern != nullptr) {
        io::CommandResult const result = result_of(*pattern, run);
        sample.value = result.value.value_or(0.0);
        if (!result.value) {
            sample.outcome = SampleOutcome::unreadable;
            sample.message = result.problem;
            if (run.output_bytes > run.output.size()) {
                sample.message += " (its last " + std::to_string(run.output.size()) + " bytes were searched)";
            }
            return sample;
        }
    }
    if (planned.warm_up) { sample.outcome = SampleOutcome::warm_up; }
    return sample;
}

RunsNoticed make_runs(ScalingQuestion const& question, std::vector<PlannedRun> const& left, std::stop_token stop,
                      SampleSink const& keep, std::function<void(double)> const& progress) {
    RunsNoticed noticed{.load_before = probe::load_now()};
    std::optional<io::ResultPattern> pattern;
    if (!question.pattern.empty()) { pattern.emplace(question.pattern, question.unit, "--result"); }
    for (PlannedRun const& planned : left) {
        if (stop.stop_requested()) {
            noticed.interrupted = true;
            break;
        }
        Made const made = make_run(question, planned, pattern ? &*pattern : nullptr, stop, noticed);
        if (made.stopped) {
            noticed.interrupted = true;
            break;
        }
        keep(made.sample);
        ++noticed.made;
        progress(static_cast<double>(noticed.made) / static_cast<double>(left.size()));
    }
    return noticed;
}

} // namespace headroom::cli
