#include "traces/chrome_finish.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headroom::io {

using namespace headroom::trace;

namespace {

/// Letters alone, small: "All-Reduce (grads)" is "allreducegrads".
std::string letters_of(std::string_view text) {
    std::string letters;
    for (char const byte : text.substr(0, 256)) {
        bool const large = byte >= 'A' && byte <= 'Z';
        if (large || (byte >= 'a' && byte <= 'z')) { letters += large ? static_cast<char>(byte | 0x20) : byte; }
    }
    return letters;
}

/// Calls of MPI that move data or wait for it; others start up, build types or ask.
bool names_message(std::string_view name) {
    constexpr std::array local{"MPI_Init", "MPI_Fin", "MPI_Comm_", "MPI_Type_", "MPI_W", "MPI_Get_", "MPI_Info_"};
    bool const waits = name.starts_with("MPI_Wait");
    return name.starts_with("MPI_") &&
           (waits || std::none_of(local.begin(), local.end(), [&](auto one) { return name.starts_with(one); }));
}

bool says_communication(std::string_view name) {
    constexpr std::array words{"allreduce", "allgather", "reducescatter", "alltoall"};
    std::string const text = letters_of(name);
    bool const known = std::any_of(words.begin(), words.end(), [&](auto one) { return text.find(one) != text.npos; });
    return known || text == "communication" || text == "communicate" || names_message(name);
}

/// Threads that are called communication, as (process, thread).
std::set<std::pair<ChromePart::Place, ChromePart::Place>> communicating(ChromePart const& part) {
    std::set<std::pair<ChromePart::Place, ChromePart::Place>> threads;
    auto const is_one = [](std::string_view name) {
        std::string const text = letters_of(name);
        return text == "comm" || text == "network" || text == "nccl" || text.starts_with("communication") ||
               text.starts_with("commstream") || text.starts_with("commthread");
    };
    for (auto const& row : part.lane_names) {
        if (is_one(part.words[row.text])) { threads.insert({row.process, row.thread}); }
    }
    for (auto const& lane : part.lanes) {
        auto const number = static_cast<std::uint64_t>(lane.thread) - static_cast<std::uint64_t>(ChromePart::word_base);
        bool const word = ChromePart::is_word(lane.thread) && number < part.words.size();
        if (word && is_one(part.words[static_cast<std::uint32_t>(number)])) {
            threads.insert({lane.process, lane.thread});
        }
    }
    return threads;
}

/// Whether c10d gives a transfer this name: "gloo:all_reduce".
bool names_c10d_transfer(std::string_view name) {
    auto const colon = name.find(':');
    return colon != name.npos && !name.substr(colon).starts_with("::") && names_communication(name);
}

/// Whether a range of the host starts a transfer of devices, which runs there: "nccl:all_reduce".
bool names_device_transfer(std::string_view name) {
    constexpr std::array backends{"nccl:", "xccl:", "hccl:"};
    return std::any_of(backends.begin(), backends.end(), [&](auto backend) { return name.starts_with(backend); });
}

/// Gives c10d's transfers lanes of their own: Kineto draws them on the thread that started them, which goes on.
void part_transfers(ChromePart& part) {
    std::vector<std::uint32_t> transfers;
    for (std::uint32_t span = 0; span < part.size(); ++span) {
        bool const communicates = part.kind[span] == SpanKind::communication;
        if (communicates && names_c10d_transfer(part.names[part.name[span]])) { transfers.push_back(span); }
    }
    std::ranges::stable_sort(transfers, {}, [&](std::uint32_t span) { return part.begin[span]; });
    std::map<std::uint32_t, std::set<std::pair<std::int64_t, std::uint32_t>>> by_thread; // lanes, by their last end
    for (auto const span : transfers) {
        auto& lanes = by_thread[part.lane[span]];
        auto own = static_cast<std::uint32_t>(part.lanes.size());
        if (!lanes.empty() && lanes.begin()->first <= part.begin[span]) {
            own = lanes.extract(lanes.begin()).value().second;
        } else {
            part.lanes.push_back(ChromePart::Lane{part.lanes[part.lane[span]]});
        }
        lanes.emplace(part.end[span], own);
        part.lane[span] = own;
    }
}

} // namespace

std::uint64_t name_host_communication(ChromePart& part, bool known_profiler) {
    std::vector<bool> by_name(part.names.size()), by_lane(part.lanes.size()), unseen(part.names.size());
    for (std::uint32_t name = 0; name < part.names.size(); ++name) { // PyTorch's, in its form before Kineto
        known_profiler = known_profiler || part.names[name].starts_with("aten::");
    }
    for (std::uint32_t name = 0; name < part.names.size(); ++name) {
        std::string_view const text = part.names[name];
        unseen[name] = known_profiler && names_device_transfer(text);
        by_name[name] = !unseen[name] && (names_communication(text) || (!known_profiler && says_communication(text)));
    }
    auto const count =
        static_cast<std::uint64_t>(std::ranges::count_if(part.name, [&](std::uint32_t name) { return unseen[name]; }));
    if (count > 0) { part.collectives.clear(); } // as calls on the host state them
    if (!known_profiler) {
        auto const threads = communicating(part);
        for (std::size_t lane = 0; lane < part.lanes.size(); ++lane) {
            by_lane[lane] = threads.contains({part.lanes[lane].process, part.lanes[lane].thread});
        }
    }
    for (std::size_t span = 0; span < part.size(); ++span) {
        bool const host = part.kind[span] == SpanKind::host || part.kind[span] == SpanKind::annotation;
        if (host && (by_name[part.name[span]] || by_lane[part.lane[span]])) {
            part.kind[span] = SpanKind::communication;
        }
    }
    if (known_profiler) { part_transfers(part); }
    return count;
}

} // namespace headroom::io
