#include "figure.hpp"

#include "headroom/document/page_data.hpp"
#include "headroom/error.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <limits>
#include <utility>
#include <vector>

namespace headroom::serve {

using namespace headroom::document;

namespace {

using Value = nlohmann::json;

constexpr std::size_t most_series = 24, most_points = 4096, most_rules = 64, longest_text = 400;

[[noreturn]] void refuse_chart(std::string const& part, std::string problem) {
    headroom::refuse(part, std::move(problem));
}

std::string text_of(Value const& object, char const* key) {
    auto const found = object.find(key);
    if (found == object.end() || !found->is_string()) { return {}; }
    return found->get_ref<std::string const&>().substr(0, longest_text);
}

Value const& list_of(Value const& object, char const* key, std::size_t most) {
    static Value const none = Value::array();
    auto const found = object.find(key);
    if (found == object.end() || found->is_null()) { return none; }
    if (!found->is_array() || found->size() > most) {
        refuse_chart(key, "is no list of at most " + std::to_string(most));
    }
    return *found;
}

/// Numbers of a list; any other value becomes NaN: a point that is not drawn.
std::vector<double> numbers_of(Value const& object, char const* key) {
    std::vector<double> numbers;
    for (Value const& one : list_of(object, key, most_points)) {
        numbers.push_back(one.is_number() ? one.get<double>() : std::numeric_limits<double>::quiet_NaN());
    }
    return numbers;
}

Mark mark_of(std::string const& name) {
    static constexpr std::array<std::pair<char const*, Mark>, 6> marks{{{"line", Mark::line},
                                                                        {"smooth", Mark::smooth},
                                                                        {"dashed", Mark::dashed},
                                                                        {"points", Mark::points},
                                                                        {"band", Mark::band},
                                                                        {"bars", Mark::bars}}};
    for (auto const& [known, mark] : marks) {
        if (name == known) { return mark; }
    }
    refuse_chart("mark", "is line, smooth, dashed, points, band or bars");
}

bool is_true(Value const& object, char const* key) {
    auto const found = object.find(key);
    return found != object.end() && found->is_boolean() && found->get<bool>();
}

Axis axis_of(Value const& chart, char const* key) {
    auto const found = chart.find(key);
    if (found == chart.end() || !found->is_object()) { refuse_chart(key, "is no axis"); }
    return {.title = text_of(*found, "title"),
            .scale = is_true(*found, "logarithmic") ? AxisScale::logarithmic : AxisScale::linear};
}

Series series_of(Value const& one) {
    if (!one.is_object()) { refuse_chart("series", "is no object"); }
    Series series{.name = text_of(one, "name"), .mark = mark_of(text_of(one, "mark"))};
    series.x = numbers_of(one, "x");
    series.y = numbers_of(one, "y");
    series.low = numbers_of(one, "low");
    series.high = numbers_of(one, "high");
    for (Value const& label : list_of(one, "labels", most_points)) {
        series.labels.push_back(label.is_string() ? label.get<std::string>().substr(0, longest_text) : std::string{});
    }
    if (series.mark != Mark::band && series.y.size() != series.x.size()) {
        refuse_chart("series", "has not as many y as x");
    }
    if (series.low.size() != series.high.size() || (!series.low.empty() && series.low.size() != series.x.size())) {
        refuse_chart("series", "has not as many low and high as x");
    }
    return series;
}

Chart chart_of(Value const& value) {
    if (!value.is_object()) { refuse_chart("chart", "is no object"); }
    Chart chart;
    chart.title = text_of(value, "title");
    chart.x = axis_of(value, "x");
    chart.y = axis_of(value, "y");
    for (Value const& one : list_of(value, "series", most_series)) { chart.series.push_back(series_of(one)); }
    if (chart.series.empty()) { refuse_chart("series", "is empty"); }
    for (Value const& one : list_of(value, "rules", most_rules)) {
        auto const at = one.is_object() ? one.find("at") : one.end();
        if (!one.is_object() || at == one.end() || !at->is_number()) {
            refuse_chart("rules", "has one without a place");
        }
        chart.rules.push_back(
            {.vertical = is_true(one, "vertical"), .at = at->get<double>(), .label = text_of(one, "label")});
    }
    auto const chosen = value.find("chosen");
    if (chosen != value.end() && chosen->is_number_unsigned() && *chosen < chart.series.front().x.size()) {
        chart.chosen = chosen->get<std::size_t>();
    }
    return chart;
}

} // namespace

std::string figure_of(std::string_view chart) {
    Value const value = Value::parse(chart, nullptr, false);
    if (value.is_discarded()) { refuse_chart("chart", "is no JSON"); }
    Document document;
    document.blocks.emplace_back(chart_of(value));
    return page_data(document);
}

} // namespace headroom::serve
