#pragma once

#include "latencies/sample_builder.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace headroom::io {

/// A whole text as JSON, nested no deeper than reports are.
/// Errors: InputError{unreadable}.
nlohmann::json parse_report(std::string const& text, SampleBuilder const& samples);

/// A number of an object, empty where it is missing or something else.
std::optional<double> number_in(nlohmann::json const& object, std::string const& key);
/// The same as a count of requests.
std::optional<std::uint64_t> count_in(nlohmann::json const& object, std::string const& key);

/// An object of quantiles: "50th", "p(95)", "med", "max"; the mean by its name. In the unit of `samples`.
void state_quantiles(nlohmann::json const& object, std::string const& mean, SampleBuilder& samples);

} // namespace headroom::io
