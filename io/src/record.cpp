#include "record.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <initializer_list>

#include <fmt/format.h>

namespace headroom::io {
namespace {

/// The parser holds some malformed text for impossible and asserts, or assumes, that it does not come. Here such an
/// assertion is an exception, in every kind of build; so no other source file may include the parser.
struct BrokenAssumption {};

}  // namespace
}  // namespace headroom::io

#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expression) ((expression) ? void() : throw ::headroom::io::BrokenAssumption{})
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace headroom::io {

namespace {

constexpr int deepest_value    = 32;
constexpr int deepest_name     = 16;
constexpr int longest_list     = 12;
constexpr int longest_reason   = 100;

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// What is refused before the parser sees it: deep nesting, on which it recurses, and letters beyond ASCII outside of
/// texts and comments, on which its character classes are undefined. Strings and comments are skipped as the grammar
/// has them; on a malformed document the parser stops before the point where this scan goes astray.
class Prescan {
public:
    Prescan(std::string_view text, std::string_view where) : text_{text}, where_{where} {
        if (text_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
    }

    void run() {
        while (at_ < text_.size()) step();
    }

private:
    void step() {
        char const c = text_[at_];
        if (static_cast<unsigned char>(c) >= 0x7f || (c < ' ' && c != '\t' && c != '\n' && c != '\r')) {
            unreadable_error(fmt::format("{}:{}", where_, line_), "not valid TOML",
                             "a special character outside of a text", "put it between quotes");
        }
        switch (c) {
        case '"':
        case '\'': skip_string(c); return;
        case '#': skip_line(); return;
        case '[':
        case '{':
            if (++values_ > deepest_value) refuse("values nested too deeply", deepest_value);
            names_ = 0;
            break;
        case ']':
        case '}': values_ = std::max(0, values_ - 1); break;
        case '.':
            if (++names_ > deepest_name) refuse("a key of too many parts", deepest_name);
            break;
        case '\n':
            ++line_;
            names_ = 0;
            break;
        case ',':
        case '=': names_ = 0; break;
        default: break;
        }
        ++at_;
    }

    [[nodiscard]] bool starts_with(std::string_view token) const { return text_.substr(at_).starts_with(token); }

    void skip_line() {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    }

    void skip_string(char quote) {
        std::string const triple(3, quote);
        bool const        multiline = starts_with(triple);
        at_ += multiline ? 3 : 1;
        while (at_ < text_.size()) {
            char const c = text_[at_];
            if (c == '\\' && quote == '"') {
                at_ += 2;
                continue;
            }
            if (c == '\n') {
                if (!multiline) return;
                ++line_;
            }
            if (c == quote && (!multiline || starts_with(triple))) {
                at_ += multiline ? 3 : 1;
                for (int extra = 0; multiline && extra < 2 && at_ < text_.size() && text_[at_] == quote; ++extra) ++at_;
                return;
            }
            ++at_;
        }
    }

    [[noreturn]] void refuse(char const* what, int limit) const {
        unreadable_error(fmt::format("{}:{}", where_, line_), what, fmt::format("at most {} are read", limit));
    }

    std::string_view text_, where_;
    std::size_t      at_   = 0;
    std::size_t      line_ = 1;
    int              values_ = 0, names_ = 0;
};

std::string_view type_name(toml::node const& node) {
    switch (node.type()) {
    case toml::node_type::string: return "text";
    case toml::node_type::integer: return "a whole number";
    case toml::node_type::floating_point: return "a number";
    case toml::node_type::boolean: return "true or false";
    case toml::node_type::array: return "a list";
    case toml::node_type::table: return "a table";
    default: return "a date or time";
    }
}

}  // namespace

void usage_error(std::string_view where, std::string problem, std::string why, std::string hint) {
    throw InputError{Fault::usage, {std::string{where}, std::move(problem), std::move(why), std::move(hint)}};
}

void unreadable_error(std::string_view where, std::string problem, std::string why, std::string hint) {
    throw InputError{Fault::unreadable, {std::string{where}, std::move(problem), std::move(why), std::move(hint)}};
}

std::string did_you_mean(std::string_view name, std::vector<std::string> const& candidates) {
    std::string const near = nearest(name, candidates);
    return near.empty() ? std::string{} : fmt::format("did you mean '{}'?", near);
}

std::string one_of(std::vector<std::string> const& candidates) {
    std::string list;
    auto const  shown = std::min<std::size_t>(candidates.size(), longest_list);
    for (std::size_t i = 0; i < shown; ++i) {
        if (i > 0) list += i + 1 == candidates.size() ? " or " : ", ";
        list += candidates[i];
    }
    if (shown < candidates.size()) list += fmt::format(" or {} more", candidates.size() - shown);
    return list;
}

struct Record::State {
    struct Table {
        toml::table const*       table = nullptr;  ///< none: an absent section
        std::string              path;             ///< "memory.", or empty for the root
        std::vector<std::string> asked;
    };

    std::string       where;
    toml::table       document;
    std::deque<Table> tables;

    [[nodiscard]] std::string line_of(toml::node const& node) const {
        auto const line = node.source().begin.line;
        return line == 0 ? where : fmt::format("{}:{}", where, line);
    }

    toml::node const* find(std::size_t table, std::string_view key) {
        auto& entry = tables[table];
        if (std::ranges::find(entry.asked, key) == entry.asked.end()) entry.asked.emplace_back(key);
        return entry.table == nullptr ? nullptr : entry.table->get(key);
    }

    [[nodiscard]] toml::node const* peek(std::size_t table, std::string_view key) const {
        auto const& entry = tables[table];
        return entry.table == nullptr ? nullptr : entry.table->get(key);
    }
};

Record::Record(std::string_view text, std::string_view where) : state_{std::make_unique<State>()} {
    state_->where = where;
    if (text.size() > record_limit) {
        unreadable_error(where, fmt::format("{} bytes are too many", text.size()),
                         fmt::format("a record has at most {} bytes", record_limit));
    }
    Prescan{text, where}.run();
    try {
        state_->document = toml::parse(text);
    } catch (toml::parse_error const& error) {
        std::string what{error.description()};
        if (what.size() > longest_reason) what = what.substr(0, longest_reason) + "...";
        for (auto const& prefix : {"Error while parsing ", "error while parsing "}) {
            if (what.starts_with(prefix)) what = what.substr(std::string_view{prefix}.size());
        }
        unreadable_error(fmt::format("{}:{}", where, error.source().begin.line), "not valid TOML", what);
    } catch (BrokenAssumption const&) {
        unreadable_error(where, "not valid TOML");
    }
    state_->tables.push_back({&state_->document, "", {}});
}

Record::~Record() = default;

Section Record::root() { return Section{state_.get(), 0}; }

void Record::refuse_the_rest() const {
    for (auto const& [table, path, asked] : state_->tables) {
        if (table == nullptr) continue;
        for (auto const& [key, node] : *table) {
            if (std::ranges::find(asked, key.str()) != asked.end()) continue;
            std::string hint = did_you_mean(key.str(), asked);
            if (hint.empty() && !asked.empty()) hint = fmt::format("known here: {}", one_of(asked));
            std::string const place = key.source().begin.line == 0
                                          ? state_->where
                                          : fmt::format("{}:{}", state_->where, key.source().begin.line);
            usage_error(place, fmt::format("unknown key {}", headroom::quoted(path + std::string{key.str()})), "nothing reads it",
                        hint);
        }
    }
}

bool Section::has(std::string_view key) const { return state_->peek(table_, key) != nullptr; }

bool Section::is_table(std::string_view key) const {
    auto const* node = state_->peek(table_, key);
    return node != nullptr && node->is_table();
}

std::string Section::place(std::string_view key) const {
    if (auto const* node = state_->peek(table_, key)) return state_->line_of(*node);
    auto const& entry = state_->tables[table_];
    return entry.table == nullptr || entry.path.empty() ? state_->where : state_->line_of(*entry.table);
}

void Section::fail(std::string_view key, std::string problem, std::string why, std::string hint) const {
    usage_error(place(key), fmt::format("{}{}: {}", state_->tables[table_].path, key, problem), std::move(why),
                std::move(hint));
}

void Section::fail_choice(std::string_view key, std::string const& word, std::vector<std::string> const& names) const {
    fail(key, fmt::format("unknown word {}", headroom::quoted(word)), fmt::format("known: {}", one_of(names)),
         did_you_mean(word, names));
}

namespace {

/// The node of a key; null when it is absent and may be.
template <class State>
toml::node const* wanted(Section const& section, State& state, std::size_t table, std::string_view key,
                         Presence presence) {
    toml::node const* node = state.find(table, key);
    if (node == nullptr && presence == Presence::required) section.fail(key, "missing", "it has no default");
    return node;
}

[[noreturn]] void wrong_type(Section const& section, std::string_view key, toml::node const& node,
                             std::string_view wanted_type) {
    section.fail(key, fmt::format("{} where {} is due", type_name(node), wanted_type));
}

std::string written(double number) {
    return number == std::floor(number) && std::fabs(number) < 1e15 ? fmt::format("{:.0f}", number)
                                                                    : fmt::format("{:g}", number);
}

void check_range(Section const& section, std::string_view key, double number, Range range) {
    if (number >= range.low && number <= range.high) return;
    section.fail(key, fmt::format("{} is out of range", written(number)),
                 range.high < std::numeric_limits<double>::max()
                     ? fmt::format("from {} to {}", written(range.low), written(range.high))
                     : fmt::format("at least {}", written(range.low)));
}

}  // namespace

bool Section::read(std::string_view key, std::string& value, Presence presence) {
    auto const* node = wanted(*this, *state_, table_, key, presence);
    if (node == nullptr) return false;
    auto const* text = node->as_string();
    if (text == nullptr) wrong_type(*this, key, *node, "text");
    if (text->get().empty() && presence == Presence::required) fail(key, "empty text");
    value = text->get();
    return true;
}

bool Section::read(std::string_view key, std::vector<std::string>& values, Presence presence) {
    auto const* node = wanted(*this, *state_, table_, key, presence);
    if (node == nullptr) return false;
    values.clear();
    if (auto const* text = node->as_string()) {
        values.push_back(text->get());
        return true;
    }
    auto const* list = node->as_array();
    if (list == nullptr) wrong_type(*this, key, *node, "a list of texts");
    for (auto const& element : *list) {
        auto const* text = element.as_string();
        if (text == nullptr) wrong_type(*this, key, element, "text (in a list)");
        values.push_back(text->get());
    }
    return true;
}

bool Section::read(std::string_view key, bool& value, Presence presence) {
    auto const* node = wanted(*this, *state_, table_, key, presence);
    if (node == nullptr) return false;
    auto const* flag = node->as_boolean();
    if (flag == nullptr) wrong_type(*this, key, *node, "true or false");
    value = flag->get();
    return true;
}

bool Section::read(std::string_view key, int& value, Range range, Presence presence) {
    auto const* node = wanted(*this, *state_, table_, key, presence);
    if (node == nullptr) return false;
    auto const* number = node->as_integer();
    if (number == nullptr) wrong_type(*this, key, *node, "a whole number");
    range.high = std::min(range.high, double{std::numeric_limits<int>::max()});
    check_range(*this, key, static_cast<double>(number->get()), range);
    value = static_cast<int>(number->get());
    return true;
}

bool Section::read(std::string_view key, double& value, Range range, Presence presence) {
    auto const* node = wanted(*this, *state_, table_, key, presence);
    if (node == nullptr) return false;
    if (!node->is_number()) wrong_type(*this, key, *node, "a number");
    double const number = node->value<double>().value_or(std::nan(""));
    if (!std::isfinite(number)) fail(key, "not a finite number");
    check_range(*this, key, number, range);
    value = number;
    return true;
}

bool Section::read_base(std::string_view key, Dimension dimension, double& base, Presence presence) {
    auto const* node = wanted(*this, *state_, table_, key, presence);
    if (node == nullptr) return false;
    auto const* text = node->as_string();
    if (text == nullptr && node->is_number()) {
        std::string const number = written(node->value<double>().value_or(0.0));
        fail(key, fmt::format("a bare number {}", number), "a quantity carries its unit",
             fmt::format("write it as text, like \"{}\"", format_base(1.0, dimension, 3)));
    }
    if (text == nullptr) wrong_type(*this, key, *node, "text with a unit");
    base = parse_base(text->get(), dimension, place(key));
    if (base <= 0.0 && presence == Presence::required) fail(key, fmt::format("{} is not above zero", headroom::quoted(text->get())));
    return true;
}

void Section::skip(std::initializer_list<std::string_view> keys) {
    for (auto const key : keys) state_->find(table_, key);
}

Section Section::section(std::string_view key) {
    auto const* node = state_->find(table_, key);
    if (node != nullptr && !node->is_table()) wrong_type(*this, key, *node, "a table");
    state_->tables.push_back(
        {node == nullptr ? nullptr : node->as_table(), fmt::format("{}{}.", state_->tables[table_].path, key), {}});
    return Section{state_, state_->tables.size() - 1};
}

std::vector<Section> Section::sections(std::string_view key) {
    std::vector<Section> found;
    auto const*          node = state_->find(table_, key);
    if (node == nullptr) return found;
    auto const* list = node->as_array();
    if (list == nullptr) wrong_type(*this, key, *node, fmt::format("a list of tables, [[{}]],", key));
    for (auto const& element : *list) {
        if (!element.is_table()) wrong_type(*this, key, element, "a table");
        state_->tables.push_back({element.as_table(), fmt::format("{}.", key), {}});
        found.push_back(Section{state_, state_->tables.size() - 1});
    }
    return found;
}

std::vector<std::string> Section::keys() const {
    std::vector<std::string> names;
    if (auto const* table = state_->tables[table_].table) {
        for (auto const& [key, node] : *table) names.emplace_back(key.str());
    }
    return names;
}

}  // namespace headroom::io
