#pragma once

#include "comm/comm_question.hpp"
#include "output.hpp"

#include "headroom/document/sizes.hpp"

#include <string>

namespace headroom::cli {

/// An answer with everything that its presentation needs.
struct CommReport {
    CommRequest const& request;
    network::CommAnswer answer;
    std::string footer; ///< catalog and calibration
};

/// The messages of the algorithm that `--schedule` names, or of the fastest that has any, as a Chrome trace.
std::string schedule_of(network::CommAnswer const& answer);

/// Algorithms that a table shows without --all.
std::size_t shown_places(CommReport const& report);

Document document_of(CommReport const& report);

} // namespace headroom::cli
