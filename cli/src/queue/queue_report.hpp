#pragma once

#include "arguments.hpp"
#include "output.hpp"

#include "headroom/serving/queue_report.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

serving::QueueQuestion read_queue_question(Arguments const& arguments);
/// A time above zero, of a size that a request may take.
Seconds read_queue_time(std::string const& text, std::string const& where);
/// --objective: `finite` where requests can be turned away.
std::optional<serving::LatencyObjective> read_queue_objective(Arguments const& arguments, bool finite);

// ---- what is shown ------------------------------------------------------------------------------------------------

/// A number of three digits without zeros at its end.
std::string brief(double value);
/// A number of requests, or of services; one too small to matter is no more than that.
std::string times_words(double value, int digits = 3);
std::string rate_words(double per_second);
std::string time_words(Seconds time);
std::string replicas_words(std::int64_t count);
/// A compared figure in its unit.
std::string mean_words(serving::ComparedMean const& mean, double value);
std::string objective_words(serving::QueueQuestion const& question);
std::string knee_words(serving::QueueReport const& report);
std::string pooling_words(serving::QueueReport const& report);
/// The verdicts, notes and assumptions of a report, written into it.
void add_words(serving::QueueReport& report);
std::vector<Chart> queue_charts(serving::QueueReport const& report);

Document document_of(serving::QueueReport const& report, std::string catalog_footer);

} // namespace headroom::cli
