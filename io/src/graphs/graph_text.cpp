// Common parts of the readers of graphs, below the graph: places, texts, names and costs.

#include "graphs/graph_draft.hpp"
#include "records/record.hpp"

#include "headroom/error.hpp"
#include "headroom/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>

namespace headroom::io {

SayPlace lines_of(std::string_view text, std::string where) {
    return [text, where = std::move(where)](Place place) {
        if (place == no_place) { return where; }
        auto const before = text.substr(0, std::min<std::size_t>(place, text.size()));
        return fmt::format("{}:{}", where, 1 + std::ranges::count(before, '\n'));
    };
}

std::size_t utf8_length(std::string_view text) {
    auto const byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    auto const continues = [&](std::size_t i, std::uint8_t low = 0x80U, std::uint8_t high = 0xBFU) {
        return i < text.size() && byte(i) >= low && byte(i) <= high;
    };
    std::uint8_t const lead = byte(0);
    if (lead < 0x80U) { return 1; }
    if (lead >= 0xC2U && lead <= 0xDFU) { return continues(1) ? 2 : 0; }
    if (lead >= 0xE0U && lead <= 0xEFU) { // neither overlong nor a surrogate
        bool const fits = continues(1, lead == 0xE0U ? 0xA0U : 0x80U, lead == 0xEDU ? 0x9FU : 0xBFU) && continues(2);
        return fits ? 3 : 0;
    }
    if (lead >= 0xF0U && lead <= 0xF4U) { // neither overlong nor beyond U+10FFFF
        bool const fits =
            continues(1, lead == 0xF0U ? 0x90U : 0x80U, lead == 0xF4U ? 0x8FU : 0xBFU) && continues(2) && continues(3);
        return fits ? 4 : 0;
    }
    return 0;
}

std::size_t first_not_text(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const length = text[at] == '\0' ? 0 : utf8_length(text.substr(at));
        if (length == 0) { return at; }
        at += length;
    }
    return std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
    auto const first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) { return {}; }
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string counted(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

bool looks_binary(std::string_view bytes) {
    return std::ranges::any_of(bytes.substr(0, 4096), [](char c) {
        return static_cast<unsigned char>(c) < 0x20U && c != '\n' && c != '\r' && c != '\t' && c != '\f';
    });
}

// ---- names --------------------------------------------------------------------------------------------------------

namespace {

std::uint32_t hash_of(std::string_view name) { return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name)); }

} // namespace

std::size_t NameTable::slot_of(std::string_view name, std::uint32_t hash) const {
    std::size_t const mask = slots_.size() - 1;
    for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
        if (slots_[slot].number == 0) { return slot; }
        if (slots_[slot].hash == hash && names_[slots_[slot].number - 1] == name) { return slot; }
    }
}

void NameTable::grow() {
    std::vector<Slot> const old = std::move(slots_);
    slots_.assign(std::max<std::size_t>(64, 2 * old.size()), Slot{});
    std::size_t const mask = slots_.size() - 1;
    for (Slot const& held : old) {
        if (held.number == 0) { continue; }
        std::size_t slot = held.hash & mask;
        while (slots_[slot].number != 0) { slot = (slot + 1) & mask; }
        slots_[slot] = held;
    }
}

std::uint32_t NameTable::intern(std::string_view name) {
    if (2 * names_.size() >= slots_.size()) { grow(); }
    std::uint32_t const hash = hash_of(name);
    Slot& slot = slots_[slot_of(name, hash)];
    if (slot.number == 0) {
        if (names_.size() >= most_tasks) { too_many_tasks(""); }
        names_.emplace_back(name);
        slot = {hash, static_cast<std::uint32_t>(names_.size())};
    }
    return slot.number - 1;
}

std::optional<std::uint32_t> NameTable::find(std::string_view name) const {
    if (slots_.empty()) { return std::nullopt; }
    std::uint32_t const held = slots_[slot_of(name, hash_of(name))].number;
    return held == 0 ? std::nullopt : std::optional{held - 1};
}

// ---- costs --------------------------------------------------------------------------------------------------------

namespace {

constexpr double largest_cost = 1e30;
constexpr std::size_t longest_unit = 40;

/// Quantities of costs, with the dimension by which their texts are parsed.
struct Measure {
    std::string_view name;
    Dimension dimension;
};
constexpr std::array measures{
    Measure{"seconds", {.seconds = 1}},
    Measure{"FLOPs", {.flops = 1}},
    Measure{"bytes", {.bytes = 1}},
};

/// Units of plain numbers beyond those that quantities are written with.
struct UnitWord {
    std::string_view word, measure;
    double up, down;
};
constexpr std::array unit_words{
    UnitWord{"flops", "FLOPs", 1, 1},           UnitWord{"gflops", "FLOPs", 1e9, 1},
    UnitWord{"tflops", "FLOPs", 1e12, 1},       UnitWord{"milliseconds", "seconds", 1, 1e3},
    UnitWord{"millisecond", "seconds", 1, 1e3}, UnitWord{"microseconds", "seconds", 1, 1e6},
    UnitWord{"microsecond", "seconds", 1, 1e6}, UnitWord{"nanoseconds", "seconds", 1, 1e9},
    UnitWord{"nanosecond", "seconds", 1, 1e9},  UnitWord{"picoseconds", "seconds", 1, 1e12},
    UnitWord{"picosecond", "seconds", 1, 1e12}, UnitWord{"ps", "seconds", 1, 1e12},
};

/// The row of `measures` that a unit belongs to; their number when it belongs to none.
std::size_t measure_of(std::string_view unit) {
    for (std::size_t i = 0; i < measures.size(); ++i) {
        try {
            parse_base(fmt::format("1 {}", unit), measures[i].dimension, "");
            return i;
        } catch (InputError const&) { continue; }
    }
    return measures.size();
}

} // namespace

