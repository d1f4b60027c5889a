#include "output.hpp"
#include "verb.hpp"

#include "headroom/error.hpp"

namespace headroom::cli {
namespace {

int run(Arguments const&) { throw InputError{Fault::usage, {.where = "laws", .problem = "not there yet"}}; }

} // namespace

Verb laws_verb() {
    return {"laws", "speedup laws, from a fraction, a profile or a table of measurements", {}, {output_options()}, "",
            run};
}

} // namespace headroom::cli
