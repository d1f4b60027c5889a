#include "launch/shell_arithmetic.hpp"

#include <array>
#include <cctype>

namespace headroom::io::launch {

namespace {

using Integer = std::optional<long long>;

/// Operators by precedence, the loosest first; longer ones before those that they begin with.
constexpr std::array<std::array<std::string_view, 5>, 10> levels{{
    {"||"},
    {"&&"},
    {"|"},
    {"^"},
    {"&"},
    {"==", "!="},
    {"<=", ">=", "<", ">"},
    {"<<", ">>"},
    {"+", "-"},
    {"**", "*", "/", "%"},
}};
constexpr int deepest_term = 64; ///< parentheses and signs

Integer checked(bool overflows, long long const& value) { return overflows ? Integer{} : Integer{value}; }

Integer power(long long a, long long b) {
    long long result = 1;
    for (; b > 0; --b) {
        if (__builtin_mul_overflow(result, a, &result) || b > 64) { return {}; }
    }
    return b < 0 ? Integer{} : Integer{result};
}

Integer applied(std::string_view sign, long long a, long long b) {
    long long value = 0;
    bool const divides = sign == "/" || sign == "%";
    if (divides && (b == 0 || b == -1)) {
        return b == 0 ? Integer{} : sign == "%" ? 0 : checked(__builtin_mul_overflow(a, b, &value), value);
    }
    bool const shifts = sign == "<<" || sign == ">>";
    if (shifts && (a < 0 || b < 0 || b > 40 || a > (1LL << 20))) { return {}; }
    if (sign == "+") { return checked(__builtin_add_overflow(a, b, &value), value); }
    if (sign == "-") { return checked(__builtin_sub_overflow(a, b, &value), value); }
    if (sign == "*") { return checked(__builtin_mul_overflow(a, b, &value), value); }
    if (sign == "**") { return power(a, b); }
    if (sign == "/") { return a / b; }
    if (sign == "%") { return a % b; }
    if (sign == "<<") { return a << b; }
    if (sign == ">>") { return a >> b; }
    if (sign == "==") { return a == b; }
    if (sign == "!=") { return a != b; }
    if (sign == "<=") { return a <= b; }
    if (sign == ">=") { return a >= b; }
    if (sign == "<") { return a < b; }
    if (sign == ">") { return a > b; }
    if (sign == "&&") { return a != 0 && b != 0; }
    if (sign == "||") { return a != 0 || b != 0; }
    return sign == "&" ? a & b : sign == "|" ? a | b : a ^ b;
}

class Reader {
public:
    Reader(std::string_view text, std::function<std::string(std::string const&)> const& value_of)
        : text_{text}, value_of_{value_of} {}

    Integer read() {
        Integer const value = choice();
        blanks();
        return at_ == text_.size() ? value : Integer{};
    }

private:
    void blanks() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) { ++at_; }
    }
    [[nodiscard]] bool at(std::string_view what) const { return text_.substr(at_).starts_with(what); }

    Integer choice() {
        Integer const condition = binary(0);
        blanks();
        if (!condition || !at("?")) { return condition; }
        ++at_;
        Integer const yes = binary(0);
        blanks();
        if (!yes || !at(":")) { return {}; }
        ++at_;
        Integer const no = binary(0);
        return !no ? no : *condition != 0 ? yes : no;
    }

    /// The operator of a level that stands here; "|" is none where "||" does.
    [[nodiscard]] std::string_view sign_of(std::size_t level) const {
        for (std::string_view const sign : levels[level]) {
            if (sign.empty() || !at(sign)) { continue; }
            char const next = at_ + sign.size() < text_.size() ? text_[at_ + sign.size()] : '\0';
            bool const longer =
                sign.size() == 1 && (sign == "|" || sign == "&" || sign == "<" || sign == ">") && next == sign.front();
            if (!longer && next != '=') { return sign; }
            if (sign == "==" || sign == "!=") { return sign; }
        }
        return {};
    }

    Integer binary(std::size_t level) {
        if (level == levels.size()) { return unary(); }
        Integer value = binary(level + 1);
        while (value) {
            blanks();
            std::string_view const sign = sign_of(level);
            if (sign.empty()) { return value; }
            at_ += sign.size();
            Integer const right = binary(level + 1);
            value = right ? applied(sign, *value, *right) : Integer{};
        }
        return value;
    }

    Integer unary() {
        blanks();
        if (at_ >= text_.size() || ++depth_ > deepest_term) { return {}; }
        Integer value;
        if (char const c = text_[at_]; c == '-' || c == '+' || c == '!') {
            ++at_;
            value = unary();
            if (value) { value = c == '-' ? applied("-", 0, *value) : c == '!' ? Integer{*value == 0} : value; }
        } else if (c == '(') {
            ++at_;
            value = choice();
            blanks();
            if (!at(")")) { return {}; }
            ++at_;
        } else {
            value = operand();
        }
        --depth_;
        return value;
    }

    /// A number, or a variable by its bare name.
    Integer operand() {
        std::string word;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
            word += text_[at_++];
        }
        if (word.empty()) { return {}; }
        if (std::isdigit(static_cast<unsigned char>(word.front())) == 0) {
            if (++depth_ > deepest_term) { return {}; }
            Integer const value = number(value_of_(word));
            --depth_;
            return value;
        }
        return number(word);
    }

    static Integer number(std::string const& word) {
        bool const negative = word.starts_with('-');
        long long value = 0;
        std::size_t at = negative ? 1 : 0;
        if (at == word.size()) { return {}; }
        for (; at < word.size(); ++at) {
            bool const digit = std::isdigit(static_cast<unsigned char>(word[at])) != 0;
            if (!digit || __builtin_mul_overflow(value, 10LL, &value) ||
                __builtin_add_overflow(value, static_cast<long long>(word[at] - '0'), &value)) {
                return {};
            }
        }
        return negative ? -value : value;
    }

    std::string_view text_;
    std::function<std::string(std::string const&)> const& value_of_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

} // namespace

std::optional<long long> shell_integer(std::string_view expression,
                                       std::function<std::string(std::string const&)> const& value_of) {
    return Reader{expression, value_of}.read();
}

} // namespace headroom::io::launch
