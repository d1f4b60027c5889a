#include "measure/measure_comm.hpp"

namespace headroom::cli {

using namespace headroom::measure;

namespace {

Json fitted_json(fit::Fitted const& one) {
    return Json::object().set("value", one.value).set("low", one.low).set("high", one.high);
}

Json facts_json(Facts const& facts) {
    Json object = Json::object();
    for (auto const& [name, value] : facts) { object.set(name, value); }
    return object;
}

Json point_json(CommMeasureReport const& report, CommTimed const& one) {
    MeasuredPoint const& point = report.campaign.points[one.point];
    SampleSummary const& seconds = one.seconds;
    return Json::object()
        .set("label", point.label)
        .set("parameters", facts_json(point.parameters))
        .set("count", seconds.count)
        .set("least_seconds", seconds.least)
        .set("median_seconds", seconds.median)
        .set("median_low_seconds", seconds.low)
        .set("median_high_seconds", seconds.high)
        .set("coverage", seconds.coverage)
        .set("most_seconds", seconds.most)
        .set("spread", seconds.spread)
        .set("late_median_seconds", one.late_median)
        .set("late_most_seconds", one.late_most);
}

Json ratio_json(CommRatio const& one) {
    return Json::object()
        .set("link", one.link)
        .set("bytes", one.bytes)
        .set("one_way_seconds", one.one_way)
        .set("both_ways_ratio", one.both_ways)
        .set("shifted_ratio", one.shifted);
}

Json fit_json(CommMeasureReport const& report, fit::CommunicationFit const& one) {
    Json segments = Json::array(), residuals = Json::array();
    for (fit::FittedSegment const& segment : one.segments) {
        segments.push(Json::object()
                          .set("from_bytes", segment.from.base())
                          .set("to_bytes", segment.to.base())
                          .set("alpha_seconds", fitted_json(segment.alpha_seconds))
                          .set("beta_seconds_per_byte", fitted_json(segment.beta_seconds_per_byte)));
    }
    for (fit::FitResidual const& residual : one.residuals) {
        residuals.push(Json::object()
                           .set("bytes", report.rows[residual.row].size.size.base())
                           .set("measured_seconds", report.rows[residual.row].time.base())
                           .set("predicted_seconds", residual.predicted.base())
                           .set("relative_error", residual.relative_error)
                           .set("outlier", residual.outlier));
    }
    return Json::object()
        .set("collective", name_of(one.collective))
        .set("algorithm", one.algorithm)
        .set("ranks", one.ranks)
        .set("nodes", one.nodes)
        .set("segments", std::move(segments))
        .set("median_relative_error", one.median_relative_error)
        .set("residuals", std::move(residuals))
        .set("notes", Json::array_of(one.notes));
}

Json loggp_json(CommLogGp const& one) {
    Json residuals = Json::array();
    for (fit::LogGpResidual const& residual : one.fit.residuals) {
        residuals.push(Json::object()
                           .set("bytes", residual.size.base())
                           .set("messages", residual.messages)
                           .set("paced", residual.paced)
                           .set("repeats", residual.repeats)
                           .set("measured_seconds", residual.measured.base())
                           .set("predicted_seconds", residual.predicted.base())
                           .set("relative_error", residual.relative_error));
    }
    return Json::object()
        .set("link", one.link)
        .set("latency_seconds", fitted_json(one.fit.latency_seconds))
        .set("overhead_seconds", fitted_json(one.fit.overhead_seconds))
        .set("overhead_seconds_per_byte", fitted_json(one.fit.overhead_seconds_per_byte))
        .set("gap_seconds", fitted_json(one.fit.gap_seconds))
        .set("gap_seconds_per_byte", fitted_json(one.fit.gap_seconds_per_byte))
        .set("median_relative_error", one.fit.median_relative_error)
        .set("residuals", std::move(residuals))
        .set("notes", Json::array_of(one.fit.notes));
}

Json load_json(CommLoad const& one) {
    return Json::object()
        .set("link", one.link)
        .set("load", one.load)
        .set("bytes", one.bytes)
        .set("alone_seconds", one.alone)
        .set("loaded_seconds", one.loaded)
        .set("ratio", one.loaded / one.alone);
}

Json pairs_json(CommMeasureReport const& report, std::vector<fit::PairTime> const& pairs,
                std::vector<std::size_t> const& at, fit::PairVerdict const& verdict) {
    if (pairs.empty()) { return {}; }
    Json list = Json::array(), slow = Json::array(), ranks = Json::array();
    for (fit::PairTime const& one : pairs) {
        list.push(Json::object()
                      .set("first", one.first)
                      .set("second", one.second)
                      .set("same_host", one.same_host)
                      .set("least_seconds", one.least_seconds)
                      .set("median_seconds", one.median_seconds));
    }
    for (fit::SlowLink const& one : verdict.links) {
        fit::PairTime const& pair = pairs[one.pair];
        auto const host = [&](int rank) { return report.world.hosts[static_cast<std::size_t>(rank)]; };
        slow.push(Json::object()
                      .set("first", pair.first)
                      .set("first_host", host(pair.first))
                      .set("second", pair.second)
                      .set("second_host", host(pair.second))
                      .set("factor", one.factor)
                      .set("always", one.always));
    }
    for (fit::SlowRank const& one : verdict.ranks) {
        ranks.push(Json::object()
                       .set("rank", one.rank)
                       .set("host", report.world.hosts[static_cast<std::size_t>(one.rank)])
                       .set("factor", one.factor)
                       .set("slow_links", one.slow)
                       .set("links", one.of));
    }
    return Json::object()
        .set("bytes", request_of(report, report.timed[at.front()]).bytes)
        .set("times", std::move(list))
        .set("judged", verdict.judged)
        .set("slow_links", std::move(slow))
        .set("slow_ranks", std::move(ranks));
}

Json predictions_json(CommMeasureReport const& report) {
    Json list = Json::array();
    for (CommPrediction const& one : report.predictions) {
        list.push(Json::object()
                      .set("point", report.campaign.points[one.point].label)
                      .set("algorithm", one.algorithm)
                      .set("chosen_as_cheapest", one.chosen)
                      .set("least_seconds", one.least_seconds)
                      .set("median_seconds", one.median_seconds)
                      .set("least_ratio", one.least_ratio)
                      .set("median_ratio", one.median_ratio));
    }
    return list;
}

Json world_json(probe::CommWorld const& world) {
    Json algorithms = Json::array();
    for (auto const& one : world.algorithms) {
        algorithms.push(Json::object().set("collective", name_of(one.collective)).set("name", one.name));
    }
    return Json::object()
        .set("ranks", world.ranks())
        .set("nodes", world.nodes())
        .set("hosts", Json::array_of(world.hosts))
        .set("cores", Json::array_of(world.cores))
        .set("library", world.implementation)
        .set("more_ranks_than_cores", world.crowded())
        .set("algorithms_that_can_be_forced", std::move(algorithms));
}

} // namespace

Json json_of(CommMeasureReport const& report, io::Catalog const& catalog) {
    Json points = Json::array(), ratios = Json::array(), fits = Json::array(), loggp = Json::array(),
         load = Json::array(), failures = Json::array();
    for (CommTimed const& one : report.timed) { points.push(point_json(report, one)); }
    for (CommRatio const& one : report.ratios) { ratios.push(ratio_json(one)); }
    for (fit::CommunicationFit const& one : report.fits.fits) { fits.push(fit_json(report, one)); }
    for (CommLogGp const& one : report.loggp) { loggp.push(loggp_json(one)); }
    for (CommLoad const& one : report.load) { load.push(load_json(one)); }
    for (CommFailure const& one : report.failures) {
        failures.push(Json::object()
                          .set("point", report.campaign.points[one.point].label)
                          .set("message", one.message)
                          .set("count", one.count));
    }
    Json json = result_head("measure_comm", catalog, "");
    json.set("campaign", report.campaign.id > 0 ? Json{report.campaign.id} : Json{})
        .set("complete", !report.progress.interrupted)
        .set("resumed_samples", report.resumed)
        .set("settings", facts_json(report.campaign.settings))
        .set("machine", facts_json(report.campaign.machine))
        .set("world", world_json(report.world))
        .set("clock_error_seconds", report.clock_error_seconds)
        .set("points", std::move(points))
        .set("failures", std::move(failures))
        .set("ratios", std::move(ratios))
        .set("fits", std::move(fits))
        .set("loggp", std::move(loggp))
        .set("load", std::move(load))
        .set("pairs_small", pairs_json(report, report.pair_small, report.pair_small_at, report.slow_small))
        .set("pairs_large", pairs_json(report, report.pair_large, report.pair_large_at, report.slow_large))
        .set("predictions", predictions_json(report))
        .set("median_prediction_error", report.median_prediction_error)
        .set("notes", Json::array_of(report.notes))
        .set("saved", report.saved.empty() ? Json{} : Json{report.saved});
    if (report.wall_seconds) { json.set("stats", stats_json(*report.wall_seconds)); }
    return json;
}

} // namespace headroom::cli