void CostReader::require_one_style(bool with_unit, Place place) {
    if (with_unit_.value_or(with_unit) != with_unit) {
        unreadable_error(say_(place), with_unit ? "a cost with a unit" : "a cost without a unit",
                         with_unit ? "earlier costs have none" : "earlier costs have one", "write all costs one way");
    }
    with_unit_ = with_unit;
}

double CostReader::checked(double value, Place place) const {
    if (std::isnan(value)) { unreadable_error(say_(place), "a cost that is no number"); }
    if (value < 0.0) {
        unreadable_error(say_(place), fmt::format("negative cost {:g}", value), "a task takes at least nothing");
    }
    if (value > largest_cost) {
        unreadable_error(say_(place), fmt::format("cost {:g} is too large", value), "1e30 is most");
    }
    return value + 0.0; // no negative zero
}

double CostReader::number(double value, Place place) {
    require_one_style(false, place);
    return checked(value, place);
}

double CostReader::text(std::string_view text, Place place) {
    std::string_view const whole = trimmed(text);
    double value = 0.0;
    auto const [stop, error] = std::from_chars(whole.data(), whole.data() + whole.size(), value);
    std::string_view const unit = trimmed(whole.substr(static_cast<std::size_t>(stop - whole.data())));
    if (error == std::errc::result_out_of_range) {
        unreadable_error(say_(place), fmt::format("cost {} is out of range", headroom::quoted(text)), "1e30 is most");
    }
    if (error != std::errc{} || unit.size() > longest_unit) {
        unreadable_error(say_(place), fmt::format("cost {} is no amount", headroom::quoted(text)), {},
                         "write a number, or one with its unit: '3ms', '2GFLOP', '5MB'");
    }
    if (unit.empty()) { return number(value, place); }
    auto found = known_.find(unit);
    if (found == known_.end()) { found = known_.emplace(unit, measure_of(unit)).first; }
    if (found->second == measures.size()) {
        unreadable_error(say_(place), fmt::format("cost {} has an unknown unit", headroom::quoted(text)), {},
                         "write seconds ('3ms'), operations ('2GFLOP') or bytes ('5MB')");
    }
    require_one_style(true, place);
    Measure const& measure = measures[found->second];
    if (!dimension_.empty() && dimension_ != measure.name) {
        unreadable_error(say_(place), fmt::format("cost {} counts {}", headroom::quoted(text), measure.name),
                         fmt::format("other costs count {}", dimension_), "a graph has one kind of cost");
    }
    dimension_ = measure.name;
    bool const plausible = checked(value, place) >= 0.0; // else `parse_base` would say it in words of its own
    return plausible ? checked(parse_base(whole, measure.dimension, ""), place) : 0.0;
}

void CostReader::set_unit(std::string_view unit, Place place) {
    std::string_view const word = trimmed(unit);
    if (word.empty() || word.size() > longest_unit || first_not_text(word) != std::string_view::npos) {
        unreadable_error(say_(place), fmt::format("{} is no unit", headroom::quoted(unit)), {}, "for example 'ms'");
    }
    auto const named = std::ranges::find(unit_words, headroom::normalised(word), &UnitWord::word);
    if (named != unit_words.end()) {
        stated_ = named->measure, up_ = named->up, down_ = named->down;
        return;
    }
    std::size_t const row = measure_of(word);
    stated_ = word;
    if (row == measures.size()) { return; } // a word of the file's own: "cycles"
    stated_ = measures[row].name;
    double const one = parse_base(fmt::format("1 {}", word), measures[row].dimension, "");
    up_ = std::max(1.0, std::round(one)), down_ = one < 1.0 ? std::round(1.0 / one) : 1.0;
}

void CostReader::settle(GraphDraft& draft) const {
    draft.unit = stated_;
    if (with_unit_.value_or(false)) {
        if (!stated_.empty() && stated_ != dimension_) {
            unreadable_error(say_(no_place), fmt::format("the unit is {}", headroom::quoted(stated_)),
                             fmt::format("the costs count {}", dimension_), "leave the unit out");
        }
        draft.unit = dimension_;
    } else if (up_ != 1.0 || down_ != 1.0) {
        for (double& cost : draft.costs) { cost = cost * up_ / down_; }
        for (auto& link : draft.links) { link.cost = link.cost * up_ / down_; }
    }
}

} // namespace headroom::io
