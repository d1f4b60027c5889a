#include "tables/quotient.hpp"

#include "tables/cell_text.hpp"
#include "tables/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::io {
namespace {

bool is_in(std::string_view list, std::string_view word) {
    return !word.empty() && list.find(fmt::format(" {} ", word)) != std::string_view::npos;
}

/// A head as a quantity over a unit of time: "step time" and "ms" of "step time / ms"; empty for other heads.
struct TimeLabel {
    std::string quantity; ///< its last word, in lower case
    std::string_view unit;
    bool single = false; ///< the quantity is one word
};
std::optional<TimeLabel> time_label_of(std::string_view head) {
    constexpr std::string_view times = " time t latency duration elapsed runtime walltime wallclock wall makespan rtt "
                                       "delay steptime itertime zeit laufzeit dauer ";
    auto const slash = head.rfind('/');
    if (slash == std::string_view::npos || head.find('/') != slash) { return std::nullopt; }
    std::string_view const unit = trimmed_line(head.substr(slash + 1));
    std::vector<std::string> const words = words_in(head.substr(0, slash));
    if (words.empty() || !is_in(times, words.back()) || same_caseless(unit, "m") ||
        !unit_named(CellMeasure::time, unit)) {
        return std::nullopt;
    }
    if (is_in(" per throughput rate ", words[words.size() > 1 ? words.size() - 2 : 0])) { return std::nullopt; }
    return TimeLabel{words.back(), unit, words.size() == 1};
}

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

} // namespace

bool Quotient::is_time(std::string_view word) {
    return is_in(" s sec secs second seconds ms us ns ps fs min minute minutes hour hours h hr hrs day days d time ",
                 word);
}

std::vector<std::string> words_in(std::string_view head) {
    std::vector<std::string> words(1);
    for (std::size_t i = 0; i < head.size(); ++i) {
        char const c = head[i];
        bool const hump = i > 0 && is_capital(c) && head[i - 1] >= 'a' && head[i - 1] <= 'z';
        if (hump && !words.back().empty()) { words.emplace_back(); }
        if (c == '/') {
            words.insert(words.end(), {"per", ""});
        } else if (is_decimal_digit(c) || (lowered(c) >= 'a' && lowered(c) <= 'z')) {
            words.back() += lowered(c);
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    std::erase(words, "");
    return words;
}

std::optional<Quotient> quotient_of(std::string_view head) {
    std::vector<std::string> const words = words_in(head);
    auto const per = std::ranges::find(words, "per");
    if (per == words.begin() || per == words.end() || per + 1 == words.end()) { return std::nullopt; }
    Quotient quotient{.above = *(per - 1)};
    for (auto word = per + 1; word != words.end(); ++word) {
        quotient.below += (quotient.below.empty() ? "" : " ") + *word;
    }
    return quotient;
}

QuotientKind kind_of_quotient(std::string_view head) {
    constexpr std::string_view simulated = " fs ps ns us ms ", short_ones = " s sec secs second seconds ";
    auto const quotient = quotient_of(head);
    if (!quotient || is_time_label(head)) { return QuotientKind::none; }
    std::string_view const above = quotient->above;
    std::string_view const below = std::string_view{quotient->below}.substr(0, quotient->below.find(' '));
    bool const of_time = Quotient::is_time(above), over_time = Quotient::is_time(below) && below != "time";
    if (!of_time || !over_time) {
        return over_time ? QuotientKind::rate : of_time ? QuotientKind::time : QuotientKind::none;
    }
    bool const small = is_in(simulated, above), small_below = is_in(simulated, below);
    if (small && !small_below && !is_in(short_ones, below)) { return QuotientKind::rate; }
    if (above == "ns" && !small_below) { return QuotientKind::rate; }
    return small_below && !small ? QuotientKind::time : QuotientKind::either;
}

bool is_time_of_time(std::string_view head) {
    auto const quotient = quotient_of(head);
    if (!quotient || quotient->above == "time" || kind_of_quotient(head) != QuotientKind::time) { return false; }
    return Quotient::is_time(std::string_view{quotient->below}.substr(0, quotient->below.find(' ')));
}

bool is_token_rate_or_time(std::string_view head) {
    auto const label = time_label_of(head);
    return label && label->single && label->quantity == "t" && is_in(" s sec min h ", label->unit);
}

bool is_time_label(std::string_view head) { return time_label_of(head) && !is_token_rate_or_time(head); }

bool is_rate_head(std::string_view head) {
    constexpr std::string_view rates = " qps rps tps fps ips iops hz throughput tput ";
    constexpr std::string_view counted = " tokens toks tok samples images imgs img sequences seqs words frames items "
                                         "requests reqs queries examples transactions ops flops ";
    if (is_time_label(head) || is_time_of_time(head)) { return false; }
    std::vector<std::string> const words = words_in(head);
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        bool const over_time = words[i] == "per" && words[i + 1] != "time" && Quotient::is_time(words[i + 1]);
        if (over_time) { return true; }
    }
    if (words.empty()) { return false; }
    bool const of_count = words.size() > 1 && words.back() == "s" && is_in(counted, words[words.size() - 2]);
    return of_count || is_in(rates, words.back());
}

} // namespace headroom::io
