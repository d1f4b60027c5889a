#include "topology_fields.hpp"

#include "records/record.hpp"

#include "headroom/io/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::io {

TopologyFields::TopologyFields(std::string_view text, std::string_view where) : where_{where} {
    for (bool first = true; !text.empty(); first = false) {
        std::string_view const field = text.substr(0, text.find(','));
        bool const last = field.size() == text.size();
        text = last ? std::string_view{} : text.substr(field.size() + 1);
        auto const sign = field.find('=');
        if (sign == std::string_view::npos) {
            if (!first || field.empty()) {
                usage_error(where, fmt::format("{} is no field", headroom::quoted(field)), {}, "write key=value");
            }
            sides_ = field;
            continue;
        }
        Field const one{std::string{field.substr(0, sign)}, std::string{field.substr(sign + 1)}};
        bool const twice = std::any_of(fields_.begin(), fields_.end(), [&](Field const& other) {
            return normalised(other.key) == normalised(one.key);
        });
        if (twice) {
            usage_error(where, fmt::format("{} is there twice", headroom::quoted(one.key)), {}, "say it once");
        }
        fields_.push_back(one);
        if (last) { return; }
        if (text.empty()) { usage_error(where, "ends with a comma", {}, "leave it out"); }
    }
}

std::string const* TopologyFields::find(std::string_view key) {
    asked_.emplace_back(key);
    auto const found = std::find_if(fields_.begin(), fields_.end(),
                                    [&](Field const& field) { return normalised(field.key) == normalised(key); });
    return found == fields_.end() ? nullptr : &found->value;
}

std::string TopologyFields::place(std::string_view key) const { return fmt::format("{}: '{}'", where_, key); }

bool TopologyFields::read(std::string_view key, int& value) {
    std::string const* const text = find(key);
    if (text != nullptr) { value = parse_whole(*text, place(key)); }
    return text != nullptr;
}

bool TopologyFields::read(std::string_view key, double& ratio) {
    std::string const* const text = find(key);
    if (text != nullptr) { ratio = parse_between(*text, 1e-3, 1e6, "ratio", place(key)); }
    return text != nullptr;
}

bool TopologyFields::read(std::string_view key, bool& value) {
    std::string word;
    bool const there = read(key, word, {"yes", "no"});
    if (there) { value = word == "yes"; }
    return there;
}

bool TopologyFields::read(std::string_view key, std::string& word, std::vector<std::string> const& choices) {
    std::string const* const text = find(key);
    if (text != nullptr) { word = parse_choice(*text, choices, place(key)); }
    return text != nullptr;
}

void TopologyFields::refuse_the_rest() const {
    for (Field const& field : fields_) {
        bool const known = std::any_of(asked_.begin(), asked_.end(), [&](std::string const& key) {
            return normalised(key) == normalised(field.key);
        });
        if (known) { continue; }
        std::string const near = did_you_mean(field.key, asked_);
        usage_error(where_, fmt::format("unknown field {}", headroom::quoted(field.key)), {},
                    near.empty() ? fmt::format("choose from {}", fmt::join(asked_, ", ")) : near);
    }
}

} // namespace headroom::io
