#include "history/history.hpp"
#include "measure/measure.hpp"
#include "roofline/roofline_report.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

using Answer = MeasuredRooflineAnswer;

/// "fp32 234 GFLOP/s (AVX3), fp64 117 GFLOP/s (AVX3)" of the most cores.
std::string peaks_words(Answer const& answer) {
    std::vector<std::string> words;
    for (MeasuredPeak const& peak : answer.roofline.peaks) {
        if (peak.threads != answer.cores()) { continue; }
        std::string const by = peak.roof == peak.chain ? peak.roof->of("instruction_set") : peak.roof->of("library");
        words.push_back(peak.precision + " " + rate_words(*peak.roof) + " (" + by + ")");
    }
    return words.empty() ? "no arithmetic was measured"
                         : "peak of " + cores_words(answer.cores()) + ": " + join(words, ", ");
}

std::string ridge_words(Answer const& answer) {
    auto const levels = answer.roofline.levels(answer.cores());
    if (levels.empty()) { return "Bandwidth was not measured, so there is no ridge."; }
    std::string const far = levels.back()->of("level");
    std::string text = "Bandwidth of " + far + ": " + rate_words(*levels.back()) + ".";
    for (MeasuredRidge const& ridge : answer.roofline.ridges) {
        if (ridge.threads != answer.cores() || ridge.level != far || ridge.precision != "fp32") { continue; }
        text += " The ridge of fp32 is at " + significant(ridge.flops_per_byte) + " operations a byte (" +
                significant(ridge.low) + " to " + significant(ridge.high) + "): below it a kernel waits for " + far +
                ".";
    }
    return text;
}

/// More than half of the figures scatter.
bool is_noisy(Answer const& answer) {
    constexpr double much = 0.05;
    auto const noisy = std::ranges::count_if(answer.roofline.figures,
                                             [](MeasuredFigure const& one) { return one.summary.spread > much; });
    return 2 * static_cast<std::size_t>(noisy) > answer.roofline.figures.size();
}

std::string verdict(Answer const& answer) {
    std::string text = peaks_words(answer) + ". ";
    text[0] = text[0] == 'p' ? 'P' : 'N';
    return (is_noisy(answer)
                ? "The machine was busy or unsteady: these figures are too low, take them again when it is "
                  "quiet. "
                : "") +
           text + ridge_words(answer);
}

std::string kernels_words(Answer const& answer) {
    std::vector<std::string> words;
    for (MeasuredKernel const& kernel : answer.roofline.kernels) {
        if (kernel.figure->threads != answer.cores()) { continue; }
        words.push_back(kernel.figure->of("kernel") + " " + percent(kernel.share, 2) + " %");
    }
    return words.empty() ? "" : "of its roof, " + cores_words(answer.cores()) + ": " + join(words, ", ");
}

/// Sentence that compares Headroom's GEMM with the machine's libraries.
std::string libraries_words(Answer const& answer) {
    auto const both = own_against_library(answer.roofline, answer.cores());
    if (!both) { return {}; }
    std::string const order = " of order " + both->other->of("order");
    return "fastest fp32 product: " + both->other->of("library") + order + " with " + rate_words(*both->other) +
           (both->other->of("freed") == "yes" ? " (variables removed)" : "") + "; Headroom's own reaches " +
           rate_words(*both->own) + ", " + significant(both->ratio()) + " of it";
}

Table peaks_table(MeasuredRoofline const& roofline) {
    return field_rows("Peaks", roofline.peaks,
                      {{"precision"},
                       {"threads", "cores"},
                       {"flops_per_second", "peak", Shown::each},
                       {"low", "", Shown::each},
                       {"high", "", Shown::each},
                       {"by"},
                       {"best_product"},
                       {"product_of_peak", "of peak", Shown::percent}});
}

Table levels_table(MeasuredRoofline const& roofline) {
    return field_rows("Memory", levels_of(roofline),
                      {{"level"},
                       {"threads", "cores"},
                       {"capacity_bytes", "", Shown::binary},
                       {"bytes_per_second", "bandwidth", Shown::each},
                       {"low", "", Shown::each},
                       {"high", "", Shown::each}});
}

Table ridges_table(MeasuredRoofline const& roofline) {
    return field_rows("Ridges", roofline.ridges,
                      {{"precision"}, {"level"}, {"threads", "cores"}, {"flops_per_byte", "ridge"}, {"low"}, {"high"}});
}

