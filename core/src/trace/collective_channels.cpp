#include "collective_channels.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace headroom::trace {

using namespace headroom::network;

namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
    hash *= 0xff51afd7ed558ccdULL;
    return hash ^ (hash >> 32);
}

std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (char const c : text) { hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL; }
    return hash;
}

/// Sender and receiver.
using Peers = std::pair<std::int64_t, std::int64_t>;

/// "nccl:send 0->1" and "nccl:recv 1<-0" are one: from 0 to 1. "send ->1" is from `self`.
std::optional<Peers> peers_of(std::string_view what, std::int64_t self) {
    auto const number_at = [&](std::string_view text, bool from_end) -> std::optional<std::int64_t> {
        constexpr std::string_view digits = "0123456789";
        auto const begin = from_end ? text.find_last_not_of(digits) + 1 : std::size_t{0};
        std::int64_t value = 0;
        auto const piece = text.substr(begin);
        if (from_end && text.ends_with(' ')) { return self; }
        auto const [stop, error] = std::from_chars(piece.data(), piece.data() + piece.size(), value);
        return error == std::errc{} && stop != piece.data() ? std::optional(value) : std::nullopt;
    };
    for (std::string_view const arrow : {"->", "<-"}) {
        auto const at = what.find(arrow);
        if (at == std::string_view::npos) { continue; }
        auto const left = number_at(what.substr(0, at), true), right = number_at(what.substr(at + 2), false);
        if (!left || !right) { return {}; }
        return arrow == "->" ? Peers(*left, *right) : Peers(*right, *left);
    }
    return {};
}

/// Sender and receiver as the call names them, else by its direction in a group of two ranks, of which `self` is one.
std::optional<Peers> peers_of(CollectiveLabel const& label, std::int64_t self) {
    if (auto const named = peers_of(label.what, self)) { return named; }
    std::string_view word = label.what;
    word.remove_prefix(word.rfind(':') + 1);
    word = word.substr(0, word.find(' '));
    bool const sends = word == "send" || word == "isend", receives = word == "recv" || word == "irecv";
    auto const& pair = label.group_ranks;
    if (sends == receives || pair.size() != 2 || (pair[0] != self && pair[1] != self)) { return {}; }
    std::int64_t const other = pair[0] == self ? pair[1] : pair[0];
    return sends ? Peers(self, other) : Peers(other, self);
}

enum class Belongs : std::uint8_t { to_its_key, to_its_stream, nowhere };
struct Home {
    Belongs belongs = Belongs::to_its_stream;
    std::string key = {};
    std::int32_t ranks = 0;
    bool directed = false; ///< from one rank to another
    std::string pair = {}; ///< key of both directions, where the group of two alone tells the direction
};

std::int32_t stated_size(CollectiveLabel const& label) {
    return label.group_size > 0 ? label.group_size : static_cast<std::int32_t>(label.group_ranks.size());
}

Home home_of(CollectiveLabel const& label, std::int64_t self) {
    bool const stated = !label.group.empty() || !label.group_ranks.empty();
    Home home{.ranks = stated_size(label)};
    if (stated) {
        home.belongs = Belongs::to_its_key;
        home.key = label.group + " of " + std::to_string(home.ranks);
        for (auto const rank : label.group_ranks) { home.key += ' ' + std::to_string(rank); }
    }
    if (label.collective != Collective::point_to_point) { return home; }
    if (auto const peers = peers_of(label, self)) {
        home.directed = true;
        if (!peers_of(label.what, self)) { home.pair = home.key; }
        home.belongs = Belongs::to_its_key;
        home.key += " from " + std::to_string(peers->first) + " to " + std::to_string(peers->second);
        home.ranks = 2;
    } else if (home.ranks != 2) {
        home.belongs = Belongs::nowhere;
    }
    return home;
}

/// Stream of a run; gloo's threads are one: whichever is free takes the next transfer.
std::uint32_t stream_of(CollectiveLabel const& label, std::uint32_t lane) {
    constexpr std::uint32_t pool = 0xffffffff;
    return label.name.starts_with("gloo:") ? pool : lane;
}

