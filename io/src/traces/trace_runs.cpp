// Whether the traces of a set are of one run: by folders, ranks and times.

#include "traces/trace_runs.hpp"

#include "traces/part_fields.hpp"
#include "traces/rank_names.hpp"

#include "headroom/error.hpp"
#include "headroom/io/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace headroom::io {

using namespace headroom::trace;

namespace {

/// Contents of a trace apart from its file's name, as bytes.
std::string content_of(RankDigest const& digest) {
    PartWriter writer;
    writer(digest.stated_rank, digest.world_size, digest.breakdown, digest.runs);
    return std::move(writer.bytes());
}

auto size_key(RankDigest const& digest) {
    return std::tuple(digest.epoch_ns, digest.spans, digest.events, digest.breakdown.whole.total);
}

std::optional<std::int64_t> number_in_name(std::string const& path) {
    auto const rank = named_rank(path).number;
    return rank ? rank : named_worker(path).number;
}

bool names_differ(RankDigest const& one, RankDigest const& other) {
    auto const mine = number_in_name(one.source), theirs = number_in_name(other.source);
    return mine && theirs && *mine != *theirs;
}

std::string folder_of(RankDigest const& digest) { return std::filesystem::path{digest.source}.parent_path().string(); }

/// The rank that a trace states, else the one of its file's name.
std::optional<std::int64_t> own_rank(RankDigest const& digest) {
    if (digest.stated_rank) { return digest.stated_rank; }
    return number_in_name(std::filesystem::path{digest.source}.filename().string());
}

/// Words of a file's name, with the numbers of runs: "before_rank0.json" and "after_rank0.json" differ, "rank0.1.json" and
/// "rank0.2.json" do not. Words of hexadecimal digits are none: they may number anything.
std::string words_of(std::string const& path) {
    std::string name = std::filesystem::path{path}.filename().string();
    for (char& byte : name) { byte = byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte | 0x20) : byte; }
    for (std::string_view const end : {".gz", ".zst"}) {
        if (name.ends_with(end)) { name.resize(name.size() - end.size()); }
    }
    auto const is_letter = [](char byte) { return byte >= 'a' && byte <= 'z'; };
    auto const is_digit = [](char byte) { return byte >= '0' && byte <= '9'; };
    std::string words;
    for (std::size_t from = 0; from < name.size();) {
        std::size_t to = from;
        while (to < name.size() && is_letter(name[to])) { ++to; }
        std::string_view const word = std::string_view{name}.substr(from, to - from);
        if (word.find_first_not_of("abcdef") != std::string_view::npos) { words.append(word) += ' '; }
        while (to < name.size() && !is_letter(name[to])) { ++to; }
        bool const run = word == "run" || word == "exp" || word == "experiment" || word == "trial";
        for (std::size_t at = from; run && at < to; ++at) {
            if (is_digit(name[at])) { words += name[at]; }
        }
        from = to;
    }
    return words;
}

/// Whether both traces have a step of one number: a process that is profiled again counts on.
bool share_steps(RankDigest const& one, RankDigest const& other) {
    std::set<std::int64_t> mine;
    for (StepShares const& step : one.breakdown.steps) {
        if (!step.detected) { mine.insert(step.step.number); }
    }
    return std::ranges::any_of(other.breakdown.steps, [&](StepShares const& step) {
        return !step.detected && mine.contains(step.step.number);
    });
}

/// Whether two traces that have one rank were recorded in different runs.
bool of_two_runs(RankDigest const& one, RankDigest const& other) {
    if (one.source == other.source || names_differ(one, other)) { return false; }
    if (folder_of(one) != folder_of(other)) { return true; }
    if (!one.clock_is_absolute || !other.clock_is_absolute) { return true; }
    if (overlap_in_time(one, other)) { return false; } // a rank that is stated wrongly
    auto const mine = profiled_process(one.source), theirs = profiled_process(other.source);
    if (!mine.empty() || mine != theirs) { return mine != theirs; }
    if (!one.stated_rank || !other.stated_rank || words_of(one.source) != words_of(other.source)) { return true; }
    return share_steps(one, other);
}

bool one_rank_in_two_runs(std::vector<RankDigest> const& digests) {
    std::map<std::int64_t, std::vector<RankDigest const*>> by_rank;
    for (RankDigest const& digest : digests) {
        if (auto const rank = own_rank(digest)) { by_rank[*rank].push_back(&digest); }
    }
    return std::ranges::any_of(by_rank, [](auto const& entry) {
        auto const& same = entry.second;
        return std::any_of(same.begin() + 1, same.end(),
                           [&](RankDigest const* other) { return of_two_runs(*same.front(), *other); });
    });
}

