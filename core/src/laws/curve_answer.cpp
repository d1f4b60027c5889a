#include "search.hpp"

#include "headroom/laws/laws_answers.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::laws {
namespace {

CurveRow row_of(CurveAnswer const& answer, int count) {
    StepCurve const& curve = answer.question.curve;
    Ranks const workers{count}, k0{answer.question.k0};
    CurveRow row{.workers = count,
                 .timed = answer.question.timed,
                 .step = step_at(curve, count),
                 .compute = compute_at(curve, count),
                 .exposed = exposed_at(curve, count),
                 .serial_fraction = answer.serial_fraction};
    row.step_over_k0 = row.step / answer.step_at_k0;
    row.speedup = answer.step_at_k0 / row.step;
    row.over_one = step_at(curve, 1.0) / row.step;
    row.efficiency = row.speedup * k0.count() / count;
    row.communication_share = exposed_share_at(curve, count);
    row.amdahl_of_s = amdahl_of_share_at(curve, workers);
    row.weak_over_k0 = weak_step_at(curve, k0, workers) / weak_step_at(curve, k0, k0);
    // Amdahl's law takes the share on one worker, Gustafson's that on the workers whose load is kept.
    if (row.serial_fraction) { row.gustafson = gustafson_speedup(answer.share_at_k0, workers); }
    return row;
}

} // namespace

SpeedupCurve CurveAnswer::speedups() const {
    SpeedupCurve curve{.workers = {}, .ceiling = ceiling_over_k0};
    for (CurveRow const& row : rows) {
        curve.workers.push_back(row.workers);
        curve.speedup.push_back(row.speedup);
    }
    return curve;
}

CurveAnswer steps_of(CurveQuestion question) {
    CurveAnswer answer;
    StepCurve const curve = question.curve;
    double const share = question.share;
    answer.question = std::move(question);
    answer.step_at_k0 = step_at(curve, answer.question.k0);
    Seconds const least = least_step(curve);
    if (least > Seconds{}) {
        answer.ceiling_over_k0 = answer.step_at_k0 / least;
        answer.ceiling_over_one = step_at(curve, 1.0) / least;
    }
    answer.k_star = best_real_workers(curve);
    answer.best = best_workers(curve);
    answer.slower = first_slower_workers(curve);
    answer.for_90 = workers_for_share_of_ceiling(curve, 0.9);
    answer.for_share = workers_for_share_of_ceiling(curve, share);
    if (answer.question.efficiency) {
        double const k0 = answer.question.k0;
        answer.most_efficient = largest_efficient(
            *answer.question.efficiency, [&](double k) { return answer.step_at_k0 / step_at(curve, k) * k0 / k; });
    }
    answer.index = index_peak(curve);
    answer.share_at_k0 = exposed_share_at(curve, answer.question.k0);
    if (is_amdahl(curve)) { answer.serial_fraction = exposed_share_at(curve, 1.0); }
    for (int const count : answer.question.workers) { answer.rows.push_back(row_of(answer, count)); }
    SpeedupCurve const speedups = answer.speedups();
    auto const gains = doubling_gains(speedups);
    for (std::size_t i = 0; i < gains.size(); ++i) { answer.rows[i].gain = gains[i]; }
    answer.knee = knee_of(speedups);
    return answer;
}

MeasuredGain measured_gain(CurveAnswer const& answer, int from, int to, double gain) {
    StepCurve const& curve = answer.question.curve;
    Seconds const end = step_at(curve, to);
    double const ratio = static_cast<double>(to) / from;
    MeasuredGain found{.from = from,
                       .to = to,
                       .gain = gain,
                       .profile = step_at(curve, from) / end,
                       .super_linear = gain > ratio * (1.0 + 1e-12),
                       .compute_alone = compute_at(curve, from) / end};
    found.contradicts = std::abs(gain / found.profile - 1.0) > gain_tolerance;
    if (is_amdahl(curve) && to == answer.question.k0 && gain >= 1.0 && !found.super_linear) {
        found.share_needed = (ratio - gain) / (ratio - 1.0); // g = s + (1-s) K0/K1
    }
    return found;
}

ScaleUp scale_up_of(CurveAnswer const& answer, ScaleUpQuestion const& question) {
    StepCurve const& curve = answer.question.curve;
    SpeedupCurve speedups = answer.speedups();
    std::ranges::transform(answer.rows, speedups.speedup.begin(), &CurveRow::over_one);
    ScaleUp comparison{question, {}, {}};
    add_curve(comparison, speedups,
              {answer.serial_fraction, workers_for_step(curve, step_at(curve, 1.0) / question.factor)});
    return comparison;
}

} // namespace headroom::laws
