#include "measure/roofline_report.hpp"
#include "output.hpp"

#include <algorithm>

namespace headroom::cli {

using namespace headroom::measure;

namespace {

Json facts_json(Facts const& facts) {
    Json all = Json::array();
    for (auto const& [name, value] : facts) { all.push(Json::object().set("name", name).set("value", value)); }
    return all;
}

Json label_of(MeasuredFigure const* figure) { return figure == nullptr ? Json{} : Json{figure->point.label}; }

Json figure_json(MeasuredFigure const& figure) {
    SampleSummary const& of = figure.summary;
    Json parameters = Json::object();
    for (auto const& [name, value] : figure.point.parameters) { parameters.set(name, value); }
    Json drift;
    if (figure.drift) {
        drift = Json::object().set("change", figure.drift->change).set("probability", figure.drift->probability);
    }
    return Json::object()
        .set("label", figure.point.label)
        .set("quantity", figure.of("quantity"))
        .set("unit", figure.point.unit)
        .set("threads", figure.threads)
        .set("parameters", parameters)
        .set("count", of.count)
        .set("median", of.median)
        .set("low", of.low)
        .set("high", of.high)
        .set("coverage", of.coverage)
        .set("least", of.least)
        .set("most", of.most)
        .set("spread", of.spread)
        .set("drift", drift);
}

Json peak_json(MeasuredPeak const& peak) {
    bool const chain = peak.roof == peak.chain;
    SampleSummary const& of = peak.roof->summary;
    return Json::object()
        .set("precision", peak.precision)
        .set("threads", peak.threads)
        .set("flops_per_second", of.median)
        .set("low", of.low)
        .set("high", of.high)
        .set("by", chain ? "chain" : "product")
        .set("instruction_set", chain ? Json{peak.roof->of("instruction_set")} : Json{})
        .set("chain", label_of(peak.chain))
        .set("best_product", label_of(peak.product))
        .set("product_of_peak", peak.product == nullptr ? Json{} : Json{peak.product->summary.median / of.median});
}

Json levels_json(MeasuredRoofline const& roofline) {
    Json all = Json::array();
    for (int const threads : roofline.threads) {
        for (MeasuredFigure const* one : roofline.levels(threads)) {
            double const capacity = one->number("capacity");
            all.push(Json::object()
                         .set("level", one->of("level"))
                         .set("threads", threads)
                         .set("bytes_per_second", one->summary.median)
                         .set("low", one->summary.low)
                         .set("high", one->summary.high)
                         .set("capacity_bytes", capacity > 0.0 ? Json{capacity} : Json{})
                         .set("figure", one->point.label));
        }
    }
    return all;
}

Json latencies_json(MeasuredRoofline const& roofline) {
    Json all = Json::array();
    for (MeasuredFigure const* one : roofline.of_quantity("latency")) {
        all.push(Json::object()
                     .set("level", one->of("level"))
                     .set("seconds", one->summary.median)
                     .set("low", one->summary.low)
                     .set("high", one->summary.high)
                     .set("figure", one->point.label));
    }
    return all;
}

Json ridges_json(MeasuredRoofline const& roofline) {
    Json all = Json::array();
    for (MeasuredRidge const& one : roofline.ridges) {
        all.push(Json::object()
                     .set("precision", one.precision)
                     .set("level", one.level)
                     .set("threads", one.threads)
                     .set("flops_per_byte", one.flops_per_byte)
                     .set("low", one.low)
                     .set("high", one.high));
    }
    return all;
}

Json kernel_json(MeasuredKernel const& kernel) {
    MeasuredFigure const& figure = *kernel.figure;
    return Json::object()
        .set("kernel", figure.of("kernel"))
        .set("problem", figure.of("problem"))
        .set("threads", figure.threads)
        .set("precision", figure.of("precision"))
        .set("flops", figure.number("operations"))
        .set("bytes", figure.number("bytes"))
        .set("intensity_flops_per_byte", kernel.intensity)
        .set("level", kernel.level->of("level"))
        .set("bound", name_of(kernel.bound))
        .set("roof_flops_per_second", kernel.roof.base())
        .set("flops_per_second", figure.summary.median)
        .set("of_roof", kernel.share)
        .set("of_roof_low", kernel.low)
        .set("of_roof_high", kernel.high)
        .set("why", reason_of(kernel));
}

Json own_json(MeasuredRoofline const& roofline) {
    Json all = Json::array();
    for (int const threads : roofline.threads) {
        auto const both = own_against_library(roofline, threads);
        if (!both) { continue; }
        all.push(Json::object()
                     .set("threads", threads)
                     .set("own", both->own->point.label)
                     .set("library", both->other->point.label)
                     .set("ratio", both->ratio()));
    }
    return all;
}

} // namespace

Json json_of(MeasuredRooflineReport const& report) {
    MeasuredRoofline const& roofline = report.roofline;
    Json figures = Json::array(), peaks = Json::array(), kernels = Json::array();
    for (MeasuredFigure const& one : roofline.figures) { figures.push(figure_json(one)); }
    for (MeasuredPeak const& one : roofline.peaks) { peaks.push(peak_json(one)); }
    for (MeasuredKernel const& one : roofline.kernels) { kernels.push(kernel_json(one)); }
    Json json = Json::object()
                    .set("schema", "headroom.measure_roofline/1")
                    .set("version", HEADROOM_VERSION)
                    .set("complete", report.complete)
                    .set("store", report.store.empty() ? Json{} : Json{report.store})
                    .set("campaign", report.store.empty() ? Json{} : Json{report.campaign.id})
                    .set("resumed_samples", report.resumed)
                    .set("settings", facts_json(report.campaign.settings))
                    .set("machine", facts_json(report.campaign.machine))
                    .set("threads", Json::array_of(roofline.threads))
                    .set("peaks", peaks)
                    .set("levels", levels_json(roofline))
                    .set("latencies", latencies_json(roofline))
                    .set("ridges", ridges_json(roofline))
                    .set("kernels", kernels)
                    .set("own_products", own_json(roofline))
                    .set("gpu", Json::object()
                                    .set("device", report.gpu.empty() ? Json{} : Json{report.gpu})
                                    .set("not_measured", report.gpu_why.empty() ? Json{} : Json{report.gpu_why}))
                    .set("figures", figures)
                    .set("warnings", Json::array_of(report.warnings))
                    .set("not_measured", Json::array_of(report.absent));
    if (report.wall_seconds) { json.set("stats", stats_json(*report.wall_seconds)); }
    return json;
}

Sheet sheet_of(MeasuredRooflineReport const& report) {
    Sheet sheet{{"label", "quantity", "unit", "threads", "precision", "count", "median", "low", "high", "coverage",
                 "least", "most", "spread"},
                {}};
    for (MeasuredFigure const& one : report.roofline.figures) {
        SampleSummary const& of = one.summary;
        sheet.rows.push_back({one.point.label, one.of("quantity"), one.point.unit, std::to_string(one.threads),
                              one.of("precision"), std::to_string(of.count), exact(of.median), exact(of.low),
                              exact(of.high), exact(of.coverage), exact(of.least), exact(of.most), exact(of.spread)});
    }
    return sheet;
}

} // namespace headroom::cli
