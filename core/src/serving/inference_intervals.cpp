#include "serving/inference_parts.hpp"

namespace headroom::serving {
namespace {

TimeInterval interval_of(Seconds value, ServingBand const& band) {
    return {value * band.low, value, value * band.high};
}

} // namespace

void answer_intervals(InferenceAnswer& answer) {
    InferenceQuestion const& question = answer.question;
    PlanRow const& row = *answer.row();
    answer.decode_interval = interval_of(answer.decode.back().time.total, question.bands.pace);
    answer.prefill_interval = interval_of(row.prompt_alone, question.bands.first_token);
    double const rate = row.steady ? row.steady->requests_per_second * question.traffic.output_tokens : 0.0;
    if (rate > 0.0) { answer.rate_interval = {rate / question.bands.pace.high, rate, rate / question.bands.pace.low}; }
}

} // namespace headroom::serving
