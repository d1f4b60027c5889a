#include "laws/laws_curve.hpp"

#include "document/text.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

CurveRow row_of(CurveResult const& result, int count) {
    StepCurve const& curve = result.question.curve;
    Ranks const workers{count}, k0{result.question.k0};
    CurveRow row{.workers = count,
                 .step = step_at(curve, count),
                 .compute = compute_at(curve, count),
                 .exposed = exposed_at(curve, count),
                 .gain = {}};
    row.speedup = result.step_at_k0 / row.step;
    row.over_one = step_at(curve, 1.0) / row.step;
    row.efficiency = row.speedup * k0.count() / count;
    row.communication_share = exposed_share_at(curve, count);
    row.amdahl_of_s = amdahl_of_share_at(curve, workers);
    row.weak_over_k0 = weak_step_at(curve, k0, workers) / weak_step_at(curve, k0, k0);
    return row;
}

/// Times of a row as far as they are known.
std::optional<double> seconds_of(CurveResult const& result, Seconds time) {
    return result.question.timed ? std::optional{time.base()} : std::nullopt;
}

Json row_json(CurveResult const& result, CurveRow const& row) {
    // Amdahl's law takes the share on one worker, Gustafson's that on the workers whose load is kept
    Ranks const workers{row.workers};
    bool const amdahl = result.serial_fraction.has_value();
    Json gustafson = amdahl ? Json{gustafson_speedup(result.share_at_k0, workers)} : Json{};
    return Json::object()
        .set("workers", row.workers)
        .set("step_seconds", seconds_of(result, row.step))
        .set("step_units", result.question.timed ? Json{} : Json{row.step.base()})
        .set("step_over_k0", row.step / result.step_at_k0)
        .set("compute_seconds", seconds_of(result, row.compute))
        .set("exposed_communication_seconds", seconds_of(result, row.exposed))
        .set("communication_share", row.communication_share)
        .set("speedup", row.speedup)
        .set("speedup_over_one_worker", row.over_one)
        .set("efficiency", row.efficiency)
        .set("marginal_speedup_per_doubling", row.gain)
        .set("serial_fraction", result.serial_fraction)
        .set("amdahl_speedup", amdahl ? Json{row.over_one} : Json{})
        .set("amdahl_efficiency", amdahl ? Json{row.over_one / row.workers} : Json{})
        .set("gustafson_speedup", gustafson)
        .set("weak_step_over_k0", row.weak_over_k0)
        .set("weak_efficiency", 1.0 / row.weak_over_k0)
        .set("amdahl_of_s", row.amdahl_of_s);
}

Json ceilings_json(CurveResult const& result) {
    if (!result.serial_fraction) { return Json::array(); }
    return Json::array().push(Json::object()
                                  .set("serial_fraction", *result.serial_fraction)
                                  .set("amdahl_ceiling", result.ceiling_over_one)
                                  .set("workers_for_90_percent", result.for_90)
                                  .set("workers_for_share", result.for_share)
                                  .set("knee_workers", result.knee));
}

} // namespace

std::vector<int> read_curve_workers(Arguments const& arguments, StepCurve const& curve, int k0) {
    double const valley = 2.0 * static_cast<double>(best_workers(curve).value_or(1));
    auto const near_the_end = static_cast<double>(workers_for_share_of_ceiling(curve, 0.9).value_or(1));
    return read_law_workers(arguments, std::max({1024.0, 4.0 * k0, valley, near_the_end}), k0);
}

