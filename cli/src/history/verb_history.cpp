#include "verb.hpp"

namespace headroom::cli {
namespace {

int run(Arguments const&) { refuse("history", "is not there yet", "", "see headroom --help"); }

} // namespace

Verb history_verb() { return {"history", "what was measured before: list, show, compare, export", {}, {}, "", run}; }

} // namespace headroom::cli