/// A stream without names of groups on one rank.
struct NamelessStream {
    std::uint64_t signature = 0; ///< of what runs on it
    std::vector<std::uint32_t> runs;
};

class ChannelMaker {
public:
    explicit ChannelMaker(std::span<RankRuns const* const> order) : order_(order), nameless_(order.size()) {}

    CollectiveChannels make() {
        for (std::uint32_t r = 0; r < order_.size(); ++r) { sort_runs(r); }
        join_directions();
        pair_streams();
        CollectiveChannels result{.without_peer = without_peer_, .groups_by_order = by_order_};
        for (auto& [key, channel] : channels_) {
            if (channel.ranks == 0) { channel.ranks = static_cast<std::int32_t>(channel.members.size()); }
            result.channels.push_back(std::move(channel));
        }
        return result;
    }

private:
    std::vector<std::uint32_t>& runs_in(CollectiveChannel& channel, std::uint32_t rank) {
        if (channel.members.empty() || channel.members.back().rank != rank) { channel.members.push_back({rank, {}}); }
        return channel.members.back().runs;
    }

    CollectiveChannel& channel(Home const& home, CollectiveLabel const& label) {
        auto const [at, isnew] = channels_.try_emplace(home.key);
        if (isnew) {
            at->second.group = label.group;
            at->second.ranks = home.ranks;
            at->second.stated = true;
            at->second.directed = home.directed;
        }
        return at->second;
    }

    /// Puts sends of a pair that no receive answers, as of kernels that do both, with what the other rank states.
    void join_directions() {
        for (auto const& [key, pair] : pairs_) {
            auto const lone = channels_.find(key);
            if (lone->second.members.size() != 1) { continue; }
            CollectiveChannel of_one = std::move(lone->second);
            channels_.erase(lone);
            CollectiveChannel& both = channels_[pair];
            both.group = of_one.group;
            both.ranks = of_one.ranks;
            both.stated = true;
            ChannelMember& member = of_one.members.front();
            auto const at = std::ranges::lower_bound(both.members, member.rank, {}, &ChannelMember::rank);
            if (at == both.members.end() || at->rank != member.rank) {
                both.members.insert(at, std::move(member));
                continue;
            }
            at->runs.insert(at->runs.end(), member.runs.begin(), member.runs.end());
            std::ranges::sort(at->runs); // runs are by begin
        }
    }

    /// The one group that is named on each stream, by lane; none where there are several.
    static std::map<std::uint32_t, CollectiveChannel*> groups_of_streams(
        CollectiveRuns const& runs, std::vector<CollectiveChannel*> const& by_label, std::vector<Home> const& homes) {
        std::map<std::uint32_t, CollectiveChannel*> result;
        for (CollectiveRun const& run : runs.runs) {
            auto* const named = by_label[run.label];
            bool const pair = runs.label_of(run).collective == Collective::point_to_point;
            if (named == nullptr || (pair && homes[run.label].ranks == 2)) { continue; }
            auto const [at, isnew] = result.try_emplace(run.lane, named);
            if (!isnew && at->second != named) { at->second = nullptr; }
        }
        return result;
    }

    void sort_runs(std::uint32_t r) {
        CollectiveRuns const& runs = order_[r]->runs;
        std::vector<Home> homes;
        std::vector<CollectiveChannel*> by_label;
        for (CollectiveLabel const& label : runs.labels) {
            homes.push_back(home_of(label, order_[r]->rank));
            bool const keyed = homes.back().belongs == Belongs::to_its_key;
            if (!homes.back().pair.empty()) { pairs_.emplace(homes.back().key, homes.back().pair); }
            by_label.push_back(keyed ? &channel(homes.back(), label) : nullptr);
        }
        auto const of_stream = groups_of_streams(runs, by_label, homes);
        std::map<std::uint32_t, NamelessStream> streams;
        for (std::uint32_t i = 0; i < runs.size(); ++i) {
            auto const& run = runs.runs[i];
            if (homes[run.label].belongs == Belongs::nowhere) {
                ++without_peer_;
                continue;
            }
            auto* home = by_label[run.label];
            if (home == nullptr) {
                auto const known = of_stream.find(run.lane);
                home = known == of_stream.end() ? nullptr : known->second;
            }
            if (home != nullptr) {
                runs_in(*home, r).push_back(i);
                continue;
            }
            auto& stream = streams[stream_of(runs.label_of(run), run.lane)];
            auto const name = call_name_hash(runs.label_of(run));
            stream.signature = mixed(stream.signature, call_hash(runs.label_of(run), name, run.bytes));
            stream.runs.push_back(i);
        }
        for (auto& [lane, stream] : streams) { nameless_[r].push_back(std::move(stream)); }
        // Numbers of streams are each rank's own; which comes first is the program's.
        std::ranges::sort(nameless_[r], {}, [](NamelessStream const& stream) { return stream.runs.front(); });
    }

