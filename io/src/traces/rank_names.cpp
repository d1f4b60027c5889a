#include "traces/rank_names.hpp"

#include "traces/chrome_numbers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace headroom::io {

using namespace headroom::trace;

namespace {

constexpr std::string_view stated_twice = "rank stated twice";

bool is_digit(char character) { return character >= '0' && character <= '9'; }
bool is_letter(char character) { return std::isalpha(static_cast<unsigned char>(character)) != 0; }

std::string lower(std::string_view text) {
    std::string result{text};
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char character) { return static_cast<char>(std::tolower(character)); });
    return result;
}

std::optional<std::int64_t> number_at(std::string_view text, std::size_t from) {
    std::int64_t value = 0;
    auto const [stop, error] = std::from_chars(text.data() + from, text.data() + text.size(), value);
    bool const fits = error == std::errc{} && is_digit(text[from]) && can_be_rank(value);
    return fits ? std::optional{value} : std::nullopt;
}

/// The number after the last `word` that stands alone, with at most one character of "-_ =." between them.
NamedNumber number_after(std::string_view path, std::string_view word) {
    std::string const text = lower(path);
    for (std::size_t end = text.size();;) {
        std::size_t const at = end == 0 ? std::string::npos : text.rfind(word, end - 1);
        if (at == std::string::npos) { return {}; }
        std::size_t next = at + word.size();
        if (next < text.size() && std::string_view{"-_ =."}.find(text[next]) != std::string_view::npos) { ++next; }
        bool const alone = at == 0 || !is_letter(text[at - 1]);
        if (auto const number = next < text.size() ? number_at(text, next) : std::nullopt; alone && number) {
            return {number, {}};
        }
        end = at;
    }
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Whether the word that ends `text` counts something else than ranks: "step_" of "step_100.json".
bool counts_no_ranks(std::string_view text) {
    std::string const before = lower(text.substr(0, text.find_last_not_of("-_ =.") + 1));
    auto const letters = std::find_if_not(before.rbegin(), before.rend(), is_letter) - before.rbegin();
    std::string_view const word{before.end() - letters, before.end()};
    constexpr std::array words{"step", "steps", "iter", "iteration", "epoch", "batch", "bs", "run"};
    return std::ranges::find(words, word) != words.end();
}

/// The number that ends `text`; what is before it has to be the same in all files that are numbered.
NamedNumber number_at_end(std::string_view text, std::string_view rest) {
    std::size_t first = text.size();
    while (first > 0 && is_digit(text[first - 1])) { --first; }
    if (first == text.size() || counts_no_ranks(text.substr(0, first))) { return {}; }
    return {number_at(text, first), std::string{text.substr(0, first)}.append("#").append(rest)};
}

} // namespace

NamedNumber named_rank(std::string_view path) {
    NamedNumber of_file = number_after(file_name(path), "rank");
    return of_file.number ? of_file : number_after(path, "rank");
}

NamedNumber named_worker(std::string_view path) { return number_after(file_name(path), "worker"); }

NamedNumber last_number(std::string_view path) {
    // Suffixes go from the end, up to one that is a number itself: "all_reduce.3.et".
    std::string_view const whole = file_name(path);
    std::string_view name = whole;
    while (!name.empty() && !is_digit(name.back())) {
        std::size_t const dot = name.rfind('.');
        if (dot == std::string_view::npos) { return {}; }
        name = name.substr(0, dot);
    }
    return number_at_end(name, whole.substr(name.size()));
}

NamedNumber folder_number(std::string_view path) {
    std::size_t const slash = path.rfind('/');
    if (slash == std::string_view::npos) { return {}; }
    return number_at_end(file_name(path.substr(0, slash)), path.substr(slash));
}

std::string_view profiled_process(std::string_view path) {
    std::string_view const before = path.substr(0, path.rfind(".pt.trace.json"));
    if (before.size() == path.size()) { return {}; }
    auto const dot = before.rfind('.');
    bool const time = dot != std::string_view::npos && dot + 1 < before.size() &&
                      std::all_of(before.begin() + static_cast<std::ptrdiff_t>(dot) + 1, before.end(), is_digit);
    return time ? before.substr(0, dot) : std::string_view{};
}

bool overlap_in_time(RankDigest const& one, RankDigest const& other) {
    auto const moment = [](RankDigest const& digest, Ticks at) {
        std::int64_t result = 0; // times may be anything
        return __builtin_add_overflow(digest.epoch_ns, at, &result) ? std::numeric_limits<std::int64_t>::max() : result;
    };
    auto const &mine = one.breakdown.whole, &theirs = other.breakdown.whole;
    return moment(one, mine.begin) < moment(other, theirs.end) && moment(other, theirs.begin) < moment(one, mine.end);
}

