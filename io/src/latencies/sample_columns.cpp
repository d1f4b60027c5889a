#include "latencies/sample_columns.hpp"

#include "latencies/latency_unit.hpp"
#include "logs/log_lines.hpp"
#include "records/record.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace headroom::io {
namespace {

/// Words of a name joined, in lower case and without a unit; the earlier in the table, the surer.
constexpr std::array value_names{
    std::string_view{"latency"},
    std::string_view{"latencies"},
    std::string_view{"responsetime"},
    std::string_view{"httpreqduration"},
    std::string_view{"metricvalue"},
    std::string_view{"duration"},
    std::string_view{"elapsed"},
    std::string_view{"elapsedtime"},
    std::string_view{"requesttime"},
    std::string_view{"requestlatency"},
    std::string_view{"requestduration"},
    std::string_view{"timetaken"},
    std::string_view{"totaltime"},
    std::string_view{"ttime"},
    std::string_view{"servicetime"},
    std::string_view{"roundtrip"},
    std::string_view{"roundtriptime"},
    std::string_view{"rtt"},
    std::string_view{"e2elatency"},
    std::string_view{"steptime"},
    std::string_view{"iterationtime"},
    std::string_view{"realtime"},
    std::string_view{"walltime"},
    std::string_view{"runtime"},
    std::string_view{"ttft"},
    std::string_view{"took"},
    std::string_view{"datavalue"},
    std::string_view{"value"},
    std::string_view{"sample"},
    std::string_view{"samples"},
};
constexpr std::array time_names{
    std::string_view{"timestamp"},   std::string_view{"sent"},     std::string_view{"sentat"},
    std::string_view{"sendtime"},    std::string_view{"start"},    std::string_view{"starttime"},
    std::string_view{"startedat"},   std::string_view{"started"},  std::string_view{"starttimestamp"},
    std::string_view{"requestedat"}, std::string_view{"arrival"},  std::string_view{"arrivaltime"},
    std::string_view{"arrivedat"},   std::string_view{"begin"},    std::string_view{"ts"},
    std::string_view{"time"},        std::string_view{"datatime"}, std::string_view{"datetime"},
    std::string_view{"date"},        std::string_view{"epoch"},    std::string_view{"offset"},
};

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_word(char c) {
    return (c >= '0' && c <= '9') || (lowered(c) >= 'a' && lowered(c) <= 'z') || static_cast<unsigned char>(c) >= 0x80;
}

/// "responseTime_ms" as response, time, ms.
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    for (std::size_t i = 0; i < name.size(); ++i) {
        bool const hump = i > 0 && is_upper(name[i]) && is_word(name[i - 1]) && !is_upper(name[i - 1]);
        if ((hump || !is_word(name[i])) && !words.back().empty()) { words.emplace_back(); }
        if (is_word(name[i])) { words.back() += lowered(name[i]); }
    }
    if (words.back().empty()) { words.pop_back(); }
    return words;
}

struct Name {
    std::string key, unit;
};

Name taken_apart(std::string_view column) {
    std::vector<std::string> words = words_of(column);
    Name name;
    // "m" and "h" are rather other words than minutes and hours.
    if (!words.empty() && words.back().size() > (words.size() > 1 && words.back() == "s" ? 0U : 1U)) {
        if (auto const unit = latency_unit(words.back())) {
            name.unit = unit->name;
            words.pop_back();
        }
    }
    for (std::string const& word : words) { name.key += word; }
    return name;
}

template <std::size_t N> std::size_t place_in(std::array<std::string_view, N> const& table, std::string const& key) {
    return static_cast<std::size_t>(std::ranges::find(table, key) - table.begin());
}

} // namespace

SampleColumn value_column(std::vector<std::string> const& names, std::string_view where) {
    constexpr std::size_t by_unit = value_names.size(); // "prefill_ms": no name that is known, but a unit
    std::size_t best = by_unit + 1;
    SampleColumn found;
    std::vector<std::string> alike;
    for (std::size_t i = 0; i < names.size(); ++i) {
        Name const name = taken_apart(names[i]);
        std::size_t place = place_in(value_names, name.key);
        bool const is_time = place_in(time_names, name.key) < time_names.size();
        bool const only_a_unit = !name.unit.empty() && (!is_time || name.key == "time");
        if (place == by_unit && !only_a_unit) { continue; }
        if (place < best) { alike.clear(); }
        if (place <= best) { alike.push_back(names[i]); }
        if (place < best) {
            best = place;
            found = {.column = static_cast<int>(i), .unit = name.unit};
        }
    }
    if (best == by_unit && alike.size() > 1) {
        usage_error(where, "several columns could be the values", one_of(alike), "name one: --column NAME");
    }
    return found;
}

SampleColumn time_column(std::vector<std::string> const& names, int values) {
    std::size_t best = time_names.size();
    SampleColumn found;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (static_cast<int>(i) == values) { continue; }
        Name const name = taken_apart(names[i]);
        std::size_t const place = place_in(time_names, name.key);
        if (place >= best) { continue; }
        best = place;
        found = {.column = static_cast<int>(i), .unit = name.unit};
    }
    return found;
}

SampleColumn asked_column(std::vector<std::string> const& names, std::string const& asked, bool named,
                          std::string_view where) {
    for (bool const exactly : {true, false}) {
        for (std::size_t i = 0; named && i < names.size(); ++i) {
            bool const same = exactly ? names[i] == asked : normalised(names[i]) == normalised(asked);
            if (same) { return {.column = static_cast<int>(i), .unit = taken_apart(names[i]).unit}; }
        }
    }
    std::size_t number = 0;
    auto const [stop, error] = std::from_chars(asked.data(), asked.data() + asked.size(), number);
    bool const whole = error == std::errc{} && stop == asked.data() + asked.size();
    if (whole && number >= 1 && number <= names.size()) {
        auto const column = static_cast<int>(number - 1);
        return {.column = column, .unit = named ? taken_apart(names[number - 1]).unit : std::string{}};
    }
    std::string const hint = named ? did_you_mean(asked, names) : std::string{};
    usage_error(where, "no column " + headroom::quoted(asked),
                named ? one_of(names) : fmt::format("there are {}, without names", names.size()),
                hint.empty() ? "columns are named or numbered from 1" : hint);
}

} // namespace headroom::io
