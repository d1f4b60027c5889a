#include "records/record.hpp"
#include "training_logs/training_log_formats.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace headroom::io {
namespace {

constexpr std::size_t most_keys = 200;

/// Adds the text of a string of JSON without its escapes; signs beyond ASCII become a blank.
void add_unescaped(std::string_view text, std::string& out) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 1 >= text.size()) {
            out += text[i];
            continue;
        }
        char const escaped = text[++i];
        if (escaped == 'u' && i + 4 < text.size()) {
            unsigned code = 0;
            std::from_chars(text.data() + i + 1, text.data() + i + 5, code, 16);
            out += code >= 0x20 && code < 0x7f ? static_cast<char>(code) : ' ';
            if (code == 0x1b) { out.back() = '\x1b'; }
            i += 4;
        } else {
            out += escaped == 'n' ? '\n' : escaped == 'r' ? '\r' : escaped == 't' ? '\t' : escaped;
        }
    }
    if (!out.ends_with('\n') && !out.ends_with('\r')) { out += '\n'; }
}

bool is_step(std::string_view key) { return metrics_name(MetricsKind::step, key).has_value(); }

bool is_time(std::string_view key) {
    return metrics_name(MetricsKind::time, key) || metrics_name(MetricsKind::clock, key);
}

/// Adds the pairs of an object to another that has not yet their keys.
void add_pairs(FlatObject const& from, FlatObject& to) {
    for (FlatObject::Pair const& pair : from.pairs) {
        if (to.pairs.size() < FlatObject::most_keys && !to.text(pair.key)) { to.pairs.push_back(pair); }
    }
}

/// A cell, without tabs and quotes of its own.
void add_cell(std::string_view cell, std::string& out) {
    for (char const c : cell) { out += c == '\t' || c == '"' ? ' ' : c; }
}

} // namespace

std::string table_of_json(std::string_view text) {
    std::vector<std::string_view> keys;
    bool const trainers = text.find("\"log_history\"") != std::string_view::npos;
    if (trainers) { return {}; }
    bool rows = false;
    auto const scan_rows = [&](auto const& take) {
        FlatObject groups; // the pairs of groups of metrics, which end before what they stand in
        scan_objects(text, [&](FlatObject const& part) {
            if (part.depth == 2 && is_metrics_group(part.name)) { add_pairs(part, groups); }
            if (part.depth > 1) { return; }
            FlatObject object = part;
            add_pairs(std::exchange(groups, {}), object);
            bool const counts = std::ranges::any_of(object.pairs, is_step, &FlatObject::Pair::key) &&
                                std::ranges::any_of(object.pairs, is_time, &FlatObject::Pair::key);
            if (counts) { take(object); }
        });
    };
    scan_rows([&](FlatObject const& object) {
        rows = true;
        for (auto const& [key, value] : object.pairs) {
            if (keys.size() < most_keys && std::ranges::find(keys, key) == keys.end()) { keys.push_back(key); }
        }
    });
    if (!rows) { return {}; }
    std::string table;
    auto const add_row = [&](auto const& cell_of) {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (i > 0) { table += '\t'; }
            add_cell(cell_of(keys[i]), table);
        }
        table += '\n';
    };
    add_row([](std::string_view key) { return key; });
    scan_rows([&](FlatObject const& object) {
        add_row([&](std::string_view key) { return object.text(key).value_or(std::string_view{}); });
    });
    return table;
}

std::string lines_of_json(std::string_view text) {
    constexpr std::array<std::string_view, 5> wrappers{"message", "log", "textPayload", "msg", "line"};
    std::string lines;
    scan_objects(text, [&](FlatObject const& object) {
        for (std::string_view const wrapper : wrappers) {
            if (auto const line = object.text(wrapper)) { return add_unescaped(*line, lines); }
        }
    });
    return lines;
}

} // namespace headroom::io
