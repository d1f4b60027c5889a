#include "launch/shell_variables.hpp"

#include "launch/shell_arithmetic.hpp"

#include <algorithm>
#include <cctype>

namespace headroom::io::launch {

namespace {

constexpr std::size_t longest_value = 65'536;
constexpr int deepest_expansion = 24;

std::string without_blanks(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) { text.remove_prefix(1); }
    while (!text.empty() && is_blank(text.back())) { text.remove_suffix(1); }
    return std::string{text};
}

std::string text_of(ShellItems const& items) {
    std::string text;
    for (ShellItem const& item : items) { text += (text.empty() ? "" : " ") + item.text.chars; }
    return text;
}

/// Whether an item stands for words that nothing here knows: the output of a command.
bool is_output(ShellItem const& item) {
    return item.text.chars.find("$(") != std::string::npos || item.text.chars.find('`') != std::string::npos;
}

} // namespace

bool Variable::operator==(Variable const& other) const {
    return is_array == other.is_array &&
           std::ranges::equal(values, other.values, [](ShellItems const& a, ShellItems const& b) {
               return std::ranges::equal(a, b, [](ShellItem const& x, ShellItem const& y) {
                   return x.text.chars == y.text.chars && x.quoted == y.quoted;
               });
           });
}

/// Words that are made of characters.
struct Expansion::Builder {
    ShellItems items;
    ShellItem open;
    bool is_open = false;

    void add(char c, int line) {
        is_open = true;
        if (open.text.chars.size() < longest_value) { open.text.add(c, line); }
    }
    void add(std::string_view text, int line) {
        for (char const c : text) { add(c, line); }
    }
    void quote() {
        is_open = true;
        open.quoted = true;
    }
    void end() {
        if (is_open) { items.push_back(std::move(open)); }
        open = {};
        is_open = false;
    }
    /// A value outside of quotes is parted at its blanks.
    void add_parted(Lined const& text) {
        for (std::size_t i = 0; i < text.chars.size(); ++i) {
            if (is_blank(text.chars[i])) {
                end();
            } else {
                add(text.chars[i], text.lines[i]);
            }
        }
    }
    void add_value(ShellItems const& value, bool quoted, bool each) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            Lined const& text = value[i].text;
            if (i > 0 && (each || !quoted)) { end(); }
            if (i > 0 && !each && quoted) { add(' ', 0); }
            bool const whole = quoted || (each && value[i].quoted);
            if (!whole) {
                add_parted(text);
                continue;
            }
            if (each) { quote(); }
            for (std::size_t k = 0; k < text.chars.size(); ++k) { add(text.chars[k], text.lines[k]); }
        }
    }
};

RawWord raw_word(std::string_view text, int line) {
    return {.text = std::string{text}, .lines = std::vector<int>(text.size(), line), .is_array = false, .items = {}};
}

std::string_view name_at(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
        ++end;
    }
    return text.substr(0, end);
}

std::set<std::string> variables_in(std::string_view text) {
    std::set<std::string> names;
    for (auto at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
        std::string_view rest = text.substr(at + 1);
        if (rest.starts_with('{')) { rest.remove_prefix(1); }
        names.emplace(name_at(rest));
    }
    return names;
}

ShellItems const* Expansion::value(std::string const& name) {
    auto const found = variables.find(name);
    if (found == variables.end() || found->second.values.empty()) { return nullptr; }
    std::size_t const count = found->second.values.size();
    readings = std::max(readings, count);
    return &found->second.values[std::min(reading, count - 1)];
}

