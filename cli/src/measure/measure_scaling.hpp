#pragma once

#include "measure/measure.hpp"

#include "headroom/fit/measured_scaling.hpp"

#include <span>
#include <string>
#include <vector>

namespace headroom::cli {

std::span<Option const> scaling_options();
/// Errors: InputError{usage}, before anything runs: no command, no {workers} in it, a program that is not there.
measure::ScalingQuestion read_scaling_question(Arguments const& arguments);
/// Starts the example workload once, on two workers. Errors: InputError{usage} where mpirun does not, and where
/// headroom-step knows nothing of MPI: then each process would do all the work, and every count would look alike.
void check_example(std::vector<std::string> const& command);

Document document_of(fit::MeasuredScaling const& answer, io::Catalog const& catalog);
Document document_of(measure::ScalingPlan const& plan, io::Catalog const& catalog);

} // namespace headroom::cli
