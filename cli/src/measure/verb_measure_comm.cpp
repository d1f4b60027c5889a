#include "headroom/document/text.hpp"
#include "measure/measure_comm.hpp"
#include "setting.hpp"
#include "watch.hpp"

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/probe/machine_facts.hpp"

#include <array>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace headroom::cli {

using namespace headroom::measure;

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

/// What changes speed and is of the job, beside the facts of rank 0's machine.
Facts machine_of(probe::CommWorld const& world) {
    Facts facts = probe::machine_facts();
    facts.emplace_back("mpi", world.implementation);
    facts.emplace_back("ranks", std::to_string(world.ranks()));
    facts.emplace_back("nodes", std::to_string(world.nodes()));
    for (char** variable = environ; *variable != nullptr; ++variable) {
        std::string const text = *variable;
        std::size_t const equal = text.find('=');
        bool const ours = text.starts_with("OMPI_MCA_btl") || text.starts_with("OMPI_MCA_coll") ||
                          text.starts_with("OMPI_MCA_pml") || text.starts_with("OMPI_MCA_mpi_") ||
                          text.starts_with("UCX_") || text.starts_with("MPIR_CVAR_");
        if (ours && equal != std::string::npos) { facts.emplace_back(text.substr(0, equal), text.substr(equal + 1)); }
    }
    return facts;
}

CommMeasureReport measure(Arguments const& arguments, CommMeasureQuestion question, probe::CommJob& job,
                          Output const& output) {
    CommMeasureReport report;
    report.question = std::move(question);
    report.world = job.world();
    report.tasks = comm_tasks(report.question, report.world);
    if (report.tasks.tasks.empty()) {
        refuse("--parts", "nothing is left to be measured", "pairs take three ranks", "leave --parts out");
    }
    Campaign head;
    head.kind = "comm";
    head.settings = settings_of(report.question, report.world);
    head.machine = machine_of(report.world);
    head.points = report.tasks.points;
    Recorder recorder{arguments, std::move(head)};
    report.resumed = recorder.resumed();
    {
        Watch const watch{"measuring " + std::to_string(report.tasks.points.size()) + " points", output.quiet};
        std::signal(SIGTERM, end_softly);
        report.progress = run_comm_tasks(report.question, report.tasks, job, recorder, watch.token());
    }
    recorder.finish(report.progress.interrupted ? CampaignState::interrupted : CampaignState::done);
    report.clock_error_seconds = job.clock_error_seconds();
    report.campaign = recorder.campaign();
    return report;
}

int run(Arguments const& arguments) {
    Stopwatch const stopwatch;
    Output const output = read_output(arguments);
    CommMeasureQuestion question = read_comm_measure_question(arguments, output);
    io::Catalog const catalog;
    if (!question.save.empty()) { io::require_place(question.save); }
    CommMeasureReport report = measure(arguments, std::move(question), job_of(), output);
    work_out(report);
    if (!report.question.save.empty() && result_has_place(output)) {
        io::write_file(report.question.save, comm_table_of(report));
        report.saved = report.question.save;
        note(output, "written: " + printable(report.saved));
    }
    if (output.stats) { report.wall_seconds = stopwatch.seconds(); }
    write_result(output, {[&] { return document_of(report, catalog); }, [&] { return json_of(report, catalog); },
                          [&] { return sheet_of(report); }});
    if (!report.progress.interrupted) { return Exit::done; }
    note(output, "measure comm: interrupted (" + std::to_string(report.timed.size()) + " of " +
                     std::to_string(report.campaign.points.size()) + " points have values). the result covers those");
    return Exit::interrupted;
}

} // namespace

Verb measure_comm_verb() {
    return {"measure comm",
            "what its links can do: messages and collectives, under mpirun",
            {},
            {comm_measure_options(), store_options(), output_options()},
            examples,
            run};
}

} // namespace headroom::cli
