#include "trace/trace_report.hpp"
#include "trace/trace_words.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>

namespace headroom::cli {

using namespace headroom::laws;
using namespace headroom::trace;

namespace {

std::vector<std::string> shaped_row(ShapedKernel const& one, std::optional<Processor> const& machine) {
    double const mean = mean_seconds(one);
    std::vector<std::string> row{kernel_words(one.name, 16),
                                 one.shape.empty() ? "counted" : kernel_words(one.shape, 20),
                                 std::to_string(one.count),
                                 one.flops > 0.0 ? significant(one.flops / mean / 1e9) : "-",
                                 one.bytes > 0.0 ? significant(one.bytes / mean / 1e9) : "-",
                                 one.flops > 0.0 && one.bytes > 0.0 ? significant(one.flops / one.bytes) : "-"};
    if (machine) {
        auto const share = share_of_roof(one, *machine);
        row.push_back(share ? percent(*share) : "-");
    }
    return row;
}

std::string shaped_words(std::vector<ShapedKernel> const& kernels, std::optional<Processor> const& machine) {
    bool const profiled = std::ranges::all_of(kernels, [](ShapedKernel const& one) { return one.shape.empty(); });
    std::string words = profiled ? "Work and traffic of main memory are those that the profiler counted."
                                 : "Work and the least traffic follow from recorded shapes: each input read and each "
                                   "result written once, so that true traffic is at least this.";
    if (!machine) { return words + " With --machine NAME: how near each kernel is to that machine's roofline."; }
    words += " % of roof: the least time on " + printable(machine->name) + " over the time taken";
    auto const usual = usual_format(*machine);
    bool const stated =
        std::ranges::all_of(kernels, [](ShapedKernel const& one) { return !!stated_format(one.shape); });
    return words + (stated || !usual
                        ? "."
                        : "; where no type is recorded, at its rate of " + std::string{name_of(*usual)} + ".");
}

} // namespace

std::vector<Block> shaped_blocks(TraceReport const& report) {
    std::vector<ShapedKernel> const kernels = shaped_kernel_totals(report.answer.ranks);
    if (kernels.empty() || report.question.top == 0) { return {}; }
    Table table{.title = "Kernels whose work is known",
                .columns = {wrapped("kernel"), wrapped("shape"), "count", "GFLOP/s", "GB/s", "FLOP/B"}};
    if (report.question.machine) { table.columns.push_back("% of roof"); }
    for (std::size_t i = 0; i < std::min(kernels.size(), report.question.top); ++i) {
        table.rows.push_back(shaped_row(kernels[i], report.question.machine));
    }
    std::vector<Block> blocks;
    blocks.emplace_back(std::move(table));
    blocks.emplace_back(Paragraph{shaped_words(kernels, report.question.machine)});
    return blocks;
}

} // namespace headroom::cli
