#pragma once

#include "headroom/training/plan.hpp"

#include <string>
#include <string_view>

namespace headroom::training::planner {

/// A number as prose writes it: three significant digits, no exponent. 0.0123, 1.60, 12300.
std::string rounded(double value);

/// A whole number in full, another as `rounded`.
std::string amount(double value);

std::string percent(double share);         ///< "8.12 %"
std::string times(double ratio);           ///< "1.63x"
std::string money(Dollars amount);         ///< "$12.3k", "$1.23M"
std::string hourly(DollarsPerSecond rate); ///< "$2.95 an hour"
std::string span_of(Seconds time);         ///< "12.3 days", "4.50 hours", "180 ms"

/// "1 worker", "3 batches".
std::string counted(int count, std::string const& noun);

/// "1024 sequences of 8192 tokens"; samples where a sample is no sequence of tokens.
std::string batch_of(Workload const& workload, Model const& model);

/// "256 accelerators (32 nodes)"; nodes only where whole ones are filled.
std::string size_of(int workers, Cluster const& cluster);

/// "--memory-risk 23%": the least whole percentage by which a search takes a strategy.
std::string risk_that_takes(RiskyStrategy const& strategy);

/// "one", "two, three", "one, two and three".
std::string listed(std::vector<std::string> const& items);

} // namespace headroom::training::planner
