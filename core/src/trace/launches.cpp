#include "trace/launches.hpp"

#include <algorithm>
#include <cstddef>

namespace headroom::trace {
namespace {

bool calls_device(SpanKind kind) { return kind == SpanKind::launch || kind == SpanKind::synchronization; }

} // namespace

Launches::Launches(RankTrace const& trace) {
    auto const& begin = trace.timeline.begin;
    std::size_t most = 0;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        if (!calls_device(trace.kind[i]) || trace.correlation[i] == 0) { continue; }
        calls_.push_back({trace.correlation[i], i});
        most = std::max<std::size_t>(most, trace.correlation[i]);
    }
    if (most <= 8 * calls_.size() + 4096) {
        table_.assign(calls_.empty() ? 0 : most + 1, 0);
        for (auto const& call : calls_) {
            auto& known = table_[call.correlation];
            if (known == 0 || begin[call.span] < begin[known - 1]) { known = call.span + 1; }
        }
        calls_.clear();
        return;
    }
    std::stable_sort(calls_.begin(), calls_.end(), [&](auto const& a, auto const& b) {
        return a.correlation != b.correlation ? a.correlation < b.correlation : begin[a.span] < begin[b.span];
    });
}

std::optional<std::uint32_t> Launches::operator[](std::uint32_t correlation) const {
    if (correlation == 0) { return {}; }
    if (!table_.empty()) {
        if (correlation >= table_.size() || table_[correlation] == 0) { return {}; }
        return table_[correlation] - 1;
    }
    auto const call = std::lower_bound(calls_.begin(), calls_.end(), correlation,
                                       [](auto const& known, auto number) { return known.correlation < number; });
    if (call == calls_.end() || call->correlation != correlation) { return {}; }
    return call->span;
}

} // namespace headroom::trace
