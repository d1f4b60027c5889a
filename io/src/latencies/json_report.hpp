#pragma once

#include "latencies/sample_builder.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::io {

/// A whole text as JSON, nested no deeper than reports are.
/// Errors: InputError{unreadable}.
nlohmann::json parse_report(std::string const& text, SampleBuilder& samples);

/// A number of an object, empty where it is missing or something else.
std::optional<double> number_in(nlohmann::json const& object, std::string const& key);
/// A count of requests of an object, empty where it is missing or something else.
std::optional<std::uint64_t> count_in(nlohmann::json const& object, std::string const& key);

/// The keys of a report that are read. Figures are in the unit of `samples`; a value of another type is counted, and so
/// are keys that were neither read nor are known to hold nothing of latencies.
class ReportKeys {
public:
    ReportKeys(nlohmann::json const& whole, SampleBuilder& samples) : samples_{samples} {
        if (whole.is_object()) { looked_at_.emplace_back("", &whole); }
    }

    /// A member of an object; null where it is missing.
    nlohmann::json const& member(nlohmann::json const& object, std::string const& key);
    /// A member that is an object, whose keys are to be read, too.
    nlohmann::json const& object(nlohmann::json const& of, std::string const& key) {
        nlohmann::json const& found = member(of, key);
        if (found.is_object()) { looked_at_.emplace_back(key, &found); }
        return found;
    }
    /// All members of an object or elements of a list.
    std::vector<std::pair<std::string, nlohmann::json>> members(nlohmann::json const& of);
    std::optional<double> number(nlohmann::json const& object, std::string const& key);
    void mean(nlohmann::json const& object, std::string const& key);
    void quantile(nlohmann::json const& object, std::string const& key, double q);
    /// Members whose names are percentiles: "50th", "p(95)", "p99_9", "med", "max".
    void quantiles(nlohmann::json const& object);
    std::uint64_t count(nlohmann::json const& object, std::string const& key);
    /// Keys, between blanks, that hold nothing of latencies.
    void known(nlohmann::json const& object, std::string_view keys);
    void finish();

private:
    SampleBuilder& samples_;
    std::vector<std::pair<std::string, nlohmann::json const*>> looked_at_;
    std::map<nlohmann::json const*, std::set<std::string>> used_;
};

} // namespace headroom::io
