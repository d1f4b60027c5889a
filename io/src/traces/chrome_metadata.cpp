#include "traces/chrome_metadata.hpp"

#include "traces/chrome_numbers.hpp"

#include <algorithm>
#include <array>

namespace headroom::io {

using namespace headroom::trace;

namespace {

constexpr std::size_t npos = std::string_view::npos;

bool is_white(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

std::size_t past_white(std::string_view text, std::size_t at) {
    while (at < text.size() && is_white(text[at])) { ++at; }
    return at;
}

/// Behind the string that opens at `at`.
std::size_t text_end(std::string_view text, std::size_t at, bool last, std::uint64_t base, ChromeFaults* faults) {
    for (std::size_t quote = at + 1; quote < text.size(); ++quote) {
        if (text[quote] == '\\') {
            ++quote;
        } else if (text[quote] == '"') {
            auto const next = past_white(text, quote + 1);
            if (next == text.size()) { return last ? next : npos; }
            constexpr std::string_view ends = ",:}]";
            if (ends.find(text[next]) != npos) { return quote + 1; }
            if (faults != nullptr) { faults->count(ChromeFault::quote_in_text, base + quote); }
        }
    }
    return npos;
}

/// Calls `take(key, value)` for each member of an object's text.
template <class Take> void each_member(std::string_view object, Take const& take) {
    std::size_t at = 1;
    while (!object.empty() && object[0] == '{' && (at = object.find('"', at)) != npos) {
        auto const key_end = text_end(object, at, true, 0, nullptr);
        if (key_end == npos) { return; }
        std::string_view const key = object.substr(at + 1, key_end - at - 2);
        at = past_white(object, key_end);
        if (at >= object.size() || object[at] != ':') { return; }
        at = past_white(object, at + 1);
        auto const end = value_end(object, at, true, 0, nullptr);
        if (end == npos || end <= at) { return; }
        take(key, object.substr(at, end - at));
        at = end;
    }
}

/// Calls `take(value)` for each element of an array's text.
template <class Take> void each_element(std::string_view array, Take const& take) {
    std::size_t at = 1;
    while (!array.empty() && array[0] == '[') {
        while (at < array.size() && (is_white(array[at]) || array[at] == ',')) { ++at; }
        if (at >= array.size() || array[at] == ']') { return; }
        auto const end = value_end(array, at, true, 0, nullptr);
        if (end == npos || end <= at) { return; }
        take(array.substr(at, end - at));
        at = end;
    }
}

std::string text_of(std::string_view value) {
    bool const quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
    return unescaped(quoted ? value.substr(1, value.size() - 2) : value);
}

std::optional<std::int64_t> number_of(std::string_view value) {
    if (value.size() >= 2 && value.front() == '"') { value = value.substr(1, value.size() - 2); }
    std::int64_t number = 0;
    return read_whole(value, number) ? std::optional(number) : std::nullopt;
}

std::int32_t small_number(std::string_view value) {
    auto const number = number_of(value);
    return number && *number >= 0 && *number <= 1'000'000'000 ? static_cast<std::int32_t>(*number) : 0;
}

TraceGroup group_of(std::string_view value) {
    TraceGroup group;
    each_member(value, [&](std::string_view key, std::string_view member) {
        if (key == "pg_name") { group.name = text_of(member); }
        if (key == "pg_desc") { group.description = text_of(member); }
        if (key == "ranks") {
            each_element(member, [&](std::string_view one) { group.ranks.push_back(small_number(one)); });
        }
    });
    return group;
}

ChromeMetadata::Device device_of(std::string_view value) {
    ChromeMetadata::Device device;
    each_member(value, [&](std::string_view key, std::string_view member) {
        if (key == "id") { device.id = number_of(member).value_or(0); }
        if (key == "name") { device.device.name = text_of(member); }
        if (key == "totalGlobalMem") { device.device.memory_bytes = number_of(member).value_or(0); }
        if (key == "numSms") { device.device.units = small_number(member); }
    });
    return device;
}

} // namespace

std::size_t value_end(std::string_view text, std::size_t at, bool last, std::uint64_t base, ChromeFaults* faults) {
    std::size_t depth = 0;
    while (at < text.size()) {
        char const byte = text[at];
        bool const separates = byte == ',' || is_white(byte);
        bool const closes = byte == '}' || byte == ']';
        if (depth == 0 && (separates || closes)) { return at; }
        if (byte == '"') {
            at = text_end(text, at, last, base, faults);
            if (at == npos || depth == 0) { return at; }
            continue;
        }
        if (byte == '{' || byte == '[') { ++depth; }
        ++at;
        if (closes && --depth == 0) { return at; }
    }
    return last && depth == 0 ? at : npos;
}

void ChromeMetadata::take(std::string_view key, std::string_view value) {
    constexpr std::array of_kineto{"schemaVersion", "deviceProperties", "distributedInfo", "baseTimeNanoseconds"};
    is_kineto = is_kineto || std::find(of_kineto.begin(), of_kineto.end(), key) != of_kineto.end();
    auto const ranks = [this](std::string_view name, std::string_view member) {
        if (auto const number = number_of(member); name == "rank" && can_be_rank(number.value_or(-1))) {
            rank = number;
        }
        if (name == "world_size") { world_size = number_of(member); }
        if (name == "pg_config") {
            each_element(member, [this](std::string_view one) { groups.push_back(group_of(one)); });
        }
    };
    ranks(key, value);
    if (key == "distributedInfo") { each_member(value, ranks); }
    if (key == "baseTimeNanoseconds") { base_ns = number_of(value); }
    if (key == "host_name" || key == "hostname") { host_name = text_of(value); }
    if (key == "deviceProperties") {
        each_element(value, [this](std::string_view one) { devices.push_back(device_of(one)); });
    }
}

} // namespace headroom::io
