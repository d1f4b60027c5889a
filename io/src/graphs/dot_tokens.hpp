#pragma once

#include "graphs/graph_draft.hpp"

#include <string>
#include <string_view>

namespace headroom::io {

/// A word of the DOT language.
struct DotToken {
    enum class Type : std::uint8_t {
        end,
        name,   ///< a bare word or a number
        quoted, ///< text in quotes, joined where it was cut
        html,   ///< text between < and >
        arrow,  ///< ->
        line,   ///< --
        mark,   ///< one of { } [ ] ; , : = +
    };
    Type type = Type::end;
    std::string text; ///< of a mark, itself
    Place place = 0;

    [[nodiscard]] bool is(char mark) const { return type == Type::mark && text[0] == mark; }
    [[nodiscard]] bool is_id() const { return type == Type::name || type == Type::quoted || type == Type::html; }
    /// A bare word of the language, in any case: quoted it would be a name.
    [[nodiscard]] bool is_word(std::string_view word) const;
};

/// Cuts DOT into words: comments, lines of the preprocessor and byte order marks are passed over.
/// Errors: InputError{unreadable} at the line: a text or comment without an end, a character of no word.
class DotTokens {
public:
    DotTokens(std::string_view text, SayPlace say);
    /// Errors: InputError{unreadable} where the text is not UTF-8 or holds a zero byte.
    void require_text() const;
    DotToken next();

private:
    void skip_space();
    DotToken quoted();
    DotToken html();
    DotToken number();
    [[noreturn]] void fail(std::size_t at, std::string problem, std::string why = {}, std::string hint = {}) const;

    std::string_view text_;
    SayPlace say_;
    std::size_t at_ = 0;
};

} // namespace headroom::io