namespace {

using Rule = NamedNumber (*)(std::string_view);

/// Ranks that are taken, and the smallest that is not.
class RanksTaken {
public:
    bool take(std::int64_t rank) { return taken_.insert(rank).second; }
    [[nodiscard]] bool holds(std::int64_t rank) const { return taken_.count(rank) > 0; }
    std::int64_t next() {
        while (taken_.count(free_) > 0) { ++free_; }
        taken_.insert(free_);
        return free_;
    }

private:
    std::set<std::int64_t> taken_;
    std::int64_t free_ = 0;
};

/// Numbers that a rule gives to files; nothing where it leaves one without, gives one twice or one that is taken, or
/// where the names differ in more than that number.
std::optional<std::vector<std::int64_t>> ranks_by(Rule rule, std::vector<RankDigest*> const& digests,
                                                  RanksTaken const& taken) {
    std::vector<std::int64_t> ranks;
    std::set<std::int64_t> given;
    std::string pattern;
    for (RankDigest const* const digest : digests) {
        auto const [rank, around] = rule(digest->source);
        bool const alike = ranks.empty() || around == pattern;
        if (!rank || !alike || taken.holds(*rank) || !given.insert(*rank).second) { return {}; }
        ranks.push_back(*rank);
        pattern = around;
    }
    return ranks;
}

void name_ranks(std::vector<RankDigest*> const& unstated, std::size_t of_all, RanksTaken& taken) {
    // One file alone is not numbered: what ends its name may be anything, unless it says what it is.
    std::array<Rule, 4> const rules{named_rank, named_worker, last_number, folder_number};
    std::size_t const usable = of_all > 1 ? rules.size() : 2;
    for (std::size_t rule = 0; rule < usable; ++rule) {
        auto const ranks = ranks_by(rules[rule], unstated, taken);
        if (!ranks) { continue; }
        for (std::size_t i = 0; i < unstated.size(); ++i) {
            unstated[i]->rank = (*ranks)[i];
            unstated[i]->rank_from = "file name";
            taken.take((*ranks)[i]);
        }
        return;
    }
    for (RankDigest* const digest : unstated) {
        digest->rank = taken.next();
        digest->rank_from = "order";
    }
}

/// Writer of a trace: the rank that it states, else its process. Empty where neither is known.
std::string writer_of(RankDigest const& digest) {
    if (digest.stated_rank) { return "rank " + std::to_string(*digest.stated_rank); }
    std::string_view const process = profiled_process(digest.source);
    return process.empty() ? std::string{} : "file " + std::string{process};
}

/// Traces that one process wrote one after the other, each of some steps.
class Writers {
public:
    /// The first trace of the process that `digest` is a later one of; nothing where it is no later one.
    RankDigest* first_of(RankDigest& digest) {
        std::string const writer = writer_of(digest);
        if (writer.empty() || !digest.clock_is_absolute) { return nullptr; }
        auto& known = traces_[writer];
        bool const apart = std::none_of(known.begin(), known.end(),
                                        [&](RankDigest const* one) { return overlap_in_time(*one, digest); });
        if (apart) { known.push_back(&digest); }
        return apart && known.size() > 1 ? known.front() : nullptr;
    }

private:
    std::map<std::string, std::vector<RankDigest*>> traces_;
};

} // namespace

void unassign_rank(RankDigest& digest) {
    auto const ours = [](TraceIssue const& issue) { return issue.kind == stated_twice; };
    digest.issues.erase(std::remove_if(digest.issues.begin(), digest.issues.end(), ours), digest.issues.end());
    digest.rank = digest.stated_rank.value_or(0);
    bool const is_ours = digest.rank_from == "order" || digest.rank_from == "file name";
    if (digest.stated_rank && (is_ours || digest.rank_from.empty())) { digest.rank_from = "metadata"; }
    if (!digest.stated_rank) { digest.rank_from.clear(); }
    if (digest.graph) { digest.graph->rank = digest.rank; }
}

void assign_ranks(std::vector<RankDigest>& digests) {
    RanksTaken taken;
    std::vector<RankDigest*> unstated, twice;
    std::vector<std::pair<RankDigest*, RankDigest const*>> later;
    Writers writers;
    for (RankDigest& digest : digests) {
        unassign_rank(digest);
        if (RankDigest const* const first = writers.first_of(digest); first != nullptr) {
            later.emplace_back(&digest, first);
        } else if (!digest.stated_rank) {
            unstated.push_back(&digest);
        } else if (taken.take(*digest.stated_rank)) {
            digest.rank = *digest.stated_rank;
        } else {
            twice.push_back(&digest);
        }
    }
    name_ranks(unstated, digests.size() - later.size(), taken);
    for (RankDigest* const digest : twice) {
        count_issue(digest->issues, stated_twice, digest->source + ": rank " + std::to_string(*digest->stated_rank));
        digest->rank = taken.next();
        digest->rank_from = "order";
    }
    for (auto const& [digest, first] : later) {
        digest->rank = first->rank;
        digest->rank_from = first->rank_from;
    }
    for (RankDigest& digest : digests) {
        if (digest.graph) { digest.graph->rank = digest.rank; }
    }
}

} // namespace headroom::io
