#include "arguments.hpp"

#include "text.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

namespace headroom::cli {
namespace {

[[noreturn]] void refuse(std::string_view where, std::string problem, std::string why, std::string hint) {
    throw InputError{
        Fault::usage,
        {.where = std::string{where}, .problem = std::move(problem), .why = std::move(why), .hint = std::move(hint)}};
}

std::string suggestion(std::string_view given, std::vector<std::string> const& choices) {
    std::string const near = nearest(given, choices);
    return near.empty() ? "choose from " + join(choices, ", ") : "did you mean '" + near + "'?";
}

constexpr std::size_t most_counts = 4096;
constexpr char const* count_forms = "write counts like 8, 8,16,64, 8..1024 (doubling) or 8..64:8 (steps of 8)";

std::vector<int> parse_range(std::string_view text, std::string_view where) {
    auto const dots = text.find("..");
    auto const colon = text.find(':', dots);
    int const first = parse_whole(text.substr(0, dots), where);
    int const last =
        parse_whole(text.substr(dots + 2, colon == std::string_view::npos ? colon : colon - dots - 2), where);
    if (last < first) {
        refuse(where, headroom::quoted(text) + " runs backwards", "", "write the smaller count first");
    }
    int const step = colon == std::string_view::npos ? 0 : parse_whole(text.substr(colon + 1), where);
    std::vector<int> counts;
    for (std::int64_t count = first; count <= last; count = step > 0 ? count + step : count * 2) {
        if (counts.size() >= most_counts) {
            refuse(where, headroom::quoted(text) + " names more than 4096 counts", "", "use a larger step");
        }
        counts.push_back(static_cast<int>(count));
    }
    return counts;
}

bool parse_switch(std::string_view text, std::string_view where) {
    return parse_choice(text, {"on", "off"}, where) == "on";
}

int parse_stage(std::string_view text, std::string_view where) {
    if (text.size() == 1 && text[0] >= '0' && text[0] <= '3') { return text[0] - '0'; }
    refuse(where, "no ZeRO stage " + headroom::quoted(text), "", "choose from 0, 1, 2, 3");
}

/// `shard` alone may be 0: all of dp.
int parse_shard(std::string_view text, std::string_view where) { return text == "0" ? 0 : parse_whole(text, where); }

Precision parse_precision(std::string_view text, std::string_view where) {
    if (auto const precision = precision_from(text)) { return *precision; }
    std::vector<std::string> names;
    for (Precision const p : {Precision::bf16, Precision::fp16, Precision::fp8, Precision::mxfp8, Precision::nvfp4,
                              Precision::fp32, Precision::tf32}) {
        names.emplace_back(name_of(p));
    }
    refuse(where, "unknown precision " + headroom::quoted(text), "", suggestion(text, names));
}

Recompute parse_recompute(std::string_view text, std::string_view where) {
    std::string const name = parse_choice(text, {"none", "selective", "full"}, where);
    return name == "none" ? Recompute::none : name == "full" ? Recompute::full : Recompute::selective;
}

struct Field {
    char const* name; ///< as in --fix and, after "--", as an option
    void (*assign)(PartialStrategy&, std::string_view, std::string_view);
};

template <std::optional<int> PartialStrategy::*Member>
void assign_whole(PartialStrategy& strategy, std::string_view text, std::string_view where) {
    strategy.*Member = parse_whole(text, where);
}

constexpr std::array fields{
    Field{"dp", assign_whole<&PartialStrategy::dp>},
    Field{"tp", assign_whole<&PartialStrategy::tp>},
    Field{"pp", assign_whole<&PartialStrategy::pp>},
    Field{"virtual-pp", assign_whole<&PartialStrategy::virtual_pp>},
    Field{"cp", assign_whole<&PartialStrategy::cp>},
    Field{"ep", assign_whole<&PartialStrategy::ep>},
    Field{"zero", [](PartialStrategy& s, std::string_view t, std::string_view w) { s.zero = parse_stage(t, w); }},
    Field{"shard", [](PartialStrategy& s, std::string_view t, std::string_view w) { s.shard = parse_shard(t, w); }},
    Field{"micro-batch", assign_whole<&PartialStrategy::micro_batch>},
    Field{"grad-accum", assign_whole<&PartialStrategy::grad_accum>},
    Field{"sequence-parallel",
          [](PartialStrategy& s, std::string_view t, std::string_view w) { s.sequence_parallel = parse_switch(t, w); }},
    Field{"recompute",
          [](PartialStrategy& s, std::string_view t, std::string_view w) { s.recompute = parse_recompute(t, w); }},
    Field{"precision",
          [](PartialStrategy& s, std::string_view t, std::string_view w) { s.precision = parse_precision(t, w); }},
    Field{"overlap", [](PartialStrategy& s, std::string_view t,
                        std::string_view w) { s.overlap = parse_switch(t, w) ? Overlap::on : Overlap::off; }},
};

/// Short names that training stacks use.
constexpr std::array<std::pair<char const*, char const*>, 6> aliases{{{"vp", "virtual-pp"},
                                                                      {"mb", "micro-batch"},
                                                                      {"mbs", "micro-batch"},
                                                                      {"gas", "grad-accum"},
                                                                      {"sp", "sequence-parallel"},
                                                                      {"fsdp", "zero"}}};

Field const* field_named(std::string_view name) {
    std::string wanted = normalised(name);
    for (auto const& [alias, full] : aliases) {
        if (wanted == alias) { wanted = normalised(full); }
    }
    for (Field const& field : fields) {
        if (normalised(field.name) == wanted) { return &field; }
    }
    return nullptr;
}

/// A bare number with the unit that the option's name gives it.
std::string with_unit(std::string_view text, std::string_view unit) {
    std::string const given = trimmed(text);
    bool const bare = !given.empty() && given.find_first_not_of("0123456789.eE+-") == std::string::npos;
    return bare ? given + " " + std::string{unit} : given;
}

} // namespace

std::optional<std::string> Arguments::text(std::string const& name) const {
    auto const found = values_.find(name);
    if (found == values_.end()) { return std::nullopt; }
    return found->second.empty() ? std::string{} : found->second.front();
}

std::vector<std::string> Arguments::all(std::string const& name) const {
    auto const found = values_.find(name);
    return found == values_.end() ? std::vector<std::string>{} : found->second;
}

std::string Arguments::required(std::string const& name, std::string_view hint) const {
    if (auto given = text(name); given && !given->empty()) { return *std::move(given); }
    refuse(name, "missing", "", std::string{hint});
}

std::optional<int> Arguments::count(std::string const& name) const {
    if (auto const given = text(name)) { return parse_whole(*given, name); }
    return std::nullopt;
}

std::optional<std::string> Arguments::choice(std::string const& name, std::vector<std::string> const& choices) const {
    if (auto const given = text(name)) { return parse_choice(*given, choices, name); }
    return std::nullopt;
}

int parse_whole(std::string_view text, std::string_view where) {
    double const count = parse_count(trimmed(text), where);
    if (count > static_cast<double>(std::numeric_limits<int>::max())) {
        refuse(where, headroom::quoted(text) + " is too large", "counts end at 2147483647", "");
    }
    return static_cast<int>(count);
}

std::vector<int> parse_counts(std::string_view text, std::string_view where) {
    std::vector<int> counts;
    for (std::string const& part : split(text, ',')) {
        bool const open = part.starts_with("..") || part.ends_with("..") || part.ends_with(':');
        bool const is_range = part.find("..") != std::string::npos;
        if (part.empty() || open || (!is_range && part.find(':') != std::string::npos)) {
            refuse(where, "cannot read " + headroom::quoted(text), "a count is missing", count_forms);
        }
        if (!is_range) {
            counts.push_back(parse_whole(part, where));
        } else {
            std::vector<int> const range = parse_range(part, where);
            counts.insert(counts.end(), range.begin(), range.end());
        }
    }
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    if (counts.size() > most_counts) {
        refuse(where, std::to_string(counts.size()) + " counts", "at most 4096 are planned at once",
               "use a larger step");
    }
    return counts;
}

std::string parse_choice(std::string_view text, std::vector<std::string> const& choices, std::string_view where) {
    for (std::string const& choice : choices) {
        if (normalised(choice) == normalised(text)) { return choice; }
    }
    refuse(where, "unknown value " + headroom::quoted(text), "", suggestion(text, choices));
}

std::vector<std::pair<std::string, std::string>> parse_pairs(std::string_view text, std::string_view where,
                                                             std::string_view example) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (std::string const& part : split(text, ',')) {
        auto const equals = part.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == part.size()) {
            refuse(where, "cannot read " + headroom::quoted(part), "it is not name=value",
                   "write it like " + std::string{example});
        }
        pairs.emplace_back(trimmed(std::string_view{part}.substr(0, equals)),
                           trimmed(std::string_view{part}.substr(equals + 1)));
    }
    return pairs;
}

