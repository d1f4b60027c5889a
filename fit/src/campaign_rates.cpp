#include "campaign_points.hpp"

#include "headroom/error.hpp"
#include "headroom/fit/campaign_fit.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace headroom::fit {

using namespace headroom::measure;

namespace {

/// Words for main memory.
bool is_memory(std::string const& level) {
    std::string const word = normalised(level);
    return word == "memory" || word == "dram" || word == "ram" || word == "mainmemory" || word == "hbm";
}

bool is_product(std::string const& kernel) {
    std::string const word = normalised(kernel);
    return word == "product" || word == "gemm" || word == "matmul" || word == "matrixproduct" || word == "sgemm" ||
           word == "dgemm";
}

/// A kernel of an application that is called so is none: it says what it is.
bool is_product_point(MeasuredPoint const& point, std::string const& kernel) {
    std::string const quantity = word_of(point, quantity_names);
    return quantity.empty() ? is_product(kernel) : quantity == "product";
}

/// Other words for number formats.
std::string usual_format(std::string const& word) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 9> others{{{"float", "fp32"},
                                                                                   {"float32", "fp32"},
                                                                                   {"f32", "fp32"},
                                                                                   {"single", "fp32"},
                                                                                   {"double", "fp64"},
                                                                                   {"float64", "fp64"},
                                                                                   {"f64", "fp64"},
                                                                                   {"bfloat16", "bf16"},
                                                                                   {"half", "fp16"}}};
    auto const known = std::ranges::find(others, word, &std::pair<std::string_view, std::string_view>::first);
    return known == others.end() ? word : std::string{known->second};
}

/// The formats that two kernels have in their names.
std::string format_of(MeasuredPoint const& point, std::string const& kernel) {
    std::string const stated = word_of(point, format_names);
    if (!stated.empty()) { return usual_format(normalised(stated)); }
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
    if (!value) { return std::to_string(values.size()) + " samples above zero, and three are the least"; }
    std::string const kernel = word_of(point, kernel_names);
    if (kernel.empty()) { return "it names no kernel"; }
    MeasuredRate rate{.kernel = kernel,
                      .level = bytes ? word_of(point, level_names) : "",
                      .format = format_of(point, kernel),
                      .threads = static_cast<int>(std::min(count_of(point, thread_names).value_or(0.0), 1e9)),
                      .samples = values.size(),
                      .product = is_product_point(point, kernel),
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
    constexpr std::array<std::string_view, 2> first{"triad", "copy"};
    MeasuredRate const* best = nullptr;
    auto const rank = [&](MeasuredRate const& rate) {
        auto const begins = [&](std::string_view word) { return normalised(rate.kernel).starts_with(word); };
        return static_cast<std::size_t>(std::ranges::find_if(first, begins) - first.begin());
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
        if (!rate.product || rate.format != format) { continue; }
        if (best == nullptr || rate.value.value > best->value.value) { best = &rate; }
    }
    return best;
}

} // namespace headroom::fit
