#include "json_keys.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace headroom::io {

namespace {

using nlohmann::json;

constexpr int deepest = 64;

std::string place_of_byte(std::string_view where, std::string_view text, std::size_t at) {
    auto const before = text.substr(0, std::min(at, text.size()));
    return fmt::format("{}:{}", where, 1 + std::ranges::count(before, '\n'));
}

/// The text as the parser can read it: NaN and Infinity, which Python writes, become texts, so that a key whose number they
/// are is refused and one that nobody asks for is not. Errors: InputError{usage} on deep nesting.
std::string with_texts_for_infinities(std::string_view text, std::string_view where) {
    std::string result;
    result.reserve(text.size());
    int depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        char const c = text[at];
        if (c == '"') {
            std::size_t const from = at;
            for (++at; at < text.size() && text[at] != '"'; ++at) {
                if (text[at] == '\\') { ++at; }
            }
            result += text.substr(from, at - from + 1);
            continue;
        }
        if (c == '[' || c == '{') {
            if (++depth > deepest) {
                refuse(place_of_byte(where, text, at), "values nested too deeply",
                       fmt::format("at most {} levels are read", deepest));
            }
        } else if (c == ']' || c == '}') {
            --depth;
        }
        std::string_view const rest = text.substr(at);
        bool replaced = false;
        for (std::string_view const word : {"NaN", "Infinity", "-Infinity"}) {
            if (replaced || !rest.starts_with(word)) { continue; }
            result += fmt::format("\"{}\"", word);
            at += word.size() - 1;
            replaced = true;
        }
        if (!replaced) { result += c; }
    }
    return result;
}

/// Parses and refuses keys that an object holds twice: which of the two is meant cannot be known.
json parse(std::string_view text, std::string_view where) {
    std::vector<std::set<std::string>> open;
    auto const watch = [&](int, json::parse_event_t event, json& parsed) {
        if (event == json::parse_event_t::object_start) { open.emplace_back(); }
        if (event == json::parse_event_t::object_end) { open.pop_back(); }
        if (event == json::parse_event_t::key) {
            auto const key = parsed.get<std::string>();
            if (!open.back().insert(key).second) {
                std::size_t const first = text.find('"' + key + '"');
                std::size_t const again = first == std::string_view::npos ? 0 : text.find('"' + key + '"', first + 1);
                refuse(place_of_byte(where, text, again), fmt::format("key {} twice", headroom::quoted(key)),
                       "one of the two would be ignored", "remove one");
            }
        }
        return true;
    };
    try {
        return json::parse(text, watch);
    } catch (json::parse_error const& error) {
        bool const at_end = error.byte > text.size();
        unreadable_error(place_of_byte(where, text, error.byte == 0 ? 0 : error.byte - 1), "not valid JSON",
                         at_end ? "the text ends before the value does" : "unexpected text from here on");
    } catch (json::exception const&) { // a number that no double can hold
        refuse(where, "a number out of range", "every number of a model is finite");
    }
}

std::string_view type_name(json const& value) {
    switch (value.type()) {
    case json::value_t::string: return "text";
    case json::value_t::boolean: return "true or false";
    case json::value_t::array: return "a list";
    case json::value_t::object: return "an object";
    case json::value_t::null: return "null";
    default: return "a number";
    }
}

} // namespace

struct JsonKeys::State {
    std::string where, text;
    json document;
    json const* object = nullptr;
    std::string prefix; ///< of the object entered: "text_config."
    json defaults = json::object();
    std::set<std::string> asked, defaulted;

    /// Null when absent; "a.b" descends. A key that the file leaves out, rather than null, has its class's default.
    [[nodiscard]] json const* find(std::string_view key) const {
        auto const stated = object->find(std::string{key.substr(0, key.find('.'))});
        return find_in(stated == object->end() ? defaults : *object, key);
    }

    [[nodiscard]] static json const* find_in(json const& from, std::string_view key) {
        json const* at = &from;
        for (;;) {
            auto const dot = key.find('.');
            std::string const head = std::string{key.substr(0, dot)};
            if (!at->is_object()) { return nullptr; }
            auto const found = at->find(head);
            if (found == at->end() || found->is_null()) { return nullptr; }
            at = &*found;
            if (dot == std::string_view::npos) { return at; }
            key.remove_prefix(dot + 1);
        }
    }

    json const* ask(std::string_view key) {
        json const* found = find(key);
        if (found != nullptr) {
            bool const stated = object->contains(std::string{key.substr(0, key.find('.'))});
            (stated ? asked : defaulted).insert(prefix + std::string{key});
        }
        return found;
    }
};