Dollars parse_dollars(std::string_view text, std::string_view where) {
    return parse<Dollars>(with_unit(text, "$"), where);
}

DollarsPerSecond parse_price(std::string_view text, std::string_view where) {
    return parse<DollarsPerSecond>(with_unit(text, "$/h"), where);
}

bool is_strategy_field(std::string_view field) { return field_named(field) != nullptr; }

void assign(PartialStrategy& strategy, std::string_view name, std::string_view value, std::string_view where) {
    Field const* field = field_named(name);
    if (field == nullptr) {
        std::vector<std::string> names;
        names.reserve(fields.size());
        for (Field const& known : fields) { names.emplace_back(known.name); }
        refuse(where, "unknown field " + headroom::quoted(name), "", suggestion(name, names));
    }
    field->assign(strategy, value, where);
}

void assign_options(PartialStrategy& strategy, Arguments const& arguments) {
    for (Field const& field : fields) {
        std::string const option = std::string{"--"} + field.name;
        if (auto const given = arguments.text(option)) { field.assign(strategy, *given, option); }
    }
}

void assign_fixed(PartialStrategy& strategy, std::string_view text, std::string_view where) {
    std::vector<Field const*> seen;
    for (auto const& [name, value] : parse_pairs(text, where)) {
        Field const* field = field_named(name);
        if (field != nullptr && std::find(seen.begin(), seen.end(), field) != seen.end()) {
            refuse(where, headroom::quoted(name) + " twice", "one of the two would be ignored", "keep one");
        }
        seen.push_back(field);
        assign(strategy, name, value, std::string{where} + " " + name);
    }
}

} // namespace headroom::cli