/// A variable; as it stands where it is unknown.
void Expansion::put(std::string const& name, std::string_view whole, int line, bool quoted, Builder& to) {
    bool const all = name == "@" || name == "*";
    bool const place = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0;
    if (has_arguments && (all || place || name == "#")) {
        if (name == "#") { return to.add(std::to_string(arguments.size()), line); }
        for (std::size_t i = 0; all && i < arguments.size(); ++i) {
            if (i > 0) { to.end(); }
            to.add(arguments[i], line);
        }
        std::size_t const at = place && name.size() < 4 ? static_cast<std::size_t>(std::stoi(name)) : 0;
        if (place && at > 0 && at <= arguments.size()) { to.add(arguments[at - 1], line); }
        return;
    }
    ShellItems const* found = value(name);
    if (found != nullptr) {
        bool const array = variables[name].is_array && !found->empty();
        met_unknown = met_unknown || text_of(*found).find('$') != std::string::npos;
        bool const output = !found->empty() &&
                            (found->front().text.chars.starts_with("$(") || found->front().text.chars.starts_with('`'));
        return to.add_value(array ? ShellItems{found->front()} : *found, quoted || output, false);
    }
    bool const of_machine = name.starts_with("SLURM") || name.empty() || name == "?" || name == "$" || name == "!";
    if (unset_is_empty && !of_machine) {
        met_unset.insert("$" + name);
        if (name == "#") { to.add('0', line); }
        return;
    }
    met_unknown = true;
    to.add(whole, line);
}

/// "${NAME}", "${NAME:-default}", "${NAME[@]}", "${#NAME[@]}"; another form stands as it is.
void Expansion::braces(std::string_view inside, std::string_view whole, int line, bool quoted, Builder& to) {
    bool const counts = inside.starts_with('#') && inside.size() > 1;
    std::string_view rest = counts ? inside.substr(1) : inside;
    std::string const name{rest.starts_with('@') || rest.starts_with('*') ? rest.substr(0, 1) : name_at(rest)};
    rest.remove_prefix(name.size());
    auto const as_it_stands = [&] {
        met_unknown = true;
        to.add(whole, line);
    };
    if (rest.starts_with('[') && rest.ends_with(']')) {
        ShellItems const* items = counts ? value(name) : nullptr;
        bool const whole_words = items != nullptr && std::ranges::none_of(*items, is_output); // none of "$(hosts)"
        if (whole_words) { return to.add(std::to_string(items->size()), line); }
        if (!counts && element(name, rest.substr(1, rest.size() - 2), quoted, to)) { return; }
        return as_it_stands();
    }
    if (rest.empty() && !counts) { return put(name, whole, line, quoted, to); }
    bool const colon = rest.starts_with(':');
    std::string_view const sign = rest.substr(colon ? 1 : 0, 1);
    bool const defaults = sign == "-" || sign == "=" || sign == "?", replaces = sign == "+";
    if (counts || !(defaults || replaces)) { return as_it_stands(); }
    bool const is_set = is_given(name, colon);
    if (is_set && defaults) { return put(name, whole, line, quoted, to); }
    if (is_set != replaces) { // no default is wanted, or none replaces it
        if (defaults && sign == "?") { return as_it_stands(); }
        if (replaces) { return; }
    }
    RawWord const other = raw_word(rest.substr(colon ? 2 : 1), line);
    for (std::size_t at = 0; at < other.text.size();) { part(other, at, quoted, to); }
    if (sign == "=") {
        ShellItems items = expanded(other);
        variables[name] = {.values = {items.empty() ? ShellItems{ShellItem{}} : std::move(items)}};
    }
}

/// Whether a variable has a value of this script; with a colon: one that is not empty.
bool Expansion::is_given(std::string const& name, bool colon) {
    bool const place = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0;
    if (place) { return has_arguments && name.size() < 4 && name != "0" && std::stoul(name) <= arguments.size(); }
    ShellItems const* found = value(name);
    if (found == nullptr) { return false; }
    std::string const now = text_of(*found);
    return !now.starts_with('$') && (!colon || !now.empty()); // "$OPTARG" is of another place
}

/// "${NAME[@]}", "${NAME[2]}". False where it cannot be evaluated.
bool Expansion::element(std::string const& name, std::string_view index, bool quoted, Builder& to) {
    ShellItems const* found = value(name);
    if (found == nullptr) { return false; }
    if (index == "@" || index == "*") {
        to.add_value(*found, quoted, index == "@");
        return true;
    }
    auto const number = integer(index, 0);
    bool const plain = number && number->size() < 6 && !number->starts_with('-');
    if (!plain) { return false; }
    std::size_t const at = std::stoul(*number);
    if (at < found->size()) { to.add_value({(*found)[at]}, quoted, false); }
    return true;
}

