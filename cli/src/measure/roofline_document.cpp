#include "headroom/document/text.hpp"
#include "measure/roofline_report.hpp"

#include <algorithm>

namespace headroom::cli {

using namespace headroom::measure;

namespace {

/// "fp32 234 GFLOP/s (AVX3), fp64 117 GFLOP/s (AVX3)" of the most cores.
std::string peaks_words(MeasuredRooflineReport const& report) {
    std::vector<std::string> words;
    for (MeasuredPeak const& peak : report.roofline.peaks) {
        if (peak.threads != report.cores()) { continue; }
        std::string const by = peak.roof == peak.chain ? peak.roof->of("instruction_set") : peak.roof->of("library");
        words.push_back(peak.precision + " " + rate_words(*peak.roof) + " (" + by + ")");
    }
    return words.empty() ? "no arithmetic was measured"
                         : "peak of " + cores_words(report.cores()) + ": " + join(words, ", ");
}

std::string ridge_words(MeasuredRooflineReport const& report) {
    auto const levels = report.roofline.levels(report.cores());
    if (levels.empty()) { return "Bandwidth was not measured, so there is no ridge."; }
    std::string const far = levels.back()->of("level");
    std::string text = "Bandwidth of " + far + ": " + rate_words(*levels.back()) + ".";
    for (MeasuredRidge const& ridge : report.roofline.ridges) {
        if (ridge.threads != report.cores() || ridge.level != far || ridge.precision != "fp32") { continue; }
        text += " The ridge of fp32 is at " + significant(ridge.flops_per_byte) + " operations a byte (" +
                significant(ridge.low) + " to " + significant(ridge.high) + "): below it a kernel waits for " + far +
                ".";
    }
    return text;
}

/// More than half of the figures scatter.
bool is_noisy(MeasuredRooflineReport const& report) {
    constexpr double much = 0.05;
    auto const noisy = std::ranges::count_if(report.roofline.figures,
                                             [](MeasuredFigure const& one) { return one.summary.spread > much; });
    return 2 * static_cast<std::size_t>(noisy) > report.roofline.figures.size();
}

std::string verdict(MeasuredRooflineReport const& report) {
    std::string text = peaks_words(report) + ". ";
    text[0] = text[0] == 'p' ? 'P' : 'N';
    return (is_noisy(report)
                ? "The machine was busy or unsteady: these figures are too low, take them again when it is "
                  "quiet. "
                : "") +
           text + ridge_words(report);
}

std::string kernels_words(MeasuredRooflineReport const& report) {
    std::vector<std::string> words;
    for (MeasuredKernel const& kernel : report.roofline.kernels) {
        if (kernel.figure->threads != report.cores()) { continue; }
        words.push_back(kernel.figure->of("kernel") + " " + percent(kernel.share, 2) + " %");
    }
    return words.empty() ? "" : "of its roof, " + cores_words(report.cores()) + ": " + join(words, ", ");
}

/// What the tool's own product says of the machine's libraries, and they of it.
std::string libraries_words(MeasuredRooflineReport const& report) {
    auto const both = own_against_library(report.roofline, report.cores());
    if (!both) { return {}; }
    std::string const order = " of order " + both->other->of("order");
    return "fastest fp32 product: " + both->other->of("library") + order + " with " + rate_words(*both->other) +
           (both->other->of("freed") == "yes" ? " (variables removed)" : "") + "; Headroom's own reaches " +
           rate_words(*both->own) + ", " + significant(both->ratio()) + " of it";
}

Table peaks_table(MeasuredRoofline const& roofline) {
    Table table{.title = "Peaks",
                .columns = {{"precision", Align::left},
                            {"cores"},
                            {"peak"},
                            {"interval %"},
                            {"by", Align::left},
                            {"best product", Align::left},
                            {"% of peak"}},
                .rows = {}};
    for (MeasuredPeak const& peak : roofline.peaks) {
        bool const chain = peak.roof == peak.chain;
        auto const* product = peak.product;
        table.rows.push_back({peak.precision, std::to_string(peak.threads), rate_words(*peak.roof),
                              interval_words(*peak.roof), peak.roof->of(chain ? "instruction_set" : "library"),
                              product == nullptr ? "-" : product->of("library") + " " + product->of("order"),
                              product == nullptr ? "-" : percent(product->summary.median / peak.roof->summary.median)});
    }
    return table;
}

MeasuredFigure const* latency_of(MeasuredRoofline const& roofline, std::string const& level) {
    for (MeasuredFigure const* one : roofline.of_quantity("latency")) {
        if (one->of("level") == level) { return one; }
    }
    return nullptr;
}

Table levels_table(MeasuredRooflineReport const& report) {
    MeasuredRoofline const& roofline = report.roofline;
    Table table{.title = "Memory",
                .columns = {{"level", Align::left},
                            {"cores"},
                            {"capacity"},
                            {"bandwidth"},
                            {"interval %"},
                            {"by", Align::left},
                            {"latency"},
                            {"fp32 ridge"}},
                .rows = {}};
    for (int const threads : roofline.threads) {
        for (MeasuredFigure const* level : roofline.levels(threads)) {
            std::string ridge = "-";
            for (MeasuredRidge const& one : roofline.ridges) {
                if (one.precision == "fp32" && one.level == level->of("level") && one.threads == threads) {
                    ridge = significant(one.flops_per_byte);
                }
            }
            auto const* latency = latency_of(roofline, level->of("level"));
            double const capacity = level->number("capacity");
            table.rows.push_back({level->of("level"), std::to_string(threads),
                                  capacity > 0.0 ? format_binary(Bytes{capacity}) : "-", rate_words(*level),
                                  interval_words(*level), level->of("kernel"),
                                  latency == nullptr || threads > 1 ? "-" : rate_words(*latency), ridge});
        }
    }
    return table;
}

Table kernels_table(MeasuredRoofline const& roofline) {
    Table table{.title = "Kernels under the roof, fp32",
                .columns = {{"kernel", Align::left},
                            {"cores"},
                            {"FLOP/B"},
                            {"in", Align::left},
                            {"roof"},
                            {"measured"},
                            {"interval %"},
                            {"% roof"}},
                .rows = {}};
    for (MeasuredKernel const& kernel : roofline.kernels) {
        table.rows.push_back({kernel.figure->of("kernel"), std::to_string(kernel.figure->threads),
                              significant(kernel.intensity), kernel.level->of("level"), format(kernel.roof),
                              rate_words(*kernel.figure), interval_words(*kernel.figure), percent(kernel.share)});
    }
    return table;
}

Items reasons_of(MeasuredRooflineReport const& report) {
    Items items{.title = "Why", .items = {}};
    for (MeasuredKernel const& kernel : report.roofline.kernels) {
        if (kernel.figure->threads != report.cores()) { continue; }
        items.items.push_back(kernel.figure->of("kernel") + ", " + kernel.figure->of("problem") + ": " +
                              reason_of(kernel));
    }
    return items;
}

/// One row a thing, the counts of cores beside each other.
Table beside(std::string title, std::string head, std::vector<MeasuredFigure const*> const& figures,
             std::vector<int> const& threads, std::string (*name)(MeasuredFigure const&)) {
    Table table{.title = std::move(title), .columns = {{std::move(head), Align::left, true}}, .rows = {}};
    for (int const count : threads) { table.columns.push_back({cores_words(count)}); }
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

std::string chain_name(MeasuredFigure const& one) {
    return one.of("precision") + " " + one.of("instruction_set") + ": " + one.of("instruction");
}

std::string product_name(MeasuredFigure const& one) {
    return one.of("precision") + " " + one.of("library") + ", order " + one.of("order") +
           (one.of("freed") == "yes" ? ", variables removed" : "");
}

/// In plain words where there is nothing to show.
Block gpu_block(MeasuredRooflineReport const& report) {
    auto const figures = report.roofline.of_quantity("gpu");
    if (figures.empty()) { return Paragraph{"not measured (" + report.gpu_why + ")", "GPU"}; }
    Table table{.title = "GPU: " + report.gpu,
                .columns = {{"what", Align::left, true}, {"measured"}, {"interval %"}},
                .rows = {}};
    for (MeasuredFigure const* one : figures) {
        table.rows.push_back({one->point.label, rate_words(*one), interval_words(*one)});
    }
    return table;
}

Table conditions_table(Campaign const& campaign) {
    Table table{.title = "Conditions", .columns = {{"what", Align::left}, {"value", Align::left, true}}, .rows = {}};
    for (auto const& [name, value] : campaign.machine) { table.rows.push_back({printable(name), printable(value)}); }
    return table;
}

std::string taken_words(MeasuredRooflineReport const& report) {
    std::size_t counted_samples = 0;
    for (MeasuredFigure const& one : report.roofline.figures) { counted_samples += one.summary.count; }
    std::string text =
        counted(counted_samples, "repetition") + " of " + counted(report.roofline.figures.size(), "point") +
        " count, one more of each warmed up; medians, each with the interval in which that of a repeat is expected";
    if (report.resumed > 0) { text += "; " + counted(report.resumed, "sample") + " were there before"; }
    if (!report.complete) { text += "; interrupted: the same command goes on"; }
    text += report.store.empty() ? "; kept nowhere"
                                 : "; kept in " + report.store + " as " + std::to_string(report.campaign.id);
    return text;
}

} // namespace

Document document_of(MeasuredRooflineReport const& report, bool page) {
    MeasuredRoofline const& roofline = report.roofline;
    Document document{"Measured roofline: " + processor_name(report.campaign), {}, "headroom " HEADROOM_VERSION};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict(report), "", true});
    if (auto const words = kernels_words(report); !words.empty()) { blocks.emplace_back(Paragraph{words, "kernels"}); }
    if (auto const words = libraries_words(report); !words.empty()) {
        blocks.emplace_back(Paragraph{words, "libraries"});
    }
    blocks.emplace_back(Paragraph{taken_words(report), "taken"});
    if (!report.warnings.empty()) { blocks.emplace_back(Items{"Warnings", report.warnings}); }
    if (!roofline.peaks.empty()) { blocks.emplace_back(peaks_table(roofline)); }
    if (!roofline.of_quantity("bandwidth").empty()) { blocks.emplace_back(levels_table(report)); }
    if (!roofline.kernels.empty()) {
        blocks.emplace_back(kernels_table(roofline));
        blocks.emplace_back(reasons_of(report));
    }
    for (int const threads : roofline.threads) {
        Chart chart = measured_chart(report, threads);
        if (!chart.series.empty() && (page || threads == report.cores())) { blocks.emplace_back(std::move(chart)); }
    }
    auto const add = [&](char const* title, char const* head, char const* quantity, auto name) {
        auto const figures = roofline.of_quantity(quantity);
        if (!figures.empty()) { blocks.emplace_back(beside(title, head, figures, roofline.threads, name)); }
    };
    add("Arithmetic by instruction set", "chains of multiply-adds", "peak", chain_name);
    add("Products of square matrices", "precision, library, order", "product", product_name);
    blocks.emplace_back(gpu_block(report));
    if (!report.absent.empty()) { blocks.emplace_back(Items{"Not measured", report.absent}); }
    blocks.emplace_back(conditions_table(report.campaign));
    return document;
}

} // namespace headroom::cli
