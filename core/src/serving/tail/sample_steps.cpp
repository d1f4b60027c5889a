#include "sample_steps.hpp"

#include <algorithm>
#include <cstdint>

namespace headroom::serving {

namespace {

constexpr double slack = 1e-12; ///< of shares that are computed two ways

} // namespace

SampleSteps steps_of(LatencyHistogram const& samples) {
    double const least = samples.least(), most = samples.most(), n = static_cast<double>(samples.count());
    std::uint64_t above = samples.count();
    SampleSteps steps;
    auto const add = [&](double value, std::uint64_t count) {
        if (count == 0) { return; }
        above -= count;
        steps.push_back({value, static_cast<double>(above) / n});
    };
    samples.each([&](LatencyHistogram::Cell const& cell) {
        bool const first = above == samples.count(), last = above == cell.count;
        std::uint64_t const held = first && last && cell.count == 1 ? 0 : (first ? 1U : 0U);
        add(least, held);
        add(cell.value, cell.count - held - (last ? 1U : 0U));
        add(most, last ? 1U : 0U);
    });
    return steps;
}

double mean_of(SampleSteps const& steps) {
    double sum = 0.0, before = 1.0;
    for (SampleStep const& step : steps) {
        sum += step.value * (before - step.above);
        before = step.above;
    }
    return sum;
}

double value_exceeded_by(SampleSteps const& steps, double above) {
    auto const enough = [&](SampleStep const& step) { return step.above > above * (1.0 + slack); };
    auto const found = std::ranges::partition_point(steps, enough);
    return found == steps.end() ? steps.back().value : found->value;
}

double share_above(SampleSteps const& steps, double x) {
    auto const found = std::ranges::partition_point(steps, [&](SampleStep const& step) { return step.value <= x; });
    return found == steps.begin() ? 1.0 : std::prev(found)->above;
}

double share_from(SampleSteps const& steps, double x) {
    auto const found = std::ranges::partition_point(steps, [&](SampleStep const& step) { return step.value < x; });
    return found == steps.begin() ? 1.0 : std::prev(found)->above;
}

} // namespace headroom::serving
