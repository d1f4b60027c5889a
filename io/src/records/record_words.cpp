#include "records/record_words.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headroom::io {

using namespace headroom::training;

namespace {

bool is_word_letter(char c) { return c >= 'a' && c <= 'z'; }

/// Calls `visit` with each name and alias of a kind, and the record that it names.
template <class Visit> void each_name(Catalog const& catalog, RecordKind kind, Visit visit) {
    auto const names = catalog.names(kind);
    auto next = names.begin();
    std::string record;
    for (std::string const& written : catalog.names_and_aliases(kind)) { // aliases stand behind their name
        if (next != names.end() && written == *next) { record = *next++; }
        visit(written, record);
    }
}

/// Whether a text has one of these words, in any case.
bool has_word(std::string_view text, std::string_view words) {
    std::string word;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        char const c = i < text.size() ? lowered(text[i]) : ' ';
        if (is_word_letter(c) || is_decimal_digit(c)) {
            word += c;
            continue;
        }
        if (!word.empty() && is_word_of(words, word)) { return true; }
        word.clear();
    }
    return false;
}

/// Words of a name of hardware, sorted, and the size of memory among them.
struct HardwareWords {
    std::vector<std::string> words;
    std::optional<double> gigabytes;
};

HardwareWords hardware_words(std::string_view text) {
    constexpr std::string_view passed_over =
        "nvidia amd intel aws gcp google cloud azure oci ml standard tesla geforce radeon instinct habana ai "
        "accelerator accelerators gpu gpus chip chips card cards generation node server hbm2 hbm2e hbm3 hbm3e gddr6 "
        "gddr6x gddr7 hbm gddr oam colab fused apex torch distributed states";
    HardwareWords found;
    std::string word;
    auto const digits = [](std::string_view part) { return std::ranges::all_of(part, is_decimal_digit); };
    auto const take = [&](std::string const& part) { // letters or digits
        bool const unit = is_word_of("g gb gib", part);
        if (unit && !found.words.empty() && digits(found.words.back())) {
            found.gigabytes = decimal_number(found.words.back()).value_or(INFINITY); // hundreds of digits
            found.words.pop_back();
        } else {
            found.words.push_back(part);
        }
    };
    for (std::size_t i = 0; i <= text.size(); ++i) {
        char const c = i < text.size() ? lowered(text[i]) : ' ';
        if (is_word_letter(c) || is_decimal_digit(c)) {
            word += c;
            continue;
        }
        if (word.starts_with("sxm")) { word.resize(3); }
        if (word.empty() || is_word_of(passed_over, word) || word.size() > 12) {
            if (word.size() > 12) { found.words.push_back(word); }
            word.clear();
            continue;
        }
        for (std::size_t begin = 0; begin < word.size();) {
            std::size_t end = begin + 1;
            while (end < word.size() && is_decimal_digit(word[end]) == is_decimal_digit(word[begin])) { ++end; }
            take(word.substr(begin, end - begin));
            begin = end;
        }
        word.clear();
    }
    auto const has = [&](std::string_view part) { return std::ranges::find(found.words, part) != found.words.end(); };
    bool const hopper = has("h") && (has("100") || has("800")) && !has("pcie"), custom = found.gigabytes == 64.0;
    if (hopper && !custom && has_word(text, "hbm2e")) { found.words.emplace_back("pcie"); } // SXM has HBM3
    std::ranges::sort(found.words);
    return found;
}

/// Whether brackets hold no word that tells parts apart: "(Leonardo)", not "(PCIe)".
bool is_remark(std::string_view inside) {
    constexpr std::string_view kinds =
        "pcie sxm nvl ti super ada gcd laptop mobile notebook max q lite d x mig vgpu half "
        "quarter slice shared";
    if (has_word(inside, "node nodes")) { return false; } // they count
    HardwareWords const read = hardware_words(inside);
    return !read.gigabytes && std::ranges::none_of(read.words, [&](auto const& one) { return is_word_of(kinds, one); });
}

/// Words between blanks and marks of lists; dots, dashes and underscores stay in them.
std::vector<std::string_view> listed_words(std::string_view text) {
    std::vector<std::string_view> words;
    constexpr std::string_view between = " \t,;()[]+/&|:";
    for (std::size_t at = text.find_first_not_of(between); at < text.size();) {
        std::size_t const end = std::min(text.find_first_of(between, at), text.size());
        words.push_back(text.substr(at, end - at));
        at = text.find_first_not_of(between, end);
    }
    return words;
}

