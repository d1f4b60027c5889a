#include "verb.hpp"

namespace headroom::cli {
namespace {

int run(Arguments const&) { refuse("measure scaling", "is not there yet", "", "see headroom --help"); }

} // namespace

Verb measure_scaling_verb() {
    return {"measure scaling", "a command at many worker counts, its curve and where to stop", {}, {}, "", run, true};
}

} // namespace headroom::cli
