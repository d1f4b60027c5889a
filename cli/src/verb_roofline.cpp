#include "output.hpp"
#include "verb.hpp"

#include "headroom/error.hpp"

namespace headroom::cli {
namespace {

int run(Arguments const&) { throw InputError{Fault::usage, {.where = "roofline", .problem = "not there yet"}}; }

} // namespace

Verb roofline_verb() {
    return {"roofline", "what bounds each kernel of a machine, and what would move it", {}, {output_options()}, "",
            run};
}

} // namespace headroom::cli
