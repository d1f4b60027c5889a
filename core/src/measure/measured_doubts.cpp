#include "headroom/measure/measured_roofline.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::measure {
namespace {

constexpr double much_spread = 0.05, much_drift = 0.05, sure = 0.01, asked_coverage = 0.9;
constexpr double small_excess = 1.05; ///< above a roof by no more than errors of both
constexpr double least_gain_of_cores = 0.7;

std::string percent_words(double share) { return format_count(100.0 * share, 2) + " %"; }

std::string some_of(std::vector<std::string> const& names) {
    constexpr std::size_t most = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i) { text += (i > 0 ? "; " : "") + names[i]; }
    if (names.size() > most) { text += "; and " + std::to_string(names.size() - most) + " more"; }
    return text;
}

std::string of_all(std::size_t count, MeasuredRoofline const& roofline) {
    return std::to_string(count) + " of " + std::to_string(roofline.figures.size()) + " figures";
}

void doubt_noise(MeasuredRoofline const& roofline, std::vector<std::string>& doubts) {
    std::vector<std::string> noisy, drifting;
    std::size_t few = 0;
    for (MeasuredFigure const& one : roofline.figures) {
        if (one.summary.spread > much_spread) {
            noisy.push_back(one.point.label + " by " + percent_words(one.summary.spread));
        }
        if (one.drift && one.drift->probability < sure && std::abs(one.drift->change) > much_drift) {
            drifting.push_back(one.point.label + (one.drift->change > 0.0 ? " rose by " : " fell by ") +
                               percent_words(std::abs(one.drift->change)));
        }
        few += one.summary.coverage < asked_coverage ? 1 : 0;
    }
    if (!noisy.empty()) {
        doubts.push_back("noise: repetitions of " + of_all(noisy.size(), roofline) + " scatter by more than 5 % (" +
                         some_of(noisy) + ")");
    }
    if (!drifting.empty()) {
        doubts.push_back("drift: " + of_all(drifting.size(), roofline) + " changed while they were taken (" +
                         some_of(drifting) + ")");
    }
    if (few > 0) {
        doubts.push_back("few repetitions: the intervals of " + of_all(few, roofline) +
                         " are all that was seen, not 95 % intervals");
    }
}

void doubt_levels(MeasuredRoofline const& roofline, std::vector<std::string>& doubts) {
    for (int const threads : roofline.threads) {
        auto const levels = roofline.levels(threads);
        for (std::size_t i = 1; i < levels.size(); ++i) {
            if (levels[i]->summary.low > levels[i - 1]->summary.high) {
                doubts.push_back("order: " + levels[i]->point.label + " is faster than " + levels[i - 1]->point.label +
                                 ", which is nearer: one of the two is wrong");
            }
        }
    }
}

bool differ_in_threads_alone(MeasuredPoint const& left, MeasuredPoint const& right) {
    auto const rest = [](Facts facts) {
        std::erase_if(facts, [](auto const& one) {
            return one.first == "threads" || one.first == "capacity" || one.first == "operations" ||
                   one.first == "bytes" || one.first == "touched";
        });
        return facts;
    };
    return left.unit == right.unit && rest(left.parameters) == rest(right.parameters);
}

void doubt_cores(MeasuredRoofline const& roofline, std::vector<std::string>& doubts) {
    std::vector<std::string> slower;
    for (MeasuredFigure const& many : roofline.figures) {
        if (many.threads == 1 || many.of("quantity") == "latency") { continue; }
        for (MeasuredFigure const& one : roofline.figures) {
            if (one.threads == 1 && differ_in_threads_alone(one.point, many.point) &&
                many.summary.high < least_gain_of_cores * one.summary.low) {
                slower.push_back(many.point.label);
            }
        }
    }
    if (!slower.empty()) {
        doubts.push_back("cores: slower on all cores than on one (" + some_of(slower) +
                         "): others had a core, or the threads wait for each other");
    }
}

void doubt_roofs(MeasuredRoofline const& roofline, std::vector<std::string>& doubts) {
    std::vector<std::string> above;
    for (MeasuredKernel const& kernel : roofline.kernels) {
        if (kernel.low > small_excess) {
            above.push_back(kernel.figure->point.label + ": " + percent_words(kernel.share) + " of its roof");
        }
    }
    if (!above.empty()) {
        doubts.push_back("roof: above what the ceilings allow (" + some_of(above) +
                         "): a ceiling was measured too low, or the data live nearer than is thought");
    }
    for (MeasuredPeak const& peak : roofline.peaks) {
        if (peak.chain != nullptr && peak.roof == peak.product) {
            doubts.push_back(
                "peak: " + peak.product->point.label + " is faster than any chain of instructions in " +
                peak.precision +
                ": a unit is at work that no chain drives, or others had the cores while the chains were timed; "
                "the product is the roof");
        }
    }
}

void doubt_load(Campaign const& campaign, std::vector<std::string>& doubts) {
    double most = 0.0;
    for (Sample const& sample : campaign.samples) {
        if (sample.repetition == 0) { most = std::max(most, sample.load.value_or(0.0)); }
    }
    constexpr double idle = 0.5;
    if (most > idle) {
        doubts.push_back("load: " + format_count(most, 2) +
                         " processes wanted to run while the first round was taken: others used the machine");
    }
}

} // namespace

std::vector<std::string> doubts_of(MeasuredRoofline const& roofline, Campaign const& campaign) {
    std::vector<std::string> doubts;
    doubt_load(campaign, doubts);
    doubt_noise(roofline, doubts);
    doubt_levels(roofline, doubts);
    doubt_cores(roofline, doubts);
    doubt_roofs(roofline, doubts);
    if (roofline.unmeasured > 0) {
        doubts.push_back("not measured: " + std::to_string(roofline.unmeasured) + " of " +
                         std::to_string(campaign.points.size()) + " points have no repetition that counts");
    }
    return doubts;
}

} // namespace headroom::measure