std::optional<std::string> Expansion::integer(std::string_view expression, int line) {
    if (++level_ > deepest_expansion) {
        --level_;
        return {};
    }
    std::string const text = joined(raw_word(expression, line));
    auto const number = shell_integer(text, [&](std::string const& name) {
        ShellItems const* found = value(name);
        return found != nullptr ? without_blanks(text_of(*found)) : std::string{"?"};
    });
    --level_;
    return number ? std::optional{std::to_string(*number)} : std::nullopt;
}

namespace {

/// "echo $GPUS | tr ',' '\n' | wc -l", "echo $GPUS | awk -F',' '{print NF}'": the number of parts of a list.
bool counts_items(std::string text) {
    std::erase_if(text, [](char c) { return c == '"' || c == '\'' || c == ' '; });
    return text.ends_with("|tr,\\n|wc-l") || text.ends_with("|awk-F,{printNF}");
}

} // namespace

/// Text that "echo --bf16 $MORE" and "cat <<EOF" print; none of another command.
std::optional<std::string> Expansion::text_of_output(std::string const& command, int line) {
    ShellText const inside = shell_text(command, {}, line);
    if (inside.commands.size() != 1 || inside.commands.front().words.empty()) { return {}; }
    RawCommand const& only = inside.commands.front();
    std::string const name = only.words.front().text;
    bool const written = only.heredoc == 0 && inside.heredocs.size() == 1 && only.words.size() == 1;
    if (name == "cat" && written) { return put_in(inside.heredocs.front().text, line); }
    bool const plain = command.find_first_of("<>") == std::string::npos;
    if (name != "echo" || !plain) { return {}; }
    std::string text;
    for (std::size_t i = 1; i < only.words.size(); ++i) {
        std::string const word = joined(only.words[i]);
        if (word != "-n" && word != "-e") { text += (text.empty() ? "" : " ") + word; }
    }
    return text;
}

/// Output of a command: of "expr 2 \* 3", "echo 2*3 | bc", echo and "cat <<EOF"; of others it is not known.
void Expansion::output(std::string_view inside, std::string_view whole, int line, bool quoted, Builder& to) {
    std::string text = without_blanks(inside);
    if (auto const printed = text_of_output(text, line)) {
        Lined lined;
        for (char const c : *printed) { lined.add(c, line); }
        return quoted ? to.add(without_blanks(lined.chars), line) : to.add_parted(lined);
    }
    bool computes = text.starts_with("expr ");
    if (computes) { text.erase(0, 5); }
    auto const pipe = text.rfind('|');
    if (text.starts_with("echo ") && counts_items(text)) { // of "0,1,2,3"
        std::string const list = joined(raw_word(without_blanks(text.substr(5, text.find('|') - 5)), line));
        bool const plain = !list.empty() && list.find_first_of("$ `") == std::string::npos;
        if (plain) { return to.add(std::to_string(1 + std::ranges::count(list, ',')), line); }
    }
    if (!computes && text.starts_with("echo ") && pipe != std::string::npos &&
        without_blanks(text.substr(pipe + 1)) == "bc") {
        computes = true;
        text = text.substr(5, pipe - 5);
    }
    std::erase_if(text, [](char c) { return c == '\\' || c == '"' || c == '\''; });
    auto const number = computes ? integer(text, line) : std::nullopt;
    if (number) { return to.add(*number, line); }
    met_unknown = true;
    to.add(whole, line);
}

