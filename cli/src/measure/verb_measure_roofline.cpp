#include "verb.hpp"

namespace headroom::cli {
namespace {

int run(Arguments const&) { refuse("measure roofline", "is not there yet", "", "see headroom --help"); }

} // namespace

Verb measure_roofline_verb() {
    return {"measure roofline", "what this machine can do: peaks, bandwidths, latencies, kernels", {}, {}, "", run};
}

} // namespace headroom::cli
