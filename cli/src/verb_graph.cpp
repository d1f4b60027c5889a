#include "output.hpp"
#include "verb.hpp"

#include "headroom/error.hpp"

namespace headroom::cli {
namespace {

int run(Arguments const&) { throw InputError{Fault::usage, {.where = "graph", .problem = "not there yet"}}; }

} // namespace

Verb graph_verb() { return {"graph", "work, depth and schedules of a task graph", {}, {output_options()}, "", run}; }

} // namespace headroom::cli
