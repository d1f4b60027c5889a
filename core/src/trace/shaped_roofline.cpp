#include "headroom/trace/trace_report.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace headroom::trace {

using namespace headroom::laws;

namespace {

bool has_work(ShapedKernel const& one) { return one.flops > 0.0 || one.bytes > 0.0; }

void add_runs(ShapedKernel& sum, ShapedKernel const& one) {
    auto const before = static_cast<double>(sum.count), more = static_cast<double>(one.count);
    sum.flops = (sum.flops * before + one.flops * more) / (before + more);
    sum.bytes = (sum.bytes * before + one.bytes * more) / (before + more);
    sum.count += one.count;
    sum.total += one.total;
}

} // namespace

std::vector<ShapedKernel> shaped_kernel_totals(std::vector<RankDigest> const& ranks) {
    std::map<std::pair<std::string_view, std::string_view>, ShapedKernel> all;
    for (RankDigest const& rank : ranks) {
        for (ShapedKernel const& one : rank.kernels) {
            if (one.total <= 0 || one.count < 1 || !has_work(one)) { continue; }
            auto const [at, is_new] = all.try_emplace({one.name, one.shape}, one);
            if (!is_new) { add_runs(at->second, one); }
        }
    }
    std::vector<ShapedKernel> list;
    for (auto& [key, one] : all) { list.push_back(std::move(one)); }
    std::ranges::stable_sort(list, std::ranges::greater{}, &ShapedKernel::total);
    return list;
}

double mean_seconds(ShapedKernel const& kernel) {
    return static_cast<double>(kernel.total) / static_cast<double>(std::max<std::int64_t>(1, kernel.count)) / 1e9;
}

std::optional<NumberFormat> stated_format(std::string_view shape) {
    constexpr std::array<std::pair<std::string_view, NumberFormat>, 6> words{{{"Float8", NumberFormat::fp8},
                                                                              {"BFloat16", NumberFormat::bf16},
                                                                              {"Half", NumberFormat::fp16},
                                                                              {"float", NumberFormat::fp32},
                                                                              {"Float", NumberFormat::fp32},
                                                                              {"double", NumberFormat::fp64}}};
    for (auto const& [word, format] : words) {
        if (shape.find(word) != std::string_view::npos) { return format; }
    }
    return std::nullopt;
}

std::optional<double> share_of_roof(ShapedKernel const& kernel, Processor const& machine) {
    if (kernel.count < 1 || kernel.total <= 0 || !has_work(kernel)) { return std::nullopt; }
    constexpr double most = 1.05; // of the peak: what is faster ran in another format than its inputs
    bool const rounds = kernel.name.find("tf32") != std::string::npos; // 32-bit inputs, on matrix units
    auto const stated = rounds ? NumberFormat::tf32 : stated_format(kernel.shape);
    auto const format = stated ? stated : usual_format(machine);
    double const peak = format ? machine.peak[*format].base() : 0.0;
    if (kernel.flops > 0.0 && kernel.flops >= most * peak * mean_seconds(kernel)) { return std::nullopt; }
    Kernel const work{.name = kernel.name,
                      .format = format.value_or(NumberFormat::fp32),
                      .work = Flops{kernel.flops},
                      .moved = Bytes{kernel.bytes}};
    return attained(work, machine).time.base() / mean_seconds(kernel);
}

} // namespace headroom::trace
