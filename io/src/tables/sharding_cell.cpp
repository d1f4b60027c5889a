#include "tables/sharding_cell.hpp"

#include "tables/phrases.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace headroom::io {

using namespace headroom::training;

namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool digit(char c) { return c >= '0' && c <= '9'; }

/// Lower case, one blank for each run of blanks, underscores, hyphens and colons.
std::string plain_words(std::string_view raw) {
    std::string words;
    for (char const c : in_lower_case(raw)) {
        bool const gap = c == ' ' || c == '_' || c == '-' || c == ':' || c == '\t';
        if (!gap) { words += c; }
        if (gap && !words.empty() && words.back() != ' ') { words += ' '; }
    }
    if (!words.empty() && words.back() == ' ') { words.pop_back(); }
    return words;
}

/// Whether a denial stands before a place of plain words: "no fsdp", "without zero 3", "vs fsdp".
bool is_denied(std::string_view text, std::size_t at) {
    constexpr std::array<std::string_view, 7> denials{"no", "not", "non", "without", "w/o", "vs", "vs."};
    std::string_view before = text.substr(0, at);
    before = before.substr(0, before.find_last_not_of(' ') + 1);
    return std::ranges::any_of(denials, [before](std::string_view word) {
        if (!before.ends_with(word)) { return false; }
        auto const begin = before.size() - word.size();
        return begin == 0 || std::string_view{" (,+/"}.find(before[begin - 1]) != std::string_view::npos;
    });
}

/// Whether a part stands in a text, and not behind a denial.
bool states(std::string_view text, std::string_view part) {
    for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
        if (!is_denied(text, at)) { return true; }
    }
    return false;
}

/// The stage that stands behind a word, as in "zero 2", "zero=2" or "zero (2)": a digit alone, 0 to 3.
std::optional<int> stage_after(std::string_view text, std::string_view word) {
    for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        auto const begin = text.find_first_not_of(" =(", at + word.size());
        if (begin == std::string_view::npos || text[begin] < '0' || text[begin] > '3') { continue; }
        std::string_view const behind = text.substr(begin + 1); // "z3.json", not "zero 0.9"
        bool const version = behind.size() > 1 && behind[0] == '.' && digit(behind[1]);
        bool const alone = behind.empty() || (!digit(behind[0]) && !version);
        bool const inside =
            at > 0 && word.size() == 1 && std::string_view{" ("}.find(text[at - 1]) == std::string::npos;
        if (alone && !inside && !is_denied(text, at)) { return text[begin] - '0'; }
    }
    return std::nullopt;
}

template <std::size_t count> bool has_any(std::string_view text, std::array<char const*, count> const& phrases) {
    return std::ranges::any_of(phrases, [text](char const* one) { return has_phrase(text, one); });
}

/// Cells that say that nothing is sharded.
constexpr std::array unsharded{"none",        "no",        "off",        "false",   "no zero",
                               "no sharding", "unsharded", "replicated", "no fsdp", "no deepspeed"};
constexpr std::array replicas{
    "no shard",     "noshard", "ddp",    "distributed data parallel", "distributeddataparallel", "data parallel",
    "dataparallel", "dp",      "horovod"};
constexpr std::array whole_shards{"fully sharded", "full shard",    "hybrid shard", "hsdp",
                                  "zero++",        "zero infinity", "zero inf"};
constexpr std::array optimizer_shards{"distributed optimizer", "distributed optim", "dist optimizer", "dist opt"};

} // namespace

std::optional<int> zero_stage(std::string_view raw) {
    std::string const text = plain_words(raw);
    if (text.empty() || contains(text, "fsdp=0")) { return std::nullopt; } // Megatron's DDP may shard its optimizer
    if (text.size() == 1 && text[0] >= '0' && text[0] <= '3') { return text[0] - '0'; }
    bool const before_offload = text.size() > 1 && text[0] >= '0' && text[0] <= '3' && contains(text, "offload");
    if (before_offload && std::string_view{" +,(/&"}.find(text[1]) != std::string_view::npos) { return text[0] - '0'; }
    if (std::ranges::find(unsharded, text) != unsharded.end() || contains(text, "no shard")) { return 0; }
    if (contains(text, "not resharded") || contains(text, "shard grad op")) { return 2; }
    if (text.ends_with("ici fsdp=1")) { return std::nullopt; } // sharded along another axis, not stated
    for (auto const* word : {"zero", "stage", "z"}) {
        if (auto const stage = stage_after(text, word)) { return stage; }
    }
    for (auto const* off : {"fsdp off", "fsdp false", "fsdp=off", "fsdp=false"}) {
        if (has_phrase(text, off)) { return 0; }
    }
    if (states(text, "fsdp") || has_any(text, whole_shards)) { return 3; }
    if (contains(text, "distributedoptimizer") || has_any(text, optimizer_shards)) { return 1; }
    return has_any(text, replicas) ? std::optional{0} : std::nullopt;
}

std::optional<int> shard_group(std::string_view raw) {
    auto const text = in_lower_case(raw);
    for (auto const* word : {"group ", "ici_fsdp=", "ici_fsdp_parallelism="}) {
        if (auto const value = stated_count(text, word); value && *value > 1) { return value; }
    }
    return std::nullopt;
}

Offload offload_of(std::string_view raw) {
    auto const text = plain_words(raw);
    bool const says = contains(text, "offload") || contains(text, "zero inf");
    bool const denied = contains(text, "n/n") || contains(text, "no offload") || contains(text, "no cpu offload") ||
                        contains(text, "without offload") || contains(text, "without cpu offload");
    if (!says || denied) { return Offload::none; }
    // FSDP moves both
    for (auto const* word : {"parameter", "params", "offload param", "param offload", "fsdp", "zero inf"}) {
        if (contains(text, word)) { return Offload::parameters; }
    }
    return contains(text, "y/y") || contains(text, "full") ? Offload::both : Offload::optimizer;
}

} // namespace headroom::io
