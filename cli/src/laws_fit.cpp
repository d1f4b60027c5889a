#include "laws_fit.hpp"

#include "headroom/error.hpp"

namespace headroom::cli {

std::span<Option const> fit_options() { return {}; }

int run_fit(Arguments const&) { throw InputError{Fault::usage, {.where = "--fit", .problem = "not there yet"}}; }

} // namespace headroom::cli
