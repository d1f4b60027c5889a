#include "graphs/dot_tokens.hpp"

#include "records/record.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::io {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// Letters, and every byte beyond ASCII.
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80U;
}
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

} // namespace

bool DotToken::is_word(std::string_view word) const {
    auto const lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return type == Type::name && std::ranges::equal(text, word, {}, lower);
}

DotTokens::DotTokens(std::string_view text, SayPlace say) : text_{text}, say_{std::move(say)} {
    if (text_.starts_with(byte_order_mark)) { at_ = byte_order_mark.size(); }
}

void DotTokens::require_text() const {
    std::size_t const bad = first_not_text(text_);
    if (bad != std::string_view::npos) {
        fail(bad, text_[bad] == '\0' ? "a zero byte" : "not valid UTF-8", fmt::format("at byte {}", bad));
    }
}

void DotTokens::fail(std::size_t at, std::string problem, std::string why, std::string hint) const {
    unreadable_error(say_(static_cast<Place>(at)), std::move(problem), std::move(why), std::move(hint));
}

void DotTokens::skip_space() {
    for (; at_ < text_.size(); ++at_) {
        bool const line_start = at_ == 0 || text_[at_ - 1] == '\n';
        if (is_space(text_[at_])) { continue; }
        if ((text_[at_] == '#' && line_start) || text_.substr(at_).starts_with("//")) {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (text_.substr(at_).starts_with("/*")) {
            std::size_t const end = text_.find("*/", at_ + 2);
            if (end == std::string_view::npos) { fail(at_, "a comment that is never closed"); }
            at_ = end + 1;
        } else {
            return;
        }
        if (at_ >= text_.size()) { return; }
    }
}

DotToken DotTokens::quoted() {
    DotToken token{.type = DotToken::Type::quoted, .text = {}, .place = static_cast<Place>(at_)};
    for (;;) {
        std::size_t const opened = at_++;
        for (;; ++at_) {
            if (at_ >= text_.size()) { fail(opened, "a quote that is never closed", "the text runs to the end"); }
            if (text_[at_] == '"') { break; }
            bool const escape = text_[at_] == '\\' && at_ + 1 < text_.size();
            if (escape && text_[at_ + 1] == '"') {
                ++at_; // the only escape of the language; others belong to whoever draws
            } else if (escape && text_[at_ + 1] == '\n') {
                ++at_;
                continue;
            } else if (escape) {
                token.text += text_[at_++];
            }
            token.text += text_[at_];
        }
        ++at_;
        std::size_t const after = at_;
        skip_space();
        if (at_ >= text_.size() || text_[at_] != '+') { return at_ = after, token; }
        ++at_;
        skip_space();
        if (at_ >= text_.size() || text_[at_] != '"') { fail(after, "a '+' without a quoted text after it"); }
    }
}

DotToken DotTokens::html() {
    std::size_t const opened = at_;
    std::size_t depth = 0;
    for (; at_ < text_.size(); ++at_) {
        if (text_[at_] == '<') { ++depth; }
        if (text_[at_] == '>' && --depth == 0) {
            ++at_;
            return {.type = DotToken::Type::html,
                    .text = std::string{text_.substr(opened + 1, at_ - opened - 2)},
                    .place = static_cast<Place>(opened)};
        }
    }
    fail(opened, "a '<' that is never closed", "the text runs to the end");
}

/// [-]? ( . digits | digits [ . digits ] )
DotToken DotTokens::number() {
    std::size_t const begin = at_;
    if (text_[at_] == '-') { ++at_; }
    std::size_t const digits = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) { ++at_; }
    if (at_ < text_.size() && text_[at_] == '.') {
        ++at_;
        while (at_ < text_.size() && is_digit(text_[at_])) { ++at_; }
    }
    std::string_view const all = text_.substr(begin, at_ - begin);
    if (std::ranges::none_of(all, is_digit)) {
        fail(digits, fmt::format("{} where a name is due", headroom::quoted(all)), {}, "put it in quotes");
    }
    if (at_ < text_.size() && is_letter(text_[at_])) { // Graphviz would read two words: cost=3ms as 3
        fail(begin, fmt::format("a number that runs into letters after {}", headroom::quoted(all)),
             "it would be read as two words", "put it in quotes");
    }
    return {.type = DotToken::Type::name, .text = std::string{all}, .place = static_cast<Place>(begin)};
}

DotToken DotTokens::next() {
    skip_space();
    auto const place = static_cast<Place>(at_);
    if (at_ >= text_.size()) { return {.type = DotToken::Type::end, .text = {}, .place = place}; }
    char const c = text_[at_];
    if (c == '"') { return quoted(); }
    if (c == '<') { return html(); }
    if (is_letter(c)) {
        std::size_t const begin = at_;
        while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) { ++at_; }
        return {.type = DotToken::Type::name, .text = std::string{text_.substr(begin, at_ - begin)}, .place = place};
    }
    if (std::string_view{"{}[];,:="}.find(c) != std::string_view::npos) {
        ++at_;
        return {.type = DotToken::Type::mark, .text = std::string{c}, .place = place};
    }
    if (text_.substr(at_).starts_with("->") || text_.substr(at_).starts_with("--")) {
        bool const arrow = text_[at_ + 1] == '>';
        at_ += 2;
        return {.type = arrow ? DotToken::Type::arrow : DotToken::Type::line, .text = {}, .place = place};
    }
    if (is_digit(c) || c == '.' || c == '-') { return number(); }
    fail(at_,
         fmt::format("{} makes no sense here", headroom::quoted(text_.substr(at_, utf8_length(text_.substr(at_))))), {},
         "put names with such characters in quotes");
}

} // namespace headroom::io
