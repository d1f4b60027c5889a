#include "mpi_relay.hpp"
#include "program.hpp"

int main(int argc, char** argv) {
    if (auto const code = headroom::cli::relay_to_mpi(argc, argv)) { return *code; }
    return headroom::cli::run_program(argc, argv, headroom::cli::all_verbs());
}
