#include "mpi_state.hpp"

#include "headroom/measure/pair_rounds.hpp"

#include <atomic>
#include <thread>

namespace headroom::probe {

using namespace headroom::measure;
using namespace headroom::network;

namespace {

constexpr int tag = 902, stop_tag = 903;
constexpr std::uint64_t load_bytes = std::uint64_t{1} << 20;
constexpr double none = 0.0, from_instant = -1.0;

struct Ends {
    int first = 0, second = 1;
    [[nodiscard]] bool has(int rank) const { return rank == first || rank == second; }
    [[nodiscard]] int other(int rank) const { return rank == first ? second : first; }
};

void send(MpiRank const& self, std::uint64_t bytes, int to) {
    MPI_Send(self.own.data() + self.at, static_cast<int>(bytes), MPI_BYTE, to, tag, self.comm);
}
void receive(MpiRank& self, std::uint64_t bytes, int from) {
    MPI_Recv(self.other.data() + self.at, static_cast<int>(bytes), MPI_BYTE, from, tag, self.comm, MPI_STATUS_IGNORE);
}
void exchange(MpiRank& self, std::uint64_t bytes, int to, int from) {
    MPI_Sendrecv(self.own.data() + self.at, static_cast<int>(bytes), MPI_BYTE, to, tag, self.other.data() + self.at,
                 static_cast<int>(bytes), MPI_BYTE, from, tag, self.comm, MPI_STATUS_IGNORE);
}

/// Messages that are not timed: they bring the ranks in step, and hot buffers into the caches.
int before_timing(CommRequest const& request) { return 1 + (request.cold == 0 ? request.in_a_row / 8 : 0); }

/// Half a round trip, of the rank that began; the other has no time. Some that are not timed go before.
double ping_pong(MpiRank& self, CommRequest const& request, Ends ends) {
    if (!ends.has(self.rank)) { return none; }
    int const other = ends.other(self.rank);
    double begin = 0.0;
    for (int i = -before_timing(request); i < request.in_a_row; ++i) {
        if (i == 0) { begin = monotonic(); }
        next_buffers(self);
        if (self.rank == ends.first) { send(self, request.bytes, other); }
        receive(self, request.bytes, other);
        if (self.rank == ends.second) { send(self, request.bytes, other); }
    }
    return self.rank == ends.first ? (monotonic() - begin) / (2.0 * request.in_a_row) : none;
}

double one_way(MpiRank& self, CommRequest const& request) { return ping_pong(self, request, {0, request.peer}); }

/// One exchange of several in a row, after some that are not timed: the agreed instant is not as sharp as they are short, and
/// two that begin at one instant have asked and answered before the line is busy.
double exchanges_with(MpiRank& self, CommRequest const& request, int to, int from) {
    double begin = 0.0;
    for (int i = -before_timing(request); i < request.in_a_row; ++i) {
        if (i == 0) { begin = monotonic(); }
        next_buffers(self);
        exchange(self, request.bytes, to, from);
    }
    return (monotonic() - begin) / request.in_a_row;
}

double both_ways(MpiRank& self, CommRequest const& request) {
    Ends const ends{0, request.peer};
    int const other = ends.other(self.rank);
    return ends.has(self.rank) ? exchanges_with(self, request, other, other) : none;
}

double shifted(MpiRank& self, CommRequest const& request) {
    int const next = (self.rank + 1) % self.ranks, before = (self.rank + self.ranks - 1) % self.ranks;
    return exchanges_with(self, request, next, before);
}

void send_to_all(MpiRank& self, CommRequest const& request) {
    std::uint64_t const shard = request.bytes / static_cast<std::uint64_t>(self.ranks);
    std::vector<MPI_Request> all(2 * static_cast<std::size_t>(self.ranks - 1));
    auto const at = [&](std::vector<float>& vector, int rank) {
        return reinterpret_cast<char*>(vector.data() + self.at) + shard * static_cast<std::uint64_t>(rank);
    };
    std::size_t count = 0;
    for (int step = 1; step < self.ranks; ++step) {
        int const from = (self.rank + self.ranks - step) % self.ranks;
        MPI_Irecv(at(self.other, from), static_cast<int>(shard), MPI_BYTE, from, tag, self.comm, &all[count++]);
    }
    for (int step = 1; step < self.ranks; ++step) {
        int const to = (self.rank + step) % self.ranks;
        MPI_Isend(at(self.own, to), static_cast<int>(shard), MPI_BYTE, to, tag, self.comm, &all[count++]);
    }
    MPI_Waitall(static_cast<int>(count), all.data(), MPI_STATUSES_IGNORE);
}

/// Hot buffers: mean of several in a row, each from a barrier on, after one that is not timed.
double all_at_once(MpiRank& self, CommRequest const& request) {
    next_buffers(self);
    send_to_all(self, request);
    if (request.cold != 0) { return from_instant; }
    double seconds = 0.0;
    for (int i = 0; i < request.in_a_row; ++i) {
        MPI_Barrier(self.comm);
        double const begin = monotonic();
        send_to_all(self, request);
        seconds += monotonic() - begin;
    }
    return seconds / request.in_a_row;
}

double pairs(MpiRank& self, CommRequest const& request) {
    auto const rounds = pair_rounds(Ranks{self.ranks});
    for (auto const& [first, second] : rounds[static_cast<std::size_t>(request.round)]) {
        if (Ends const ends{first, second}; ends.has(self.rank)) { return ping_pong(self, request, ends); }
    }
    return none;
}

/// The ranks outside of the pair that is timed, two by two; a last one without a partner rests.
std::vector<Ends> others_of(MpiRank const& self, Ends timed) {
    std::vector<Ends> all;
    int waiting = -1;
    for (int rank = 0; rank < self.ranks; ++rank) {
        if (timed.has(rank)) { continue; }
        if (waiting < 0) {
            waiting = rank;
        } else {
            all.push_back({waiting, rank});
            waiting = -1;
        }
    }
    return all;
}

/// Megabytes to and fro until rank 0 says stop; the first of the two hears it and tells the second in what it sends.
void exchange_load(MpiRank& self, Ends ends) {
    bool const leads = self.rank == ends.first;
    self.load.resize(2 * load_bytes / sizeof(float));
    float *const out = self.load.data(), *const in = out + load_bytes / sizeof(float);
    for (bool goes_on = true; goes_on;) {
        int heard = 0;
        if (leads) { MPI_Iprobe(0, stop_tag, self.comm, &heard, MPI_STATUS_IGNORE); }
        out[0] = heard != 0 ? 1.0F : 0.0F;
        MPI_Sendrecv(out, static_cast<int>(load_bytes), MPI_BYTE, ends.other(self.rank), tag, in,
                     static_cast<int>(load_bytes), MPI_BYTE, ends.other(self.rank), tag, self.comm, MPI_STATUS_IGNORE);
        goes_on = leads ? heard == 0 : in[0] == 0.0F;
    }
    if (leads) { MPI_Recv(nullptr, 0, MPI_BYTE, 0, stop_tag, self.comm, MPI_STATUS_IGNORE); }
}

double loaded(MpiRank& self, CommRequest const& request) {
    Ends const timed{0, request.peer};
    std::vector<Ends> const others = others_of(self, timed);
    if (timed.has(self.rank)) {
        static_cast<void>(ping_pong(self, request, timed)); // while the others begin
        double const seconds = ping_pong(self, request, timed);
        for (std::size_t i = 0; self.rank == 0 && i < others.size(); ++i) {
            MPI_Send(nullptr, 0, MPI_BYTE, others[i].first, stop_tag, self.comm);
        }
        return seconds;
    }
    for (Ends const ends : others) {
        if (ends.has(self.rank)) { exchange_load(self, ends); }
    }
    return none;
}

double computing(MpiRank& self, CommRequest const& request) {
    std::atomic<bool> over{false};
    std::atomic<double> kept{0.0};
    std::thread worker{[&over, &kept] {
        double a = 1.0, b = 0.5, c = 0.25, d = 0.125;
        while (!over.load(std::memory_order_relaxed)) {
            for (int i = 0; i < 1000; ++i) {
                a = a * 0.999 + 0.1, b = b * 0.998 + 0.2, c = c * 0.997 + 0.3, d = d * 0.996 + 0.4;
            }
            kept.store(a + b + c + d, std::memory_order_relaxed); // so that it is worked out
        }
    }};
    double const seconds = one_way(self, request);
    MPI_Barrier(self.comm); // the others compute until the pair is through
    over = true;
    worker.join();
    return seconds;
}

void pause(double seconds) {
    double const end = monotonic() + seconds;
    while (monotonic() < end) {}
}

/// Time of a train of messages on rank 0 until the answer is there, less the pauses, seconds. A round trip that is not
/// timed goes before: a train measures the network, and not how long a library takes to wake up.
double train(MpiRank& self, CommRequest const& request) {
    CommRequest once = request;
    once.in_a_row = 1;
    static_cast<void>(one_way(self, once));
    if (self.rank == request.peer) {
        for (int i = 0; i < request.messages; ++i) { receive(self, request.bytes, 0); }
        send(self, request.bytes, 0);
    }
    if (self.rank != 0) { return none; }
    double paused = 0.0;
    double const begin = monotonic();
    for (int i = 0; i < request.messages; ++i) {
        if (i > 0 && request.pause_seconds > 0.0) {
            double const before = monotonic();
            pause(request.pause_seconds);
            paused += monotonic() - before;
        }
        send(self, request.bytes, request.peer);
    }
    receive(self, request.bytes, request.peer);
    return monotonic() - begin - paused;
}

double adding(MpiRank& self, CommRequest const& request) {
    double const begin = monotonic();
    MPI_Reduce_local(self.own.data() + self.at, self.other.data() + self.at,
                     static_cast<int>(request.bytes / sizeof(float)), MPI_FLOAT, MPI_SUM);
    return monotonic() - begin;
}

} // namespace

double run_messages(MpiRank& self, CommRequest const& request) {
    switch (request.pattern) {
    case CommPattern::one_way: return one_way(self, request);
    case CommPattern::both_ways: return both_ways(self, request);
    case CommPattern::shifted: return shifted(self, request);
    case CommPattern::all_at_once: return all_at_once(self, request);
    case CommPattern::pairs: return pairs(self, request);
    case CommPattern::loaded: return loaded(self, request);
    case CommPattern::computing: return computing(self, request);
    case CommPattern::train: return train(self, request);
    case CommPattern::adding: return adding(self, request);
    case CommPattern::collective: break;
    }
    return none;
}

} // namespace headroom::probe
