#pragma once

#include "headroom/fit/campaign_fit.hpp"

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace headroom::test {

/// A campaign that is put together by hand.
class MadeCampaign {
public:
    explicit MadeCampaign(std::string kind) {
        campaign.id = 3;
        campaign.kind = std::move(kind);
        campaign.state = measure::CampaignState::done;
    }
    std::uint32_t point(std::string label, measure::Facts parameters, std::string unit) {
        campaign.points.push_back({std::move(label), std::move(parameters), std::move(unit)});
        return static_cast<std::uint32_t>(campaign.points.size() - 1);
    }
    void samples(std::uint32_t point, std::vector<double> const& values) {
        for (double const value : values) {
            campaign.samples.push_back({.point = point, .repetition = repetition_++, .value = value});
        }
    }
    measure::Campaign campaign;

private:
    std::uint32_t repetition_ = 0;
};

/// Messages of one link at `alpha` + `beta` a byte, each of eight repetitions with relative noise.
inline measure::Campaign made_messages(double alpha, double beta, double noise, std::uint64_t seed) {
    std::mt19937_64 random{seed};
    std::normal_distribution<double> normal;
    MadeCampaign made{"comm"};
    made.campaign.settings = {{"ranks", "4"}};
    for (int power = 3; power <= 24; power += 3) {
        double const bytes = std::exp2(power);
        auto const number = made.point(
            "one_way of " + std::to_string(1 << power),
            {{"pattern", "one_way"}, {"bytes", std::to_string(1 << power)}, {"peer", "1"}, {"link", "inside a host"}},
            "seconds");
        std::vector<double> times;
        for (int i = 0; i < 8; ++i) { times.push_back((alpha + bytes * beta) * (1.0 + noise * normal(random))); }
        made.samples(number, times);
    }
    return made.campaign;
}

} // namespace headroom::test
