#include "mesh.hpp"

#include "hosts.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>

namespace headroom::cluster {
namespace {

constexpr int first_port = 9700;
constexpr std::size_t most_at_once = 1 << 20;

sockaddr_in end_point(int rank) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(first_port + rank));
    inet_pton(AF_INET, address_of(rank + 1).c_str(), &address.sin_addr);
    return address;
}

Descriptor new_socket() { return Descriptor{checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket")}; }

/// Tries until the other rank listens, for ten seconds.
Descriptor connect_to(int rank) {
    sockaddr_in const address = end_point(rank);
    for (int tries = 0; tries < 1000; ++tries) {
        Descriptor socket = new_socket();
        if (::connect(socket.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0) {
            return socket;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    throw std::runtime_error{"rank " + std::to_string(rank) + " does not answer"};
}

Descriptor listen_as(int rank) {
    Descriptor socket = new_socket();
    sockaddr_in const address = end_point(rank);
    int const yes = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    checked(::bind(socket.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address), "bind");
    checked(::listen(socket.get(), most_hosts), "listen");
    return socket;
}

/// Bytes that a non-blocking send or receive moved: zero when it would have waited.
std::size_t moved(ssize_t result, char const* what) {
    if (result >= 0) { return static_cast<std::size_t>(result); }
    if (errno == EAGAIN || errno == EINTR) { return 0; }
    throw std::system_error(errno, std::generic_category(), what);
}

} // namespace

Mesh::Mesh(int rank, int ranks) : rank_{rank}, ranks_{ranks}, peers_(static_cast<std::size_t>(ranks)) {
    Descriptor const listener = listen_as(rank);
    for (int other = 0; other < rank; ++other) {
        Descriptor socket = connect_to(other);
        checked(static_cast<int>(::send(socket.get(), &rank, sizeof rank, MSG_NOSIGNAL)), "greeting");
        peers_[static_cast<std::size_t>(other)] = std::move(socket);
    }
    for (int still = ranks - 1 - rank; still > 0; --still) {
        Descriptor socket{checked(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC), "accept")};
        int other = 0;
        if (::recv(socket.get(), &other, sizeof other, MSG_WAITALL) != sizeof other || other <= rank ||
            other >= ranks) {
            throw std::runtime_error{"a stranger connected"};
        }
        peers_[static_cast<std::size_t>(other)] = std::move(socket);
    }
    for (Descriptor const& peer : peers_) {
        int const yes = 1;
        if (peer.get() >= 0) { ::setsockopt(peer.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes); }
    }
    barrier();
}

void Mesh::exchange(std::vector<Out> outs, std::vector<In> ins) {
    auto const socket = [&](int rank) { return peers_[static_cast<std::size_t>(rank)].get(); };
    std::vector<pollfd> waiting;
    while (true) {
        bool progress = false;
        for (Out& out : outs) {
            std::size_t const length = std::min(out.bytes.size(), most_at_once);
            if (length == 0) { continue; }
            std::size_t const done =
                moved(::send(socket(out.to), out.bytes.data(), length, MSG_DONTWAIT | MSG_NOSIGNAL), "send");
            out.bytes = out.bytes.subspan(done);
            progress = progress || done > 0;
        }
        for (In& in : ins) {
            if (in.bytes.empty()) { continue; }
            ssize_t const got = ::recv(socket(in.from), in.bytes.data(), in.bytes.size(), MSG_DONTWAIT);
            if (got == 0) { throw std::runtime_error{"a rank went away"}; }
            std::size_t const done = moved(got, "receive");
            in.bytes = in.bytes.subspan(done);
            progress = progress || done > 0;
        }
        waiting.clear();
        for (Out const& out : outs) {
            if (!out.bytes.empty()) { waiting.push_back({.fd = socket(out.to), .events = POLLOUT, .revents = 0}); }
        }
        for (In const& in : ins) {
            if (!in.bytes.empty()) { waiting.push_back({.fd = socket(in.from), .events = POLLIN, .revents = 0}); }
        }
        if (waiting.empty()) { return; }
        if (!progress) { ::poll(waiting.data(), waiting.size(), -1); }
    }
}

void Mesh::barrier() {
    for (int distance = 1; distance < ranks_; distance *= 2) {
        std::byte const out{};
        std::byte in{};
        exchange({{ahead(distance), {&out, 1}}}, {{ahead(-distance), {&in, 1}}});
    }
}

} // namespace headroom::cluster
