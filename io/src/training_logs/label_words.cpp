#include "training_logs/label_words.hpp"

#include "tables/cell_text.hpp"
#include "training_logs/line_figures.hpp"

#include <algorithm>
#include <array>

namespace headroom::io {

namespace {

constexpr std::array<std::string_view, 88> known_words{
    "acc",        "accuracy",   "am",      "apr",      "aug",       "aux",      "batch",    "batches", "ce",
    "consumed",   "debug",      "dec",     "epoch",    "epochs",    "example",  "examples", "feb",     "fri",
    "gb",         "gib",        "global",  "gnorm",    "grad",      "gradient", "inf",      "info",    "iter",
    "iteration",  "iterations", "iters",   "jan",      "jul",       "jun",      "learning", "len",     "length",
    "lm",         "loss",       "losses",  "lr",       "main",      "mar",      "may",      "mb",      "mem",
    "memory",     "mfu",        "mib",     "mon",      "nan",       "norm",     "nov",      "oct",     "of",
    "perplexity", "pm",         "ppl",     "rate",     "sample",    "samples",  "sat",      "scale",   "seen",
    "sep",        "seq",        "seqs",    "sequence", "sequences", "size",     "skipped",  "step",    "steps",
    "sun",        "thu",        "tok",     "token",    "tokens",    "total",    "train",    "trainer", "training",
    "tue",        "update",     "updates", "utc",      "warning",   "wd",       "wed"};
static_assert(std::ranges::is_sorted(known_words));

} // namespace

bool is_known_word(std::string_view word) {
    std::array<char, 16> buffer = {};
    if (word.size() > buffer.size()) { return false; }
    std::ranges::transform(word, buffer.begin(), lowered);
    return std::ranges::binary_search(known_words, std::string_view{buffer.data(), word.size()});
}

bool has_known_words_alone(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() && is_latin_letter(text[end])) { ++end; }
        bool const word = end > at && (at == 0 || !is_decimal_digit(text[at - 1]));
        if (word && !is_known_word(text.substr(at, end - at))) { return false; }
        at = std::max(end, at + 1);
    }
    return true;
}

bool has_number(std::string_view label) {
    while (!label.empty()) {
        std::string_view const word = next_word(label);
        if (!word.empty() && is_decimal_digit(word.front())) { return true; }
    }
    return false;
}

} // namespace headroom::io
