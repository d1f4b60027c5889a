#include "trace/shaped_kernels.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace headroom::trace {
namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

/// An operator whose work is counted, by its interval on the host.
struct CountedOperator {
    std::uint32_t span = 0, text = 0;
    OperatorWork work;
    std::uint32_t longest = none; ///< of the kernels that it launched
};

/// Shapes are few and operators many: each pair of a name and a shape is counted once.
std::vector<CountedOperator> counted_operators(RankTrace const& trace) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<OperatorWork>> known;
    std::vector<CountedOperator> counted;
    for (RecordedShape const& shape : trace.shapes) {
        if (trace.kind[shape.span] != SpanKind::host) { continue; }
        std::uint32_t const name = trace.timeline.name[shape.span];
        auto const [work, is_new] = known.try_emplace({name, shape.text});
        if (is_new) { work->second = operator_work(trace.timeline.names[name], trace.shape_texts[shape.text]); }
        if (work->second) { counted.push_back({shape.span, shape.text, *work->second}); }
    }
    return counted;
}

/// Correlations of calls, each with the innermost counted operator around it, by rising correlation.
class LaunchesOfOperators {
public:
    LaunchesOfOperators(RankTrace const& trace, std::vector<CountedOperator> const& operators) : trace_{trace} {
        by_span_.assign(trace.size(), none);
        for (std::uint32_t i = 0; i < operators.size(); ++i) { by_span_[operators[i].span] = i; }
        auto const lanes = spans_by_lane(trace);
        for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
            if (!trace.lanes[lane].device) { sweep(lanes[lane]); }
        }
        std::sort(launches_.begin(), launches_.end());
    }

    /// The operator that made the call of this correlation.
    [[nodiscard]] std::uint32_t of(std::uint32_t correlation) const {
        auto const found = std::lower_bound(launches_.begin(), launches_.end(), std::pair{correlation, 0U});
        return found != launches_.end() && found->first == correlation ? found->second : none;
    }

private:
    RankTrace const& trace_;
    std::vector<std::uint32_t> by_span_; ///< the operator that an interval is
    std::vector<std::pair<std::uint32_t, std::uint32_t>> launches_;

    void sweep(std::vector<std::uint32_t> const& spans) {
        std::vector<std::uint32_t> open; ///< counted operators, the innermost last
        for (std::uint32_t const span : spans) {
            Ticks const begin = trace_.timeline.begin[span];
            while (!open.empty() && trace_.timeline.end[open.back()] < begin) { open.pop_back(); }
            if (by_span_[span] != none) { open.push_back(span); }
            bool const launches = trace_.kind[span] == SpanKind::launch && trace_.correlation[span] != 0;
            if (launches && !open.empty()) { launches_.emplace_back(trace_.correlation[span], by_span_[open.back()]); }
        }
    }
};

void find_longest(RankTrace const& trace, std::vector<CountedOperator>& operators) {
    LaunchesOfOperators const launches{trace, operators};
    auto const duration = [&](std::uint32_t span) { return trace.timeline.end[span] - trace.timeline.begin[span]; };
    for (std::uint32_t span = 0; span < trace.size(); ++span) {
        if (trace.kind[span] != SpanKind::compute || trace.correlation[span] == 0) { continue; }
        std::uint32_t const number = launches.of(trace.correlation[span]);
        if (number == none) { continue; }
        std::uint32_t& longest = operators[number].longest;
        if (longest == none || duration(span) > duration(longest)) { longest = span; }
    }
}

/// Kernels whose work a profiler counted, by name; those without a time have no rate.
std::vector<ShapedKernel> profiled_kernels(RankTrace const& trace) {
    auto const& line = trace.timeline;
    std::map<std::string_view, ShapedKernel> kernels;
    for (ProfiledKernel const& counted : trace.counted) {
        Ticks const time = line.end[counted.span] - line.begin[counted.span];
        if (time <= 0) { continue; }
        ShapedKernel& kernel = kernels[line.names[line.name[counted.span]]];
        kernel.count += 1;
        kernel.total += time;
        kernel.flops += counted.flops;
        kernel.bytes += counted.bytes;
    }
    std::vector<ShapedKernel> result;
    for (auto& [name, kernel] : kernels) {
        kernel.name = name;
        kernel.flops /= static_cast<double>(kernel.count);
        kernel.bytes /= static_cast<double>(kernel.count);
        result.push_back(std::move(kernel));
    }
    return result;
}

} // namespace

std::vector<ShapedKernel> shaped_kernels(RankTrace const& trace) {
    if (!trace.counted.empty()) { return profiled_kernels(trace); } // better than a count from shapes
    if (trace.only_sums) { return {}; }                             // no call is tied to a kernel
    std::vector<CountedOperator> operators = counted_operators(trace);
    if (operators.empty()) { return {}; }
    find_longest(trace, operators);
    auto const& line = trace.timeline;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, ShapedKernel> kernels;
    for (CountedOperator const& counted : operators) {
        if (counted.longest == none) { continue; }
        std::uint32_t const kernel = line.name[counted.longest], name = line.name[counted.span];
        ShapedKernel& shaped = kernels[{kernel, name, counted.text}];
        shaped.count += 1;
        shaped.total += line.end[counted.longest] - line.begin[counted.longest];
        shaped.flops = counted.work.flops;
        shaped.bytes = counted.work.bytes;
    }
    std::vector<ShapedKernel> result;
    for (auto& [key, kernel] : kernels) {
        auto const& [name, of_operator, text] = key;
        kernel.name = line.names[name];
        kernel.shape = line.names[of_operator] + " " + trace.shape_texts[text];
        result.push_back(std::move(kernel));
    }
    std::sort(result.begin(), result.end(), [](ShapedKernel const& left, ShapedKernel const& right) {
        return std::tie(left.name, left.shape) < std::tie(right.name, right.shape);
    });
    return result;
}

} // namespace headroom::trace
