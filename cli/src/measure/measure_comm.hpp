#pragma once

#include "measure/measure.hpp"
#include "output.hpp"

#include "headroom/document/document.hpp"
#include "headroom/fit/measured_messages.hpp"
#include "headroom/probe/comm.hpp"

#include <span>
#include <string>

namespace headroom::cli {

std::span<Option const> comm_measure_options();
/// Errors: InputError{usage}.
probe::CommQuestion read_comm_measure_question(Arguments const& arguments);

Document document_of(fit::MeasuredMessages const& answer, io::Catalog const& catalog);
/// The table that `headroom comm --fit` reads.
std::string comm_table_of(fit::MeasuredMessages const& answer);

} // namespace headroom::cli
