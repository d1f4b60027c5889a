#include "measure/measure.hpp"
#include "watch.hpp"

#include "headroom/document/text.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/file.hpp"

#include <csignal>

namespace headroom::cli {
namespace {

constexpr char const* examples = "  mpirun -np 4 headroom measure comm\n"
                                 "  mpirun -np 4 headroom measure comm --quick --format json\n"
                                 "  mpirun --hostfile hosts headroom measure comm --algorithms all --time 5min\n"
                                 "      --save comm.csv --html comm.html\n"
                                 "  mpirun -np 16 headroom measure comm --parts pairs --time 20s\n"
                                 "  headroom comm --fit comm.csv --save network.toml";

/// Launchers end a job by SIGTERM, also when Ctrl-C was meant for it: the first one counts as Ctrl-C.
extern "C" void end_softly(int) {
    static volatile std::sig_atomic_t raised = 0;
    if (raised == 0) {
        raised = 1;
        std::raise(SIGINT);
    }
}

probe::CommJob& job_of() {
    probe::CommJob* const job = probe::comm_job();
    if (job == nullptr || job->world().ranks() < 2) {
        refuse("measure comm", "one process has nobody to send to",
               "it measures messages between the processes of a job",
               "start it by a launcher: mpirun -np 2 headroom measure comm");
    }
    return *job;
}

void measure(Arguments const& arguments, probe::CommQuestion const& question, probe::CommJob& job, Output const& output,
             fit::MeasuredMessages& answer) {
    answer.world = job.world();
    answer.seed = question.seed;
    answer.wants_messages = question.wants(probe::CommPart::messages);
    answer.wants_collectives = question.wants(probe::CommPart::collectives);
    probe::CommTasks const tasks = comm_tasks(question, answer.world);
    answer.unmeasured = tasks.notes;
    Campaign head;
    head.kind = "comm";
    head.settings = settings_of(question, answer.world);
    head.machine = probe::job_facts(answer.world);
    head.points = tasks.points;
    Recorder recorder{arguments, std::move(head)};
    answer.resumed = recorder.resumed();
    {
        Watch const watch{"measuring " + std::to_string(tasks.points.size()) + " points", output.quiet};
        std::signal(SIGTERM, end_softly);
        std::vector<Sample> const earlier = recorder.campaign().samples;
        probe::CommProgress progress = run_comm_tasks(
            question, tasks, job, earlier, [&](Sample const& one) { recorder.add(one); }, watch.token());
        answer.late_seconds = std::move(progress.late_seconds);
        answer.complete = !progress.interrupted;
        answer.rounds = progress.rounds;
    }
    recorder.finish(answer.complete ? CampaignState::done : CampaignState::interrupted);
    answer.clock_error_seconds = job.clock_error_seconds();
    answer.campaign = recorder.campaign();
}

int run(Arguments const& arguments) {
    Output const output = read_output(arguments);
    probe::CommQuestion const question = read_comm_measure_question(arguments);
    std::string const save = read_save(arguments, output);
    io::Catalog const catalog;
    fit::MeasuredMessages answer;
    measure(arguments, question, job_of(), output, answer);
    work_out(answer);
    if (!save.empty() && result_has_place(output)) {
        io::write_file(save, comm_table_of(answer));
        answer.saved = save;
        note(output, "written: " + printable(save));
    }
    write_result(output, result_of(
                             head_of("measure_comm", catalog, ""), answer, [&] { return document_of(answer, catalog); },
                             {.stats = stats_of(output)}, [&] { return row_sheet(timed_rows(answer)); }));
    if (answer.complete) { return Exit::done; }
    note(output, "measure comm: interrupted (" + std::to_string(answer.timed.size()) + " of " +
                     std::to_string(answer.campaign.points.size()) + " points have values). the result covers those");
    return Exit::interrupted;
}

} // namespace

Verb measure_comm_verb() {
    Verb verb{"measure comm", "what its links can do: messages and collectives, under mpirun", {}, examples, run};
    verb.options = {comm_measure_options(), store_options(), output_options()};
    verb.answers = tables_of<fit::MeasuredMessages>();
    return verb;
}

} // namespace headroom::cli
