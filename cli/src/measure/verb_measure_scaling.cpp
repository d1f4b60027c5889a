#include "headroom/document/text.hpp"
#include "laws/laws_fit.hpp"
#include "measure/example_command.hpp"
#include "measure/measure.hpp"
#include "measure/others_measuring.hpp"
#include "measure/scaling_answer.hpp"
#include "watch.hpp"

#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/probe/machine_facts.hpp"

#include <algorithm>
#include <csignal>

namespace headroom::cli {

using namespace headroom::measure;

namespace {

constexpr char const* examples = "  headroom measure scaling --workers 1,2,4,8 -- ./solver --threads {workers}\n"
                                 "  headroom measure scaling --workers 1..16 --repeats 10 --warm-up 1\n"
                                 "      --timeout 5min --result 'step time: ([0-9.]+) ms'\n"
                                 "      --result-unit milliseconds -- mpirun -np {workers} ./train\n"
                                 "  headroom measure scaling --workers 1,2,4 --shell --prepare 'rm -f out.*'\n"
                                 "      -- 'OMP_NUM_THREADS={workers} ./app | tee log'\n"
                                 "  headroom measure scaling --workers 1,2,4,8 --mode weak --problem 1000000\n"
                                 "      -- ./app -p {workers} -n {size}\n"
                                 "  headroom measure scaling --workers 1,2,4 --dry-run -- ./app {workers}\n"
                                 "  headroom measure scaling --workers 1,2,3,4 --example";

/// What would be refused once everything is measured is refused before.
void check_fit_options(Arguments const& arguments, ScalingQuestion const& question) {
    fit::ScalingData data;
    data.measured = question.measured();
    data.scaling = question.scaling;
    (void)read_fit_question(arguments.without("--seed"), data);
}

/// Whether another campaign is being measured into the same store. Errors: InputError{usage} where it is this one: both
/// would measure the same beside each other, and each would slow the other down.
bool others_measure(ScalingQuestion const& question, std::filesystem::path const& store) {
    std::vector<Campaign> const others = others_measuring(store);
    Facts const settings = settings_of(question);
    for (Campaign const& one : others) {
        if (one.kind != "scaling" || one.settings != settings) { continue; }
        refuse("measure scaling", "the same is being measured by another process",
               "as campaign " + std::to_string(one.id), "wait for it, or keep this one elsewhere: --store FILE");
    }
    return !others.empty();
}

Campaign head_of(ScalingQuestion const& question) {
    Campaign head;
    head.kind = "scaling";
    head.settings = settings_of(question);
    head.machine = probe::machine_facts();
    head.points = points_of(question);
    return head;
}

int show_plan(ScalingPlan const& plan, Output const& output) {
    io::Catalog const catalog;
    write_result(output, {[&] { return document_of(plan, catalog); }, [&] { return json_of(plan, catalog); },
                          [&] { return sheet_of(plan); }});
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
void measure(ScalingQuestion const& question, Output const& output, Recorder& recorder, ScalingAnswer& answer) {
    std::vector<PlannedRun> const left = runs_left(order_of(question), recorder.campaign().samples);
    answer.resumed = recorder.resumed();
    if (answer.resumed > 0) {
        note(output, "measure scaling: goes on with campaign " + std::to_string(recorder.campaign().id) + ", " +
                         counted(answer.resumed, "run") + " there, " + std::to_string(left.size()) + " left");
    }
    StoppedByNobody const not_now; // a command would go on unseen, and its time would be told wrong
    Watch watch{"measuring " + counted(left.size(), "run"), output.quiet};
    answer.noticed = make_runs(
        question, left, watch.token(), [&](Sample const& sample) { recorder.add(sample); },
        [&](double share) { watch.progress(share); });
    answer.complete = !answer.noticed.interrupted;
    recorder.finish(answer.complete ? CampaignState::done : CampaignState::interrupted);
    answer.campaign = recorder.campaign();
}

/// Counts that have a result.
std::size_t measured_counts(ScalingAnswer const& answer) {
    return static_cast<std::size_t>(
        std::ranges::count_if(answer.rows, [](ScalingRow const& row) { return row.summary.has_value(); }));
}

/// A line goes through any two counts and says nothing of where the curve bends.
void fit_or_say_why(ScalingAnswer& answer, Arguments const& arguments) {
    constexpr std::size_t least_counts = 3;
    if (std::size_t const counts = measured_counts(answer); counts < least_counts) {
        std::size_t const asked = answer.rows.size();
        answer.why_no_fit = "No law is fitted: " + std::to_string(counts) + " of " + counted(asked, "worker count") +
                            (counts == 1 ? " has" : " have") + " a result, and a curve that bends needs three. " +
                            (!answer.complete       ? "The others were not measured yet."
                             : asked < least_counts ? "Name more of them in --workers."
                                                    : "See why the others failed.");
        return;
    }
    try {
        answer.fit = fit_of(answer.question, answer.campaign, arguments);
    } catch (InputError const& error) {
        if (error.fault() != Fault::insufficient) { throw; }
        ErrorText const& text = error.text();
        answer.why_no_fit = "No law is fitted: " + text.problem + (text.why.empty() ? "" : " (" + text.why + ")") +
                            (text.hint.empty() ? "" : ". " + text.hint) + ".";
    }
}

std::string kept_words(ScalingAnswer const& answer) {
    return answer.store.empty() ? "nothing is kept (--store none)"
                                : counted(answer.campaign.samples.size(), "run") + " kept as campaign " +
                                      std::to_string(answer.campaign.id);
}

/// The exit code, and the line that says why it is not 0.
int end_of(ScalingAnswer const& answer, Output const& output) {
    if (!answer.complete) {
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

int run(Arguments const& arguments) {
    Stopwatch const stopwatch;
    Output const output = read_output(arguments);
    ScalingQuestion const question = read_scaling_question(arguments);
    check_fit_options(arguments, question);
    if (arguments.has("--dry-run")) { return show_plan(plan_of(question, arguments), output); }
    if (question.example) { check_example(question.words); }
    auto const store = store_path(arguments);
    bool const others = others_measure(question, store);
    Recorder recorder{arguments, head_of(question)};
    ScalingAnswer answer{.question = question, .campaign = {}, .store = store.string()};
    measure(question, output, recorder, answer);
    answer.rows = rows_of(question, answer.campaign);
    answer.warnings = warnings_of(answer, probe::machine_shape().cores, others);
    fit_or_say_why(answer, arguments);
    if (output.stats) { answer.wall_seconds = stopwatch.seconds(); }
    if (output.format == "csv") { // the others carry them
        for (ScalingWarning const& one : answer.warnings) { note(output, "measure scaling: " + one.text); }
        if (answer.failures() > 0 && answer.values() > 0) {
            note(output, "measure scaling: " + counted(answer.failures(), "run") + " without a result " +
                             (answer.failures() == 1 ? "is" : "are") +
                             " left out (the first: " + printable(answer.first_message()) + ")");
        }
    }
    io::Catalog const catalog;
    write_result(output, {[&] { return document_of(answer, catalog); }, [&] { return json_of(answer, catalog); },
                          [&] { return sheet_of(answer); }});
    return end_of(answer, output);
}

} // namespace

Verb measure_scaling_verb() {
    return {"measure scaling",
            "a command at many worker counts, its curve and where to stop",
            {},
            {scaling_options(), store_options(), fit_question_options(), output_options()},
            examples,
            run,
            true};
}

} // namespace headroom::cli
