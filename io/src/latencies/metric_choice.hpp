#pragma once

#include "latencies/sample_builder.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace headroom::io {

/// Place of the metric that `--column` names among those of a report, whatever its case and the marks between its words.
/// A metric that stands alone needs no name.
/// Errors: InputError{usage} with the names, where it is not there or none of several is named.
std::size_t chosen_metric(std::vector<std::string> const& names, SampleBuilder& samples);

} // namespace headroom::io
