#include "program.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace headroom::cli {
namespace {

namespace fs = std::filesystem;

int number_in(char const* variable) {
    char const* const text = std::getenv(variable);
    return text == nullptr ? -1 : std::atoi(text);
}

/// Number of this process and of all, from the launcher's environment: Open MPI, then those that speak PMI (MPICH,
/// Slurm).
std::pair<int, int> place_in_job() {
    constexpr std::array<std::pair<char const*, char const*>, 2> variables{
        std::pair{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, std::pair{"PMI_RANK", "PMI_SIZE"}};
    for (auto const& [rank, size] : variables) {
        if (number_in(size) > 0 && number_in(rank) >= 0) { return {number_in(rank), number_in(size)}; }
    }
    return {0, 1};
}

enum class Together { no, traces, messages };

/// Work that the processes of a job would do together.
Together work_of(int argc, char** argv) {
    using namespace std::string_view_literals;
    if (argc > 1 && argv[1] == "trace"sv) { return Together::traces; }
    bool const messages = argc > 2 && argv[1] == "measure"sv && argv[2] == "comm"sv;
    return messages ? Together::messages : Together::no;
}

/// Verbs that the processes of a job work on together, as one of several processes of a job (mpirun, srun): becomes
/// `headroom-mpi`, which lies next to it. Where that is missing, the first process says so: it reads traces alone, and
/// measures no communication; the others have nothing to do. Returns an exit code where this process is done.
std::optional<int> relay_to_mpi(int argc, char** argv) {
    Together const work = work_of(argc, argv);
    auto const [rank, size] = place_in_job();
    if (work == Together::no || size < 2) { return {}; }
    std::error_code error;
    fs::path const beside = fs::read_symlink("/proc/self/exe", error).parent_path() / "headroom-mpi";
    if (!error && ::access(beside.c_str(), X_OK) == 0) {
        std::string const name = beside.string();
        std::vector<char*> words(argv, argv + argc);
        words.push_back(nullptr);
        ::execv(name.c_str(), words.data());
    }
    if (work == Together::messages) {
        if (rank == 0) {
            std::fputs(
                "measure comm: there is no headroom-mpi next to headroom (it sends the messages). build headroom "
                "where MPI is installed\n",
                stderr);
        }
        return Exit::usage;
    }
    if (rank > 0) { return Exit::done; }
    std::fprintf(stderr,
                 "trace: there is no headroom-mpi next to headroom, so %d processes would each do all of the work: the "
                 "first goes on alone. build headroom where MPI is installed\n",
                 size);
    return {};
}

} // namespace
} // namespace headroom::cli

int main(int argc, char** argv) {
    using namespace headroom::cli;
    if (auto const code = relay_to_mpi(argc, argv)) { return *code; }
    auto const all = all_verbs();
    std::vector<MakeVerb> held{all.begin(), all.end()};
#ifdef HEADROOM_SERVES
    held.push_back(serve_verb); // needs a library that the Python module goes without
#endif
    return run_program(argc, argv, held);
}
