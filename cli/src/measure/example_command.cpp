#include "measure/example_command.hpp"

#include "arguments.hpp"

#include "headroom/probe/run_command.hpp"

#include <filesystem>
#include <unistd.h>

namespace headroom::cli {
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

std::vector<std::string> example_command() {
    std::string const program = workload();
    if (probe::find_program("mpirun").path.empty()) {
        refuse("--example", "mpirun is not in PATH", "the workload is a program of MPI", "Debian: openmpi-bin");
    }
    return {"mpirun", "-np", "{workers}", program};
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
