#include "verb.hpp"

namespace headroom::cli {
namespace {

int run(Arguments const&) { refuse("measure comm", "is not there yet", "", "see headroom --help"); }

} // namespace

Verb measure_comm_verb() {
    return {"measure comm", "what its links can do: messages and collectives, under mpirun", {}, {}, "", run};
}

} // namespace headroom::cli
