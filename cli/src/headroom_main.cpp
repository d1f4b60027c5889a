#include "mpi_relay.hpp"
#include "program.hpp"

#include <vector>

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
