#include "trace/launches.hpp"

#include <algorithm>
#include <tuple>

namespace headroom::trace {

Launches::Launches(RankTrace const& trace) {
    std::size_t most = 0;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        auto const number = trace.correlation[i];
        bool const calls = number != 0 && calls_device(trace.kind[i]) && !trace.lanes[trace.timeline.lane[i]].device;
        if (!calls) { continue; }
        calls_.push_back({number, i});
        most = std::max<std::size_t>(most, number);
    }
    if (calls_.empty()) { return; }
    bool const dense = most <= 8 * calls_.size() + 4096;
    dense ? make_table(trace.timeline.begin, most) : sort_calls(trace.timeline.begin);
}

void Launches::make_table(std::vector<Ticks> const& begin, std::size_t most) {
    table_.assign(most + 1, none);
    for (auto const& call : calls_) {
        auto& known = table_[call.correlation];
        if (known == none || begin[call.span] < begin[known]) { known = call.span; }
    }
    calls_ = {};
}

void Launches::sort_calls(std::vector<Ticks> const& begin) {
    auto const before = [&](Call const& a, Call const& b) {
        if (a.correlation != b.correlation) { return a.correlation < b.correlation; }
        return std::tie(begin[a.span], a.span) < std::tie(begin[b.span], b.span);
    };
    if (!std::is_sorted(calls_.begin(), calls_.end(), before)) {
        std::stable_sort(calls_.begin(), calls_.end(), before);
    }
    auto const same = [](Call const& a, Call const& b) { return a.correlation == b.correlation; };
    calls_.erase(std::unique(calls_.begin(), calls_.end(), same), calls_.end());
}

std::uint32_t Launches::from_table(std::uint32_t correlation) const {
    return correlation < table_.size() ? table_[correlation] : none;
}

Launches::Place Launches::find(Place from, Place to, std::uint32_t correlation) const {
    return std::lower_bound(from, to, correlation,
                            [](Call const& call, std::uint32_t number) { return call.correlation < number; });
}

std::uint32_t Launches::operator[](std::uint32_t correlation) const {
    if (!table_.empty()) { return from_table(correlation); }
    auto const call = find(calls_.begin(), calls_.end(), correlation);
    return call != calls_.end() && call->correlation == correlation ? call->span : none;
}

std::uint32_t Launches::Walk::operator[](std::uint32_t correlation) {
    if (!launches_.table_.empty()) { return launches_.from_table(correlation); }
    // Steps of double width lead past the number, and the last of them holds it.
    auto const& calls = launches_.calls_;
    std::size_t low = at_, high = at_;
    for (std::size_t step = 1; low > 0 && calls[low].correlation > correlation; step *= 2) {
        high = low;
        low -= std::min(low, step);
    }
    for (std::size_t step = 1; high < calls.size() && calls[high].correlation < correlation; step *= 2) {
        low = high;
        high = std::min(calls.size(), high + step);
    }
    auto const at = [&](std::size_t place) { return calls.begin() + static_cast<std::ptrdiff_t>(place); };
    auto const call = launches_.find(at(low), at(high), correlation);
    if (call == calls.end()) { return none; }
    at_ = static_cast<std::size_t>(call - calls.begin());
    return call->correlation == correlation ? call->span : none;
}

} // namespace headroom::trace
