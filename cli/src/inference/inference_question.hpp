#pragma once

#include "setting.hpp"

#include "headroom/serving/inference_answer.hpp"

#include <string>

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

} // namespace headroom::cli