CurveResult result_of(CurveQuestion question) {
    CurveResult result;
    StepCurve const curve = question.curve;
    double const share = question.share;
    result.question = std::move(question);
    result.step_at_k0 = step_at(curve, result.question.k0);
    Seconds const least = least_step(curve);
    if (least > Seconds{}) {
        result.ceiling_over_k0 = result.step_at_k0 / least;
        result.ceiling_over_one = step_at(curve, 1.0) / least;
    }
    result.k_star = best_real_workers(curve);
    result.best = best_workers(curve);
    result.slower = first_slower_workers(curve);
    result.for_90 = workers_for_share_of_ceiling(curve, 0.9);
    result.for_share = workers_for_share_of_ceiling(curve, share);
    result.index = index_peak(curve);
    result.share_at_k0 = exposed_share_at(curve, result.question.k0);
    if (is_amdahl(curve)) { result.serial_fraction = exposed_share_at(curve, 1.0); }
    for (int const count : result.question.workers) { result.rows.push_back(row_of(result, count)); }
    LawCurve const drawn = law_curve_of(result);
    auto const gains = gains_of(drawn);
    for (std::size_t i = 0; i < gains.size(); ++i) { result.rows[i].gain = gains[i]; }
    result.knee = knee_of(drawn);
    return result;
}

void add_curve_members(LawsAnswer& answer, CurveResult const& result) {
    Json rows = Json::array(), speedups = Json::array();
    for (CurveRow const& row : result.rows) {
        rows.push(row_json(result, row));
        speedups.push(Json::object()
                          .set("workers", row.workers)
                          .set("speedup", row.speedup)
                          .set("step_seconds", seconds_of(result, row.step))
                          .set("efficiency", row.efficiency));
    }
    auto const add = [&answer](char const* key, Json value) { answer.members.emplace_back(key, std::move(value)); };
    add("k0", result.question.k0);
    add("step_at_k0_seconds", seconds_of(result, result.step_at_k0));
    add("rows", rows);
    add("speedup_over_k0", speedups);
    add("ceiling_over_k0", result.ceiling_over_k0);
    add("ceiling_over_one_worker", result.ceiling_over_one);
    add("ceilings", ceilings_json(result));
    add("share", result.question.share);
    add("smallest_k_with_90_percent_of_ceiling", result.for_90);
    add("smallest_k_with_share_of_ceiling", result.for_share);
    add("k_star", result.k_star);
    add("best_workers", result.best);
    add("best_speedup_over_k0", result.best ? Json{result.ceiling_over_k0} : Json{});
    add("first_worker_count_where_the_step_gets_slower", result.slower);
    add("knee_workers", result.knee);
    std::optional<IndexPeak> const& index = result.index;
    add("index_peaks_at_workers", index ? Json{index->workers} : Json{});
    add("index_peak_integer", index ? Json{index->integer} : Json{});
    add("index_at_integer_peak", index ? Json{index->value} : Json{});
    add("decides", "step_seconds");
}

Sheet curve_sheet(CurveResult const& result) {
    Sheet sheet{{"workers", "step_seconds", "step_over_k0", "communication_share", "speedup_over_k0",
                 "speedup_over_one_worker", "efficiency", "marginal_speedup_per_doubling", "weak_efficiency",
                 "amdahl_of_s"},
                {}};
    for (CurveRow const& row : result.rows) {
        sheet.rows.push_back({std::to_string(row.workers), cell(seconds_of(result, row.step)),
                              exact(row.step / result.step_at_k0), exact(row.communication_share), exact(row.speedup),
                              exact(row.over_one), exact(row.efficiency), cell(row.gain), exact(1.0 / row.weak_over_k0),
                              exact(row.amdahl_of_s)});
    }
    return sheet;
}

LawCurve law_curve_of(CurveResult const& result) {
    LawCurve curve{.name = "step", .workers = {}, .speedup = {}, .ceiling = result.ceiling_over_k0};
    for (CurveRow const& row : result.rows) {
        curve.workers.push_back(row.workers);
        curve.speedup.push_back(row.speedup);
    }
    return curve;
}

void add_curve_chart(LawsAnswer& answer, CurveResult const& result, std::string caption) {
    if (result.rows.size() < 2) { return; }
    std::optional<double> peak;
    if (result.best) { peak = static_cast<double>(*result.best); }
    answer.blocks.emplace_back(speedup_chart(std::move(caption), {law_curve_of(result)}, result.question.k0, peak));
}

std::string step_words(CurveResult const& result, Seconds step) {
    if (result.question.timed) { return format(step); }
    return times(step / result.step_at_k0);
}

} // namespace headroom::cli