    /// Pairs streams without names over ranks. The rank with the most such runs gives the order of channels. Streams of
    /// other ranks with the very same runs are assigned first, the remaining ones in order.
    void pair_streams() {
        auto const runs_on = [](std::vector<NamelessStream> const& streams) {
            std::size_t sum = 0;
            for (auto const& stream : streams) { sum += stream.runs.size(); }
            return sum;
        };
        auto const reference = std::ranges::max_element(nameless_, {}, runs_on);
        if (reference == nameless_.end() || reference->empty()) { return; }
        auto const pattern = signatures(*reference);
        for (std::uint32_t r = 0; r < nameless_.size(); ++r) {
            auto const places = places_of(nameless_[r], pattern);
            for (std::size_t s = 0; s < places.size(); ++s) {
                auto const [at, isnew] = channels_.try_emplace("\x7f stream " + std::to_string(places[s]));
                if (isnew) {
                    ++by_order_;
                    at->second.group = "stream " + std::to_string(places[s]);
                }
                runs_in(at->second, r) = std::move(nameless_[r][s].runs);
            }
        }
    }

    static std::vector<std::uint64_t> signatures(std::vector<NamelessStream> const& streams) {
        std::vector<std::uint64_t> result;
        for (auto const& stream : streams) { result.push_back(stream.signature); }
        return result;
    }

    static std::vector<std::size_t> places_of(std::vector<NamelessStream> const& streams,
                                              std::vector<std::uint64_t> const& pattern) {
        constexpr auto open = static_cast<std::size_t>(-1);
        std::vector<std::size_t> result(streams.size(), open);
        std::set<std::size_t> taken;
        for (std::size_t s = 0; s < streams.size(); ++s) {
            for (std::size_t p = 0; p < pattern.size() && result[s] == open; ++p) {
                if (pattern[p] == streams[s].signature && taken.insert(p).second) { result[s] = p; }
            }
        }
        std::size_t next = 0;
        for (auto& place : result) {
            if (place != open) { continue; }
            while (!taken.insert(next).second) { ++next; }
            place = next;
        }
        return result;
    }

    std::span<RankRuns const* const> order_;
    std::vector<std::vector<NamelessStream>> nameless_;
    std::map<std::string, CollectiveChannel> channels_;
    std::map<std::string, std::string> pairs_; ///< keys of both directions by those of one
    std::int64_t without_peer_ = 0, by_order_ = 0;
};

} // namespace

std::uint64_t call_name_hash(CollectiveLabel const& label) {
    if (label.collective) { return mixed(1, static_cast<std::uint64_t>(*label.collective)); }
    return mixed(2, hash_of(label.name));
}

std::uint64_t call_hash(CollectiveLabel const& label, std::uint64_t name_hash, std::int64_t bytes) {
    bool const same_on_all = label.collective != Collective::all_to_all && label.collective != Collective::gather &&
                             label.collective != Collective::scatter && label.collective != Collective::point_to_point;
    return mixed(name_hash, same_on_all ? static_cast<std::uint64_t>(bytes) : 0);
}

CollectiveChannels channels_of(std::span<RankRuns const* const> order) { return ChannelMaker(order).make(); }

} // namespace headroom::trace
