#pragma once

// Follows what the messages of a schedule carry, and says whether in the end everybody has what the collective promises.
// Written from the definitions of the collectives alone.

#include "headroom/network/message_schedule.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headroom::data_flow {

/// Set of ranks whose contributions a chunk has, or for all-to-all the sender and the receiver of the chunk; up to 64
/// ranks.
using Chunk = std::uint64_t;
using Holdings = std::vector<std::vector<Chunk>>; ///< by participant, then chunk

constexpr Chunk nothing = 0;
inline Chunk own(int rank) { return Chunk{1} << rank; }
inline Chunk all(int ranks) { return ranks == 64 ? ~Chunk{0} : (Chunk{1} << ranks) - 1; }
/// All-to-all: the block of `from` for `to`; chunk j of rank r is for the rank j places on.
inline Chunk block(int from, int to) { return 1 + static_cast<Chunk>(from) * 1000 + static_cast<Chunk>(to); }

template <class Visit> void for_each_member(network::Chunks const& chunks, std::uint32_t of, Visit visit) {
    for (std::uint32_t i = 0; i < chunks.repeats; ++i) {
        for (std::uint32_t j = 0; j < chunks.length; ++j) {
            std::uint32_t const c = chunks.first + i * chunks.stride + j;
            if (chunks.end == 0 || c < chunks.end) { visit(c % of); }
        }
    }
}
inline std::vector<std::uint32_t> members(network::Chunks const& chunks, std::uint32_t of) {
    std::vector<std::uint32_t> result;
    for_each_member(chunks, of, [&](std::uint32_t c) { result.push_back(c); });
    return result;
}

/// The first chunk of rank r's shard, of `chunks` that p ranks share evenly.
inline std::uint32_t shard_begin(int rank, int ranks, std::uint32_t chunks) {
    return static_cast<std::uint32_t>(rank) * (chunks / static_cast<std::uint32_t>(ranks));
}

inline bool in_shard(std::uint32_t chunk, int rank, int ranks, std::uint32_t chunks) {
    return chunk >= shard_begin(rank, ranks, chunks) && chunk < shard_begin(rank + 1, ranks, chunks);
}

inline Chunk at_first(network::Collective collective, int rank, std::uint32_t chunk, int ranks, std::uint32_t chunks) {
    switch (collective) {
    case network::Collective::all_reduce:
    case network::Collective::reduce_scatter:
    case network::Collective::reduce:
    case network::Collective::barrier: return own(rank);
    case network::Collective::all_gather:
    case network::Collective::gather: return in_shard(chunk, rank, ranks, chunks) ? all(ranks) : nothing;
    case network::Collective::broadcast:
    case network::Collective::scatter:
    case network::Collective::point_to_point: return rank == 0 ? all(ranks) : nothing;
    case network::Collective::all_to_all: return block(rank, static_cast<int>((rank + chunk) % ranks));
    }
    return nothing;
}

/// Chunk that a rank must hold in the end; nothing: it does not matter.
inline Chunk in_the_end(network::Collective collective, int rank, std::uint32_t chunk, int ranks,
                        std::uint32_t chunks) {
    switch (collective) {
    case network::Collective::all_reduce:
    case network::Collective::all_gather:
    case network::Collective::broadcast:
    case network::Collective::barrier: return all(ranks);
    case network::Collective::reduce:
    case network::Collective::gather: return rank == 0 ? all(ranks) : nothing;
    case network::Collective::reduce_scatter:
    case network::Collective::scatter: return in_shard(chunk, rank, ranks, chunks) ? all(ranks) : nothing;
    case network::Collective::point_to_point: return rank <= 1 ? all(ranks) : nothing;
    case network::Collective::all_to_all:
        return block(static_cast<int>((rank + ranks - static_cast<int>(chunk)) % ranks), rank);
    }
    return nothing;
}

/// Part of a message that belongs to one chunk.
struct Carried {
    network::Message const* message;
    std::uint32_t chunk;
    Chunk sent;
};

/// Gives one chunk to its receiver; says what is wrong with it.
inline std::string deliver(Carried const& one, Holdings& held, network::Collective collective) {
    network::Message const& message = *one.message;
    Chunk& receiver = held[message.to][one.chunk];
    bool const twice = message.adds && collective != network::Collective::barrier && (receiver & one.sent) != 0;
    if (one.sent == nothing || twice) {
        return std::to_string(message.from) + " -> " + std::to_string(message.to) + ", chunk " +
               std::to_string(one.chunk) + (twice ? ": added twice" : ": sent before it was there");
    }
    receiver = message.adds ? receiver | one.sent : one.sent;
    return "";
}

/// Carries the messages of a round: all are read before any is given.
inline std::string carry(std::span<network::Message const> messages, Holdings& held, network::Collective collective,
                         std::vector<Carried>& carried) {
    carried.clear();
    auto const chunks = static_cast<std::uint32_t>(held[0].size());
    for (network::Message const& message : messages) {
        for_each_member(message.chunks, chunks, [&](std::uint32_t c) {
            carried.push_back({.message = &message, .chunk = c, .sent = held[message.from][c]});
        });
    }
    for (Carried const& one : carried) {
        if (auto fault = deliver(one, held, collective); !fault.empty()) { return fault; }
    }
    return "";
}

/// A rank has one port each way: at most one message out and one in a round. Switches (from `ranks` on) have many.
inline std::string ports_used_once(std::span<network::Message const> messages, int ranks) {
    std::vector<int> out(static_cast<std::size_t>(ranks)), in(static_cast<std::size_t>(ranks));
    for (network::Message const& message : messages) {
        if (message.from == message.to) { return "rank " + std::to_string(message.from) + " sends to itself"; }
        if (static_cast<int>(message.from) < ranks && ++out[message.from] > 1) {
            return "rank " + std::to_string(message.from) + " sends twice in a round";
        }
        if (static_cast<int>(message.to) < ranks && ++in[message.to] > 1) {
            return "rank " + std::to_string(message.to) + " receives twice in a round";
        }
    }
    return "";
}

/// Empty when the schedule does what the collective promises, else the first thing that is wrong.
inline std::string fault_of(network::MessageSchedule const& schedule, network::Collective collective,
                            network::Layout const& layout) {
    int const ranks = layout.ranks;
    std::uint32_t const chunks = schedule.chunks();
    Holdings held(static_cast<std::size_t>(schedule.participants()), std::vector<Chunk>(chunks, nothing));
    for (int rank = 0; rank < ranks; ++rank) {
        for (std::uint32_t c = 0; c < chunks; ++c) { held[rank][c] = at_first(collective, rank, c, ranks, chunks); }
    }
    network::Round round{layout};
    std::vector<Carried> carried;
    for (std::int64_t index = 0; index < schedule.rounds(); ++index) {
        round.clear();
        schedule.write(index, round);
        std::string const in_round = "round " + std::to_string(index) + ": ";
        if (auto const fault = ports_used_once(round.messages(), ranks); !fault.empty()) { return in_round + fault; }
        if (auto const fault = carry(round.messages(), held, collective, carried); !fault.empty()) {
            return in_round + fault;
        }
    }
    for (int rank = 0; rank < ranks; ++rank) {
        for (std::uint32_t c = 0; c < chunks; ++c) {
            Chunk const wanted = in_the_end(collective, rank, c, ranks, chunks);
            if (wanted != nothing && held[rank][c] != wanted) {
                return "in the end rank " + std::to_string(rank) + " lacks chunk " + std::to_string(c);
            }
        }
    }
    return "";
}

} // namespace headroom::data_flow