Table kernels_table(MeasuredRoofline const& roofline) {
    return field_rows("Kernels under the roof, fp32", roofline.kernels,
                      {{"kernel"},
                       {"threads", "cores"},
                       {"intensity_flops_per_byte", "intensity"},
                       {"level", "in"},
                       {"roof_flops_per_second", "roof", Shown::each},
                       {"flops_per_second", "measured", Shown::each},
                       {"of_roof", "of roof", Shown::percent}});
}

Series points_of(MeasuredRoofline const& roofline, int threads) {
    Series points{.name = "kernels, measured", .mark = Mark::points};
    for (MeasuredKernel const& kernel : roofline.kernels) {
        if (kernel.figure->threads != threads) { continue; }
        points.x.push_back(kernel.intensity);
        points.y.push_back(kernel.figure->summary.median);
        points.low.push_back(kernel.figure->summary.low);
        points.high.push_back(kernel.figure->summary.high);
        points.labels.push_back(kernel.figure->of("kernel"));
    }
    return points;
}

/// Roofs of fp32, which the kernels compute in; of another precision where that was not asked for.
Chart measured_chart(Answer const& answer, int threads) {
    constexpr double margin = 4.0; // factor around what is drawn
    MeasuredRoofline const& roofline = answer.roofline;
    auto const levels = roofline.levels(threads);
    Chart chart{.title = "Measured roofline, " + cores_words(threads),
                .caption =
                    "Each slope is the bandwidth of a level of memory, each flat part a peak; a kernel belongs under "
                    "the slope of the level in which its data live.",
                .x = {"operations a byte", AxisScale::logarithmic},
                .y = {"FLOP/s", AxisScale::logarithmic}};
    MeasuredPeak const* peak = roofline.peak("fp32", threads);
    for (MeasuredPeak const& one : roofline.peaks) {
        if (peak == nullptr && one.threads == threads) { peak = &one; }
    }
    if (peak == nullptr || levels.empty()) { return chart; }
    double const rate = peak->roof->summary.median;
    double low = 1.0 / 16.0, high = 16.0;
    auto const hold = [&](double intensity) {
        if (!(intensity > 0.0) || !std::isfinite(intensity)) { return; }
        low = std::min(low, intensity / margin);
        high = std::max(high, intensity * margin);
    };
    for (MeasuredFigure const* level : levels) { hold(rate / level->summary.median); }
    Series points = points_of(roofline, threads);
    for (double const x : points.x) { hold(x); }
    auto const add = [&](MeasuredPeak const& one, MeasuredFigure const* level, Mark mark) {
        chart.series.push_back(roof_line(one.precision + " over " + level->of("level"), mark,
                                         FlopsPerSecond{one.roof->summary.median},
                                         BytesPerSecond{level->summary.median}, low, high));
    };
    for (MeasuredFigure const* level : levels) { add(*peak, level, Mark::smooth); }
    for (MeasuredPeak const& one : roofline.peaks) {
        if (one.threads == threads && one.precision != peak->precision) { add(one, levels.back(), Mark::dashed); }
    }
    if (!points.x.empty()) { chart.series.push_back(std::move(points)); }
    chart.rules.push_back({true, rate / levels.back()->summary.median, "ridge"});
    return chart;
}

Items reasons_of(Answer const& answer) {
    Items items{.title = "Why", .items = {}};
    for (MeasuredKernel const& kernel : answer.roofline.kernels) {
        if (kernel.figure->threads != answer.cores()) { continue; }
        items.items.push_back(kernel.figure->of("kernel") + ", " + kernel.figure->of("problem") + ": " +
                              reason_of(kernel));
    }
    return items;
}

/// Table of measured figures: a row each, a column for each count of threads.
Table figure_table(std::string title, std::string head, std::vector<MeasuredFigure const*> const& figures,
                   std::vector<int> const& threads, std::string (*name)(MeasuredFigure const&)) {
    Table table{.title = std::move(title), .columns = {wrapped(std::move(head))}};
    for (int const count : threads) { table.columns.push_back(cores_words(count)); }
    for (MeasuredFigure const* one : figures) {
        auto row = std::ranges::find_if(table.rows, [&](auto const& cells) { return cells.front() == name(*one); });
        if (row == table.rows.end()) {
            table.rows.emplace_back(threads.size() + 1, "-");
            row = table.rows.end() - 1;
            row->front() = name(*one);
        }
        auto const at = std::ranges::find(threads, one->threads) - threads.begin();
        (*row)[static_cast<std::size_t>(at) + 1] = rate_words(*one);
    }
    return table;
}