JsonKeys::JsonKeys(std::string_view text, std::string_view where) : state_{std::make_unique<State>()} {
    state_->where = where;
    if (text.size() > record_limit) {
        unreadable_error(where, fmt::format("{} bytes are too many", text.size()),
                         fmt::format("a config.json has at most {} bytes", record_limit));
    }
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        unreadable_error(where, "an empty file", "not JSON");
    }
    state_->text = with_texts_for_infinities(text, where);
    state_->document = parse(state_->text, where);
    if (!state_->document.is_object()) {
        refuse(where, fmt::format("{} at the top", type_name(state_->document)), "a config.json is one object");
    }
    state_->object = &state_->document;
}

JsonKeys::~JsonKeys() = default;

bool JsonKeys::has(std::string_view key) const { return state_->find(key) != nullptr; }

bool JsonKeys::says_something(std::string_view key) const {
    auto const* found = state_->find(key);
    if (found == nullptr) { return false; }
    if (found->is_boolean()) { return found->get<bool>(); }
    if (found->is_number()) { return found->get<double>() != 0.0; }
    return !found->empty();
}

bool JsonKeys::has_object(std::string_view key) const {
    auto const* found = state_->find(key);
    return found != nullptr && found->is_object();
}

bool JsonKeys::states(std::string_view key) const {
    return state_->object->contains(std::string{key.substr(0, key.find('.'))});
}

bool JsonKeys::is_text(std::string_view key) const {
    auto const* found = state_->find(key);
    return found != nullptr && found->is_string();
}

bool JsonKeys::has_list(std::string_view key) const {
    auto const* found = state_->find(key);
    return found != nullptr && found->is_array();
}

void JsonKeys::set_defaults(std::string_view members) {
    state_->defaults = json::parse(fmt::format("{{{}}}", members));
}

std::vector<std::pair<std::string, std::string>> JsonKeys::defaulted() const {
    std::vector<std::pair<std::string, std::string>> used;
    for (auto const& key : state_->defaulted) {
        auto const* value = State::find_in(state_->defaults, std::string_view{key}.substr(state_->prefix.size()));
        used.emplace_back(key, value == nullptr ? "" : value->dump());
    }
    return used;
}

std::string const& JsonKeys::prefix() const { return state_->prefix; }

void JsonKeys::enter(std::string_view key) {
    state_->object = state_->find(key);
    state_->prefix += std::string{key} + ".";
}

void JsonKeys::fail(std::string_view key, std::string problem, std::string why, std::string hint) const {
    std::string const name = state_->prefix + std::string{key};
    auto const dot = name.rfind('.');
    std::string const last = '"' + (dot == std::string::npos ? name : name.substr(dot + 1)) + '"';
    auto const at = state_->find(key) == nullptr ? std::string::npos : state_->text.find(last);
    refuse(at == std::string::npos ? state_->where : place_of_byte(state_->where, state_->text, at),
           fmt::format("{}: {}", name, problem), std::move(why), std::move(hint));
}

namespace {

int whole_of(JsonKeys const& keys, std::string_view key, json const& value, Range range) {
    if (!value.is_number()) { keys.fail(key, fmt::format("{} where a whole number is due", type_name(value))); }
    double const number = value.get<double>();
    if (number != std::floor(number)) { keys.fail(key, fmt::format("{:g} where a whole number is due", number)); }
    range.high = std::min(range.high, double{std::numeric_limits<int>::max()});
    if (!(number >= range.low && number <= range.high)) {
        keys.fail(key, fmt::format("{:.10g} is out of range", number),
                  fmt::format("from {:.10g} to {:.10g}", range.low, range.high));
    }
    return static_cast<int>(number);
}

} // namespace

std::optional<int> JsonKeys::whole(std::string_view key, Range range) {
    auto const* value = state_->ask(key);
    if (value == nullptr) { return std::nullopt; }
    if (value->is_array() && !value->empty()) { // of every layer: one number where all have the same
        bool const alike = std::ranges::all_of(*value, [&](json const& one) { return one == value->front(); });
        if (alike) { return whole_of(*this, key, value->front(), range); }
        fail(key, "a list of different numbers", "layers that differ in this number are not modelled");
    }
    return whole_of(*this, key, *value, range);
}

std::optional<int> JsonKeys::whole(std::initializer_list<std::string_view> names, Range range) {
    for (bool const stated : {true, false}) {
        for (auto const name : names) {
            if (has(name) && states(name) == stated) { return whole(name, range); }
        }
    }
    return std::nullopt;
}

