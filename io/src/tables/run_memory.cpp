#include "tables/run_memory.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <vector>

namespace headroom::io {

using namespace headroom::training;

namespace {

std::string lower(std::string_view text) {
    std::string result{text};
    std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Place of a phrase that neither begins nor ends inside a word, from `from` on.
std::size_t find_phrase(std::string_view text, std::string_view phrase, std::size_t from = 0) {
    for (std::size_t at = text.find(phrase, from); at != std::string_view::npos; at = text.find(phrase, at + 1)) {
        std::size_t const end = at + phrase.size();
        if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]))) { return at; }
    }
    return std::string_view::npos;
}

bool has_phrase(std::string_view text, std::string_view phrase) {
    return find_phrase(text, phrase) != std::string_view::npos;
}

std::vector<std::string> clauses_of(std::string_view notes) {
    std::vector<std::string> clauses;
    while (!notes.empty()) {
        auto const end = std::min(notes.find_first_of(";|"), notes.size());
        auto const begin = std::min(notes.find_first_not_of(' '), end);
        clauses.push_back(lower(notes.substr(begin, end - begin)));
        notes.remove_prefix(std::min(notes.size(), end + 1));
    }
    return clauses;
}

/// Whether a word stands in the text and the word before it does not deny it.
bool states(std::string_view text, std::string_view word) {
    for (std::size_t at = find_phrase(text, word); at != std::string_view::npos; at = find_phrase(text, word, at + 1)) {
        std::string_view before = text.substr(0, at);
        before.remove_suffix(before.size() - (before.find_last_not_of(" -_") + 1));
        auto const ends = [before](std::string_view word_before) {
            if (!before.ends_with(word_before)) { return false; }
            return before.size() == word_before.size() || !in_word(before[before.size() - word_before.size() - 1]);
        };
        bool const denied = std::ranges::any_of(std::array{"no", "non", "not", "without", "than", "vs"}, ends);
        if (!denied) { return true; }
    }
    return false;
}

struct KindPhrase {
    std::string_view phrase;
    MemoryKind kind;
};
constexpr std::array kind_phrases{
    KindPhrase{"max_memory_allocated", MemoryKind::allocated},
    KindPhrase{"memory_allocated", MemoryKind::allocated},
    KindPhrase{"allocated", MemoryKind::allocated},
    KindPhrase{"max_memory_reserved", MemoryKind::reserved},
    KindPhrase{"memory_reserved", MemoryKind::reserved},
    KindPhrase{"reserved", MemoryKind::reserved},
    KindPhrase{"nvidia-smi", MemoryKind::process},
    KindPhrase{"rocm-smi", MemoryKind::process},
    KindPhrase{"nvml", MemoryKind::process},
    KindPhrase{"process", MemoryKind::process},
};

/// Kind of the phrase that stands first in a clause.
MemoryKind kind_in(std::string_view clause) {
    if (has_phrase(clause, "method not stated")) { return MemoryKind::unstated; }
    std::size_t first = std::string_view::npos;
    MemoryKind kind = MemoryKind::unstated;
    for (auto const& [phrase, meant] : kind_phrases) {
        auto const at = find_phrase(clause, phrase);
        if (at < first) {
            first = at;
            kind = meant;
        }
    }
    return kind;
}

/// Kind of a cell; empty where the cell is.
std::optional<MemoryKind> kind_of_cell(std::string_view cell) {
    if (cell.empty()) { return std::nullopt; }
    std::string const word = lower(cell);
    for (MemoryKind const kind : memory_kinds) {
        if (word == name_of(kind)) { return kind; }
    }
    for (auto const& [phrase, kind] : kind_phrases) {
        if (has_phrase(word, phrase)) { return kind; }
    }
    throw Skip{"memory_kind is " + quoted(cell) + ", not allocated, reserved, process or not stated"};
}

} // namespace

bool states_adapters(RunCells const& row) {
    auto const clauses = clauses_of(row.text("notes"));
    std::string const name = lower(row.text("model_name"));
    return std::ranges::any_of(std::array{"lora", "qlora", "dora", "qdora"}, [&](char const* word) {
        return states(name, word) || (!clauses.empty() && states(clauses.front(), word));
    });
}

std::optional<int> adapter_rank(std::string_view notes) {
    std::string const text = lower(notes);
    for (std::string_view const before : {"lora rank ", "lora (rank ", "dora rank "}) {
        auto const at = text.find(before);
        if (at == std::string::npos) { continue; }
        int rank = 0;
        char const* const begin = text.data() + at + before.size();
        if (std::from_chars(begin, text.data() + text.size(), rank).ec == std::errc{} && rank > 0) { return rank; }
    }
    return std::nullopt;
}

MemoryKind memory_kind(std::string_view cell, std::string_view notes) {
    if (auto const stated = kind_of_cell(cell)) { return *stated; }
    auto const clauses = clauses_of(notes);
    auto const defined =
        std::ranges::find_if(clauses, [](std::string const& clause) { return clause.starts_with("memory ="); });
    if (defined != clauses.end()) { return kind_in(*defined); }
    for (std::string const& clause : clauses) {
        bool const speaks = has_phrase(clause, "memory") || has_phrase(clause, "mem") || has_phrase(clause, "peak") ||
                            has_phrase(clause, "max_memory_allocated") || has_phrase(clause, "max_memory_reserved");
        if (MemoryKind const kind = speaks ? kind_in(clause) : MemoryKind::unstated; kind != MemoryKind::unstated) {
            return kind;
        }
    }
    return MemoryKind::unstated;
}

void add_memory(RunCells const& row, PublishedRun& run) {
    auto const gib = row.number("measured_memory_gib_per_gpu");
    if (!gib) { return; }
    run.measured_memory = *gib * units::GiB;
    run.memory_kind = memory_kind(row.text("memory_kind"), row.text("notes"));
}

} // namespace headroom::io
