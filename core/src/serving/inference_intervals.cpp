#include "serving/inference_parts.hpp"

namespace headroom::serving {
namespace {

/// 90 % interval of an iteration of so many sequences.
TimeInterval interval_of(InferenceQuestion const& question, Seconds value, double sequences) {
    ServingBand const& band = question.bands.pace;
    BatchEvidence const& evidence = question.evidence;
    double const beyond = evidence.beyond(sequences);
    Seconds const own = question.plan.law.overhead.sequence;
    Seconds const low = value - beyond * std::max(Seconds{}, own - evidence.least);
    Seconds const high = value + beyond * std::max(Seconds{}, evidence.most - own);
    return {low * band.low, value, high * band.high};
}

} // namespace

void answer_intervals(InferenceAnswer& answer) {
    InferenceQuestion const& question = answer.question;
    PlanRow const& row = *answer.row();
    DecodeRow const& largest = answer.decode.back();
    TimeInterval const token = interval_of(question, largest.time.total, largest.batch);
    answer.decode_interval = token;
    ServingBand const& first = question.bands.first_token;
    answer.prefill_interval = {row.prompt_alone * first.low, row.prompt_alone, row.prompt_alone * first.high};
    double const rate = row.steady ? row.steady->requests_per_second * question.traffic.output_tokens : 0.0;
    if (rate > 0.0) {
        TimeInterval const time = interval_of(question, row.steady->iteration, row.steady->batch);
        answer.rate_interval = {rate * (time.value / time.high), rate, rate * (time.value / time.low)};
    }
    if (question.is_burst() && answer.choice() && answer.choice()->serves()) {
        Seconds const all = answer.choice()->result.span;
        answer.finish_interval = {all * (token.low / token.value), all, all * (token.high / token.value)};
    }
}

} // namespace headroom::serving
