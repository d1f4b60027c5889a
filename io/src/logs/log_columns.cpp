#include "logs/log_columns.hpp"

#include <algorithm>

namespace headroom::io {
namespace {

struct Unit {
    std::string_view name; ///< in lower case
    double base;
};

constexpr std::array time_units{
    Unit{"s", 1.0},          Unit{"sec", 1.0},        Unit{"secs", 1.0},          Unit{"second", 1.0},
    Unit{"seconds", 1.0},    Unit{"ms", 1e-3},        Unit{"msec", 1e-3},         Unit{"millisecond", 1e-3},
    Unit{"us", 1e-6},        Unit{"usec", 1e-6},      Unit{"usecs", 1e-6},        Unit{"microsecond", 1e-6},
    Unit{"ns", 1e-9},        Unit{"nsec", 1e-9},      Unit{"nanosecond", 1e-9},   Unit{"milliseconds", 1e-3},
    Unit{"\xC2\xB5s", 1e-6}, Unit{"\xCE\xBCs", 1e-6}, Unit{"microseconds", 1e-6}, Unit{"nanoseconds", 1e-9},
};
constexpr double kibi = 1024.0;
constexpr std::array size_units{
    Unit{"b", 1.0},    Unit{"byte", 1.0},       Unit{"bytes", 1.0},
    Unit{"kb", 1e3},   Unit{"mb", 1e6},         Unit{"gb", 1e9},
    Unit{"k", kibi},   Unit{"m", kibi* kibi},   Unit{"g", kibi* kibi* kibi},
    Unit{"kib", kibi}, Unit{"mib", kibi* kibi}, Unit{"gib", kibi* kibi* kibi},
};
/// The tests of collectives write GB/s as "gbps" in the names of bandwidth columns; so it is read there and nowhere else.
constexpr std::array rate_units{
    Unit{"b/s", 1.0},      Unit{"bytes/s", 1.0},
    Unit{"mb/s", 1e6},     Unit{"mbps", 1e6},
    Unit{"gb/s", 1e9},     Unit{"gbps", 1e9},
    Unit{"gbs", 1e9},      Unit{"gbyte/s", 1e9},
    Unit{"gbytes/s", 1e9}, Unit{"gib/s", kibi* kibi* kibi},
};

template <std::size_t N> std::optional<double> unit_in(std::array<Unit, N> const& units, std::string_view name) {
    std::string lower{name};
    std::ranges::transform(lower, lower.begin(), lowered);
    for (Unit const& unit : units) {
        if (unit.name == lower) { return unit.base; }
    }
    return std::nullopt;
}

struct Named {
    std::string_view name; ///< letters and digits alone, in lower case
    LogColumn what;
    int preference; ///< of several columns the lowest is taken
};
constexpr std::array names{
    Named{"id", LogColumn::id, 0},
    Named{"tableid", LogColumn::id, 0},
    Named{"system", LogColumn::system, 0},
    Named{"cluster", LogColumn::system, 1},
    Named{"machine", LogColumn::system, 2},
    Named{"hardware", LogColumn::system, 3},
    Named{"platform", LogColumn::system, 4},
    Named{"interconnect", LogColumn::interconnect, 0},
    Named{"network", LogColumn::interconnect, 1},
    Named{"fabric", LogColumn::interconnect, 2},
    Named{"ranks", LogColumn::ranks, 0},
    Named{"nranks", LogColumn::ranks, 0},
    Named{"rankcount", LogColumn::ranks, 0},
    Named{"worldsize", LogColumn::ranks, 0},
    Named{"world", LogColumn::ranks, 1},
    Named{"gpus", LogColumn::ranks, 2},
    Named{"ngpus", LogColumn::ranks, 2},
    Named{"gpucount", LogColumn::ranks, 2},
    Named{"processes", LogColumn::ranks, 3},
    Named{"procs", LogColumn::ranks, 3},
    Named{"nprocs", LogColumn::ranks, 3},
    Named{"np", LogColumn::ranks, 3},
    Named{"p", LogColumn::ranks, 4},
    Named{"workers", LogColumn::ranks, 4},
    Named{"devices", LogColumn::ranks, 4},
    Named{"accelerators", LogColumn::ranks, 4},
    Named{"tasks", LogColumn::ranks, 5},
    Named{"ntasks", LogColumn::ranks, 5},
    Named{"nodes", LogColumn::nodes, 0},
    Named{"nnodes", LogColumn::nodes, 0},
    Named{"nodecount", LogColumn::nodes, 0},
    Named{"hosts", LogColumn::nodes, 1},
    Named{"servers", LogColumn::nodes, 1},
    Named{"machines", LogColumn::nodes, 2},
    Named{"collective", LogColumn::collective, 0},
    Named{"coll", LogColumn::collective, 0},
    Named{"collectivename", LogColumn::collective, 0},
    Named{"operation", LogColumn::collective, 1},
    Named{"primitive", LogColumn::collective, 1},
    Named{"benchmark", LogColumn::collective, 2},
    Named{"test", LogColumn::collective, 3},
    Named{"function", LogColumn::collective, 4},
    Named{"op", LogColumn::collective, 5},
    Named{"name", LogColumn::collective, 6},
    Named{"size", LogColumn::size, 0},
    Named{"nbytes", LogColumn::size, 0},
    Named{"message", LogColumn::size, 1},
    Named{"messagesize", LogColumn::size, 1},
    Named{"msgsize", LogColumn::size, 1},
    Named{"msg", LogColumn::size, 1},
    Named{"buffersize", LogColumn::size, 2},
    Named{"buffer", LogColumn::size, 2},
    Named{"datasize", LogColumn::size, 2},
    Named{"payload", LogColumn::size, 2},
    Named{"time", LogColumn::time, 0},
    Named{"latency", LogColumn::time, 1},
    Named{"duration", LogColumn::time, 1},
    Named{"elapsed", LogColumn::time, 2},
    Named{"runtime", LogColumn::time, 2},
    Named{"t", LogColumn::time, 3},
    Named{"busbw", LogColumn::bus_bandwidth, 0},
    Named{"busbandwidth", LogColumn::bus_bandwidth, 0},
    Named{"algbw", LogColumn::algorithm_bandwidth, 0},
    Named{"algobw", LogColumn::algorithm_bandwidth, 0},
    Named{"algbandwidth", LogColumn::algorithm_bandwidth, 0},
    Named{"algorithmbandwidth", LogColumn::algorithm_bandwidth, 0},
    Named{"dtype", LogColumn::data_type, 0},
    Named{"datatype", LogColumn::data_type, 0},
    Named{"type", LogColumn::data_type, 1},
    Named{"algorithm", LogColumn::algorithm, 0},
    Named{"algo", LogColumn::algorithm, 0},
    Named{"alg", LogColumn::algorithm, 0},
    Named{"protocol", LogColumn::protocol, 0},
    Named{"proto", LogColumn::protocol, 0},
    Named{"source", LogColumn::source, 0},
    Named{"consistency", LogColumn::consistency, 0},
    Named{"wrong", LogColumn::wrong, 0},
    Named{"nwrong", LogColumn::wrong, 0},
    Named{"errors", LogColumn::wrong, 1},
};

/// Words of a name that choose among columns of one kind, with what they add to the preference.
struct Modifier {
    std::string_view word;
    int preference;
};
constexpr int never = 10'000;
constexpr std::array modifiers{
    Modifier{"avg", -100},     Modifier{"average", -100}, Modifier{"mean", -100}, Modifier{"median", -50},
    Modifier{"min", 100},      Modifier{"best", 100},     Modifier{"max", never}, Modifier{"worst", never},
    Modifier{"std", never},    Modifier{"stddev", never}, Modifier{"num", 0},     Modifier{"number", 0},
    Modifier{"of", 0},         Modifier{"total", 0},      Modifier{"out", 0},     Modifier{"in", 0},
    Modifier{"place", 0},      Modifier{"oop", 0},        Modifier{"ip", 0},      Modifier{"inplace", 0},
    Modifier{"outofplace", 0},
};

std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    for (char const c : name) {
        bool const part = (c >= '0' && c <= '9') || (lowered(c) >= 'a' && lowered(c) <= 'z') || c == '/' ||
                          static_cast<unsigned char>(c) >= 0x80;
        if (part) {
            words.back() += lowered(c);
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    if (words.back().empty()) { words.pop_back(); }
    return words;
}

bool has_word(std::vector<std::string> const& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

/// What a column's name says, with how much it is preferred; nothing when it is not known.
struct Meaning {
    LogColumn what = LogColumn::id;
    int preference = never;
    double unit = 0.0;
};

int place_preference(std::vector<std::string> const& words, bool in_place) {
    bool const out = has_word(words, "oop") || has_word(words, "out") || has_word(words, "outofplace");
    bool const in = !out && (has_word(words, "ip") || has_word(words, "inplace") ||
                             (has_word(words, "in") && has_word(words, "place")));
    if (in) { return in_place ? -1000 : 1000; }
    return 0;
}

std::optional<double> unit_for(LogColumn what, std::string_view word) {
    switch (what) {
    case LogColumn::time: return time_unit(word);
    case LogColumn::size: return size_unit(word);
    case LogColumn::algorithm_bandwidth:
    case LogColumn::bus_bandwidth: return rate_unit(word);
    default: return std::nullopt;
    }
}

Meaning named(std::string const& key, std::string const& unit, int preference) {
    for (Named const& one : names) {
        if (one.name != key) { continue; }
        auto const value = unit.empty() ? std::optional{0.0} : unit_for(one.what, unit);
        if (value) { return {one.what, one.preference + preference, *value}; }
    }
    if (!key.empty()) { return {}; }
    if (auto const seconds = time_unit(unit)) { return {LogColumn::time, 50 + preference, *seconds}; }
    if (auto const bytes = size_unit(unit); bytes && unit.size() > 1) {
        return {LogColumn::size, 50 + preference, *bytes};
    }
    return {};
}

Meaning meaning_of(std::string_view name, bool in_place) {
    std::vector<std::string> const words = words_of(name);
    int preference = place_preference(words, in_place);
    std::vector<std::string> kept;
    for (std::string const& word : words) {
        auto const modifier = std::ranges::find(modifiers, std::string_view{word}, &Modifier::word);
        if (modifier == modifiers.end()) {
            kept.push_back(word);
        } else {
            preference += modifier->preference;
        }
    }
    auto const joined = [&](std::size_t count) {
        std::string key;
        for (std::size_t i = 0; i < count; ++i) { key += kept[i]; }
        return key;
    };
    if (kept.empty()) {
        bool const marks_place = has_word(words, "inplace") || (has_word(words, "in") && has_word(words, "place"));
        return marks_place ? Meaning{LogColumn::in_place, 0, 0.0} : Meaning{};
    }
    Meaning const plain = named(joined(kept.size()), "", preference);
    return plain.preference < never ? plain : named(joined(kept.size() - 1), kept.back(), preference);
}

} // namespace

std::optional<double> time_unit(std::string_view unit) { return unit_in(time_units, unit); }
std::optional<double> size_unit(std::string_view unit) { return unit_in(size_units, unit); }
std::optional<double> rate_unit(std::string_view unit) { return unit_in(rate_units, unit); }

LogHeader match_log_header(std::vector<std::string> const& header, bool in_place) {
    LogHeader matched;
    std::array<int, log_columns> best{};
    best.fill(never);
    for (std::size_t i = 0; i < header.size(); ++i) {
        Meaning const meaning = meaning_of(header[i], in_place);
        auto const what = static_cast<std::size_t>(meaning.what);
        if (meaning.preference >= best.at(what)) { continue; }
        best.at(what) = meaning.preference;
        matched.places.at(what) = {static_cast<int>(i), meaning.unit};
    }
    return matched;
}

} // namespace headroom::io
