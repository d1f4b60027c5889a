#include "queueing/drawn_times.hpp"

#include "headroom/counter_random.hpp"
#include "headroom/error.hpp"
#include "headroom/serving/serving.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headroom::serving {
namespace {

constexpr double most_requests = 1e9;
/// Generators of their own.
constexpr std::uint64_t gap_purpose = 21, prompt_purpose = 22, output_purpose = 23;
constexpr double longest = 1e9; ///< tokens

void need(bool good, char const* problem) {
    if (!good) { refuse("serving: traffic", problem); }
}

bool positive(double value) { return std::isfinite(value) && value > 0.0; }
bool not_negative(double value) { return std::isfinite(value) && value >= 0.0; }

void check_lengths(ServingTraffic const& traffic) {
    need(not_negative(traffic.burstiness) && not_negative(traffic.prompt_variation) &&
             not_negative(traffic.output_variation),
         "a variation is negative or not finite");
    need(traffic.prefix_hits >= 0.0 && traffic.prefix_hits <= 1.0, "the share of prefix hits is not between 0 and 1");
    need(positive(traffic.prompt_tokens) && traffic.prompt_tokens >= 1.0 && traffic.prompt_tokens <= longest,
         "prompts have less than a token or more than 10^9");
    need(positive(traffic.output_tokens) && traffic.output_tokens >= 1.0 && traffic.output_tokens <= longest,
         "outputs have less than a token or more than 10^9");
}

void check(ServingTraffic const& traffic) {
    need(positive(traffic.requests_per_second), "the rate of requests is not above zero");
    need(positive(traffic.duration.base()), "the duration is not above zero");
    check_lengths(traffic);
    need(traffic.requests_per_second * traffic.duration.base() <= most_requests, "more than 10^9 requests");
}

double normal(CounterRandom& random) {
    double const radius = std::sqrt(-2.0 * std::log(random.uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * random.uniform());
}

/// Lognormal of this mean and squared coefficient of variation, in whole tokens, at least one.
int tokens(double mean, double variation, CounterRandom& random) {
    double drawn = mean;
    if (variation > 0.0) {
        double const spread = std::log1p(variation);
        drawn = mean * std::exp(std::sqrt(spread) * normal(random) - 0.5 * spread);
    }
    return static_cast<int>(std::clamp(std::round(drawn), 1.0, longest));
}

/// Lengths of one request after the other, from streams of their own.
class Lengths {
public:
    explicit Lengths(ServingTraffic const& traffic)
        : traffic_{traffic},
          prompts_{queueing::random_for(traffic.seed, prompt_purpose)},
          outputs_{queueing::random_for(traffic.seed, output_purpose)} {}

    ServingRequest next(double arrives) {
        int const prompt = tokens(traffic_.prompt_tokens, traffic_.prompt_variation, prompts_);
        int const output = tokens(traffic_.output_tokens, traffic_.output_variation, outputs_);
        return {arrives, prompt, output, cached_tokens(prompt, traffic_.prefix_hits)};
    }

private:
    ServingTraffic const& traffic_;
    CounterRandom prompts_, outputs_;
};

} // namespace

int cached_tokens(int prompt, double prefix_hits) {
    return std::min(prompt - 1, static_cast<int>(std::floor(prefix_hits * prompt)));
}

std::vector<ServingRequest> draw_burst(ServingTraffic const& traffic, std::uint64_t requests) {
    check_lengths(traffic);
    need(requests > 0 && requests <= static_cast<std::uint64_t>(most_requests), "no requests or more than 10^9");
    Lengths lengths{traffic};
    std::vector<ServingRequest> all;
    all.reserve(requests);
    while (all.size() < requests) { all.push_back(lengths.next(0.0)); }
    return all;
}

std::vector<ServingRequest> draw_requests(ServingTraffic const& traffic) {
    check(traffic);
    // streams of their own: the same arrivals whatever the lengths
    queueing::TimeSource const gaps{
        {.mean = Seconds{1.0 / traffic.requests_per_second}, .variation = traffic.burstiness}, "serving: traffic"};
    CounterRandom arrivals = queueing::random_for(traffic.seed, gap_purpose);
    Lengths lengths{traffic};
    std::vector<ServingRequest> requests;
    requests.reserve(static_cast<std::size_t>(traffic.requests_per_second * traffic.duration.base() * 1.01) + 16);
    double now = 0.0;
    for (;;) {
        now += gaps.draw(arrivals);
        if (now > traffic.duration.base()) { return requests; }
        requests.push_back(lengths.next(now));
    }
}

} // namespace headroom::serving
