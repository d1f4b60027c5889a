#include "campaign_points.hpp"

#include "headroom/error.hpp"
#include "headroom/fit/campaign_fit.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace headroom::fit {
namespace {

/// Words for main memory.
bool is_memory(std::string const& level) {
    std::string const word = normalised(level);
    return word == "memory" || word == "dram" || word == "ram" || word == "mainmemory" || word == "hbm";
}

bool is_product(std::string const& kernel) {
    std::string const word = normalised(kernel);
    return word == "gemm" || word == "matmul" || word == "matrixproduct" || word == "sgemm" || word == "dgemm";
}

/// The formats that two kernels have in their names.
std::string format_of(MeasuredPoint const& point, std::string const& kernel) {
    std::string const stated = word_of(point, format_names);
    if (!stated.empty()) { return normalised(stated); }
    std::string const word = normalised(kernel);
    return word == "sgemm" ? "fp32" : word == "dgemm" ? "fp64" : "";
}

struct Candidate {
    MeasuredRate rate;
    bool bytes = false;
    std::string label;
};

/// A point as a rate; else why it is none.
std::string read_point(Campaign const& campaign, std::uint32_t number, std::vector<Candidate>& found) {
    MeasuredPoint const& point = campaign.points[number];
    bool const bytes = point.unit == "bytes/second";
    if (!bytes && point.unit != "flops/second") { return "its unit is " + point.unit + ", which is no rate"; }
    auto const values = values_of(campaign, number);
    auto const value = point_median(values);
    if (!value) { return std::to_string(values.size()) + " samples above zero: three are the least"; }
    std::string const kernel = word_of(point, kernel_names);
    if (kernel.empty()) { return "it names no kernel"; }
    MeasuredRate rate{.kernel = kernel,
                      .level = bytes ? word_of(point, level_names) : "",
                      .format = format_of(point, kernel),
                      .threads = static_cast<int>(std::min(count_of(point, thread_names).value_or(0.0), 1e9)),
                      .samples = values.size(),
                      .value = *value};
    if (bytes && rate.level.empty()) { return "it names no level of memory"; }
    found.push_back({std::move(rate), bytes, point.label});
    return {};
}

} // namespace

CampaignRates measured_rates(Campaign const& campaign) {
    CampaignRates result;
    std::vector<Candidate> found;
    for (std::uint32_t i = 0; i < campaign.points.size(); ++i) {
        if (auto why = read_point(campaign, i, found); !why.empty()) {
            result.left_out.push_back({campaign.points[i].label, std::move(why)});
        }
    }
    // of one kernel, level and format: most threads, of those the fastest size
    std::map<std::tuple<bool, std::string, std::string, std::string>, std::size_t> best;
    for (std::size_t i = 0; i < found.size(); ++i) {
        auto const& [rate, bytes, label] = found[i];
        auto const [at, is_new] = best.try_emplace({bytes, rate.kernel, rate.level, rate.format}, i);
        MeasuredRate const& other = found[at->second].rate;
        if (is_new) { continue; }
        if (std::pair{rate.threads, rate.value.value} > std::pair{other.threads, other.value.value}) { at->second = i; }
    }
    std::vector<std::size_t> kept;
    for (auto const& [key, number] : best) { kept.push_back(number); }
    std::ranges::sort(kept);
    for (std::size_t const i : kept) { (found[i].bytes ? result.bytes : result.flops).push_back(found[i].rate); }
    return result;
}

MeasuredRate const* memory_rate(CampaignRates const& rates) {
    constexpr std::array first{"triad", "copy"};
    MeasuredRate const* best = nullptr;
    auto const rank = [&](MeasuredRate const& rate) {
        return static_cast<std::size_t>(std::ranges::find(first, normalised(rate.kernel)) - first.begin());
    };
    for (MeasuredRate const& rate : rates.bytes) {
        if (!is_memory(rate.level)) { continue; }
        bool const better = best == nullptr || rank(rate) < rank(*best) ||
                            (rank(rate) == rank(*best) && rate.value.value > best->value.value);
        if (better) { best = &rate; }
    }
    return best;
}

MeasuredRate const* product_rate(CampaignRates const& rates, std::string const& format) {
    MeasuredRate const* best = nullptr;
    for (MeasuredRate const& rate : rates.flops) {
        if (!is_product(rate.kernel) || rate.format != format) { continue; }
        if (best == nullptr || rate.value.value > best->value.value) { best = &rate; }
    }
    return best;
}

} // namespace headroom::fit
