#include "headroom/measure/measured_roofline.hpp"

#include "headroom/error.hpp"
#include "headroom/measure/repeat_interval.hpp"

#include <algorithm>
#include <charconv>

namespace headroom::measure {

using namespace headroom::laws;

namespace {

constexpr std::string_view main_memory = "memory";

MeasuredFigure figure_of(Campaign const& campaign, std::uint32_t point, std::vector<double> const& values) {
    MeasuredFigure figure{campaign.points[point], summarize(values), find_drift(values)};
    auto const repeat =
        repeat_interval(values); // each is of a round of its own, and rounds are spread over the campaign
    figure.summary.low = repeat.low;
    figure.summary.high = repeat.high;
    figure.summary.coverage = repeat.coverage;
    figure.threads = std::max(1, static_cast<int>(figure.number("threads")));
    return figure;
}

bool is_faster(MeasuredFigure const* left, MeasuredFigure const* right) {
    return left != nullptr && (right == nullptr || left->summary.median > right->summary.median);
}

/// Roof of a precision: the chain's peak, or the product's where the low end of its interval is 5 % above the chain's
/// fastest sample.
MeasuredFigure const* roof_of(MeasuredPeak const& peak) {
    constexpr double excess = 1.05;
    if (peak.chain == nullptr) { return peak.product; }
    bool const above = peak.product != nullptr && peak.product->summary.low > excess * peak.chain->summary.most;
    return above ? peak.product : peak.chain;
}

} // namespace

std::string MeasuredFigure::of(std::string_view parameter) const {
    return std::string{fact(point.parameters, parameter).value_or("")};
}

double MeasuredFigure::number(std::string_view parameter) const {
    std::string const text = of(parameter);
    double value = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

MeasuredRoofline::MeasuredRoofline(Campaign const& campaign) {
    for (std::uint32_t i = 0; i < campaign.points.size(); ++i) {
        auto const values = values_of(campaign, i);
        if (values.empty()) {
            ++unmeasured;
            continue;
        }
        figures.push_back(figure_of(campaign, i, values));
        threads.push_back(figures.back().threads);
    }
    if (figures.empty()) { too_little("measurements", "none was taken", {}, "let it run longer"); }
    std::ranges::sort(threads);
    threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
    find_peaks();
    find_ridges();
    for (MeasuredFigure const& figure : figures) {
        if (figure.of("quantity") == "kernel") { place(figure); }
    }
}

std::vector<MeasuredFigure const*> MeasuredRoofline::of_quantity(std::string_view quantity) const {
    std::vector<MeasuredFigure const*> found;
    for (MeasuredFigure const& figure : figures) {
        if (figure.of("quantity") == quantity) { found.push_back(&figure); }
    }
    return found;
}

std::vector<MeasuredFigure const*> MeasuredRoofline::levels(int of_threads) const {
    std::vector<MeasuredFigure const*> found;
    for (MeasuredFigure const* one : of_quantity("bandwidth")) {
        if (one->threads != of_threads) { continue; }
        auto const same = [&](MeasuredFigure const* other) { return other->of("level") == one->of("level"); };
        auto const known = std::ranges::find_if(found, same);
        if (known == found.end()) {
            found.push_back(one);
        } else if (is_faster(one, *known)) {
            *known = one;
        }
    }
    std::ranges::stable_sort(found, {}, [](MeasuredFigure const* one) {
        bool const memory = one->of("level") == main_memory;
        return std::pair{memory, one->number("capacity")};
    });
    return found;
}

MeasuredPeak const* MeasuredRoofline::peak(std::string_view precision, int of_threads) const {
    auto const found = std::ranges::find_if(
        peaks, [&](MeasuredPeak const& one) { return one.precision == precision && one.threads == of_threads; });
    return found == peaks.end() ? nullptr : &*found;
}

/// Products without the variables that hold a library back count: they are what the machine can do.
void MeasuredRoofline::find_peaks() {
    for (MeasuredFigure const& figure : figures) {
        bool const chain = figure.of("quantity") == "peak";
        if (!chain && figure.of("quantity") != "product") { continue; }
        std::string const precision = figure.of("precision");
        auto found = std::ranges::find_if(peaks, [&](MeasuredPeak const& one) {
            return one.precision == precision && one.threads == figure.threads;
        });
        if (found == peaks.end()) {
            peaks.push_back({precision, figure.threads});
            found = peaks.end() - 1;
        }
        auto& best = chain ? found->chain : found->product;
        if (is_faster(&figure, best)) { best = &figure; }
    }
    for (MeasuredPeak& peak : peaks) { peak.roof = roof_of(peak); }
}

void MeasuredRoofline::find_ridges() {
    for (MeasuredPeak const& peak : peaks) {
        for (MeasuredFigure const* level : levels(peak.threads)) {
            SampleSummary const &rate = peak.roof->summary, &bandwidth = level->summary;
            double const slowest = bandwidth.low > 0.0 ? bandwidth.low : bandwidth.least; // scattered beyond all bounds
            if (!(slowest > 0.0)) { continue; }
            ridges.push_back({peak.precision, level->of("level"), peak.threads, rate.median / bandwidth.median,
                              rate.low / bandwidth.high, rate.high / slowest});
        }
    }
}

/// A kernel without a peak of its precision or without any bandwidth has no roof.
void MeasuredRoofline::place(MeasuredFigure const& figure) {
    MeasuredPeak const* const peak_here = peak(figure.of("precision"), figure.threads);
    auto const levels_here = levels(figure.threads);
    double const operations = figure.number("operations"), bytes = figure.number("bytes");
    if (peak_here == nullptr || levels_here.empty() || !(bytes > 0.0) || !(operations > 0.0)) { return; }
    auto const holds = [&](MeasuredFigure const* level) {
        return level->number("capacity") >= figure.number("touched");
    };
    auto const home = std::ranges::find_if(levels_here, holds);
    MeasuredKernel kernel{.figure = &figure,
                          .intensity = operations / bytes,
                          .level = home == levels_here.end() ? levels_here.back() : *home,
                          .roof = FlopsPerSecond{}};
    double const peak_rate = peak_here->roof->summary.median;
    kernel.roof = attainable_rate(FlopsPerByte{kernel.intensity}, FlopsPerSecond{peak_rate},
                                  BytesPerSecond{kernel.level->summary.median});
    kernel.bound = kernel.roof.base() < peak_rate ? Bound::memory : Bound::compute;
    kernel.share = figure.summary.median / kernel.roof.base();
    kernel.low = figure.summary.low / kernel.roof.base();
    kernel.high = figure.summary.high / kernel.roof.base();
    kernels.push_back(kernel);
}

} // namespace headroom::measure
