#include "records/record.hpp"
#include "records/toml_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::io {

namespace {

constexpr int deepest_value = 32;
constexpr int deepest_name = 16;

/// Refuses, before the parser sees them, deep nesting, on which it recurses, and letters beyond ASCII outside of texts
/// and comments, on which its character classes are undefined. Strings and comments are skipped as the grammar has
/// them; on a malformed document the parser stops before the point where this scan goes astray.
class Prescan {
public:
    Prescan(std::string_view text, std::string_view where) : text_{text}, where_{where} {
        if (text_.starts_with(byte_order_mark)) { at_ = byte_order_mark.size(); }
    }

    void run() {
        while (at_ < text_.size()) { step(); }
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
        case '\'':
            expect_before(c, "=[{,.\n");
            skip_string(c);
            last_ = c;
            return;
        case '#': skip_line(); return;
        case '[':
        case '{':
            expect_before(c, "=[,\n");
            if (++values_ > deepest_value) { refuse("values nested too deeply", deepest_value); }
            names_ = 0;
            break;
        case ']':
        case '}': values_ = std::max(0, values_ - 1); break;
        case '.':
            if (++names_ > deepest_name) { refuse("a key of too many parts", deepest_name); }
            break;
        case '\n':
            ++line_;
            names_ = 0;
            break;
        case ',':
        case '=': names_ = 0; break;
        default: break;
        }
        if (c != ' ' && c != '\t' && c != '\r') { last_ = c; }
        ++at_;
    }

    [[nodiscard]] bool starts_with(std::string_view token) const { return text_.substr(at_).starts_with(token); }

    /// Inside of a bare word the parser takes no notice of quotes and brackets; no word has any.
    void expect_before(char c, std::string_view allowed) const {
        if (allowed.find(last_) != std::string_view::npos) { return; }
        unreadable_error(fmt::format("{}:{}", where_, line_), "not valid TOML",
                         fmt::format("a {} in the wrong place", c));
    }

    void skip_line() {
        while (at_ < text_.size() && text_[at_] != '\n') { ++at_; }
    }

    void skip_string(char quote) {
        std::string const triple(3, quote);
        bool const multiline = starts_with(triple);
        at_ += multiline ? 3 : 1;
        while (at_ < text_.size()) {
            char const c = text_[at_];
            if (c == '\\' && quote == '"') {
                at_ += 2;
                continue;
            }
            if (c == '\n') {
                if (!multiline) { return; }
                ++line_;
            }
            if (c == quote && (!multiline || starts_with(triple))) {
                at_ += multiline ? 3 : 1;
                for (int extra = 0; multiline && extra < 2 && at_ < text_.size() && text_[at_] == quote; ++extra) {
                    ++at_;
                }
                return;
            }
            ++at_;
        }
    }

    [[noreturn]] void refuse(char const* what, int limit) const {
        unreadable_error(fmt::format("{}:{}", where_, line_), what, fmt::format("at most {} are read", limit));
    }

    std::string_view text_, where_;
    std::size_t at_ = 0;
    std::size_t line_ = 1;
    int values_ = 0, names_ = 0;
    char last_ = '\n'; ///< that is not blank
};

} // namespace

void require_readable_toml(std::string_view text, std::string_view where) { Prescan{text, where}.run(); }

} // namespace headroom::io
