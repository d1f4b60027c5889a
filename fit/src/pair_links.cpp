#include "headroom/fit/pair_links.hpp"

#include "scaling_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace headroom::fit {
namespace {

constexpr std::size_t fewest_likes = 6;
constexpr double healthy_range = 0.831; ///< between the quantiles 1/8 and 3/8 of a standard normal variable
constexpr double slow_share = 0.75;

/// Usual time among one kind of pairs, and the limit above which a time is unusual.
struct Usual {
    double base = 0.0, limit = 0.0;
    [[nodiscard]] bool exceeded_by(double seconds) const { return std::log(seconds) - base > limit; }
    [[nodiscard]] double factor(double seconds) const { return seconds / std::exp(base); }
};

Usual usual_of(std::vector<double> logs, PairSettings const& settings) {
    std::sort(logs.begin(), logs.end());
    double const sigma = (quantile_of(logs, 0.375) - quantile_of(logs, 0.125)) / healthy_range;
    return {quantile_of(logs, 0.25), std::max(std::log(settings.least_factor), settings.deviations * sigma)};
}

bool timed(PairTime const& pair) { return pair.least_seconds > 0.0 && pair.median_seconds > 0.0; }

void judge(std::span<PairTime const> pairs, std::vector<std::size_t> const& likes, PairSettings const& settings,
           PairVerdict& verdict) {
    std::vector<double> least, median;
    for (std::size_t const i : likes) {
        least.push_back(std::log(pairs[i].least_seconds));
        median.push_back(std::log(pairs[i].median_seconds));
    }
    Usual const usual_least = usual_of(std::move(least), settings),
                usual_median = usual_of(std::move(median), settings);
    for (std::size_t const i : likes) {
        bool const always = usual_least.exceeded_by(pairs[i].least_seconds);
        if (!always && !usual_median.exceeded_by(pairs[i].median_seconds)) { continue; }
        double const factor =
            always ? usual_least.factor(pairs[i].least_seconds) : usual_median.factor(pairs[i].median_seconds);
        verdict.links.push_back({i, factor, always});
    }
}

void find_ranks(std::span<PairTime const> pairs, std::vector<std::size_t> const& judged, PairVerdict& verdict) {
    std::map<int, std::size_t> all;
    std::map<int, std::vector<double>> slow;
    for (std::size_t const i : judged) { ++all[pairs[i].first], ++all[pairs[i].second]; }
    for (SlowLink const& link : verdict.links) {
        slow[pairs[link.pair].first].push_back(link.factor);
        slow[pairs[link.pair].second].push_back(link.factor);
    }
    for (auto const& [rank, factors] : slow) {
        auto const count = static_cast<double>(factors.size());
        if (all[rank] < 2 || count < slow_share * static_cast<double>(all[rank])) { continue; }
        verdict.ranks.push_back({rank, median_of(factors), factors.size(), all[rank]});
    }
}

} // namespace

PairVerdict find_slow_links(std::span<PairTime const> pairs, PairSettings const& settings) {
    PairVerdict verdict;
    std::vector<std::size_t> judged;
    for (bool const same_host : {true, false}) {
        std::vector<std::size_t> likes;
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            if (pairs[i].same_host == same_host && timed(pairs[i])) { likes.push_back(i); }
        }
        if (likes.size() < fewest_likes) { continue; }
        judge(pairs, likes, settings, verdict);
        judged.insert(judged.end(), likes.begin(), likes.end());
    }
    verdict.judged = judged.size();
    find_ranks(pairs, judged, verdict);
    auto const slower = [](auto const& left, auto const& right) { return left.factor > right.factor; };
    std::stable_sort(verdict.links.begin(), verdict.links.end(), slower);
    std::stable_sort(verdict.ranks.begin(), verdict.ranks.end(), slower);
    return verdict;
}

} // namespace headroom::fit
