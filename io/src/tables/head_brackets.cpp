#include "tables/head_brackets.hpp"

#include "tables/cell_text.hpp"
#include "tables/quotient.hpp"

#include <algorithm>
#include <array>

namespace headroom::io {
namespace {

/// Words that may stand in the brackets of any head, and change neither unit nor quantity.
constexpr std::array<std::string_view, 7> remark_words{
    // statistics
    "avg average averaged mean median minimum maximum max best fastest worst std stddev stdev of over across all from "
    "runs run trials trial repeats repetitions reps samples iterations iters steps epochs warmup warm cold steady",
    // clocks
    "wall clock wallclock walltime elapsed measured actual real total overall end to e2e",
    // directions
    "lower higher smaller larger less more is better",
    // precisions
    "single double half mixed precision amp fp64 fp32 tf32 fp16 bf16 fp8 fp4 int8 float64 float32 float16 bfloat16",
    // settings
    "strong weak scaling batch bs batchsize size train training eval evaluation inference forward backward "
    // the worker count that a figure depends on: T(p)
    "p n np workers",
    // figures of models, which tables keep apart
    "ideal predicted expected linear theoretical perfect projected modelled modeled",
    // what may stand next to all of these
    "the and with without incl excl including excluding only"};

constexpr std::string_view hardware_names =
    "a100 a800 h100 h200 h800 h20 gh200 b100 b200 b300 gb200 gb300 v100 p100 k80 t4 l4 l40 l40s a10 a10g a30 a40 a6000 "
    "rtx3090 rtx4090 mi50 mi100 mi210 mi250 mi250x mi300 mi300a mi300x mi325x mi355x gaudi gaudi2 gaudi3 tpuv2 tpuv3 "
    "tpuv4 tpuv5e tpuv5p tpuv6e pvc sxm sxm2 sxm4 sxm5 pcie nvl";

/// Words behind a unit that leave it as it is: a time of one step, bytes of one rank.
struct UnitOf {
    CellMeasure measure;
    std::string_view words;
};
constexpr std::array units_of{UnitOf{CellMeasure::time, "step iteration iter it"},
                              UnitOf{CellMeasure::size, "rank process gpu device task"}};

/// "ms" of "in ms", "ms/step" and "ms per step".
std::optional<CellUnit> unit_of_part(std::string_view part, CellMeasure measure) {
    if (part.size() > 3 && same_caseless(part.substr(0, 3), "in ")) { part = trimmed_line(part.substr(3)); }
    if (part.size() > 1 && part.ends_with('.') && part.find('.') + 1 == part.size()) {
        part.remove_suffix(1);
    } // "min."
    if (auto const unit = unit_named(measure, part, true)) { return unit; }
    std::size_t length = 1;
    std::size_t cut = part.find('/');
    if (cut == std::string_view::npos) {
        length = 5;
        cut = find_caseless(part, " per ");
    }
    if (cut == std::string_view::npos || cut == 0) { return std::nullopt; }
    std::string_view const below = trimmed_line(part.substr(cut + length));
    bool const known = std::ranges::any_of(
        units_of, [&](UnitOf const& one) { return one.measure == measure && is_word_of(one.words, below); });
    return known ? unit_named(measure, trimmed_line(part.substr(0, cut)), true) : std::nullopt;
}

/// "h:mm", "HH:MM:SS.s": the pattern of a clock.
bool is_clock_pattern(std::string_view part) {
    bool const letters = std::ranges::all_of(
        part, [](char c) { return std::string_view{"hmsd:.-"}.find(lowered(c)) != std::string_view::npos; });
    return letters && part.find(':') != std::string_view::npos;
}

/// Whether each word of a remark is known; numbers stand next to words only: "avg of 5", "batch 32".
bool is_remark(std::string_view part, ColumnRow const& row, std::span<HeadWords const> words, int& rank) {
    if (part.empty() || is_word_of(row.remarks, part)) { return true; }
    if (row.measure == CellMeasure::time && is_clock_pattern(part)) { return true; }
    if (row.rates && is_rate_head(part) && find_caseless(part, "log") == std::string_view::npos) { return true; }
    bool any = false, number = false, size = false;
    std::string word;
    for (std::size_t i = 0; i <= part.size(); ++i) {
        char const c = i < part.size() ? lowered(part[i]) : ' ';
        bool const letter = is_decimal_digit(c) || (c >= 'a' && c <= 'z');
        if (letter) { word += c; }
        if (!letter && std::string_view{" _-=#"}.find(c) == std::string_view::npos) { return false; }
        if (letter || word.empty()) { continue; }
        bool const digits = std::ranges::all_of(word, is_decimal_digit);
        auto const own = rank_of_word(words, word);
        bool const known = own || names_hardware(word) || is_word_of(row.remarks, word) ||
                           std::ranges::any_of(remark_words, [&](auto one) { return is_word_of(one, word); });
        if (!digits && word != "n" && !known) { return false; }
        rank = std::min(rank + own.value_or(0), ColumnMatch::never);
        any = any || known;
        number = number || digits;
        size = size || word == "n";
        word.clear();
    }
    return any || (number && size); // "n = 5"
}

} // namespace

std::optional<int> rank_of_word(std::span<HeadWords const> words, std::string_view word) {
    for (HeadWords const& one : words) {
        if (is_word_of(one.words, word)) { return one.rank; }
    }
    return std::nullopt;
}

bool names_hardware(std::string_view word) { return is_word_of(hardware_names, word); }

std::optional<HeadBracket> bracket_of(std::string_view head, ColumnRow const& row, std::span<HeadWords const> words) {
    head = trimmed_line(head);
    if (!head.ends_with(')') && !head.ends_with(']')) { return std::nullopt; }
    auto const open = head.find_last_of("([");
    if (open == std::string_view::npos) { return std::nullopt; }
    HeadBracket read{.stem = head.substr(0, open)};
    std::string_view const written = head.substr(open + 1, head.size() - open - 2);
    bool unknown = false;
    std::string const inside = plain_latex(written, &unknown);
    if (unknown) {
        read.unread = written;
        return read;
    }
    for (std::string_view left = inside; !left.empty();) {
        auto const end = std::min(left.find_first_of(",;"), left.size());
        std::string_view const part = trimmed_line(left.substr(0, end));
        left.remove_prefix(std::min(end + 1, left.size()));
        auto const unit = read.unit ? std::nullopt : unit_of_part(part, row.measure);
        if (unit) { read.unit = unit; }
        if (unit || is_remark(part, row, words, read.rank)) { continue; }
        read.unread = part;
        break;
    }
    return read;
}

} // namespace headroom::io