/// One part of a word: a quotation, a variable, a character.
void Expansion::part(RawWord const& word, std::size_t& at, bool quoted, Builder& to) {
    std::string const& text = word.text;
    int const line = at < word.lines.size() ? word.lines[at] : word.line();
    char const c = text[at];
    bool const opens = c == '$' || c == '`' || (!quoted && (c == '\'' || c == '"'));
    std::size_t end = opens ? end_of_part(text, at) : at + 1;
    std::string_view const whole = std::string_view{text}.substr(at, end - at);
    bool const too_deep = level_ >= deepest_expansion;
    if (c == '\\' && at + 1 < text.size()) {
        bool const kept = quoted && std::string_view{"$`\"\\\n"}.find(text[at + 1]) == std::string_view::npos;
        if (kept) { to.add('\\', line); }
        to.add(text[at + 1] == '\n' && quoted ? ' ' : text[at + 1], line);
        end = at + 2;
    } else if (c == '\'' && !quoted) {
        to.quote();
        for (std::size_t i = at + 1; i + 1 < end; ++i) { to.add(text[i], word.lines[i]); }
    } else if (c == '"' && !quoted && !too_deep) {
        to.quote();
        ++level_;
        RawWord const inside{.text = text.substr(at + 1, end > at + 1 ? end - at - 2 : 0),
                             .lines = {word.lines.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                       word.lines.begin() + static_cast<std::ptrdiff_t>(std::max(end - 1, at + 1))},
                             .is_array = false,
                             .items = {}};
        for (std::size_t i = 0; i < inside.text.size();) { part(inside, i, true, to); }
        --level_;
    } else if (c == '`' && !too_deep) {
        output(whole.substr(1, whole.size() > 1 ? whole.size() - 2 : 0), whole, line, quoted, to);
    } else if (c == '$' && at + 1 < text.size() && !too_deep) {
        dollar(word, at, end, quoted, to);
    } else {
        to.add(c, line);
        end = at + 1;
    }
    at = std::max(end, at + 1);
}

/// "$NAME", "${...}", "$((...))", "$(...)".
void Expansion::dollar(RawWord const& word, std::size_t at, std::size_t& end, bool quoted, Builder& to) {
    std::string_view const text{word.text};
    int const line = word.lines[at];
    std::string_view const whole = text.substr(at, end - at);
    ++level_;
    if (whole.starts_with("$((") && whole.ends_with("))")) {
        auto const number = integer(whole.substr(3, whole.size() - 5), line);
        if (!number) { met_unknown = true; }
        to.add(number ? *number : std::string{whole}, line);
    } else if (whole.starts_with("$(")) {
        output(whole.substr(2, whole.size() > 2 ? whole.size() - 3 : 0), whole, line, quoted, to);
    } else if (whole.starts_with("${")) {
        braces(whole.substr(2, whole.size() > 2 ? whole.size() - 3 : 0), whole, line, quoted, to);
    } else {
        char const next = text[at + 1];
        bool const special = std::string_view{"@*#?$!0123456789"}.find(next) != std::string_view::npos;
        std::string const name{special ? text.substr(at + 1, 1) : name_at(text.substr(at + 1))};
        end = at + 1 + name.size();
        name.empty() ? to.add('$', line) : put(name, text.substr(at, end - at), line, quoted, to);
    }
    --level_;
}

ShellItems Expansion::expanded(RawWord const& word) {
    Builder to;
    for (std::size_t at = 0; at < word.text.size();) { part(word, at, false, to); }
    to.end();
    return std::move(to.items);
}

std::string Expansion::put_in(std::string_view text, int line) {
    Builder to;
    RawWord const word = raw_word(text, line);
    for (std::size_t at = 0; at < word.text.size();) { part(word, at, true, to); }
    to.end();
    return text_of(to.items);
}

std::string Expansion::joined(RawWord const& word) { return text_of(expanded(word)); }

void Expansion::set_text(std::string const& name, std::string const& text, int line) {
    Lined lined;
    for (char const c : text) { lined.add(c, line); }
    variables[name] = {.values = {{{.text = std::move(lined), .quoted = false}}}};
}

/// "TP=8", "ARGS+=(--bf16)". False where the word is none.
bool Expansion::assign(RawWord const& word) {
    std::string const name{name_at(word.text)};
    std::string_view rest = std::string_view{word.text}.substr(name.size());
    bool const adds = rest.starts_with("+=");
    if (name.empty() || !(adds || rest.starts_with('='))) { return false; }
    std::size_t const from = name.size() + (adds ? 2 : 1);
    RawWord const value{.text = word.text.substr(from),
                        .lines = {word.lines.begin() + static_cast<std::ptrdiff_t>(from), word.lines.end()},
                        .is_array = false,
                        .items = {}};
    Variable result{.values = {}, .is_array = word.is_array};
    readings = 1;
    for (reading = 0; reading < std::min(readings, most_values); ++reading) {
        ShellItems items;
        if (adds) {
            auto const old = variables.find(name);
            if (old != variables.end() && !old->second.values.empty()) {
                readings = std::max(readings, old->second.values.size());
                items = old->second.values[std::min(reading, old->second.values.size() - 1)];
                result.is_array = result.is_array || old->second.is_array;
            }
        }
        if (word.is_array) {
            for (RawWord const& item : word.items) { std::ranges::move(expanded(item), std::back_inserter(items)); }
        } else {
            add_text(items, value, adds && !result.is_array);
        }
        Variable const single{.values = {items}, .is_array = result.is_array};
        if (too_large()) { break; }
        bool const known = std::ranges::any_of(result.values, [&](ShellItems const& other) {
            return Variable{.values = {other}, .is_array = result.is_array} == single;
        });
        for (ShellItem const& item : items) { characters += item.text.chars.size() + 64; }
        if (!known) { result.values.push_back(std::move(items)); }
    }
    reading = 0;
    if (word.line() > 0) { where[name] = word.line(); }
    variables[name] = std::move(result);
    return true;
}

