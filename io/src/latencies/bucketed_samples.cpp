#include "latencies/bucketed_samples.hpp"

#include <algorithm>

namespace headroom::io {

bool BucketedSamples::add(double start, double end, std::uint64_t count) {
    constexpr double most_seconds = 1e38;
    constexpr std::uint64_t most_samples = 1'000'000'000'000'000'000, most_steps = 1000;
    bool const is_bucket = start >= 0.0 && end >= start && end <= most_seconds;
    if (!is_bucket || count > most_samples || values_.count() > most_samples) { return false; }
    std::uint64_t const steps = std::min(count, start < end ? most_steps : 1);
    std::uint64_t before = 0;
    for (std::uint64_t i = 1; i <= steps; ++i) {
        auto const share = static_cast<double>(i) / static_cast<double>(steps);
        auto const until = i == steps ? count : static_cast<std::uint64_t>(share * static_cast<double>(count));
        values_.record(start + share * (end - start), until - before);
        before = until;
    }
    if (end > 0.0 && count > 0) { coarsest_ = std::max(coarsest_, (end - start) / end); }
    if (start < end && (ends_.empty() || ends_.back().seconds < start)) {
        ends_.push_back({start, values_.count() - count});
    }
    if (start < end) { ends_.push_back({end, values_.count()}); }
    return true;
}

void BucketedSamples::finish(SampleBuilder& samples) {
    serving::LatencySamples& found = samples.found();
    auto const all = static_cast<double>(count());
    for (End const& one : ends_) { found.known.push_back({static_cast<double>(one.total) / all, one.seconds}); }
    found.histogram_error = coarsest_;
    if (beyond_ > 0 && !ends_.empty()) {
        values_.record(ends_.back().seconds, beyond_);
        count_issue(found.issues,
                    Issue{.kind = "sample beyond the last bucket, counted at its end", .count = beyond_, .kept = true});
    }
    samples.take(values_);
}

} // namespace headroom::io
