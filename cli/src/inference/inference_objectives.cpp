#include "inference/inference_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"

#include <array>
#include <cmath>

namespace headroom::cli {

using namespace headroom::serving;

namespace {

constexpr char const* example = "write it like ttft_p99<=500ms,tpot_p99<=50ms";

struct ObjectiveName {
    std::string_view name;
    std::optional<Seconds> ServingObjectives::*field;
};
constexpr std::array names{
    ObjectiveName{"ttft", &ServingObjectives::first_token},
    ObjectiveName{"tpot", &ServingObjectives::per_token},
    ObjectiveName{"latency", &ServingObjectives::whole},
};

/// "ttft_p99.9": the name, and the share of requests that must keep to it.
std::pair<std::string, double> name_and_share(std::string const& text, std::string_view where) {
    auto const at = text.find("_p");
    if (at == std::string::npos) { return {text, ServingObjectives{}.share}; }
    double const percentile =
        io::parse_between(text.substr(at + 2), 1.0, 99.99, "percentile, 1 to 99.99", std::string{where});
    return {text.substr(0, at), percentile / 100.0};
}

} // namespace

ServingObjectives parse_objectives(std::string_view text, std::string_view where) {
    ServingObjectives objectives;
    std::optional<double> share;
    for (std::string const& part : split(text, ',')) {
        auto const at = part.find('<');
        if (at == std::string::npos || at == 0) {
            refuse(where, "cannot read " + headroom::quoted(part), "it is not a time and its limit", example);
        }
        auto const [name, of] = name_and_share(trimmed(part.substr(0, at)), where);
        std::size_t const value = at + (part.substr(at).starts_with("<=") ? 2 : 1);
        std::vector<std::string> known;
        bool found = false;
        for (ObjectiveName const& one : names) {
            known.emplace_back(one.name);
            if (normalised(name) != one.name) { continue; }
            if (objectives.*one.field) { refuse(where, name + " is limited twice", "", "keep one"); }
            Seconds const limit = parse<Seconds>(trimmed(part.substr(value)), where);
            if (limit <= Seconds{}) { refuse(where, headroom::quoted(part) + " cannot be kept", "time passes", ""); }
            objectives.*one.field = limit;
            found = true;
        }
        if (!found) {
            refuse(where, "unknown time " + headroom::quoted(name), "times are ttft, tpot and latency",
                   did_you_mean(name, known, example));
        }
        if (share && std::abs(*share - of) > 1e-12) {
            refuse(where, "two shares of requests", "a request counts where it meets all objectives",
                   "give every objective the same percentile");
        }
        share = of;
    }
    objectives.share = share.value_or(objectives.share);
    return objectives;
}

std::string objectives_words(ServingObjectives const& objectives) {
    std::vector<std::string> parts;
    if (objectives.first_token) { parts.push_back("TTFT <= " + format(*objectives.first_token)); }
    if (objectives.per_token) { parts.push_back("TPOT <= " + format(*objectives.per_token)); }
    if (objectives.whole) { parts.push_back("latency <= " + format(*objectives.whole)); }
    if (parts.empty()) { return "every request answered"; }
    return join(parts, " and ") + " for " + short_number(100.0 * objectives.share) + " % of requests";
}

} // namespace headroom::cli