/// Names of a kind and their records.
struct RecordNames {
    std::map<std::string, std::string> by_name;                  ///< as `normalised`
    std::vector<std::pair<HardwareWords, std::string>> by_words; ///< of each name and alias
};

/// Kept for as long as the program runs: a table asks for each of its cells. The hash stands for what a catalog holds.
std::shared_ptr<RecordNames const> names_of(Catalog const& catalog, RecordKind kind) {
    constexpr std::size_t most_kept = 64;
    static std::mutex mutex;
    static std::map<std::pair<std::string, RecordKind>, std::shared_ptr<RecordNames const>> kept;
    std::pair const key{catalog.hash(), kind};
    {
        std::lock_guard const lock{mutex};
        if (auto const found = kept.find(key); found != kept.end()) { return found->second; }
    }
    auto const names = std::make_shared<RecordNames>();
    each_name(catalog, kind, [&](std::string const& written, std::string const& record) {
        bool const description = is_decimal_digit(written.front()) || written.ends_with("node"); // "8x H200 node"
        if (kind != RecordKind::node || !description) { names->by_name.emplace(normalised(written), record); }
        names->by_words.emplace_back(hardware_words(written), record);
    });
    std::lock_guard const lock{mutex};
    if (kept.size() >= most_kept) { kept.clear(); }
    return kept.emplace(key, names).first->second;
}

/// The longest run of words from `at` that is a name; their number, zero where none is.
std::size_t record_at(std::map<std::string, std::string> const& records, std::vector<std::string_view> const& words,
                      std::size_t at, std::string& record) {
    constexpr std::size_t longest = 4;
    std::string key;
    std::size_t best = 0;
    for (std::size_t count = 1; count <= longest && at + count <= words.size(); ++count) {
        key += normalised(words[at + count - 1]);
        auto const found = records.find(key);
        if (found == records.end()) { continue; }
        record = found->second;
        best = count;
    }
    return best;
}

/// Whether a word is a version: "0.9", "v2.4", "core_r0.8".
bool is_version(std::string_view word) {
    auto const begin = word.find_first_of("0123456789");
    return begin == 0 || (begin != word.npos && is_word_of("v r core_r core_v", word.substr(0, begin)));
}

bool is_generic(std::string_view framework) {
    return framework.starts_with("pytorch") || framework.starts_with("deepspeed") ||
           framework.starts_with("hf-trainer");
}

/// The one framework that several names mean.
std::string joined_framework(Catalog const& catalog, std::set<std::string> const& found) {
    std::vector<std::string> own;
    std::ranges::copy_if(found, std::back_inserter(own), [](auto const& one) { return !is_generic(one); });
    auto const has = [&](std::string_view begin) {
        return std::ranges::any_of(found, [&](auto const& one) { return one.starts_with(begin); });
    };
    std::string_view const engine = has("deepspeed") ? "deepspeed" : has("pytorch-fsdp") ? "fsdp" : "";
    if (own.size() <= 1 && !engine.empty() && (own.size() == 1 || has("hf-trainer"))) {
        std::string const base = own.empty() ? "hf" : own[0] == "megatron-core" ? "megatron" : own[0];
        auto const names = catalog.names(RecordKind::framework);
        std::string const both = fmt::format("{}-{}", base, engine);
        if (std::ranges::find(names, both) != names.end()) { return both; }
    }
    if (own.size() == 1) { return own[0]; }
    std::set<std::string> rest{own.begin(), own.end()};
    for (std::string const& one : found) {
        if (own.empty() && !(one == "pytorch" && found.size() > 1)) { rest.insert(one); }
    }
    return rest.size() == 1 ? *rest.begin() : std::string{};
}

} // namespace

std::optional<TpuSlice> tpu_slice(std::string_view name) {
    std::string key;
    for (char const c : name) { key += c == '_' || c == ' ' ? '-' : lowered(c); }
    auto const version = key.find('v'), dash = key.rfind('-');
    auto const count = dash == key.npos ? std::nullopt : decimal_number(std::string_view{key}.substr(dash + 1));
    bool const begins = version == 0 || (key.starts_with("tpu") && version <= 4);
    if (!count || !begins || version + 2 > dash) { return std::nullopt; }
    std::string const kind = key.substr(version, dash - version);
    bool const chips = kind == "v5e" || kind == "v5litepod" || kind == "v6e",
               cores = kind == "v2" || kind == "v3" || kind == "v4" || kind == "v5p";
    if (!chips && !cores) { return std::nullopt; }
    return TpuSlice{"tpu-" + kind, chips ? *count : *count / 2.0};
}

