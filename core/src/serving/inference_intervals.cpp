#include "serving/inference_parts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace headroom::serving {

using namespace headroom::training;

namespace {

using TimeOf = std::function<Seconds(ServingPricer const&)>;

/// Adds what one constant moves a time by, towards slower and towards faster, in squares of logarithms.
struct Spread {
    double slower = 0.0, faster = 0.0;
    void add(double ratio) {
        double const log = std::log(ratio);
        (log > 0.0 ? slower : faster) += log * log;
    }
};

} // namespace

void answer_intervals(InferenceAnswer& answer) {
    InferenceQuestion const& question = answer.question;
    ServingPlan const& plan = answer.row()->plan;
    Calibration const values = question.calibration.values();
    int const batch = answer.row()->largest_batch;
    auto const price = [&](Calibration const& constants) {
        ServingPricer const pricer{question.model, question.cluster, question.framework, constants, plan};
        Seconds const decode =
            pricer.price({.decoding = batch, .decode_context = batch * question.tokens_on_average()}).total;
        return std::pair{decode, prefill_seconds(pricer, question.traffic.prompt_tokens)};
    };
    auto const now = price(values);
    Spread decode, prefill;
    for (ConstantInfo const& info : constants()) {
        CalibratedConstant const& constant = question.calibration[info.id];
        for (double const end : {constant.low, constant.high}) {
            if (!(end > 0.0) || end == constant.value) { continue; }
            Calibration moved = values;
            moved[info.id] = end;
            auto const then = price(moved);
            decode.add(then.first / now.first);
            prefill.add(then.second / now.second);
        }
    }
    auto const interval = [](Seconds value, Spread const& spread) {
        return TimeInterval{value * std::exp(-std::sqrt(spread.faster)), value,
                            value * std::exp(std::sqrt(spread.slower))};
    };
    answer.decode_interval = interval(now.first, decode);
    answer.prefill_interval = interval(now.second, prefill);
}

} // namespace headroom::serving
