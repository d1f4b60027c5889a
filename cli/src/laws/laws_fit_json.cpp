#include "laws/laws_fit_report.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

Json coefficients_json(fit::LawFit const& one) {
    Json json = Json::object();
    for (fit::FittedCoefficient const& coefficient : one.coefficients) {
        json.set(coefficient.name, Json::object()
                                       .set("value", coefficient.value)
                                       .set("low", coefficient.low)
                                       .set("high", coefficient.high)
                                       .set("standard_error", coefficient.standard_error)
                                       .set("at_bound", coefficient.at_bound)
                                       .set("fixed", coefficient.fixed));
    }
    return json;
}

Json term_json(fit::LawFit const& one) {
    if (one.law->gives != fit::Gives::value || one.term.constant()) { return {}; }
    return Json::object()
        .set("exponent", static_cast<double>(one.term.numerator) / one.term.denominator)
        .set("exponent_numerator", one.term.numerator)
        .set("exponent_denominator", one.term.denominator)
        .set("logarithm_exponent", one.term.logarithm);
}

Json validation_json(fit::LawFit const& one) {
    if (!one.cross_validation) { return {}; }
    return Json::object()
        .set("rss", one.cross_validation->rss)
        .set("smape", one.cross_validation->smape)
        .set("adjusted_r2", one.cross_validation->adjusted_r2)
        .set("relative_rss", one.cross_validation->relative_rss);
}

Json fit_json(fit::LawFit const& one) {
    return Json::object()
        .set("law", one.law->name)
        .set("formula", one.formula)
        .set("coefficients", coefficients_json(one))
        .set("term", term_json(one))
        .set("normalisation", one.normalisation)
        .set("rss", one.rss)
        .set("degrees_of_freedom", one.degrees_of_freedom)
        .set("residual_standard_error", one.residual_standard_error)
        .set("smape", one.smape)
        .set("adjusted_r2", one.adjusted_r2)
        .set("aicc", one.aicc)
        .set("leave_last_out_error", one.leave_last_out_error)
        .set("cross_validation", validation_json(one))
        .set("peak_workers", one.peak_workers)
        .set("ceiling", one.ceiling)
        .set("ceiling_value", one.ceiling_value)
        .set("limit", one.limit)
        .set("limit_value", one.limit_value)
        .set("source", one.law->source);
}

Json prediction_json(fit::ScalingPrediction const& row) {
    return Json::object()
        .set("workers", row.workers)
        .set("value", row.value)
        .set("low", row.low)
        .set("high", row.high)
        .set("curve_low", row.curve_low)
        .set("curve_high", row.curve_high)
        .set("speedup", row.speedup)
        .set("beyond_measured", row.beyond);
}

Json karp_flatt_json(FitAnswer const& answer) {
    Json rows = Json::array();
    if (!answer.report.karp_flatt) { return rows; }
    for (fit::KarpFlattPoint const& point : answer.report.karp_flatt->points) {
        rows.push(Json::object()
                      .set("workers", point.workers)
                      .set("speedup", point.speedup)
                      .set("serial_fraction", point.serial_fraction));
    }
    return rows;
}

Json karp_flatt_verdict_json(FitAnswer const& answer) {
    if (!answer.report.karp_flatt) { return {}; }
    return Json::object()
        .set("over_workers", answer.report.karp_flatt->baseline)
        .set("trend", answer.report.karp_flatt->trend)
        .set("verdict", answer.report.karp_flatt->verdict);
}

Json next_json(FitAnswer const& answer) {
    if (!answer.report.next_measurement) { return {}; }
    fit::NextMeasurement const& next = *answer.report.next_measurement;
    return Json::object()
        .set("workers", next.workers)
        .set("target_workers", next.target)
        .set("band_now", next.band_now)
        .set("band_then", next.band_then)
        .set("why", next.why);
}

Json sync_json(FitAnswer const& answer) {
    if (!answer.report.sync) { return {}; }
    fit::SyncGrowth const& sync = *answer.report.sync;
    return Json::object()
        .set("growth", sync.growth)
        .set("aicc_difference", sync.aicc_difference)
        .set("likelihood_ratio", sync.likelihood_ratio)
        .set("at_workers", sync.workers)
        .set("linear_seconds", sync.linear_seconds)
        .set("logarithmic_seconds", sync.logarithmic_seconds)
        .set("sentence", sync.sentence);
}

