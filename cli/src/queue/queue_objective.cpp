#include "queue/queue_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

namespace headroom::cli {
namespace {

constexpr Seconds shortest{1e-12}, longest{1e12};

double read_percentile(std::string const& name, std::string const& where) {
    constexpr double least = 0.01, most = 0.999999;
    auto const q = percentile_in(name);
    if (!q || *q < least || *q > most) {
        refuse(where, headroom::quoted(name) + " is no percentile", "they go from p1 to p99.9999",
               "write it like 'p99<=200ms'");
    }
    return *q;
}

struct Limit {
    std::string name, value;
};

Limit split_limit(std::string const& part) {
    auto const at = part.find("<=");
    if (at == std::string::npos) {
        refuse("--objective", "cannot read " + headroom::quoted(part), "an objective is at most a time",
               "write it like 'p99<=200ms' or 'p99<=200ms,blocked<=0.1%'");
    }
    return {trimmed(part.substr(0, at)), trimmed(part.substr(at + 2))};
}

} // namespace

Seconds read_queue_time(std::string const& text, std::string const& where) {
    Seconds const time = parse<Seconds>(text, where);
    if (time < shortest || time > longest) {
        refuse(where, headroom::quoted(text) + " is out of range", "times lie between 1 ps and 1e12 s",
               "for example 12ms");
    }
    return time;
}

std::optional<LatencyObjective> read_queue_objective(Arguments const& arguments, bool finite) {
    auto const text = arguments.text("--objective");
    if (!text) { return std::nullopt; }
    LatencyObjective objective;
    std::optional<double> blocked;
    bool timed = false;
    for (std::string const& part : split(*text, ',')) {
        Limit const limit = split_limit(part);
        if (normalised(limit.name) == "blocked") {
            if (blocked) { refuse("--objective", "'blocked' twice", "", "keep one"); }
            blocked = io::parse_between(limit.value, 0.0, 1.0, "share of requests", "--objective");
            continue;
        }
        if (timed) { refuse("--objective", "two percentiles", "one at a time is kept", "keep the harder one"); }
        timed = true;
        objective.q = read_percentile(limit.name, "--objective");
        objective.latency = read_queue_time(limit.value, "--objective");
    }
    if (!timed) { refuse("--objective", "states no time", "", "write it like 'p99<=200ms,blocked<=0.1%'"); }
    if (blocked && !finite) {
        refuse("--objective", "'blocked' without --places", "nobody is turned away where there is room for all",
               "say how many find a place: --places 100");
    }
    objective.blocked = blocked.value_or(finite ? 1.0 - objective.q : 0.0);
    return objective;
}

} // namespace headroom::cli
