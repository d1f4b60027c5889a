#include "comm/comm_fit_report.hpp"

#include "headroom/comparison.hpp"

namespace headroom::cli {
namespace {

Json fitted_json(fit::Fitted const& one) {
    return Json::object().set("value", one.value).set("low", one.low).set("high", one.high);
}

/// What has no upper end, and what is not known, is null.
Json rate_json(fit::Fitted const& one) {
    if (!(one.value > 0.0)) { return {}; }
    return Json::object()
        .set("value", one.value)
        .set("low", one.low)
        .set("high", one.high > 0.0 ? Json{one.high} : Json{});
}

Json segments_json(fit::CommunicationFit const& one) {
    Json list = Json::array();
    for (fit::FittedSegment const& segment : one.segments) {
        list.push(Json::object()
                      .set("from_bytes", segment.from.base())
                      .set("to_bytes", segment.to.base())
                      .set("alpha_seconds", fitted_json(segment.alpha_seconds))
                      .set("beta_seconds_per_byte", fitted_json(segment.beta_seconds_per_byte)));
    }
    return list;
}

Json switches_json(fit::CommunicationFit const& one) {
    Json list = Json::array();
    for (fit::SwitchPoint const& point : one.switches) {
        list.push(Json::object().set("bytes", fitted_json(point.bytes)).set("jumps", point.jumps));
    }
    return list;
}

Json residual_json(CommFitAnswer const& answer, fit::FitResidual const& one) {
    MeasuredCollective const& row = answer.rows[one.row];
    return Json::object()
        .set("file", row.file)
        .set("line", row.line)
        .set("size_bytes", row.size.size.base())
        .set("measured_seconds", row.time.base())
        .set("predicted_seconds", one.predicted.base())
        .set("relative_error", one.relative_error)
        .set("outlier", one.outlier);
}

Json residuals_json(CommFitAnswer const& answer, fit::CommunicationFit const& one, bool outliers_only) {
    Json list = Json::array();
    for (fit::FitResidual const& residual : one.residuals) {
        if (residual.outlier || !outliers_only) { list.push(residual_json(answer, residual)); }
    }
    return list;
}

Json dip_json(fit::CommunicationFit const& one) {
    if (!one.dip) { return {}; }
    return Json::object()
        .set("from_bytes", one.dip->from.base())
        .set("to_bytes", one.dip->to.base())
        .set("bandwidth_kept", one.dip->kept)
        .set("ends", one.dip->ends);
}

Json fit_json(CommFitAnswer const& answer, fit::CommunicationFit const& one) {
    auto const rate = one.bus_bandwidth();
    return Json::object()
        .set("id", one.id.empty() ? Json{} : Json{one.id})
        .set("system", one.system)
        .set("collective", name_of(one.collective))
        .set("algorithm", one.algorithm.empty() ? Json{} : Json{one.algorithm})
        .set("protocol", one.protocol.empty() ? Json{} : Json{one.protocol})
        .set("data_type", one.data_type.empty() ? Json{} : Json{one.data_type})
        .set("ranks", one.ranks)
        .set("nodes", one.nodes)
        .set("alpha_seconds", fitted_json(one.segments.front().alpha_seconds))
        .set("beta_seconds_per_byte", fitted_json(one.segments.back().beta_seconds_per_byte))
        .set("bus_bandwidth_bytes_per_second", rate && rate->base() > 0.0 ? Json{rate->base()} : Json{})
        .set("segments", segments_json(one))
        .set("switch_points", switches_json(one))
        .set("median_relative_error", one.median_relative_error)
        .set("p90_relative_error", one.p90_relative_error)
        .set("relative_spread", one.relative_spread)
        .set("dip", dip_json(one))
        .set("notes", Json::array_of(one.notes))
        .set("outliers", residuals_json(answer, one, true))
        .set("residuals", residuals_json(answer, one, false));
}

Json contention_json(fit::FittedLevel const& level) {
    Json list = Json::array();
    for (fit::Contention const& one : level.contention) {
        list.push(Json::object().set("fit", one.fit).set("factor", fitted_json(one.factor)));
    }
    return list;
}

Json level_json(fit::FittedLevel const& level) {
    return Json::object()
        .set("system", level.system)
        .set("level", level.scale_out ? "scale_out" : "scale_up")
        .set("latency_seconds", fitted_json(level.latency_seconds))
        .set("seconds_per_byte", fitted_json(level.seconds_per_byte))
        .set("bandwidth_bytes_per_second", rate_json(level.bytes_per_second))
        .set("fits", Json::array_of(level.fits))
        .set("rows", level.rows)
        .set("median_relative_error", level.median_relative_error)
        .set("contention_reference", level.reference)
        .set("contention", contention_json(level))
        .set("notes", Json::array_of(level.notes));
}

Json skipped_json(fit::SkippedGroup const& one) {
    return Json::object()
        .set("system", one.system)
        .set("collective", name_of(one.collective))
        .set("ranks", one.ranks)
        .set("nodes", one.nodes)
        .set("rows", one.rows)
        .set("sizes", one.sizes)
        .set("reason", one.reason);
}

Json files_json(CommFitAnswer const& answer) {
    Json list = Json::array();
    for (CommFitFile const& file : answer.files) {
        list.push(Json::object()
                      .set("file", file.name)
                      .set("format", file.format.empty() ? Json{} : Json{file.format})
                      .set("lines", file.lines)
                      .set("rows", file.rows)
                      .set("refusal", file.refusal.empty() ? Json{} : Json{file.refusal})
                      .set("notes", Json::array_of(file.notes)));
    }
    return list;
}

Json troubles_json(CommFitAnswer const& answer) {
    Json list = Json::array();
    for (CommFitFile const& file : answer.files) {
        for (io::LogTrouble const& one : file.troubles) {
            list.push(Json::object()
                          .set("file", file.name)
                          .set("kind", one.kind)
                          .set("count", one.count)
                          .set("first_line", one.first_line)
                          .set("example", one.example));
        }
    }
    return list;
}

} // namespace

Json json_of(CommFitAnswer const& answer, io::Catalog const& catalog) {
    Json fits = Json::array(), levels = Json::array(), skipped = Json::array();
    for (fit::CommunicationFit const& one : answer.result.fits) { fits.push(fit_json(answer, one)); }
    for (fit::FittedLevel const& one : answer.result.levels) { levels.push(level_json(one)); }
    for (fit::SkippedGroup const& one : answer.result.skipped) { skipped.push(skipped_json(one)); }
    Json json = result_head("comm", catalog, "");
    json.set("files", files_json(answer))
        .set("fits", std::move(fits))
        .set("levels", std::move(levels))
        .set("skipped", std::move(skipped))
        .set("troubles", troubles_json(answer))
        .set("saved", answer.saved.empty() ? Json{} : Json{answer.saved});
    if (answer.wall_seconds) { json.set("stats", stats_json(*answer.wall_seconds)); }
    return json;
}

} // namespace headroom::cli
