#include "laws/laws_fit.hpp"
#include "measure/measure.hpp"
#include "watch.hpp"

#include "headroom/document/text.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/command_result.hpp"
#include "headroom/probe/machine_facts.hpp"
#include "headroom/probe/scaling_runs.hpp"

#include <csignal>
#include <filesystem>
#include <memory>

namespace headroom::cli {
namespace {

using Answer = fit::MeasuredScaling;

constexpr char const* examples = "  headroom measure scaling --workers 1,2,4,8 -- ./solver --threads {workers}\n"
                                 "  headroom measure scaling --workers 1..16 --repeats 10 --warm-up 1\n"
                                 "      --timeout 5min --result 'step time: ([0-9.]+) ms'\n"
                                 "      --result-unit milliseconds -- mpirun -np {workers} ./train\n"
                                 "  headroom measure scaling --workers 1,2,4 --shell --prepare 'rm -f out.*'\n"
                                 "      -- 'OMP_NUM_THREADS={workers} ./app | tee log'\n"
                                 "  headroom measure scaling --workers 1,2,4,8 --mode weak --problem 1000000\n"
                                 "      -- ./app -p {workers} -n {size}\n"
                                 "  headroom measure scaling --workers 1,2,4 --dry-run -- xargs -P {workers}\n"
                                 "  headroom measure scaling --workers 1,2,3,4 --example";

/// Settings of a campaign in this folder.
Facts settings_here(ScalingQuestion const& question) {
    std::error_code error;
    return settings_of(question, std::filesystem::current_path(error).string());
}

/// Whether another process is measuring into the same store. Errors: InputError{usage} where it measures the same: each
/// would slow the other down.
bool others_measure(ScalingQuestion const& question, std::filesystem::path const& path) {
    std::error_code error;
    if (path.empty() || !std::filesystem::exists(path, error)) { return false; }
    io::Store const store{path, io::Store::Access::read};
    Facts const settings = settings_here(question);
    bool others = false;
    for (Campaign const& one : store.list()) {
        if (one.state != CampaignState::running || !store.in_other_hands(one.id)) { continue; }
        others = true;
        if (one.kind != "scaling" || one.settings != settings) { continue; }
        refuse("measure scaling", "the same is being measured by another process",
               "as campaign " + std::to_string(one.id), "wait for it, or keep this one elsewhere: --store FILE");
    }
    return others;
}

/// The campaign that would go on, else the latest that ran the same command.
struct Known {
    std::optional<Campaign> campaign;
    bool goes_on = false;
};

Known known_campaign(ScalingQuestion const& question, Arguments const& arguments) {
    Facts const settings = settings_here(question);
    if (auto found = unfinished_campaign(arguments, "scaling", settings)) {
        return {.campaign = std::move(found), .goes_on = true};
    }
    auto const path = store_path(arguments);
    std::error_code error;
    if (path.empty() || !std::filesystem::exists(path, error)) { return {}; }
    io::Store const store{path, io::Store::Access::read};
    std::optional<std::int64_t> latest;
    for (Campaign const& one : store.list("scaling")) {
        if (fact(one.settings, "command") == fact(settings, "command")) { latest = one.id; }
    }
    return {.campaign = latest ? std::optional{store.load(*latest)} : std::nullopt};
}

int show_plan(ScalingQuestion const& question, Arguments const& arguments, Output const& output) {
    io::Catalog const catalog;
    Known const known = known_campaign(question, arguments);
    ScalingPlan const plan =
        plan_of(question, known.campaign, known.goes_on, probe::CommandQuestion{.words = {}}.grace_seconds);
    write_result(output, result_of(
                             head_of("measure_scaling", catalog, ""), plan, [&] { return document_of(plan, catalog); },
                             {}, [&] { return row_sheet(planned_commands(plan)); }));
    return Exit::done;
}

/// Ctrl-Z does nothing while this stands.
class StoppedByNobody {
public:
    StoppedByNobody() : before_{std::signal(SIGTSTP, SIG_IGN)} {}
    ~StoppedByNobody() { std::signal(SIGTSTP, before_); }
    StoppedByNobody(StoppedByNobody const&) = delete;
    StoppedByNobody& operator=(StoppedByNobody const&) = delete;

private:
    void (*before_)(int);
};

/// Makes the runs and keeps them; the campaign is in the answer however they ended.
void measure(Arguments const& arguments, Output const& output, Answer& answer) {
    ScalingQuestion const& question = answer.question;
    Campaign head;
    head.kind = "scaling";
    head.settings = settings_here(question);
    head.machine = probe::machine_facts();
    head.points = points_of(question);
    Recorder recorder{arguments, std::move(head)};
    std::vector<PlannedRun> const left = runs_left(order_of(question), recorder.campaign().samples);
    answer.resumed = recorder.resumed();
    if (answer.resumed > 0) {
        note(output, "measure scaling: goes on with campaign " + std::to_string(recorder.campaign().id) + ", " +
                         counted(answer.resumed, "run") + " there, " + std::to_string(left.size()) + " left");
    }
    probe::ResultReader read;
    if (!question.pattern.empty()) {
        auto const pattern = std::make_shared<io::ResultPattern>(question.pattern, question.unit, "--result");
        read = [pattern](std::string_view text) { return pattern->read(text); };
    }
    StoppedByNobody const not_now; // a command would go on unseen, and its time would be too long
    Watch watch{"measuring " + counted(left.size(), "run"), output.quiet};
    answer.noticed = probe::make_runs(
        question, left, read, watch.token(), [&](Sample const& sample) { recorder.add(sample); },
        [&](double share) { watch.progress(share); });
    recorder.finish(answer.complete() ? CampaignState::done : CampaignState::interrupted);
    answer.campaign = recorder.campaign();
}

std::string kept_words(Answer const& answer) {
    return answer.store.empty() ? "nothing is kept (--store none)"
                                : counted(answer.campaign.samples.size(), "run") + " kept as campaign " +
                                      std::to_string(answer.campaign.id);
}

/// The exit code, and the line that says why it is not 0.
int end_of(Answer const& answer, Output const& output) {
    if (!answer.complete()) {
        std::size_t const all = order_of(answer.question).size();
        note(output, "measure scaling: interrupted (" + std::to_string(answer.campaign.samples.size()) + " of " +
                         counted(all, "run") + "; " + kept_words(answer) +
                         (answer.store.empty() ? ")" : "). the same command goes on where it stopped"));
        return Exit::interrupted;
    }
    if (answer.fit) { return Exit::done; }
    if (answer.values() == 0 && answer.failures() > 0) {
        refusal("measure scaling", "no run of " + std::to_string(answer.failures()) + " has a result (the first: " +
                                       printable(answer.first_message()) + "). " + kept_words(answer));
    } else {
        refusal("measure scaling", answer.why_no_fit + " " + kept_words(answer));
    }
    return Exit::insufficient;
}

/// A row a measured run, in the order in which they were taken: what `headroom laws --fit` reads.
Sheet sheet_of(Answer const& answer) {
    Sheet sheet{{"workers", answer.question.throughput() ? "throughput" : "seconds", "repetition"}, {}};
    for (Sample const& sample : answer.campaign.samples) {
        if (sample.outcome != SampleOutcome::measured) { continue; }
        sheet.rows.push_back({std::to_string(answer.question.workers.at(sample.point)), exact(sample.value),
                              std::to_string(sample.repetition)});
    }
    return sheet;
}

/// The warnings, where the result does not carry them.
void note_warnings(Answer const& answer, Output const& output) {
    for (fit::ScalingWarning const& one : answer.warnings) { note(output, "measure scaling: " + one.text); }
    if (answer.failures() == 0 || answer.values() == 0) { return; }
    note(output, "measure scaling: " + counted(answer.failures(), "run") + " without a result " +
                     (answer.failures() == 1 ? "is" : "are") +
                     " left out (the first: " + printable(answer.first_message()) + ")");
}

int run(Arguments const& arguments) {
    Output const output = read_output(arguments);
    Answer answer{.question = read_scaling_question(arguments)};
    fit::FitQuestion const fit = read_fit_question(arguments.without("--seed"), fit::data_of(answer.question));
    if (arguments.has("--dry-run")) { return show_plan(answer.question, arguments, output); }
    if (answer.question.example) { check_example(answer.question.words); }
    auto const store = store_path(arguments);
    answer.store = store.string();
    bool const others = others_measure(answer.question, store);
    measure(arguments, output, answer);
    work_out(answer, fit, probe::machine_shape().cores, others);
    if (output.format == "csv") { note_warnings(answer, output); }
    io::Catalog const catalog;
    write_result(output,
                 result_of(
                     head_of("measure_scaling", catalog, ""), answer, [&] { return document_of(answer, catalog); },
                     {.stats = stats_of(output)}, [&] { return sheet_of(answer); }));
    return end_of(answer, output);
}

} // namespace

Verb measure_scaling_verb() {
    Verb verb{"measure scaling", "a command at many worker counts, its curve and where to stop", {}, examples, run};
    verb.options = {scaling_options(), store_options(), fit_question_options(), output_options()};
    verb.answers = tables_of<fit::MeasuredScaling, ScalingPlan>();
    verb.takes_command = true;
    return verb;
}

} // namespace headroom::cli
