#include "tables/run_memory.hpp"

#include "tables/phrases.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <string>

namespace headroom::io {

using namespace headroom::training;

namespace {

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
    KindPhrase{"dashboard", MemoryKind::process}, // trackers of experiments sample NVML
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

std::optional<MemoryKind> kind_of_cell(std::string_view cell) {
    if (cell.empty()) { return std::nullopt; }
    std::string const word = in_lower_case(cell);
    for (MemoryKind const kind : memory_kinds) {
        if (word == name_of(kind)) { return kind; }
    }
    for (auto const& [phrase, kind] : kind_phrases) {
        if (has_phrase(word, phrase)) { return kind; }
    }
    throw Skip{"memory_kind is " + quoted(cell) + ", not allocated, reserved, process or not stated"};
}

} // namespace

AdapterKind stated_adapters(RunCells const& row) {
    auto const clauses = clauses_of(row.text("notes"));
    std::string const name = in_lower_case(row.text("model_name"));
    auto const states = [&](std::initializer_list<char const*> words) {
        return std::ranges::any_of(words, [&](char const* word) {
            return states_phrase(name, word) || (!clauses.empty() && states_phrase(clauses.front(), word));
        });
    };
    if (states({"dora", "qdora"})) { return AdapterKind::dora; }
    return states({"lora", "qlora"}) ? AdapterKind::lora : AdapterKind::none;
}

std::optional<int> adapter_rank(std::string_view notes) {
    std::string const text = in_lower_case(notes);
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
        bool const speaks = has_phrase(clause, "memory") || has_phrase(clause, "dashboard") ||
                            has_phrase(clause, "mem") || has_phrase(clause, "peak") ||
                            has_phrase(clause, "max_memory_allocated") || has_phrase(clause, "max_memory_reserved");
        if (MemoryKind const kind = speaks ? kind_in(clause) : MemoryKind::unstated; kind != MemoryKind::unstated) {
            return kind;
        }
    }
    return MemoryKind::unstated;
}

void add_memory(RunCells const& row, PublishedRun& run) {
    std::string const cell = in_lower_case(row.text("measured_memory_gib_per_gpu"));
    run.ran_out = cell == "oom" || cell == "out of memory";
    if (run.ran_out || in_lower_case(row.text("memory_kind")) == "not a peak") { return; }
    auto const gib = row.number("measured_memory_gib_per_gpu");
    if (!gib) { return; }
    run.measured_memory = *gib * units::GiB;
    run.memory_kind = memory_kind(row.text("memory_kind"), row.text("notes"));
}

} // namespace headroom::io
