#include "tables/phrases.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace headroom::io {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Whether a text ends with these words, which do not begin inside another one.
bool ends_with_words(std::string_view text, std::string_view words) {
    if (!text.ends_with(words)) { return false; }
    return text.size() == words.size() || !in_word(text[text.size() - words.size() - 1]);
}

} // namespace

std::string in_lower_case(std::string_view text) {
    std::string result{text};
    std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

std::size_t find_phrase(std::string_view text, std::string_view phrase, std::size_t from) {
    if (phrase.empty()) { return std::string_view::npos; }
    for (std::size_t at = text.find(phrase, from); at != std::string_view::npos; at = text.find(phrase, at + 1)) {
        std::size_t const end = at + phrase.size();
        bool const begins_inside = at > 0 && in_word(text[at - 1]) && in_word(text[at]);
        bool const ends_inside = end < text.size() && in_word(text[end]) && in_word(text[end - 1]);
        if (!begins_inside && !ends_inside) { return at; }
    }
    return std::string_view::npos;
}

bool states_phrase(std::string_view text, std::string_view phrase) {
    constexpr std::array denials{"no", "non", "not", "without", "than", "vs", "instead of"};
    for (auto at = find_phrase(text, phrase); at != std::string_view::npos; at = find_phrase(text, phrase, at + 1)) {
        std::string_view before = text.substr(0, at);
        before = before.substr(0, before.find_last_not_of(" -_") + 1);
        bool const denied =
            std::ranges::any_of(denials, [before](char const* one) { return ends_with_words(before, one); });
        if (!denied) { return true; }
    }
    return false;
}

std::optional<int> stated_count(std::string_view text, std::string_view word) {
    auto at = text.find(word);
    if (at == std::string_view::npos) { return std::nullopt; }
    at += word.size();
    int value = 0;
    auto const [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc{} || value < 1) { return std::nullopt; }
    return value;
}

std::vector<std::string> clauses_of(std::string_view notes) {
    std::vector<std::string> clauses;
    while (!notes.empty()) {
        auto const end = std::min(notes.find_first_of(";|"), notes.size());
        auto const begin = std::min(notes.find_first_not_of(' '), end);
        clauses.push_back(in_lower_case(notes.substr(begin, end - begin)));
        notes.remove_prefix(std::min(notes.size(), end + 1));
    }
    return clauses;
}

} // namespace headroom::io