std::vector<int> JsonKeys::wholes(std::string_view key, Range range) {
    std::vector<int> numbers;
    auto const* list = state_->ask(key);
    if (list == nullptr) { return numbers; }
    if (!list->is_array()) { fail(key, fmt::format("{} where a list is due", type_name(*list))); }
    for (auto const& value : *list) { numbers.push_back(whole_of(*this, key, value, range)); }
    return numbers;
}

std::vector<std::string> JsonKeys::texts(std::string_view key) {
    std::vector<std::string> texts;
    auto const* list = state_->ask(key);
    if (list == nullptr) { return texts; }
    if (!list->is_array()) { fail(key, fmt::format("{} where a list is due", type_name(*list))); }
    for (auto const& value : *list) {
        if (!value.is_string()) { fail(key, fmt::format("{} where text is due (in a list)", type_name(value))); }
        texts.push_back(value.get<std::string>());
    }
    return texts;
}

std::vector<JsonKeys::Part> JsonKeys::parts(std::string_view list, std::string_view part,
                                            std::initializer_list<std::string_view> numbers) {
    std::vector<Part> result;
    auto const* found = state_->ask(list);
    if (found == nullptr || !found->is_array()) { return result; }
    for (auto const& entry : *found) {
        Part one;
        auto const* object = State::find_in(entry, part);
        for (auto const name : numbers) {
            auto const* value = object == nullptr ? nullptr : State::find_in(*object, name);
            one.numbers.push_back(value != nullptr && value->is_number() ? value->get<double>() : 0.0);
        }
        auto const says = [&](std::string_view flag) {
            auto const* value = object == nullptr ? nullptr : State::find_in(*object, flag);
            return value != nullptr && value->is_boolean() && value->get<bool>();
        };
        one.absent = says("no_op");
        one.linear = says("replace_with_linear");
        result.push_back(std::move(one));
    }
    return result;
}

std::optional<double> JsonKeys::real(std::string_view key) {
    auto const* value = state_->ask(key);
    if (value == nullptr) { return std::nullopt; }
    if (!value->is_number()) { fail(key, fmt::format("{} where a number is due", type_name(*value))); }
    return value->get<double>();
}

std::vector<int> JsonKeys::listed_in_text(std::string_view key) {
    std::vector<int> numbers;
    std::string const all = text(key).value_or("");
    for (char const* at = all.data(); at != all.data() + all.size();) {
        int number = 0;
        auto const [end, error] = std::from_chars(at, all.data() + all.size(), number);
        bool const last = end == all.data() + all.size();
        if (error != std::errc{} || (!last && *end != ',')) { fail(key, "not a list of numbers with commas"); }
        numbers.push_back(number);
        at = last ? end : end + 1;
    }
    return numbers;
}

std::vector<double> JsonKeys::reals(std::string_view key) {
    std::vector<double> numbers;
    auto const* list = state_->ask(key);
    if (list == nullptr) { return numbers; }
    if (!list->is_array()) { fail(key, fmt::format("{} where a list is due", type_name(*list))); }
    for (auto const& value : *list) {
        if (!value.is_number()) { fail(key, fmt::format("{} where a number is due (in a list)", type_name(value))); }
        numbers.push_back(value.get<double>());
    }
    return numbers;
}

std::size_t JsonKeys::size(std::string_view key) {
    auto const* found = state_->ask(key);
    return found != nullptr && (found->is_array() || found->is_object()) ? found->size() : 0;
}

std::optional<bool> JsonKeys::flag(std::string_view key) {
    auto const* value = state_->ask(key);
    if (value == nullptr) { return std::nullopt; }
    if (!value->is_boolean()) { fail(key, fmt::format("{} where true or false is due", type_name(*value))); }
    return value->get<bool>();
}

std::optional<std::string> JsonKeys::text(std::string_view key) {
    auto const* value = state_->ask(key);
    if (value == nullptr) { return std::nullopt; }
    if (!value->is_string()) { fail(key, fmt::format("{} where text is due", type_name(*value))); }
    return value->get<std::string>();
}

std::vector<std::string> JsonKeys::used() const { return {state_->asked.begin(), state_->asked.end()}; }

std::vector<std::string> JsonKeys::ignored() const {
    std::vector<std::string> names;
    auto const collect = [&](json const& object, std::string const& prefix) {
        for (auto const& [key, value] : object.items()) {
            std::string const name = prefix + key;
            auto const below = state_->asked.lower_bound(name + ".");
            bool const inner = below != state_->asked.end() && below->starts_with(name + ".");
            if (!state_->asked.contains(name) && !inner) { names.push_back(name); }
        }
    };
    collect(state_->document, "");
    if (state_->object != &state_->document) { collect(*state_->object, state_->prefix); }
    return names;
}

} // namespace headroom::io