Json findings_json(FitAnswer const& answer) {
    Json rows = Json::array();
    for (fit::Finding const& finding : answer.report.findings) {
        rows.push(Json::object().set("kind", finding.kind).set("workers", finding.workers).set("text", finding.text));
    }
    return rows;
}

Json left_out_json(FitAnswer const& answer) {
    Json rows = Json::array();
    for (fit::LeftOutLaw const& one : answer.report.left_out) {
        rows.push(Json::object().set("law", one.law).set("why", one.why));
    }
    return rows;
}

Json table_json(FitAnswer const& answer) {
    io::ScalingTable const& table = answer.table;
    auto const or_null = [](std::string const& text) { return text.empty() ? Json{} : Json{text}; };
    return Json::object()
        .set("file", answer.file)
        .set("format", table.format)
        .set("rows", table.rows.size())
        .set("worker_counts", fit::means_of(answer.data.samples).size())
        .set("workers_column", table.workers_column)
        .set("value_column", table.value_column)
        .set("weight_column", or_null(table.weight_column))
        .set("unit", or_null(table.unit))
        .set("region", or_null(table.region))
        .set("metric", or_null(table.metric))
        .set("regions", Json::array_of(table.regions))
        .set("metrics", Json::array_of(table.metrics))
        .set("ignored_columns", Json::array_of(table.ignored))
        .set("notes", Json::array_of(table.notes));
}

Json intervals_json(FitAnswer const& answer) {
    bool const draws = answer.question.intervals == fit::Intervals::bootstrap ||
                       answer.question.intervals == fit::Intervals::bootstrap_pairs;
    return Json::object()
        .set("method", fit::name_of(answer.question.intervals))
        .set("coverage", answer.question.coverage)
        .set("seed", draws ? Json{static_cast<std::int64_t>(answer.question.seed)} : Json{})
        .set("resamples", draws ? Json{answer.question.resamples} : Json{})
        .set("bands", band_words(answer));
}

} // namespace

void add_fit_members(Json& json, FitAnswer const& answer) {
    Json fits = Json::array(), predictions = Json::array();
    for (fit::LawFit const& one : answer.report.fits) { fits.push(fit_json(one)); }
    for (fit::ScalingPrediction const& row : answer.report.predictions) { predictions.push(prediction_json(row)); }
    json.set("fitted_quantity", fit::name_of(answer.data.measured))
        .set("conversion", conversion_words(answer))
        .set("scaling", fit::name_of(answer.data.scaling))
        .set("centre", answer.question.centre == fit::Centre::median ? "median" : "mean")
        .set("errors", answer.question.relative_errors ? "relative" : "absolute")
        .set("intervals", intervals_json(answer))
        .set("fits", fits)
        .set("left_out", left_out_json(answer))
        .set("best", answer.best().law->name)
        .set("knee_workers", knee_of(answer))
        .set("ceiling_value_low", answer.report.ceiling_low)
        .set("ceiling_value_high", answer.report.ceiling_high)
        .set("chosen_because", answer.report.chosen_because)
        .set("predictions", predictions)
        .set("karp_flatt", karp_flatt_json(answer))
        .set("karp_flatt_verdict", karp_flatt_verdict_json(answer))
        .set("next_measurement", next_json(answer))
        .set("synchronisation", sync_json(answer))
        .set("findings", findings_json(answer));
}

Json json_of(FitAnswer const& answer, io::Catalog const& catalog) {
    Json json = result_head("laws", catalog, "");
    json.set("question", "fit").set("table", table_json(answer));
    add_fit_members(json, answer);
    if (answer.wall_seconds) { json.set("stats", stats_json(*answer.wall_seconds)); }
    return json;
}

Sheet sheet_of(FitAnswer const& answer) {
    Sheet sheet{{"law", "workers", "value", "low", "high", "curve_low", "curve_high", "speedup", "beyond_measured"},
                {}};
    auto const cell = [](std::optional<double> value) { return value ? exact(*value) : std::string{}; };
    for (fit::ScalingPrediction const& row : answer.report.predictions) {
        sheet.rows.push_back({answer.best().law->name, exact(row.workers), exact(row.value), cell(row.low),
                              cell(row.high), cell(row.curve_low), cell(row.curve_high), cell(row.speedup),
                              row.beyond ? "true" : "false"});
    }
    return sheet;
}

} // namespace headroom::cli
