#include "socket_algorithms.hpp"

#include <algorithm>
#include <array>

namespace headroom::cluster {
namespace {

std::span<std::byte const> out(std::span<float const> values) { return std::as_bytes(values); }
std::span<std::byte> in(std::span<float> values) { return std::as_writable_bytes(values); }

/// Part `index` of `parts`, all as equal as they can be.
template <typename Span> Span part(Span whole, int index, int parts) {
    auto const begin = [&](int i) {
        return whole.size() * static_cast<std::size_t>(i) / static_cast<std::size_t>(parts);
    };
    return whole.subspan(begin(index), begin(index + 1) - begin(index));
}

// ---- probes: messages of `own` ----------------------------------------------------------------------------------

void one_way(Mesh& mesh, Buffers buffers) {
    if (mesh.rank() == 0) {
        mesh.send(1, out(buffers.own));
        mesh.receive(1, in(buffers.other));
    } else if (mesh.rank() == 1) {
        mesh.receive(0, in(buffers.other));
        mesh.send(0, out(buffers.own));
    }
}

void both_ways(Mesh& mesh, Buffers buffers) {
    if (mesh.rank() > 1) { return; }
    int const peer = 1 - mesh.rank();
    mesh.exchange({{peer, out(buffers.own)}}, {{peer, in(buffers.other)}});
}

void shifted(Mesh& mesh, Buffers buffers) {
    mesh.exchange({{mesh.ahead(1), out(buffers.own)}}, {{mesh.ahead(-1), in(buffers.other)}});
}

/// The bytes of `values` that belong to a rank: bytes, since eight ranks share eight of them.
std::span<std::byte> bytes_for(std::span<float> values, int rank, int ranks) { return part(in(values), rank, ranks); }

void all_at_once(Mesh& mesh, Buffers buffers) {
    std::vector<Mesh::Out> outs;
    std::vector<Mesh::In> ins;
    for (int distance = 1; distance < mesh.ranks(); ++distance) {
        int const to = mesh.ahead(distance), from = mesh.ahead(-distance);
        outs.push_back({to, bytes_for(buffers.own, to, mesh.ranks())});
        ins.push_back({from, bytes_for(buffers.other, from, mesh.ranks())});
    }
    mesh.exchange(std::move(outs), std::move(ins));
}

// ---- all-reduce -------------------------------------------------------------------------------------------------

void ring_steps(Mesh& mesh, Buffers buffers, bool adds) {
    int const to = mesh.ahead(1), from = mesh.ahead(-1), last = adds ? 0 : 1;
    for (int step = 0; step < mesh.ranks() - 1; ++step) {
        auto const leaving = part(buffers.own, mesh.ahead(last - step), mesh.ranks());
        auto const coming = part(buffers.own, mesh.ahead(last - step - 1), mesh.ranks());
        auto const landing = adds ? buffers.other.first(coming.size()) : coming;
        mesh.exchange({{to, out(leaving)}}, {{from, in(landing)}});
        if (adds) { add(coming, landing); }
    }
}

void ring_all_reduce(Mesh& mesh, Buffers buffers) {
    ring_steps(mesh, buffers, true);
    ring_steps(mesh, buffers, false);
}

void recursive_doubling(Mesh& mesh, Buffers buffers) {
    for (int distance = 1; distance < mesh.ranks(); distance *= 2) {
        int const peer = mesh.rank() ^ distance;
        mesh.exchange({{peer, out(buffers.own)}}, {{peer, in(buffers.other)}});
        add(buffers.own, buffers.other);
    }
}

/// Halves: keeps the one of its side, sends the other. Doubles: the same way back.
void rabenseifner(Mesh& mesh, Buffers buffers) {
    std::span<float> held = buffers.own;
    std::vector<std::span<float>> larger;
    for (int distance = mesh.ranks() / 2; distance >= 1; distance /= 2) {
        int const peer = mesh.rank() ^ distance, side = (mesh.rank() & distance) != 0 ? 1 : 0;
        larger.push_back(held);
        auto const kept = part(held, side, 2), landing = buffers.other.first(kept.size());
        mesh.exchange({{peer, out(part(held, 1 - side, 2))}}, {{peer, in(landing)}});
        add(kept, landing);
        held = kept;
    }
    for (int distance = 1; distance < mesh.ranks(); distance *= 2) {
        int const peer = mesh.rank() ^ distance, side = (mesh.rank() & distance) != 0 ? 1 : 0;
        auto const whole = larger.back();
        larger.pop_back();
        mesh.exchange({{peer, out(held)}}, {{peer, in(part(whole, 1 - side, 2))}});
        held = whole;
    }
}

/// A long message whose sender waits until all of it has come. A send is over once its bytes are in the socket's buffer,
/// and what is sent to the next child then shares the line with it: the first, on whom the tree waits, comes in late.
constexpr std::size_t long_message = 64 << 10;

void send_whole(Mesh& mesh, int to, std::span<float const> values) {
    std::byte reply{};
    bool const waits = values.size_bytes() >= long_message;
    mesh.exchange({{to, out(values)}}, {{to, {&reply, waits ? 1U : 0U}}});
}

void receive_whole(Mesh& mesh, int from, std::span<float> values) {
    std::byte const reply{};
    mesh.receive(from, in(values));
    if (values.size_bytes() >= long_message) { mesh.send(from, {&reply, 1}); }
}

/// A reduce to rank 0, then a broadcast from it.
void binomial(Mesh& mesh, Buffers buffers) {
    int const rank = mesh.rank();
    int distance = 1;
    for (; distance < mesh.ranks() && (rank & distance) == 0; distance *= 2) {
        mesh.receive(rank | distance, in(buffers.other));
        add(buffers.own, buffers.other);
    }
    if (rank != 0) {
        mesh.send(rank ^ distance, out(buffers.own));
        receive_whole(mesh, rank ^ distance, buffers.own);
    }
    for (distance /= 2; distance >= 1; distance /= 2) { send_whole(mesh, rank | distance, buffers.own); }
}

bool is_sum(Mesh const& mesh, Buffers buffers) {
    auto const expected = static_cast<float>(mesh.ranks() * (mesh.ranks() + 1)) / 2.0F;
    return std::all_of(buffers.own.begin(), buffers.own.end(), [&](float value) { return value == expected; });
}

// ---- the others -------------------------------------------------------------------------------------------------

void ring_all_gather(Mesh& mesh, Buffers buffers) {
    for (int step = 0; step < mesh.ranks() - 1; ++step) {
        mesh.exchange({{mesh.ahead(1), bytes_for(buffers.own, mesh.ahead(-step), mesh.ranks())}},
                      {{mesh.ahead(-1), bytes_for(buffers.own, mesh.ahead(-step - 1), mesh.ranks())}});
    }
}

/// Whether the part of each rank came from there. Parts of less than a float are not looked into.
bool holds_part_of_each(Mesh const& mesh, std::span<float> values) {
    if (values.size() % static_cast<std::size_t>(mesh.ranks()) != 0) { return true; }
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
        auto const shard = part(values, rank, mesh.ranks());
        auto const expected = static_cast<float>(rank + 1);
        if (!std::all_of(shard.begin(), shard.end(), [&](float value) { return value == expected; })) { return false; }
    }
    return true;
}

bool is_gathered(Mesh const& mesh, Buffers buffers) { return holds_part_of_each(mesh, buffers.own); }

/// Bytes that stay in the socket when a send returns (tcp_wmem, `hosts.cpp`); they share the line with the next
/// message, to another rank. Where messages are longer than that, each waits until its receiver has all of it, or ranks
/// drift apart.
constexpr std::size_t socket_buffer = 512 << 10;

void pairwise_all_to_all(Mesh& mesh, Buffers buffers) {
    auto const own = bytes_for(buffers.own, mesh.rank(), mesh.ranks());
    std::copy_n(own.begin(), own.size(), bytes_for(buffers.other, mesh.rank(), mesh.ranks()).begin());
    for (int distance = 1; distance < mesh.ranks(); ++distance) {
        int const to = mesh.ahead(distance), from = mesh.ahead(-distance);
        mesh.exchange({{to, bytes_for(buffers.own, to, mesh.ranks())}},
                      {{from, bytes_for(buffers.other, from, mesh.ranks())}});
        if (own.size() <= socket_buffer) { continue; }
        std::byte const done{};
        std::byte reply{};
        mesh.exchange({{from, {&done, 1}}}, {{to, {&reply, 1}}});
    }
}

bool is_exchanged(Mesh const& mesh, Buffers buffers) { return holds_part_of_each(mesh, buffers.other); }

constexpr std::array table{
    Operation{.collective = "point_to_point", .algorithm = "one_way", .run = one_way, .share = 0.5},
    Operation{.collective = "point_to_point", .algorithm = "both_ways", .run = both_ways},
    Operation{.collective = "point_to_point", .algorithm = "shifted", .run = shifted},
    Operation{.collective = "all_to_all", .algorithm = "all_at_once", .run = all_at_once},
    Operation{.collective = "all_reduce", .algorithm = "ring", .run = ring_all_reduce, .right = is_sum},
    Operation{
        .collective = "all_reduce", .algorithm = "recursive_doubling", .run = recursive_doubling, .right = is_sum},
    Operation{.collective = "all_reduce", .algorithm = "rabenseifner", .run = rabenseifner, .right = is_sum},
    Operation{.collective = "all_reduce", .algorithm = "binomial", .run = binomial, .right = is_sum},
    Operation{.collective = "all_gather", .algorithm = "ring", .run = ring_all_gather, .right = is_gathered},
    Operation{.collective = "all_to_all", .algorithm = "pairwise", .run = pairwise_all_to_all, .right = is_exchanged},
};

} // namespace

std::span<Operation const> operations() { return table; }

void add(std::span<float> own, std::span<float const> other) {
    for (std::size_t i = 0; i < own.size(); ++i) { own[i] += other[i]; }
}

} // namespace headroom::cluster
