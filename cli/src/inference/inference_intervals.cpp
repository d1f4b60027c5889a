#include "inference/inference_report.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace headroom::cli {
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

void answer_intervals(InferenceReport& report) {
    InferenceQuestion const& question = report.question;
    Setting const& setting = question.setting;
    ServingPlan const& plan = report.plan()->plan;
    Calibration const values = setting.calibration.values();
    int const batch = report.plan()->largest_batch;
    auto const price = [&](Calibration const& constants) {
        ServingPricer const pricer{setting.model, setting.cluster, setting.framework, constants, plan};
        Seconds const decode =
            pricer.price({.decoding = batch, .decode_context = batch * tokens_on_average(question)}).total;
        return std::pair{decode, prefill_seconds(pricer, question.traffic.prompt_tokens)};
    };
    auto const now = price(values);
    Spread decode, prefill;
    for (ConstantInfo const& info : constants()) {
        CalibratedConstant const& constant = setting.calibration[info.id];
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
    report.decode_interval = interval(now.first, decode);
    report.prefill_interval = interval(now.second, prefill);
}

} // namespace headroom::cli
