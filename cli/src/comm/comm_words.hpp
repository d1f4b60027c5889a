#pragma once

#include "comm/comm_report.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// Meaning of the bytes of a size for the collective in question; empty where none has any.
std::string size_convention(network::CommQuestion const& question);

std::string network_words(network::CommNetwork const& network);
/// The fastest at the largest size and number of ranks; of a sweep also how often which algorithm is.
std::string verdict(CommReport const& report);
std::string compression_words(CommReport const& report);
std::string lever_words(CommReport const& report);
std::string measured_words(CommReport const& report);
/// Number of rows that the table does not show; empty when it shows all.
std::string more_words(CommReport const& report);
/// Algorithms that have no row, by reason; empty when there are none.
std::string left_out_words(CommReport const& report);
/// NCCL's time at the largest case, against the best row.
std::string nccl_words(CommReport const& report);

Table rows_table(CommReport const& report);
Table parts_table(CommReport const& report);
Table crossover_table(CommReport const& report);
Table nccl_table(CommReport const& report);
Table compression_table(CommReport const& report);
Table lever_table(CommReport const& report);
Table contention_table(CommReport const& report);
Table measured_table(CommReport const& report);
Table simulated_table(CommReport const& report);

} // namespace headroom::cli
