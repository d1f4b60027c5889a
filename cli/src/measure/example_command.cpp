#include "measure/example_command.hpp"

#include "arguments.hpp"
#include "headroom/document/text.hpp"

#include "headroom/error.hpp"
#include "headroom/probe/run_command.hpp"

#include <filesystem>
#include <unistd.h>

namespace headroom::cli {

using namespace headroom::document;
namespace {

/// Beside this program, as installed and as built; else in PATH.
std::string workload() {
    std::error_code error;
    std::filesystem::path const self = std::filesystem::read_symlink("/proc/self/exe", error);
    if (!error) {
        auto const beside = (self.parent_path() / "headroom-step").string();
        if (!probe::find_program(beside).path.empty()) { return beside; }
    }
    auto const found = probe::find_program("headroom-step");
    if (found.path.empty()) {
        refuse("--example", "there is no headroom-step beside " + (error ? "headroom" : self.string()),
               "it is built where MPI is installed (Debian: libopenmpi-dev)",
               "build it, or give a COMMAND of your own");
    }
    return found.path;
}

} // namespace

std::vector<std::string> example_command(bool weak, bool sized) {
    std::string const program = workload();
    if (probe::find_program("mpirun").path.empty()) {
        refuse("--example", "mpirun is not in PATH", "the workload is a program of MPI", "Debian: openmpi-bin");
    }
    std::vector<std::string> words{"mpirun", "-np", "{workers}", program};
    if (weak) {
        words.insert(words.end(), {"--local-batch", "{per_worker}"});
    } else if (sized) {
        words.insert(words.end(), {"--batch", "{size}"});
    }
    return words;
}

void check_example(std::vector<std::string> const& command) {
    probe::CommandQuestion question{
        .words = {"mpirun", "-np", "2", command.at(3)}, .variables = example_variables(), .timeout_seconds = 60.0};
    for (char const* word :
         {"--layers", "1", "--hidden", "16", "--sequence", "16", "--batch", "2", "--steps", "1", "--warm-up", "0"}) {
        question.words.emplace_back(word);
    }
    probe::CommandRun const run = probe::run_command(question);
    if (run.end != probe::CommandEnd::exited || run.status != 0) {
        std::string const said = trimmed(printable(run.errors.empty() ? run.output : run.errors));
        refuse("--example", "mpirun -np 2 headroom-step: " + probe::end_words(run, question), said.substr(0, 200),
               "see what it says by hand");
    }
    if (run.output.find("2 workers") == std::string::npos) {
        refuse("--example", headroom::quoted(command.at(3)) + " was built without MPI",
               "each process would do all the work", "build it where MPI is (Debian: libopenmpi-dev)");
    }
}

std::vector<std::pair<std::string, std::string>> example_variables() {
    std::vector<std::pair<std::string, std::string>> variables{{"OMPI_MCA_rmaps_base_oversubscribe", "1"}};
    if (::geteuid() == 0) {
        variables.emplace_back("OMPI_ALLOW_RUN_AS_ROOT", "1");
        variables.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    return variables;
}

} // namespace headroom::cli
