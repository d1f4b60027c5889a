#include "document/text.hpp"
#include "trace/trace_report.hpp"
#include "trace/trace_words.hpp"

#include <algorithm>
#include <map>

namespace headroom::cli {
namespace {

/// The format that recorded types name; of several (a product that adds up in a wider one) the narrowest.
std::optional<NumberFormat> stated_format(std::string const& shape) {
    constexpr std::array<std::pair<std::string_view, NumberFormat>, 6> words{{{"Float8", NumberFormat::fp8},
                                                                              {"BFloat16", NumberFormat::bf16},
                                                                              {"Half", NumberFormat::fp16},
                                                                              {"float", NumberFormat::fp32},
                                                                              {"Float", NumberFormat::fp32},
                                                                              {"double", NumberFormat::fp64}}};
    for (auto const& [word, format] : words) {
        if (shape.find(word) != std::string::npos) { return format; }
    }
    return std::nullopt;
}

/// The least time that the machine's roof allows one run, over the time that it took.
std::optional<double> share_of_roof(ShapedKernel const& one, Processor const& machine) {
    auto const format = stated_format(one.shape) ? stated_format(one.shape) : usual_format(machine);
    if (one.count < 1 || one.total <= 0 || (one.flops <= 0.0 && one.bytes <= 0.0)) { return std::nullopt; }
    if (one.flops > 0.0 && (!format || machine.peak[*format].base() <= 0.0)) { return std::nullopt; }
    Kernel const kernel{.name = one.name,
                        .format = format.value_or(NumberFormat::fp32),
                        .work = Flops{one.flops},
                        .moved = Bytes{one.bytes}};
    double const mean = seconds_of_ns(static_cast<double>(one.total) / static_cast<double>(one.count));
    return attained(kernel, machine).time.base() / mean;
}

/// The same kernels of all ranks together, most time first.
std::vector<ShapedKernel> shaped_of(TraceAnswer const& answer) {
    std::map<std::pair<std::string_view, std::string_view>, ShapedKernel> all;
    for (RankDigest const& rank : answer.ranks) {
        for (ShapedKernel const& one : rank.kernels) {
            if (one.total <= 0 || one.count < 1 || (one.flops <= 0.0 && one.bytes <= 0.0)) { continue; }
            auto const [at, is_new] = all.try_emplace({one.name, one.shape}, one);
            if (is_new) { continue; }
            ShapedKernel& sum = at->second;
            auto const before = static_cast<double>(sum.count), more = static_cast<double>(one.count);
            sum.flops = (sum.flops * before + one.flops * more) / (before + more);
            sum.bytes = (sum.bytes * before + one.bytes * more) / (before + more);
            sum.count += one.count;
            sum.total += one.total;
        }
    }
    std::vector<ShapedKernel> list;
    for (auto& [key, one] : all) { list.push_back(std::move(one)); }
    std::ranges::stable_sort(list, [](ShapedKernel const& a, ShapedKernel const& b) { return a.total > b.total; });
    return list;
}

double mean_seconds(ShapedKernel const& one) {
    return seconds_of_ns(static_cast<double>(one.total) / static_cast<double>(std::max<std::int64_t>(1, one.count)));
}

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

Json or_null(double value) { return value > 0.0 ? Json{value} : Json{}; }

} // namespace

std::vector<Block> shaped_blocks(TraceReport const& report) {
    std::vector<ShapedKernel> const kernels = shaped_of(report.answer());
    if (kernels.empty() || report.top == 0) { return {}; }
    Table table{
        .title = "Kernels whose work is known",
        .columns =
            {{"kernel", Align::left, true}, {"shape", Align::left, true}, {"count"}, {"GFLOP/s"}, {"GB/s"}, {"FLOP/B"}},
        .rows = {}};
    if (report.machine) { table.columns.push_back({"% of roof"}); }
    for (std::size_t i = 0; i < std::min(kernels.size(), report.top); ++i) {
        table.rows.push_back(shaped_row(kernels[i], report.machine));
    }
    std::vector<Block> blocks;
    blocks.emplace_back(std::move(table));
    blocks.emplace_back(Paragraph{shaped_words(kernels, report.machine)});
    return blocks;
}

Json shaped_json(TraceReport const& report) {
    Json all = Json::array();
    for (RankDigest const& rank : report.answer().ranks) {
        for (ShapedKernel const& one : rank.kernels) {
            double const mean = mean_seconds(one);
            auto const rate = [mean](double amount) { return mean > 0.0 ? or_null(amount / mean) : Json{}; };
            all.push(Json::object()
                         .set("rank", rank.rank)
                         .set("name", one.name)
                         .set("shape", one.shape.empty() ? Json{} : Json{one.shape})
                         .set("count", one.count)
                         .set("seconds", seconds_of_ns(static_cast<double>(one.total)))
                         .set("flops", or_null(one.flops))
                         .set("bytes", or_null(one.bytes))
                         .set("flops_per_second", rate(one.flops))
                         .set("bytes_per_second", rate(one.bytes))
                         .set("intensity", one.bytes > 0.0 ? or_null(one.flops / one.bytes) : Json{})
                         .set("of_roofline", report.machine ? share_of_roof(one, *report.machine) : std::nullopt));
        }
    }
    return all;
}

} // namespace headroom::cli
