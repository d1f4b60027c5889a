#include "latencies/json_report.hpp"

#include "latencies/report_lines.hpp"
#include "records/record.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace headroom::io {

using nlohmann::json;

json parse_report(std::string const& text, SampleBuilder& samples) {
    constexpr int deepest = 64;
    std::vector<std::set<std::string, std::less<>>> keys; // of the objects around
    auto const checked = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
        using Event = nlohmann::json::parse_event_t;
        if (depth > deepest) { unreadable_error(samples.where(), "JSON that is nested too deeply"); }
        if (event == Event::object_start) { keys.emplace_back(); }
        if (event == Event::object_end) { keys.pop_back(); }
        if (event == Event::key && !keys.back().insert(value.get<std::string>()).second) {
            samples.leave_out(SampleIssue::repeated_key, 0, 1, value.get<std::string>());
        }
        return true;
    };
    try {
        return nlohmann::json::parse(text, checked);
    } catch (nlohmann::json::parse_error const& error) {
        auto const line =
            std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size())),
                       '\n') +
            1;
        std::string const where = samples.where() + ":" + std::to_string(line);
        std::size_t const end = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
        if (nlohmann::json::accept(text.substr(0, end))) {
            bool const again = text[end] == '{' || text[end] == '[';
            unreadable_error(where, again ? "a second report in this file" : "text behind the report",
                             "one report is read from a file", "give each report in a file of its own");
        }
        unreadable_error(where, "no JSON", "it begins as a report");
    } catch (nlohmann::json::exception const&) {
        unreadable_error(samples.where(), "no JSON", "a number in it is out of range");
    }
}

std::optional<double> number_in(nlohmann::json const& object, std::string const& key) {
    if (!object.is_object()) { return std::nullopt; }
    auto const at = object.find(key);
    if (at == object.end() || !at->is_number()) { return std::nullopt; }
    double const number = at->get<double>();
    return std::isfinite(number) ? std::optional{number} : std::nullopt;
}

std::optional<std::uint64_t> count_in(nlohmann::json const& object, std::string const& key) {
    auto const number = number_in(object, key);
    constexpr double most = 1e18;
    if (!number || *number < 0.0 || *number > most) { return std::nullopt; }
    return static_cast<std::uint64_t>(*number);
}

json const& ReportKeys::member(json const& object, std::string const& key) {
    static json const none;
    if (!object.is_object()) { return none; }
    auto const at = object.find(key);
    if (at == object.end()) { return none; }
    used_[&object].insert(key);
    return *at;
}

std::vector<std::pair<std::string, json>> ReportKeys::members(json const& of) {
    std::vector<std::pair<std::string, json>> all;
    if (!of.is_structured()) { return all; }
    for (auto const& [key, value] : of.items()) {
        if (of.is_object()) { used_[&of].insert(key); }
        all.emplace_back(key, value);
    }
    return all;
}

std::optional<double> ReportKeys::number(json const& object, std::string const& key) {
    json const& value = member(object, key);
    if (value.is_null()) { return std::nullopt; }
    if (auto const found = number_in(object, key)) { return found; }
    samples_.leave_out(SampleIssue::text, 0, 1, key + ": " + value.dump());
    return std::nullopt;
}

void ReportKeys::mean(json const& object, std::string const& key) {
    if (auto const value = number(object, key)) { samples_.found().stated_mean = samples_.unit().base(*value); }
}

void ReportKeys::quantile(json const& object, std::string const& key, double q) {
    if (auto const value = number(object, key)) { state_quantile(samples_, q, samples_.unit().base(*value), 0); }
}

void ReportKeys::quantiles(json const& object) {
    if (!object.is_object()) { return; }
    for (auto const& [key, value] : object.items()) {
        if (auto const share = share_of(key)) { quantile(object, key, *share); }
    }
}

std::uint64_t ReportKeys::count(json const& object, std::string const& key) {
    json const& value = member(object, key);
    auto const found = count_in(object, key);
    if (!found && !value.is_null()) { samples_.leave_out(SampleIssue::text, 0, 1, key + ": " + value.dump()); }
    return found.value_or(0);
}

void ReportKeys::known(json const& object, std::string_view keys) {
    while (!keys.empty()) { static_cast<void>(member(object, std::string{next_word(keys)})); }
}

void ReportKeys::finish() {
    std::vector<std::string> unused;
    for (auto const& [name, object] : looked_at_) {
        for (auto const& [key, value] : object->items()) {
            if (!used_[object].contains(key)) { unused.push_back(name.empty() ? key : name + "." + key); }
        }
    }
    samples_.leave_out(unused, true);
}

} // namespace headroom::io
