#pragma once

#include "launch/shell_script.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headroom::io::launch {

/// Characters, each with the line of the script that wrote it.
struct Lined {
    std::string chars;
    std::vector<int> lines;
    void add(char c, int line) {
        chars += c;
        lines.push_back(line);
    }
};

struct ShellItem {
    Lined text;
    bool quoted = false;
};
using ShellItems = std::vector<ShellItem>; ///< one of a plain variable

/// Values that a variable has: several after a loop or an unknown condition.
struct Variable {
    std::vector<ShellItems> values;
    bool is_array = false;
    bool operator==(Variable const& other) const;
};
using Variables = std::map<std::string, Variable>;

inline constexpr std::size_t most_values = 12;

/// Puts variables into words.
class Expansion {
public:
    Variables variables;
    std::vector<std::string> arguments; ///< of the function that runs
    bool has_arguments = false;         ///< false: the arguments of the script, which are unknown
    std::size_t reading = 0;            ///< index of the value that is taken, of several
    std::size_t readings = 1;           ///< number of values of the variables met since this was set to 1
    bool unset_is_empty = false;        ///< within conditions
    std::set<std::string> met_unset;    ///< variables that were so
    bool met_unknown = false;           ///< a part that nothing here can evaluate

    std::map<std::string, int> where; ///< line of the last assignment
    std::size_t characters = 0;       ///< of values and of words, all together
    [[nodiscard]] bool too_large() const { return characters > (std::size_t{1} << 25); }

    /// "TP=8", "ARGS+=(--bf16)". False where the word is no assignment.
    bool assign(RawWord const& word);
    void set_text(std::string const& name, std::string const& text, int line);
    /// "DP = WS / TP", "I++" and "N *= 2" of let and (( )), parted by commas.
    void compute(std::string const& expression, int line);

    /// Words of a word: none of an empty variable, several of an array.
    ShellItems expanded(RawWord const& word);
    /// Text behind "<<", with its variables put in; its quotation marks stay.
    std::string put_in(std::string_view text, int line);
    /// All of it as one text.
    std::string joined(RawWord const& word);
    /// Integer of an arithmetic expression, in decimal; none where it cannot be evaluated.
    std::optional<std::string> integer(std::string_view expression, int line);

private:
    struct Builder;
    void add_text(ShellItems& items, RawWord const& value, bool behind);
    void part(RawWord const& word, std::size_t& at, bool quoted, Builder& to);
    void dollar(RawWord const& word, std::size_t at, std::size_t& end, bool quoted, Builder& to);
    bool is_given(std::string const& name, bool colon);
    void braces(std::string_view inside, std::string_view whole, int line, bool quoted, Builder& to);
    void compute_one(std::string const& expression, int line);
    [[nodiscard]] std::optional<std::string> text_of_output(std::string const& command, int line);
    bool element(std::string const& name, std::string_view index, bool quoted, Builder& to);
    void output(std::string_view inside, std::string_view whole, int line, bool quoted, Builder& to);
    ShellItems const* value(std::string const& name);
    void put(std::string const& name, std::string_view whole, int line, bool quoted, Builder& to);
    int level_ = 0;
};

/// A text as a word that begins at a line.
RawWord raw_word(std::string_view text, int line);

/// Words that a variable stands for, one reading for each value that it may have.
std::vector<std::vector<Word>> readings_of(std::string const& name, Variable const& variable, int line);

/// Names behind the "$" of a text.
std::set<std::string> variables_in(std::string_view text);

/// Name at the start of a text: letters, digits, underscores.
std::string_view name_at(std::string_view text);

} // namespace headroom::io::launch
