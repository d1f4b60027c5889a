#pragma once

#include "gate.hpp"
#include "setting.hpp"

#include "headroom/document/document.hpp"
#include "headroom/serving/inference_answer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// A question of `headroom inference`, and the setting that it was read in.
struct InferenceRequest {
    Setting setting;
    serving::InferenceQuestion question;
};

std::span<Option const> inference_options();

/// Errors: InputError{usage} on what contradicts itself; InputError{insufficient} where too few requests would be counted
/// for the share that the objectives name.
InferenceRequest read_inference(Arguments const& arguments);

/// "ttft_p99<=500ms,tpot_p99<=50ms,latency_p99<=10s": one share for all.
serving::ServingObjectives parse_objectives(std::string_view text, std::string_view where);

/// The longest wait that an objective allows: a line may grow for so long before anybody is late.
Seconds longest_objective(serving::ServingObjectives const& objectives);

/// A share of 99 % needs a hundred requests to be seen at all, and a time far longer than its limits.
/// Errors: InputError{insufficient}.
void check_enough(serving::InferenceQuestion const& question, std::string const& where);

/// Compares lengths with the model's positions: a mean request beyond them is a note, for a model may be asked with more
/// (scaled positions); of requests that vary, the number of longer ones is an assumption.
void check_positions(serving::InferenceQuestion& question, std::vector<std::string>& notes);

/// "TTFT <= 500 ms and TPOT <= 50 ms for 99 % of requests"
std::string objectives_words(serving::ServingObjectives const& objectives);

/// Numbers that --require may ask about; of an answer that is not known yet: null.
std::vector<Metric> metrics_of(serving::InferenceAnswer const* report);
Document document_of(serving::InferenceAnswer const& report, Setting const& setting,
                     std::optional<CallStats> const& stats, bool page);

std::vector<Chart> charts_of(serving::InferenceAnswer const& report, bool page);

/// "tp 4", "tp 4 pp 2".
std::string plan_words(serving::ServingPlan const& plan);
/// "at 20/s", "of 1000 requests at once", "with 64 users".
std::string traffic_words(serving::InferenceQuestion const& question);
/// Three digits without zeros at the end: what somebody gave reads as it was given.
std::string short_number(double value);

/// Verdicts, reasons and assumptions of an answer, written into it.
void add_words(serving::InferenceAnswer& report);
/// Rows of a recorded trace that were left out, and how it was read; empty without one.
std::vector<std::string> trace_notes(serving::InferenceAnswer const& report);

/// Writes the command that starts a replica of the recommended plan, where --emit asks for it: false where it does not.
/// Errors: InputError{usage} where nothing can serve.
bool write_command(Arguments const& arguments, serving::InferenceAnswer const& report, io::Catalog const& catalog,
                   Output const& output);

} // namespace headroom::cli
