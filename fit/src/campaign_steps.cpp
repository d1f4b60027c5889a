#include "campaign_points.hpp"

#include "headroom/fit/campaign_fit.hpp"

#include <algorithm>

namespace headroom::fit {

using namespace headroom::measure;

CampaignSteps measured_steps(Campaign const& campaign) {
    constexpr double most_workers = 1e9;
    CampaignSteps result;
    result.weak = fact(campaign.settings, "mode") == "weak";
    result.whole_command = fact(campaign.settings, "result") == "wall clock";
    for (std::uint32_t i = 0; i < campaign.points.size(); ++i) {
        MeasuredPoint const& point = campaign.points[i];
        auto const workers = count_of(point, worker_names);
        auto const values = values_of(campaign, i);
        auto const seconds = point_median(values);
        if (point.unit != "seconds") {
            result.left_out.push_back({point.label, "its unit is " + point.unit + ", not seconds"});
        } else if (!workers || *workers > most_workers) {
            result.left_out.push_back({point.label, "it states no number of workers"});
        } else if (!seconds) {
            result.left_out.push_back(
                {point.label, std::to_string(values.size()) + " samples above zero, and three are the least"});
        } else {
            result.steps.push_back({static_cast<int>(*workers), values.size(), *seconds});
        }
    }
    std::ranges::stable_sort(result.steps, {}, &MeasuredWorkers::workers);
    return result;
}

} // namespace headroom::fit
