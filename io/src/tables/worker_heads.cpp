#include "tables/worker_heads.hpp"

#include "tables/cell_text.hpp"
#include "tables/head_brackets.hpp"
#include "tables/numbers.hpp"
#include "tables/quotient.hpp"
#include "tables/worker_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace headroom::io {
namespace {

/// Words that stand for one worker, next to those of a column of worker counts.
constexpr std::string_view worker_words = "chip tpu npu hpu xpu dev device socket card gcd die tile";

bool is_worker(std::string const& word) {
    constexpr std::size_t shortest = 3; // "p" and "n" are too short to tell
    if (names_hardware(word)) { return true; }
    for (std::string_view left = worker_words; !left.empty();) {
        if (next_word(left) == word) { return true; }
    }
    return word.size() >= shortest && (counts_workers(word) || counts_workers(word + "s"));
}

bool is_one_of(std::string_view list, std::string const& word) {
    return !word.empty() && list.find(fmt::format(" {} ", word)) != std::string_view::npos;
}

std::string joined(std::vector<std::string> const& words) {
    std::string text;
    for (std::string const& word : words) { text += (text.empty() ? "" : " ") + word; }
    return text;
}

} // namespace

std::optional<OfWorker> of_worker(std::string_view head) {
    std::vector<std::string> words = words_in(head);
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if (words[i] != "per" || !is_worker(words[i + 1])) { continue; }
        OfWorker found{.of_all = {}, .worker = words[i + 1]};
        auto const at = words.begin() + static_cast<std::ptrdiff_t>(i);
        words.erase(at, at + 2);
        if (words.empty()) { return std::nullopt; }
        found.of_all = joined(words);
        return found;
    }
    return std::nullopt;
}

std::optional<SpeedupBase> speedup_base(std::string_view head) {
    constexpr std::string_view markers = " vs versus over relative rel compared wrt against ";
    constexpr std::string_view passed = " to the a with single serial sequential run code base baseline ";
    std::vector<std::string> const words = words_in(head);
    auto const marker = std::find_if(words.begin() + (words.empty() ? 0 : 1), words.end(),
                                     [&](std::string const& word) { return is_one_of(markers, word); });
    if (marker == words.end()) { return std::nullopt; }
    SpeedupBase base{.stem = joined({words.begin(), marker})};
    bool any = false;
    for (auto word = marker + 1; word != words.end(); ++word) {
        bool const digits = std::ranges::all_of(*word, is_decimal_digit);
        if (digits) { base.workers = cell_number(*word).value; }
        bool const says = digits || is_one_of(" serial sequential single one ", *word);
        bool const unit = !digits && counts_workers(*word); // "GPUs"
        bool const known = says || unit || is_one_of(passed, *word) || (is_worker(*word) && !names_hardware(*word));
        base.known = base.known && known;
        any = any || says;
    }
    base.known = base.known && any && base.workers >= 1.0;
    return base;
}

bool is_time_of_all(std::string_view head) {
    constexpr std::string_view resources =
        " gpu device accelerator node host machine server core cpu processor thread rank "
        "worker chip tpu npu hpu xpu socket card ";
    std::vector<std::string> words = words_in(head);
    bool const summed = !words.empty() && is_one_of(" cumulative aggregate aggregated summed ", words[0]);
    bool const total = !words.empty() && words[0] == "total";
    if (summed || total) { words.erase(words.begin()); }
    if (summed && !words.empty() && words[0] == "time") { return true; }
    bool const series = head.find_first_of("([") != std::string_view::npos; // "A100 (s)": elapsed times on A100s
    bool const hardware = !series && !words.empty() && names_hardware(words[0]);
    bool const worker = words.size() > 1 && (is_one_of(resources, words[0]) || hardware);
    if (!worker) { return false; }
    bool const adds_up = summed || total || is_one_of(" core cpu processor thread ", words[0]);
    bool const named = words[1] == "time" && adds_up;
    if (named) { words.erase(words.begin() + 1); }
    if (named && words.size() == 1) { return true; }
    return words.size() == 2 && words[1] != "time" && Quotient::is_time(words[1]);
}

bool is_share_of_peak(std::string_view head) {
    std::vector<std::string> const words = words_in(head);
    bool const peak = std::ranges::find(words, "peak") != words.end();
    return peak && (head.find('%') != std::string_view::npos || std::ranges::any_of(words, [](auto const& word) {
                        return is_one_of(" percentage percent pct fraction share utilization utilisation ", word);
                    }));
}

} // namespace headroom::io
