#include "headroom/measure/measurement.hpp"

#include <algorithm>
#include <array>

namespace headroom::measure {
namespace {

template <class Value> struct Named {
    Value value;
    std::string_view name;
};

constexpr std::array<Named<SampleOutcome>, 5> outcomes{{
    {SampleOutcome::measured, "measured"},
    {SampleOutcome::warm_up, "warm-up"},
    {SampleOutcome::failed, "failed"},
    {SampleOutcome::timed_out, "timed-out"},
    {SampleOutcome::unreadable, "unreadable"},
}};
constexpr std::array<Named<CampaignState>, 3> states{{
    {CampaignState::running, "running"},
    {CampaignState::done, "done"},
    {CampaignState::interrupted, "interrupted"},
}};

template <class Table, class Value> std::string_view name_in(Table const& table, Value value) {
    return std::ranges::find(table, value, &Table::value_type::value)->name;
}

template <class Table> auto value_in(Table const& table, std::string_view name) {
    auto const row = std::ranges::find(table, name, &Table::value_type::name);
    using Value = decltype(row->value);
    return row == table.end() ? std::optional<Value>{} : std::optional<Value>{row->value};
}

} // namespace

std::optional<std::string_view> fact(Facts const& facts, std::string_view name) {
    auto const found = std::ranges::find(facts, name, &Facts::value_type::first);
    return found == facts.end() ? std::nullopt : std::optional<std::string_view>{found->second};
}

std::string_view name_of(SampleOutcome outcome) { return name_in(outcomes, outcome); }
std::optional<SampleOutcome> sample_outcome_from(std::string_view name) { return value_in(outcomes, name); }
std::string_view name_of(CampaignState state) { return name_in(states, state); }
std::optional<CampaignState> campaign_state_from(std::string_view name) { return value_in(states, name); }

std::vector<double> values_of(Campaign const& campaign, std::uint32_t point) {
    std::vector<double> values;
    for (Sample const& sample : campaign.samples) {
        if (sample.point == point && sample.outcome == SampleOutcome::measured) { values.push_back(sample.value); }
    }
    return values;
}

} // namespace headroom::measure
