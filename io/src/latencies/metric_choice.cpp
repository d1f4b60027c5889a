#include "latencies/metric_choice.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::io {
namespace {

/// "request latency" of "request_latency" and "Request Latency (ms)".
std::string plain_name(std::string_view name) {
    std::string plain;
    for (char const c : trimmed_line(name.substr(0, name.find('(')))) {
        plain += c == '_' || c == '-' ? ' ' : lowered(c);
    }
    return plain;
}

} // namespace

std::size_t chosen_metric(std::vector<std::string> const& names, SampleBuilder& samples) {
    std::string const& asked = samples.question().column;
    if (asked.empty() && names.size() == 1) { return 0; }
    auto const at = std::ranges::find(names, plain_name(asked), plain_name);
    if (!asked.empty() && at != names.end()) { return static_cast<std::size_t>(at - names.begin()); }
    if (names.empty()) {
        unreadable_error(samples.where(), "no latency in this report", "it states no metric with a unit of time");
    }
    refuse(samples.where(),
           asked.empty() ? fmt::format("{} latencies in this report", names.size())
                         : "no metric " + headroom::quoted(asked),
           one_of(names), fmt::format("name one: --column {}", headroom::quoted(names.front())));
}

} // namespace headroom::io
