#include "configuration.hpp"

#include "text.hpp"

#include "headroom/error.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

bool is_bare(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/// A number as TOML writes it: sign, digits with single underscores between them, fraction, exponent.
bool is_number(std::string_view text) {
    auto const take_digits = [&text] {
        std::size_t const end = std::min(text.find_first_not_of("0123456789_"), text.size());
        std::string_view const part = text.substr(0, end);
        text.remove_prefix(end);
        return !part.empty() && part.front() != '_' && part.back() != '_' && part.find("__") == std::string_view::npos;
    };
    auto const take = [&text](std::string_view choices) {
        if (text.empty() || choices.find(text.front()) == std::string_view::npos) { return false; }
        text.remove_prefix(1);
        return true;
    };
    take("+-");
    if (!take_digits()) { return false; }
    if (take(".") && !take_digits()) { return false; }
    if (take("eE")) {
        take("+-");
        if (!take_digits()) { return false; }
    }
    return text.empty();
}

/// The rest of one line, read from the left.
class Line {
public:
    Line(std::string_view text, std::string const& file, int number) : rest_{text}, file_{file}, number_{number} {}

    [[noreturn]] void refuse(std::string problem, std::string why, std::string hint) const {
        throw InputError{Fault::unreadable,
                         {.where = file_ + ":" + std::to_string(number_),
                          .problem = std::move(problem),
                          .why = std::move(why),
                          .hint = std::move(hint)}};
    }

    bool take(char c) {
        skip_spaces();
        if (rest_.empty() || rest_.front() != c) { return false; }
        rest_.remove_prefix(1);
        return true;
    }

    /// Nothing is left but a comment.
    bool over() {
        skip_spaces();
        return rest_.empty() || rest_.front() == '#';
    }

    void expect_end() {
        if (!over()) { refuse("unexpected " + headroom::quoted(rest_), "the line ends before it", ""); }
    }

    std::string name() {
        skip_spaces();
        std::size_t length = 0;
        while (length < rest_.size() && is_bare(rest_[length])) { ++length; }
        if (length == 0) {
            refuse("no name at " + headroom::quoted(rest_), "a line is [table] or key = value", "write it like tp = 8");
        }
        std::string name{rest_.substr(0, length)};
        rest_.remove_prefix(length);
        return name;
    }

    /// A text, a number or a switch.
    std::string value(bool& is_switch) {
        skip_spaces();
        if (!rest_.empty() && (rest_.front() == '"' || rest_.front() == '\'')) { return quoted_text(); }
        std::size_t const length = std::min(rest_.find_first_of(" \t,]#"), rest_.size());
        std::string word{rest_.substr(0, length)};
        is_switch = word == "true" || word == "false";
        if (!is_switch && !is_number(word)) {
            refuse(word.empty() ? "no value" : "cannot read the value " + headroom::quoted(word),
                   "it is no number, switch or text", "put a text between quotes");
        }
        rest_.remove_prefix(length);
        std::erase(word, '_');
        return word;
    }

private:
    void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

    std::string quoted_text() {
        char const quote = rest_.front();
        std::string text;
        for (std::size_t at = 1; at < rest_.size(); ++at) {
            if (rest_[at] == quote) {
                rest_.remove_prefix(at + 1);
                return text;
            }
            if (quote == '"' && rest_[at] == '\\') {
                ++at;
                if (at == rest_.size() || (rest_[at] != '"' && rest_[at] != '\\')) {
                    refuse("unknown escape in a text", R"(only \" and \\ are read)", "put it between single quotes");
                }
            }
            text += rest_[at];
        }
        refuse("a text without an end", "the closing quote is missing", "");
    }

    std::string_view rest_;
    std::string const& file_;
    int number_;
};

std::string table_name(Line& line) {
    std::string name = line.name();
    if (!line.take(']')) { line.refuse("a table without an end", "']' is missing", ""); }
    line.expect_end();
    return name;
}

ConfigurationEntry entry_of(Line& line) {
    ConfigurationEntry entry;
    entry.key = line.name();
    if (!line.take('=')) { line.refuse("no value for " + headroom::quoted(entry.key), "'=' is missing", ""); }
    if (!line.take('[')) {
        entry.values.push_back(line.value(entry.is_switch));
    } else if (!line.take(']')) {
        do {
            if (line.over()) { line.refuse("a list without an end", "a list stands on one line", ""); }
            bool is_switch = false;
            entry.values.push_back(line.value(is_switch));
        } while (line.take(','));
        if (!line.take(']')) { line.refuse("a list without an end", "a list stands on one line", ""); }
    }
    line.expect_end();
    return entry;
}

} // namespace

std::vector<ConfigurationEntry> parse_configuration(std::string_view text, std::string const& file) {
    std::vector<ConfigurationEntry> entries;
    std::string table;
    if (text.starts_with("\xEF\xBB\xBF")) { text.remove_prefix(3); } // a byte order mark
    for (int number = 1; !text.empty(); ++number) {
        std::size_t const end = text.find('\n');
        std::string_view words = text.substr(0, end);
        if (words.ends_with('\r')) { words.remove_suffix(1); }
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        Line line{words, file, number};
        if (line.over()) { continue; }
        if (line.take('[')) {
            table = table_name(line);
            continue;
        }
        ConfigurationEntry entry = entry_of(line);
        entry.table = table;
        entry.line = number;
        bool const twice = std::any_of(entries.begin(), entries.end(), [&](ConfigurationEntry const& other) {
            return other.table == table && normalised(other.key) == normalised(entry.key);
        });
        if (twice) {
            line.refuse("key " + headroom::quoted(entry.key) + " twice", "one of the two would be ignored",
                        "remove one");
        }
        entries.push_back(std::move(entry));
    }
    return entries;
}

} // namespace headroom::cli
