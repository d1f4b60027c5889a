#include "campaign_points.hpp"
#include "scaling_statistics.hpp"

#include "headroom/error.hpp"
#include "headroom/fit/campaign_fit.hpp"
#include "headroom/network/link_class.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace headroom::fit {

using namespace headroom::measure;
using namespace headroom::network;

namespace {

constexpr std::size_t most_rows_of_a_point = 32;
constexpr double most_ranks = 1e9;

/// Words for a message from one rank to another that `collective_from` does not know.
constexpr std::array messages{std::string_view{"ping-pong"}, std::string_view{"ping_pong"},
                              std::string_view{"pingpong"}, std::string_view{"message"}};

/// Messages of one rank to one other, alone; collectives; what else is timed loads links in ways that `MeasuredLink` and
/// the closed forms do not have.
std::optional<Collective> operation_of(MeasuredPoint const& point) {
    std::string const pattern = word_of(point, pattern_names);
    if (pattern == "one_way") { return Collective::point_to_point; }
    if (!pattern.empty() && pattern != "collective") { return {}; }
    std::string const word = word_of(point, operation_names);
    if (std::ranges::find(messages, word) != messages.end()) { return Collective::point_to_point; }
    return collective_from(word);
}

/// The row of a point without its time; else why there is none.
struct Head {
    std::optional<MeasuredCollective> row;
    std::string why;
};

/// Number of that name in the settings or the machine of the campaign, valid for all of its points.
std::optional<double> of_all(Campaign const& campaign, std::string_view name) {
    for (Facts const* facts : {&campaign.settings, &campaign.machine}) {
        MeasuredPoint const whole{.label = {}, .parameters = *facts, .unit = {}};
        if (auto const count = count_of(whole, std::array{name})) { return count; }
    }
    return {};
}

std::optional<double> ranks_of(MeasuredPoint const& point, Campaign const& campaign) {
    auto const stated = count_of(point, rank_names);
    return stated ? stated : of_all(campaign, "ranks");
}

/// Nodes that the ranks of a point are on.
double nodes_of(MeasuredPoint const& point, bool pair, Campaign const& campaign, CampaignSettings const& settings) {
    std::string const link = word_of(point, link_names);
    if (pair && !link.empty()) { return link == "between hosts" ? 2.0 : 1.0; }
    if (auto const nodes = count_of(point, node_names)) { return *nodes; }
    if (settings.nodes > 0) { return settings.nodes; }
    return of_all(campaign, "nodes").value_or(1.0);
}

/// Whether a point is of the buffers that programs have; one that does not say is.
bool has_usual_buffers(MeasuredPoint const& point, Campaign const& campaign, double bytes) {
    std::string const stated = word_of(point, buffers_names);
    return stated.empty() || stated == buffers_of_programs(campaign, bytes);
}

Head head_of(MeasuredPoint const& point, Campaign const& campaign, CampaignSettings const& settings) {
    if (point.unit != "seconds") { return {{}, "its unit is " + point.unit + ", not seconds"}; }
    auto const operation = operation_of(point);
    if (!operation) {
        std::string const pattern = word_of(point, pattern_names);
        return {{},
                pattern.empty() ? "it names no collective that is known"
                                : "models of links take messages alone and collectives, not " + quoted(pattern)};
    }
    if (*operation == Collective::barrier) { return {{}, "a barrier moves no bytes"}; }
    auto const size = count_of(point, size_names);
    if (!size) { return {{}, "it states no size"}; }
    if (!has_usual_buffers(point, campaign, *size)) {
        return {{}, "messages of a program have buffers in the other state of the caches"};
    }
    bool const pair = *operation == Collective::point_to_point;
    auto const ranks = pair ? std::optional{2.0} : ranks_of(point, campaign);
    if (!ranks || *ranks < 2.0 || *ranks > most_ranks) { return {{}, "it states no number of ranks above one"}; }
    double const nodes = nodes_of(point, pair, campaign, settings);
    if (nodes > *ranks) { return {{}, "it has more nodes than ranks"}; }
    MeasuredCollective row;
    row.system = settings.system;
    row.collective = *operation;
    row.size = {Bytes{*size}};
    row.ranks = static_cast<int>(*ranks);
    row.nodes = static_cast<int>(nodes);
    row.algorithm = pair ? "" : word_of(point, algorithm_names);
    if (row.algorithm == "library") { row.algorithm.clear(); } // it did not say which
    row.protocol = word_of(point, protocol_names);
    row.data_type = word_of(point, element_names);
    row.interconnect = row.nodes == 1 ? std::string{host_memory_words} : ""; // messages of `measure comm` are of hosts
    row.file = settings.source;
    return {std::move(row), {}};
}

} // namespace

std::string system_of(Campaign const& campaign) {
    for (char const* name : {"accelerator", "gpu", "device", "processor", "cpu"}) {
        if (auto const word = fact(campaign.machine, name)) { return std::string{*word}; }
    }
    return {};
}

std::string_view buffers_of_programs(Campaign const& campaign, double bytes) {
    constexpr double usual = 512 << 10;
    return bytes <= of_all(campaign, "largest hot message").value_or(usual) ? "hot" : "cold";
}

CampaignCollectives measured_collectives(Campaign const& campaign, CampaignSettings const& settings) {
    CampaignCollectives result;
    for (std::uint32_t i = 0; i < campaign.points.size(); ++i) {
        MeasuredPoint const& point = campaign.points[i];
        auto const values = values_of(campaign, i);
        Head head = head_of(point, campaign, settings);
        if (head.row && values.empty()) { head = {{}, "it has no sample that counts"}; }
        if (!head.row) {
            result.left_out.push_back({point.label, head.why});
            continue;
        }
        ++result.points;
        result.samples += values.size();
        for (double const seconds : sorted_and_thinned(values, most_rows_of_a_point)) {
            MeasuredCollective row = *head.row;
            row.time = Seconds{seconds};
            result.rows.push_back(std::move(row));
        }
    }
    return result;
}

} // namespace headroom::fit
