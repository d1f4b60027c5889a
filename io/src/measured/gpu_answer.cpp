#include "headroom/io/gpu_answer.hpp"

#include "headroom/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::io {

using namespace headroom::measure;

namespace {

using Json = nlohmann::json;

constexpr std::size_t most_bytes = 16U << 20U, most_points = 10'000, most_samples = 1'000'000;
constexpr int deepest = 8;

[[noreturn]] void refuse_answer(std::string_view where, std::string problem) {
    throw InputError{Fault::unreadable,
                     {.where = std::string{where}, .problem = std::move(problem), .hint = "build headroom-gpu again"}};
}

std::string text_of(Json const& json, char const* key, std::string_view where) {
    auto const found = json.find(key);
    if (found == json.end() || !found->is_string()) { refuse_answer(where, "no text " + headroom::quoted(key)); }
    return found->get<std::string>();
}

Facts facts_of(Json const& json, char const* key, std::string_view where) {
    Facts facts;
    auto const found = json.find(key);
    if (found == json.end() || !found->is_object()) { refuse_answer(where, "no object " + headroom::quoted(key)); }
    for (auto const& [name, value] : found->items()) {
        if (!value.is_string()) { refuse_answer(where, headroom::quoted(name) + " is no text"); }
        facts.emplace_back(name, value.get<std::string>());
    }
    return facts;
}

GpuAnswer::Points points_of(Json const& json, std::string_view where) {
    if (!json.is_object()) { refuse_answer(where, "a point is no object"); }
    GpuAnswer::Points one;
    one.point = {text_of(json, "label", where), facts_of(json, "parameters", where), text_of(json, "unit", where)};
    constexpr std::array<std::string_view, 3> units{"seconds", "bytes/second", "flops/second"};
    if (std::ranges::find(units, one.point.unit) == units.end()) {
        refuse_answer(where, "unknown unit " + headroom::quoted(one.point.unit));
    }
    auto const samples = json.find("samples");
    if (samples == json.end() || !samples->is_array() || samples->size() > most_samples) {
        refuse_answer(where, headroom::quoted(one.point.label) + " has no samples");
    }
    for (Json const& sample : *samples) {
        double const value = sample.is_number() ? sample.get<double>() : 0.0;
        if (!std::isfinite(value) || !(value > 0.0)) {
            refuse_answer(where, "a sample of " + headroom::quoted(one.point.label) + " is no positive number");
        }
        one.samples.push_back(value);
    }
    return one;
}

/// Deeper ones are none of ours.
Json parsed(std::string_view text, std::string_view where) {
    if (text.size() > most_bytes) { refuse_answer(where, "printed too much"); }
    bool deep = false;
    auto const watch = [&deep](int depth, Json::parse_event_t, Json&) {
        deep = deep || depth > deepest;
        return !deep;
    };
    Json json = Json::parse(text.begin(), text.end(), watch, false);
    if (deep || !json.is_object()) { refuse_answer(where, "its output is no JSON object"); }
    return json;
}

} // namespace

GpuAnswer read_gpu_answer(std::string_view text, std::string_view where) {
    Json const json = parsed(text, where);
    GpuAnswer answer;
    auto const device = json.find("device");
    if (device == json.end() || !(device->is_null() || device->is_string())) {
        refuse_answer(where, "it names no device");
    }
    if (device->is_string()) { answer.device = device->get<std::string>(); }
    answer.why = text_of(json, "why", where);
    answer.facts = facts_of(json, "facts", where);
    auto const points = json.find("points");
    if (points == json.end() || !points->is_array() || points->size() > most_points) {
        refuse_answer(where, "no list of points");
    }
    for (Json const& point : *points) { answer.points.push_back(points_of(point, where)); }
    return answer;
}

} // namespace headroom::io