/// Whether nothing but their names and order makes the traces ranks, and no two were recorded at one time. Clocks that
/// do not say the time of day leave it to the names: files that are not numbered may be two runs as well as two ranks.
bool recorded_apart(std::vector<RankDigest> const& digests) {
    std::set<std::string_view> files;
    bool ordered = false, absolute = true;
    for (RankDigest const& digest : digests) {
        if (own_rank(digest) || named_rank(digest.source).number) { return false; }
        files.insert(digest.source);
        ordered = ordered || digest.rank_from == "order";
        absolute = absolute && digest.clock_is_absolute;
    }
    if (files.size() < 2) { return false; }
    if (!absolute) { return ordered; }
    std::vector<RankDigest const*> by_time;
    for (RankDigest const& digest : digests) { by_time.push_back(&digest); }
    std::ranges::sort(by_time, {}, [](RankDigest const* one) { return one->epoch_ns; });
    auto const beside = [](RankDigest const* one, RankDigest const* next) {
        return one->source == next->source || overlap_in_time(*one, *next);
    };
    bool const same_process = std::ranges::all_of(by_time, [&](RankDigest const* one) {
        auto const process = profiled_process(one->source);
        return !process.empty() && process == profiled_process(by_time.front()->source);
    });
    return !same_process && std::ranges::adjacent_find(by_time, beside) == by_time.end();
}

/// "0 to 3", "0, 2".
std::string rank_list(std::set<std::int64_t> const& ranks) {
    auto const first = *ranks.begin(), last = *ranks.rbegin();
    bool const all = last - first + 1 == static_cast<std::int64_t>(ranks.size());
    if (all) { return first == last ? fmt::format("rank {}", first) : fmt::format("ranks {} to {}", first, last); }
    return fmt::format("{} ranks", ranks.size());
}

/// "run1 (ranks 0 to 3), run2 (ranks 0 to 3)": folders where they differ, else files.
std::pair<std::string, std::size_t> list_of_runs(std::vector<RankDigest> const& digests) {
    constexpr std::size_t most_listed = 3;
    std::set<std::string> folders;
    for (RankDigest const& digest : digests) { folders.insert(folder_of(digest)); }
    std::map<std::string, std::set<std::int64_t>> runs;
    for (RankDigest const& digest : digests) {
        std::filesystem::path const path{folders.size() > 1 ? folder_of(digest) : digest.source};
        auto& ranks = runs[path.filename().string()];
        if (auto const rank = own_rank(digest)) { ranks.insert(*rank); }
    }
    std::string list;
    std::size_t listed = 0;
    for (auto const& [name, ranks] : runs) {
        if (listed++ == most_listed) { break; }
        list += (list.empty() ? "" : ", ") + name + (ranks.empty() ? "" : " (" + rank_list(ranks) + ")");
    }
    if (runs.size() > most_listed) { list += fmt::format(" and {} more", runs.size() - most_listed); }
    return {list, runs.size()};
}

} // namespace

void leave_copies_out(std::vector<RankDigest>& digests) {
    using Key = decltype(size_key(digests.front()));
    std::map<Key, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < digests.size(); ++i) { alike[size_key(digests[i])].push_back(i); }
    std::vector<bool> is_copy(digests.size());
    for (auto const& [key, numbers] : alike) {
        if (numbers.size() < 2) { continue; }
        std::map<std::string, std::size_t> first_of;
        for (std::size_t const number : numbers) {
            auto const [known, is_new] = first_of.try_emplace(content_of(digests[number]), number);
            RankDigest& first = digests[known->second];
            bool const stated = first.stated_rank.has_value();
            if (is_new || first.source == digests[number].source || (!stated && names_differ(first, digests[number]))) {
                continue;
            }
            count_issue(first.issues, "same content in another file, left out", digests[number].source);
            is_copy[number] = true;
        }
    }
    std::size_t at = 0;
    std::erase_if(digests, [&](RankDigest const&) { return is_copy[at++]; });
}

void refuse_several_runs(std::vector<RankDigest> const& digests) {
    if (digests.size() < 2) { return; }
    bool const twice = one_rank_in_two_runs(digests);
    if (!twice && !recorded_apart(digests)) { return; }
    auto const [list, runs] = list_of_runs(digests);
    bool const one_folder = std::ranges::all_of(
        digests, [&](RankDigest const& digest) { return folder_of(digest) == folder_of(digests.front()); });
    throw InputError{Fault::usage,
                     {"PATH",
                      twice && one_folder ? "several traces of one rank"
                                          : fmt::format("traces of {} runs, not of the ranks of one", runs),
                      list, "name the folder or the files of one run"}};
}

} // namespace headroom::io
