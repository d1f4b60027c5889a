#pragma once

#include "descriptor.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace headroom::cluster {

/// A rank's connections to all others: plain TCP, each call waits in poll() and never spins, so that ranks which share
/// a core do not take it from each other while they wait.
class Mesh {
public:
    /// Connects to every other rank; each lives on the host of its number plus one.
    Mesh(int rank, int ranks);

    struct Out {
        int to;
        std::span<std::byte const> bytes;
    };
    struct In {
        int from;
        std::span<std::byte> bytes;
    };
    /// Sends and receives all of these at once; returns when all are through.
    void exchange(std::vector<Out> outs, std::vector<In> ins);
    void send(int to, std::span<std::byte const> bytes) { exchange({{to, bytes}}, {}); }
    void receive(int from, std::span<std::byte> bytes) { exchange({}, {{from, bytes}}); }
    void barrier();

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int ranks() const { return ranks_; }
    /// The rank so many places on, round the ring.
    [[nodiscard]] int ahead(int places) const { return ((rank_ + places) % ranks_ + ranks_) % ranks_; }

private:
    int rank_, ranks_;
    std::vector<Descriptor> peers_;
};

} // namespace headroom::cluster
