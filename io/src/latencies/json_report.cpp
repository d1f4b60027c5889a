#include "latencies/json_report.hpp"

#include "latencies/report_lines.hpp"
#include "records/record.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::io {

nlohmann::json parse_report(std::string const& text, SampleBuilder const& samples) {
    constexpr int deepest = 64;
    auto const shallow = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        if (depth > deepest) { unreadable_error(samples.where(), "JSON that is nested too deeply"); }
        return true;
    };
    try {
        return nlohmann::json::parse(text, shallow);
    } catch (nlohmann::json::parse_error const& error) {
        auto const line =
            std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size())),
                       '\n') +
            1;
        unreadable_error(samples.where() + ":" + std::to_string(line), "no JSON", "it begins as a report");
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

void state_quantiles(nlohmann::json const& object, std::string const& mean, SampleBuilder& samples) {
    if (!object.is_object()) { return; }
    for (auto const& [key, value] : object.items()) {
        auto const number = number_in(object, key);
        if (!number) { continue; }
        double const seconds = samples.unit().base(*number);
        if (key == mean) {
            samples.found().stated_mean = seconds;
        } else if (auto const share = share_of(key)) {
            state_quantile(samples, *share, seconds, 1);
        }
    }
}

} // namespace headroom::io
