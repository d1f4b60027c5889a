#include "traces/chrome_finish.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

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

} // namespace

void name_host_communication(ChromePart& part, bool known_profiler) {
    std::vector<bool> by_name(part.names.size()), by_lane(part.lanes.size());
    for (std::uint32_t name = 0; name < part.names.size(); ++name) {
        by_name[name] =
            names_communication(part.names[name]) || (!known_profiler && says_communication(part.names[name]));
    }
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
}

} // namespace headroom::io