std::string level_name(MeasuredFigure const& one) { return one.of("level"); }

std::string chain_name(MeasuredFigure const& one) {
    return one.of("precision") + " " + one.of("instruction_set") + ": " + one.of("instruction");
}

std::string product_name(MeasuredFigure const& one) {
    return one.of("precision") + " " + one.of("library") + ", order " + one.of("order") +
           (one.of("freed") == "yes" ? ", variables removed" : "");
}

/// In plain words where there is nothing to show.
Block gpu_block(Answer const& answer) {
    if (answer.gpu.empty()) { return Paragraph{"not measured (" + answer.gpu_why + ")", "GPU"}; }
    Table table = figure_table("GPU: " + answer.gpu, "figure", answer.roofline.of_quantity("gpu"), {1},
                               [](MeasuredFigure const& one) { return one.point.label; });
    table.columns.back().title = "measured";
    return table;
}

std::string taken_words(Answer const& answer) {
    std::size_t counted_samples = 0;
    for (MeasuredFigure const& one : answer.roofline.figures) { counted_samples += one.summary.count; }
    std::string text =
        counted(counted_samples, "repetition") + " of " + counted(answer.roofline.figures.size(), "point") +
        " count, one more of each warmed up; medians, each with the interval in which that of a repeat is expected";
    if (answer.resumed > 0) { text += "; " + counted(answer.resumed, "sample") + " were there before"; }
    if (!answer.complete) { text += "; interrupted: the same command goes on"; }
    text += answer.store.empty() ? "; kept nowhere"
                                 : "; kept in " + answer.store + " as " + std::to_string(answer.campaign.id);
    return text;
}

} // namespace

Document document_of(MeasuredRooflineAnswer const& answer, bool page) {
    MeasuredRoofline const& roofline = answer.roofline;
    Document document{"Measured roofline: " + printable(answer.processor()), {}, "headroom " HEADROOM_VERSION};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict(answer), "", true});
    if (auto const words = kernels_words(answer); !words.empty()) { blocks.emplace_back(Paragraph{words, "kernels"}); }
    if (auto const words = libraries_words(answer); !words.empty()) {
        blocks.emplace_back(Paragraph{words, "libraries"});
    }
    blocks.emplace_back(Paragraph{taken_words(answer), "taken"});
    if (!answer.warnings.empty()) { blocks.emplace_back(Items{"Warnings", answer.warnings}); }
    if (!roofline.peaks.empty()) { blocks.emplace_back(peaks_table(roofline)); }
    if (!roofline.of_quantity("bandwidth").empty()) { blocks.emplace_back(levels_table(roofline)); }
    if (auto latencies = roofline.of_quantity("latency"); !latencies.empty()) {
        blocks.emplace_back(figure_table("Latencies", "level", latencies, {1}, level_name));
    }
    if (!roofline.ridges.empty()) { blocks.emplace_back(ridges_table(roofline)); }
    if (!roofline.kernels.empty()) {
        blocks.emplace_back(kernels_table(roofline));
        blocks.emplace_back(reasons_of(answer));
    }
    for (int const threads : roofline.threads) {
        Chart chart = measured_chart(answer, threads);
        if (!chart.series.empty() && (page || threads == answer.cores())) { blocks.emplace_back(std::move(chart)); }
    }
    auto const add = [&](char const* title, char const* head, char const* quantity, auto name) {
        auto const figures = roofline.of_quantity(quantity);
        if (!figures.empty()) { blocks.emplace_back(figure_table(title, head, figures, roofline.threads, name)); }
    };
    add("Arithmetic by instruction set", "chains of multiply-adds", "peak", chain_name);
    add("Products of square matrices", "precision, library, order", "product", product_name);
    blocks.emplace_back(gpu_block(answer));
    if (!answer.absent.empty()) { blocks.emplace_back(Items{"Not measured", answer.absent}); }
    blocks.emplace_back(facts_table("Conditions", answer.campaign.machine));
    return document;
}

} // namespace headroom::cli
