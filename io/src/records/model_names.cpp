#include "records/model_names.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

namespace headroom::io {
namespace {

using NameWords = std::vector<std::string>;

constexpr std::array<std::string_view, 12> tuning_words{
    "instruct", "instruction", "chat", "base", "it", "pt", "hf", "sft", "dpo", "rlhf", "finetuned", "pretrained"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "meta-llama/" of "meta-llama/Llama-3-8B" removed.
std::string_view without_organisation(std::string_view name) {
    auto const slash = name.find('/');
    bool const hub = slash != 0 && slash != name.npos && name.find('/', slash + 1) == name.npos && name.front() != '.';
    return hub ? name.substr(slash + 1) : name;
}

/// Lower-case words of a name. A number begins a word of its own: "llama3.1-8b" is llama, 3.1, 8b.
NameWords words_of(std::string_view name) {
    constexpr std::string_view separators = " -_./:()[]{}<>";
    NameWords words(1);
    for (std::size_t i = 0; i < name.size(); ++i) {
        char const c = name[i];
        bool const decimal = c == '.' && i > 0 && i + 1 < name.size() && is_digit(name[i - 1]) && is_digit(name[i + 1]);
        bool const separator = !decimal && separators.find(c) != separators.npos;
        bool const begins = is_digit(c) && !words.back().empty() && !is_digit(name[i - 1]) && name[i - 1] != '.';
        if ((separator || begins) && !words.back().empty()) { words.emplace_back(); }
        if (!separator) { words.back() += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
    }
    if (words.back().empty()) { words.pop_back(); }
    return words;
}

/// Whether a word is a number with a unit: "8b", "1.3b", "560m", "1.6gf".
bool is_size(std::string_view word) {
    auto const end = word.find_first_not_of("0123456789.");
    return end != 0 && end != std::string_view::npos;
}

/// Words written together. Sizes stand apart and keep their dot, which versions lose: "3.1 8b" and "31-8b" are the same,
/// "1.3b" and "13b" are not.
std::string key_of(NameWords const& words) {
    std::string key;
    for (std::string word : words) {
        bool const size = is_size(word);
        if (!size) { std::erase(word, '.'); }
        key += size ? "|" + word + "|" : word;
    }
    return key;
}

/// Place of the last word of tuning or packing; "it" and "pt" are some behind a size alone, languages elsewhere.
std::optional<std::size_t> last_tuning_word(NameWords const& words) {
    for (std::size_t i = words.size(); i-- > 1;) {
        bool const language = (words[i] == "it" || words[i] == "pt") && !is_size(words[i - 1]);
        if (!language && std::ranges::find(tuning_words, words[i]) != tuning_words.end()) { return i; }
    }
    return std::nullopt;
}

/// Key of an alias without its organisation and its words of tuning; "base" stays, which is a size there (bert-base).
std::string key_without_tuning(std::string_view alias) {
    NameWords words = words_of(without_organisation(alias));
    NameWords shown = words;
    while (auto const at = last_tuning_word(shown)) {
        auto const place = static_cast<std::ptrdiff_t>(*at);
        bool const base = shown[*at] == "base";
        shown.erase(shown.begin() + place);
        if (base) { break; }
        words = shown;
    }
    return key_of(words);
}

/// Records by each way of writing their names, from the closest: names, aliases, aliases without what may be dropped.
struct Keys {
    explicit Keys(std::vector<ModelSpelling> const& known) {
        for (auto const& [record, written] : known) {
            bool const alias = record != written;
            entries[alias ? 1 : 0].emplace_back(key_of(words_of(written)), record);
            entries[2].emplace_back(key_without_tuning(written), record);
        }
    }
    std::array<std::vector<std::pair<std::string, std::string_view>>, 3> entries;

    /// Records of a key at the first closeness that has any.
    [[nodiscard]] std::set<std::string_view> records(std::string const& key) const {
        std::set<std::string_view> found;
        for (auto const& closeness : entries) {
            for (auto const& [own, record] : closeness) {
                if (own == key) { found.insert(record); }
            }
            if (!found.empty()) { break; }
        }
        return found;
    }
};

/// Size that a word states, in billions of parameters; zero of another word.
double size_of(std::string const& word) {
    double const number = is_size(word) ? std::strtod(word.c_str(), nullptr) : 0.0;
    return word.ends_with('m') ? number / 1e3 : number;
}

} // namespace

ModelNameReading read_model_name(std::string_view name, std::vector<ModelSpelling> const& known) {
    bool const path = name.starts_with('/') || name.starts_with('.') || name.starts_with('~');
    if (path || normalised(name).empty()) { return {}; }
    Keys const keys{known};
    std::string_view const bare = without_organisation(name);
    for (std::string_view const form : {name, bare}) {
        NameWords words = words_of(form);
        for (bool tuned = false;; tuned = true) {
            auto const found = keys.records(key_of(words));
            if (found.size() > 1) { return {}; }
            if (found.size() == 1) {
                char const* const reason = tuned ? "a tuned variant has its dimensions"
                                           : form.size() < name.size()
                                               ? "a copy of another organisation has its dimensions"
                                               : "";
                return {std::string{*found.begin()}, reason};
            }
            auto const at = last_tuning_word(words);
            if (!at) { break; }
            words.erase(words.begin() + static_cast<std::ptrdiff_t>(*at));
        }
    }
    return {};
}

std::vector<std::string> models_that_begin_with(std::string_view name, std::vector<ModelSpelling> const& known) {
    NameWords begin = words_of(without_organisation(name));
    while (!begin.empty()) {
        std::set<std::pair<double, std::string>> found;
        std::set<std::string_view> listed;
        for (auto const& [record, written] : known) {
            NameWords const words = words_of(without_organisation(written));
            if (words.size() <= begin.size() || !std::equal(begin.begin(), begin.end(), words.begin())) { continue; }
            if (listed.insert(record).second) { found.emplace(size_of(words[begin.size()]), record); }
        }
        std::vector<std::string> names;
        for (auto const& [size, record] : found) { names.push_back(record); }
        auto const at = last_tuning_word(begin);
        if (!names.empty() || !at) { return names; }
        begin.erase(begin.begin() + static_cast<std::ptrdiff_t>(*at));
    }
    return {};
}

} // namespace headroom::io
