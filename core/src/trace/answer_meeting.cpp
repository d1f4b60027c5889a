#include "trace/answer.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace headroom::trace {
namespace {

/// Counts of workers beyond this are no counts; sixteen times as many still fit a `Ranks`.
constexpr std::int64_t most_workers = 100'000'000;

std::set<std::int64_t> numbers_of(std::vector<RankDigest> const& ranks) {
    std::set<std::int64_t> numbers;
    for (auto const& rank : ranks) { numbers.insert(rank.rank); }
    return numbers;
}

std::int64_t largest_group(std::vector<RankDigest> const& ranks) {
    std::int64_t largest = 1;
    for (auto const& rank : ranks) {
        for (auto const& label : rank.runs.labels) {
            largest = std::max({largest, static_cast<std::int64_t>(label.group_size),
                                static_cast<std::int64_t>(label.group_ranks.size())});
        }
    }
    return largest;
}

std::vector<std::int64_t> step_numbers(RankDigest const& rank) {
    std::vector<std::int64_t> numbers;
    for (auto const& step : rank.breakdown.steps) { numbers.push_back(step.step.number); }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

/// Ranks that are not there: of `workers`, or up to the greatest number where nobody states how many there are.
void add_missing(std::set<std::int64_t> const& numbers, std::int64_t workers, bool stated,
                 std::vector<TraceIssue>& issues) {
    constexpr std::int64_t most_numbers = 1'000'000; // a greater one is no rank
    if (!stated && !numbers.empty() && *numbers.rbegin() < most_numbers) {
        workers = std::max(workers, *numbers.rbegin() + 1);
    }
    std::int64_t first = 0, inside = 0;
    for (auto const number : numbers) {
        if (number == first) { ++first; }
        if (number >= 0 && number < workers) { ++inside; }
        if (stated && number >= workers) {
            count_issue(issues, "rank beyond the world size", "rank " + std::to_string(number));
        }
    }
    if (inside >= workers) { return; }
    count_issue(issues, "rank missing", "rank " + std::to_string(first), static_cast<std::uint64_t>(workers - inside));
}

void add_duplicates(std::vector<RankDigest> const& ranks, std::vector<TraceIssue>& issues) {
    for (std::size_t i = 1; i < ranks.size(); ++i) {
        if (ranks[i].rank != ranks[i - 1].rank) { continue; }
        count_issue(issues, "rank there twice",
                    "rank " + std::to_string(ranks[i].rank) + ": " + ranks[i - 1].source + ", " + ranks[i].source);
    }
}

/// Annotated steps alone: those that were detected have no numbers of their own.
void add_step_differences(std::vector<RankDigest> const& ranks, std::vector<TraceIssue>& issues) {
    RankDigest const* first = nullptr;
    for (auto const& rank : ranks) {
        if (rank.breakdown.steps_detected) { continue; }
        if (first == nullptr) {
            first = &rank;
        } else if (step_numbers(rank) != step_numbers(*first)) {
            count_issue(issues, "steps differ from those of the first rank",
                        "rank " + std::to_string(rank.rank) + ": " + rank.source);
        }
    }
}

} // namespace

std::optional<std::int64_t> workers_of(std::vector<RankDigest> const& ranks, std::optional<std::int64_t> by_user,
                                       std::vector<TraceIssue>& issues) {
    std::int64_t stated = by_user.value_or(0);
    for (auto const& rank : ranks) {
        if (!rank.world_size) { continue; }
        auto const size = *rank.world_size;
        if (size < 1 || size > most_workers) {
            count_issue(issues, "world size is no count of workers", rank.source);
            continue;
        }
        if (stated != 0 && size != stated) { count_issue(issues, "world sizes differ", rank.source); }
        if (!by_user) { stated = std::max(stated, size); }
    }
    if (stated > 0) { return stated; }
    auto const present = static_cast<std::int64_t>(numbers_of(ranks).size());
    auto const least = std::clamp<std::int64_t>(std::max(present, largest_group(ranks)), 1, most_workers);
    bool const exchanges = std::any_of(ranks.begin(), ranks.end(), [](RankDigest const& rank) {
        auto const& breakdown = rank.breakdown;
        return !rank.runs.empty() || breakdown.whole.communication > 0 || breakdown.work_missing;
    });
    return least == 1 && exchanges ? std::nullopt : std::optional{least};
}

void add_meeting_issues(std::vector<RankDigest> const& ranks, std::optional<std::int64_t> workers,
                        std::vector<TraceIssue>& issues) {
    bool const stated = std::ranges::any_of(ranks, [](RankDigest const& rank) { return rank.world_size.has_value(); });
    if (workers) { add_missing(numbers_of(ranks), *workers, stated, issues); }
    add_duplicates(ranks, issues);
    add_step_differences(ranks, issues);
}

} // namespace headroom::trace