std::optional<std::string> record_in_words(Catalog const& catalog, RecordKind kind, std::string_view text) {
    if (hardware_words(text).words == std::vector<std::string>{"5", "tpu", "v"}) { return std::nullopt; } // v5e or v5p
    bool const accelerator = kind == RecordKind::accelerator && catalog.has_accelerator(text);
    if (accelerator || (kind == RecordKind::node && catalog.has_node(text))) { return catalog.text(kind, text).name; }
    auto const names = names_of(catalog, kind);
    if (auto const exact = names->by_name.find(normalised(text)); exact != names->by_name.end()) {
        return exact->second;
    }
    HardwareWords const wanted = hardware_words(text);
    std::set<std::string> same, fitting, plain;
    for (auto const& [one, record] : names->by_words) {
        if (wanted.words.empty() || one.words != wanted.words) { continue; }
        same.insert(record);
        if (!one.gigabytes) { plain.insert(record); }
    }
    for (std::string const& record : same) {
        if (kind == RecordKind::optimizer) { return record; }
        auto const chip = kind == RecordKind::node ? catalog.cluster(record).accelerator : catalog.accelerator(record);
        constexpr double near = 0.015;
        auto const fits = [&](double unit) {
            double const size = chip.memory.base() / unit;
            return !wanted.gigabytes || std::abs(size - *wanted.gigabytes) <= near * size;
        };
        if (fits(1e9) || fits(1024.0 * 1024.0 * 1024.0)) { fitting.insert(record); }
    }
    if (fitting.size() == 1) { return *fitting.begin(); }
    if (!wanted.gigabytes && plain.size() == 1) { return *plain.begin(); }
    auto const open = text.find_last_of("([");
    bool const remark = open != 0 && open != text.npos && is_remark(text.substr(open));
    return remark && same.empty() ? record_in_words(catalog, kind, trimmed_line(text.substr(0, open))) : std::nullopt;
}

std::optional<std::string> node_named_in(Catalog const& catalog, std::string_view description) {
    auto const names = names_of(catalog, RecordKind::node);
    auto const words = listed_words(description);
    std::string record;
    for (std::size_t at = 0; at < words.size(); ++at) {
        if (record_at(names->by_name, words, at, record) > 0) { return record; }
    }
    return std::nullopt;
}

std::optional<std::string> framework_in_words(Catalog const& catalog, std::string_view text) {
    constexpr std::string_view passed_over =
        "nvidia hugging face hugging-face mosaicml microsoft meta with and on via the "
        "training trainer sft stage offload cpu cpu-offload offloading optimizer "
        "eager compile fabric z1 z2 z3";
    if (text.empty()) { return std::nullopt; }
    auto const names = names_of(catalog, RecordKind::framework);
    auto const& records = names->by_name;
    if (auto const exact = records.find(normalised(text)); exact != records.end()) { return exact->second; }
    auto const words = listed_words(text);
    std::set<std::string> found;
    for (std::size_t at = 0; at < words.size();) {
        std::string record, word;
        for (char const c : words[at]) { word += lowered(c); }
        bool const understood = is_version(word) || word.starts_with("zero") || is_word_of(passed_over, word);
        bool const denies = (word == "no" || word == "without") && at + 1 < words.size(); // "(no FSDP)"
        if (denies) {
            at += 1 + std::max<std::size_t>(record_at(records, words, at + 1, record), 1);
            continue;
        }
        std::size_t const count = is_version(word) || word == "zero" ? 0 : record_at(records, words, at, record);
        if (count == 0 && !understood) { return std::nullopt; }
        if (count > 0) { found.insert(record); }
        at += std::max<std::size_t>(count, 1);
    }
    std::string const name = joined_framework(catalog, found);
    return name.empty() ? std::nullopt : std::optional{name};
}

std::string framework_in_clauses(Catalog const& catalog, std::vector<std::string> const& clauses) {
    std::set<std::string> found;
    for (std::string const& clause : clauses) {
        if (auto const name = framework_in_words(catalog, clause)) { found.insert(*name); }
    }
    return joined_framework(catalog, found);
}

} // namespace headroom::io
