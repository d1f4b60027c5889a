#include "headroom/probe/scaling_runs.hpp"

#include "headroom/probe/machine_facts.hpp"
#include "headroom/text.hpp"

namespace headroom::probe {

using namespace headroom::measure;

namespace {

constexpr std::size_t longest_message = 200;
constexpr std::string_view blanks = " \t\r\n";

/// The last line that says something: of what went wrong, else of what was printed.
std::string last_words(CommandRun const& run) {
    for (std::string const* text : {&run.errors, &run.output}) {
        auto const last = text->find_last_not_of(blanks);
        if (last == std::string::npos) { continue; }
        auto const before = text->find_last_of("\r\n", last);
        std::string words = text->substr(before == std::string::npos ? 0 : before + 1);
        words.resize(words.find_last_not_of(blanks) + 1);
        words = text::printable(words.substr(words.find_first_not_of(blanks)));
        if (words.size() > longest_message) { words = words.substr(0, longest_message) + "..."; }
        return words;
    }
    return "";
}

std::string failure_words(CommandQuestion const& command, CommandRun const& run) {
    std::string const said = last_words(run);
    return end_words(run, command) + (said.empty() ? "" : ": " + said);
}

bool ended_well(CommandRun const& run) { return run.end == CommandEnd::exited && run.status == 0; }

/// In standard output, else in standard error.
CommandResult result_of(ResultReader const& read, CommandRun const& run) {
    CommandResult out = read(run.output);
    if (out.value) { return out; }
    CommandResult errors = read(run.errors);
    return errors.value ? errors : out;
}

struct Made {
    Sample sample;
    bool stopped = false;
};

/// One run with what prepares it.
Made make_run(ScalingQuestion const& question, PlannedRun const& planned, ResultReader const& read,
              std::stop_token const& stop, RunsNoticed& noticed) {
    int const workers = question.workers.at(planned.point);
    auto const load = load_now();
    if (!question.prepare.empty()) {
        CommandQuestion const prepare{
            .words = prepare_at(question, workers), .timeout_seconds = question.timeout_seconds, .stop = stop};
        CommandRun const run = run_command(prepare);
        if (run.end == CommandEnd::stopped) { return {.sample = {}, .stopped = true}; }
        if (!ended_well(run)) {
            Sample sample = sample_of(planned, prepare, run, {});
            sample.message = "--prepare: " + sample.message;
            sample.began_ns = now_ns();
            sample.load = load;
            return {.sample = std::move(sample)};
        }
    }
    CommandQuestion const command{.words = command_at(question, workers),
                                  .variables = question.variables,
                                  .timeout_seconds = question.timeout_seconds,
                                  .stop = stop};
    std::int64_t const began = now_ns();
    CommandRun const run = run_command(command);
    if (run.end == CommandEnd::stopped) { return {.sample = {}, .stopped = true}; }
    noticed.left_behind += run.left_behind > 0 ? 1 : 0;
    noticed.cut += read && run.output_bytes > run.output.size() ? 1 : 0;
    Sample sample = sample_of(planned, command, run, read);
    sample.began_ns = began;
    sample.load = load;
    return {.sample = std::move(sample)};
}

} // namespace

Sample sample_of(PlannedRun const& planned, CommandQuestion const& command, CommandRun const& run,
                 ResultReader const& read) {
    Sample sample{.point = planned.point, .repetition = planned.repetition};
    if (run.end == CommandEnd::timed_out) {
        sample.outcome = SampleOutcome::timed_out;
    } else if (!ended_well(run)) {
        sample.outcome = SampleOutcome::failed;
    }
    if (sample.outcome != SampleOutcome::measured) {
        sample.message = failure_words(command, run);
        return sample;
    }
    sample.value = run.seconds;
    if (read) {
        CommandResult const result = result_of(read, run);
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

RunsNoticed make_runs(ScalingQuestion const& question, std::vector<PlannedRun> const& left, ResultReader const& read,
                      std::stop_token stop, SampleSink const& keep, std::function<void(double)> const& progress) {
    RunsNoticed noticed{.load_before = load_now()};
    for (PlannedRun const& planned : left) {
        if (stop.stop_requested()) {
            noticed.interrupted = true;
            break;
        }
        Made const made = make_run(question, planned, read, stop, noticed);
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

} // namespace headroom::probe
