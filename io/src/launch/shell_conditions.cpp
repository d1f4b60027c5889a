#include "launch/shell_conditions.hpp"

#include "launch/shell_arithmetic.hpp"

#include <algorithm>
#include <set>

namespace headroom::io::launch {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list) {
    return std::ranges::find(list, word) != list.end();
}

namespace {

std::vector<RawWord> part_of(std::vector<RawWord> const& words, std::size_t from, std::size_t to) {
    return {words.begin() + static_cast<std::ptrdiff_t>(from), words.begin() + static_cast<std::ptrdiff_t>(to)};
}

Truth compared(std::vector<std::string> text) {
    bool const negated = !text.empty() && text.front() == "!";
    if (negated) { text.erase(text.begin()); }
    auto const as = [negated](bool holds) { return holds != negated ? Truth::yes : Truth::no; };
    if (text.size() == 1) { return as(!text.front().empty()); }
    if (text.size() == 2 && text[0] == "-z") { return as(text[1].empty()); }
    if (text.size() == 2 && text[0] == "-n") { return as(!text[1].empty()); }
    if (text.size() != 3) { return Truth::unknown; }
    std::string const& sign = text[1];
    bool const pattern = text[2].find_first_of("*?[") != std::string::npos;
    if (is_one_of(sign, {"=", "=="})) { return pattern ? Truth::unknown : as(text[0] == text[2]); }
    if (sign == "!=") { return pattern ? Truth::unknown : as(text[0] != text[2]); }
    auto const none = [](std::string const&) { return std::string{"?"}; };
    auto const a = shell_integer(text[0], none), b = shell_integer(text[2], none);
    if (!a || !b) { return Truth::unknown; }
    if (sign == "-eq") { return as(*a == *b); }
    if (sign == "-ne") { return as(*a != *b); }
    if (sign == "-gt" || sign == ">") { return as(*a > *b); }
    if (sign == "-ge") { return as(*a >= *b); }
    if (sign == "-lt" || sign == "<") { return as(*a < *b); }
    return sign == "-le" ? as(*a <= *b) : Truth::unknown;
}

/// Whether a test holds: "a = b", "4 -gt 1", "-z x".
Truth tested(std::vector<RawWord> const& words, Expansion& expand) {
    expand.unset_is_empty = true;
    expand.met_unknown = false;
    expand.readings = 1;
    expand.reading = 0;
    std::set<std::string> const before = expand.met_unset;
    std::vector<std::string> text;
    for (RawWord const& word : words) { text.push_back(expand.joined(word)); }
    expand.unset_is_empty = false;
    bool const clear = !expand.met_unknown && expand.readings == 1;
    Truth const result = clear ? compared(text) : Truth::unknown;
    if (result == Truth::unknown) { expand.met_unset = before; }
    return result;
}

} // namespace

bool holds_truth(std::string_view word) {
    if (word.starts_with('"')) { word.remove_prefix(1); }
    return word.starts_with('$') && !word.starts_with("$(") && word.find_first_of(" /=") == std::string_view::npos;
}

Truth truth_of(RawCommand const& command, Expansion& expand) {
    std::size_t from = 0;
    while (from < command.words.size() && command.words[from].text == "!") { ++from; }
    bool const negated = from % 2 == 1;
    std::vector<RawWord> words = part_of(command.words, from, command.words.size());
    if (words.empty()) { return Truth::unknown; }
    std::string const first = words.front().text;
    Truth result = Truth::unknown;
    if (first == "true" || first == ":") { result = Truth::yes; }
    if (first == "false") { result = Truth::no; }
    if (words.size() == 1 && holds_truth(first)) {
        expand.met_unknown = false;
        expand.readings = 1;
        expand.reading = 0;
        std::string const text = expand.joined(words.front());
        bool const clear = !expand.met_unknown && expand.readings == 1;
        result = clear && text == "true" ? Truth::yes : clear && text == "false" ? Truth::no : Truth::unknown;
    }
    if (first.starts_with("((") && first.ends_with("))")) {
        auto const number = expand.integer(std::string_view{first}.substr(2, first.size() - 4), command.line);
        result = !number ? Truth::unknown : *number != "0" ? Truth::yes : Truth::no;
    }
    if (is_one_of(first, {"[", "[[", "test"})) {
        bool const brackets = first != "test";
        words.erase(words.begin());
        if (brackets && !words.empty()) { words.pop_back(); }
        result = tested(words, expand);
    }
    if (result == Truth::unknown || !negated) { return result; }
    return result == Truth::yes ? Truth::no : Truth::yes;
}

/// Variables after one of several ways.
Variables merged(std::vector<Variables> const& ways) {
    Variables all = ways.front();
    for (Variables const& way : ways) {
        for (auto const& [name, variable] : way) { all.try_emplace(name, variable); }
    }
    for (auto& [name, variable] : all) {
        Variable together{.values = {}, .is_array = variable.is_array};
        for (Variables const& way : ways) {
            auto const found = way.find(name);
            std::vector<ShellItems> const none{{}};
            for (ShellItems const& one : found != way.end() ? found->second.values : none) {
                Variable const single{.values = {one}, .is_array = together.is_array};
                bool const known = std::ranges::any_of(together.values, [&](ShellItems const& other) {
                    return Variable{.values = {other}, .is_array = together.is_array} == single;
                });
                if (!known && together.values.size() < most_values) { together.values.push_back(one); }
            }
        }
        variable = std::move(together);
    }
    return all;
}

/// Commands with each reserved word as a command of its own.
std::vector<RawCommand> by_reserved_words(std::vector<RawCommand> const& commands) {
    std::vector<RawCommand> all;
    for (RawCommand const& command : commands) {
        std::size_t at = 0;
        std::size_t const count = command.words.size();
        while (at < count) {
            std::string const& word = command.words[at].text;
            bool const function = word == "function" || (word.size() > 2 && word.ends_with("()"));
            bool const alone = function || is_one_of(word, {"if", "then", "else", "elif", "fi", "while", "until", "do",
                                                            "done", "{", "}", "esac", "(", ")"});
            if (!alone) { break; }
            std::size_t const end = word == "function" && at + 1 < count ? at + 2 : at + 1;
            bool const decides = word == ")" && end == count && command.end != CommandEnd::pattern &&
                                 command.end != CommandEnd::clause;                        // "( ... ) || exit"
            bool const background = end == count && command.end == CommandEnd::background; // "{ ...; } &"
            all.push_back({.words = part_of(command.words, at, end),
                           .end = decides || background ? command.end : CommandEnd::next,
                           .line = command.line,
                           .heredoc = -1});
            at = end;
        }
        bool const matters = command.end == CommandEnd::pattern || command.end == CommandEnd::clause;
        if (at == count && !matters) { continue; }
        all.push_back({.words = part_of(command.words, at, count),
                       .end = command.end,
                       .line = command.line,
                       .heredoc = command.heredoc});
    }
    return all;
}

std::vector<RawCommand> enclosed_in(std::vector<RawCommand> const& commands, std::size_t& at) {
    auto const word = [&](std::size_t i) {
        return commands[i].words.empty() ? std::string_view{} : std::string_view{commands[i].words.front().text};
    };
    std::string_view const opens = word(at), closes = opens == "{" ? "}" : ")";
    std::vector<RawCommand> body;
    int open = 1;
    for (++at; at < commands.size(); ++at) {
        open += word(at) == opens ? 1 : word(at) == closes ? -1 : 0;
        if (open == 0) { break; }
        body.push_back(commands[at]);
    }
    at = std::min(at + 1, commands.size());
    return body;
}

} // namespace headroom::io::launch
