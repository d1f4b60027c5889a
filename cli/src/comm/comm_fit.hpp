#pragma once

#include "arguments.hpp"
#include "output.hpp"
#include "verb.hpp"

#include "headroom/fit/communication_fit.hpp"
#include "headroom/fit/communication_fit_answer.hpp"
#include "headroom/io/catalog.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// The options of `comm` that belong to --fit, and what it does with them: collectives that were measured.
std::span<Option const> comm_fit_options();
std::span<Positional const> comm_fit_positionals();
/// `others`: options of `comm` that do not belong to it.
int run_comm_fit(Arguments const& arguments, std::span<Option const> others);

/// Errors: InputError{usage} on what only fitting takes, given without it.
void check_no_comm_fit(Arguments const& arguments);

/// The level in words: "between nodes".
std::string level_words(fit::FittedLevel const& level);
/// "file:line" of a row, as far as known.
std::string place_of(network::MeasuredCollective const& row);

/// Measured and fitted, of one fit: bus bandwidth over size, or time where the collective has none; and its residuals.
std::vector<Chart> comm_fit_charts(fit::CommunicationFitAnswer const& answer, fit::CommunicationFit const& fit);

/// A row a fit: group, number of segments, alpha and bus bandwidth.
Table fits_table(fit::CommunicationFitAnswer const& answer);
Document document_of(fit::CommunicationFitAnswer const& answer, io::Catalog const& catalog);

/// The cluster of --cluster with the network of --network; empty without --cluster.
std::optional<Cluster> stated_cluster(Arguments const& arguments, io::Catalog const& catalog);

/// Links of a measured system: those of --cluster, else of the catalog's node around the accelerator that its name says.
/// `arguments` and `catalog` must outlive the result.
std::function<std::optional<fit::KnownLinks>(std::string const&)> known_links_of(Arguments const& arguments,
                                                                                 io::Catalog const& catalog);

} // namespace headroom::cli