/// The value of an assignment is one text, whatever blanks it has.
void Expansion::add_text(ShellItems& items, RawWord const& value, bool behind) {
    RawWord quoted = value;
    bool const plain = value.text.find_first_of("'\"") == std::string::npos;
    if (plain) { // parted at no blank
        quoted.text = '"' + value.text + '"';
        quoted.lines.insert(quoted.lines.begin(), value.line());
        quoted.lines.push_back(value.line());
    }
    Lined text;
    for (ShellItem const& item : expanded(quoted)) {
        if (!text.chars.empty()) { text.add(' ', item.text.lines.empty() ? 0 : item.text.lines.front()); }
        text.chars += item.text.chars;
        text.lines.insert(text.lines.end(), item.text.lines.begin(), item.text.lines.end());
    }
    if (behind && !items.empty()) {
        items.front().text.chars += text.chars;
        items.front().text.lines.insert(items.front().text.lines.end(), text.lines.begin(), text.lines.end());
    } else {
        items.push_back({.text = std::move(text), .quoted = false});
    }
}

/// "DP = WS / TP", "N *= 2", "I++".
void Expansion::compute_one(std::string const& expression, int line) {
    std::string const text = without_blanks(expression);
    bool const first = text.starts_with("++") || text.starts_with("--"); // "++I"
    std::string const name{name_at(std::string_view{text}.substr(first ? 2 : 0))};
    std::string const rest = without_blanks(std::string_view{text}.substr(name.size() + (first ? 2 : 0)));
    bool const counts = first ? rest.empty() : rest == "++" || rest == "--";
    auto const equals = rest.find('=');
    std::string const sign = rest.substr(0, equals);
    bool const assigns = equals != std::string::npos && !std::string_view{rest}.substr(equals).starts_with("==") &&
                         (sign.empty() || (sign.size() <= 2 && sign.find_first_not_of("+-*/%<>") == std::string::npos &&
                                           sign != "<" && sign != ">"));
    if (name.empty() || !(counts || assigns)) { return; }
    std::string const step = first ? text.substr(0, 1) : rest.substr(0, 1);
    std::string const right = counts ? "1" : "(" + rest.substr(equals + 1) + ")";
    std::string const whole = counts || !sign.empty() ? name + " " + (counts ? step : sign) + " " + right : right;
    set_text(name, integer(whole, line).value_or("$" + name), line);
}

void Expansion::compute(std::string const& expression, int line) {
    int depth = 0;
    std::string one;
    for (char const c : expression + ",") {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c != ',' || depth > 0) {
            one += c;
            continue;
        }
        compute_one(one, line);
        one.clear();
    }
}

std::vector<std::vector<Word>> readings_of(std::string const& name, Variable const& variable, int line) {
    std::vector<std::vector<Word>> readings;
    for (ShellItems const& value : variable.values) {
        Expansion one;
        one.variables[name] = {.values = {value}, .is_array = variable.is_array};
        std::vector<Word> reading;
        for (ShellItem const& item : one.expanded(raw_word("${" + name + "[@]}", line))) {
            reading.push_back({item.text.chars, item.text.lines.empty() ? 0 : item.text.lines.front(), item.quoted});
        }
        readings.push_back(std::move(reading));
    }
    return readings;
}

} // namespace headroom::io::launch
