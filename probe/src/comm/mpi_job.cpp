#include "mpi_state.hpp"

#include "headroom/measure/pair_rounds.hpp"
#include "headroom/probe/machine_facts.hpp"
#include "headroom/probe/memory_rates.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <unistd.h>

namespace headroom::probe {

using namespace headroom::measure;
using namespace headroom::network;

namespace {

constexpr double clocks_hold = 2.0; ///< seconds: quartz drifts by some microseconds a second at most
constexpr double least_lead = 50e-6, most_lead = 20e-3;
constexpr double late_enough = 10e-6,
                 late_share = 0.05; ///< beyond which a repetition is taken again, three times at most
constexpr int most_again = 3;
constexpr int exit_gave_up = 5;
constexpr double over = -1.0; ///< instead of an instant: no further repetition

/// Message to the others before a point, and the answer of each rank after a repetition.
struct Order {
    bool goes_on = false, new_clocks = false;
    std::uint64_t cold_bytes = 0; ///< of a rank's cold buffers of one kind, all of them
    CommRequest request;
};
struct Said {
    double seconds = 0.0, late = 0.0;
    char failure[120] = {};
};
static_assert(std::is_trivially_copyable_v<Order> && std::is_trivially_copyable_v<Said>);

/// Waits for rank 0 without holding a core that others may want.
void patient_broadcast(void* bytes, int size, MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(bytes, size, MPI_BYTE, 0, comm, &request);
    timespec rest{.tv_sec = 0, .tv_nsec = 20'000};
    for (int done = 0; done == 0;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done == 0) { nanosleep(&rest, nullptr); }
        rest.tv_nsec = std::min(rest.tv_nsec * 2, 1'000'000L);
    }
}

/// Ends the process when a repetition takes too long: a rank that hangs answers nobody, and the launcher only minds ranks
/// that are gone.
class Patience {
public:
    void set(double seconds) { seconds_ = seconds; }
    void begin() { deadline_ = monotonic() + seconds_; }
    void end() { deadline_ = INFINITY; }

private:
    void stand_by(std::stop_token const& stop) {
        using namespace std::chrono_literals;
        std::mutex mutex;
        std::unique_lock lock{mutex};
        std::condition_variable_any wake;
        while (!wake.wait_for(lock, stop, 200ms, [&stop] { return stop.stop_requested(); })) {
            if (monotonic() < deadline_) { continue; }
            std::fprintf(stderr,
                         "measure comm: no answer for %.0f s (a rank hangs or lost its network). what was "
                         "measured before is kept; --patience allows more\n",
                         seconds_.load());
            std::fflush(stderr);
            ::_exit(exit_gave_up); // the launcher ends the others
        }
    }

    std::atomic<double> seconds_{60.0}, deadline_{INFINITY};
    std::jthread thread_{[this](std::stop_token const& stop) { stand_by(stop); }};
};

/// The vectors of a point are there, and its own ones are filled. Cold ones lie behind each other over `cold_bytes`, in whole
/// lines of a cache and whole periods of what a rank gives.
void make_room(MpiRank& self, CommRequest const& request, std::uint64_t cold_bytes) {
    constexpr std::size_t line = 64 / sizeof(float), step = line * given_period;
    std::size_t const floats = static_cast<std::size_t>(request.bytes) / sizeof(float) + line;
    self.stride = (floats + step - 1) / step * step;
    std::size_t const most = static_cast<std::size_t>(cold_bytes) / sizeof(float) / self.stride;
    self.slots = request.cold != 0 ? std::max<std::size_t>(1, most) : 1;
    self.slot %= self.slots;
    self.at = 0;
    std::size_t const all = self.stride * self.slots;
    self.own.reserve(all);
    for (std::size_t i = self.own.size(); i < all; ++i) { self.own.push_back(given(self.rank, i)); }
    if (self.other.size() < all) { self.other.resize(all); }
}

/// Bytes that are more than the caches of a core hold: twice the last one as a pointer chase measures it, no more than an eighth of
/// the memory of a host in all.
std::uint64_t find_cold_bytes(CommWorld const& world) {
    constexpr std::uint64_t least = std::uint64_t{32} << 20U, most = std::uint64_t{128} << 20U;
    MachineShape const shape = machine_shape();
    auto const last = probe_last_cache(shape, {.least_array = least}, most, {});
    std::uint64_t bytes = last ? std::clamp(2 * last->bytes, least, most) : least;
    auto const here = static_cast<std::uint64_t>(std::ranges::count(world.hosts, world.host_of(0)));
    if (shape.memory_bytes > 0) { bytes = std::min(bytes, shape.memory_bytes / 16 / std::max<std::uint64_t>(1, here)); }
    return bytes;
}

/// One repetition from the agreed instant, which is in rank 0's time.
Said repeat_once(MpiRank& self, CommRequest const& request, MPI_Comm comm, double start, bool whole) {
    bool const collective = request.pattern == CommPattern::collective, hot = request.cold == 0;
    if (collective) {
        next_buffers(self);
        poison(self, request, whole);
    }
    double const instant = start + self.clock_offset;
    wait_until(self, instant);
    double const begin = monotonic();
    std::string failure;
    double seconds = -1.0;
    if (collective && hot) {
        seconds = run_hot_collective(self, request, comm, failure);
    } else if (collective) {
        failure = run_collective(self, request, comm);
    } else {
        seconds = run_messages(self, request);
    }
    double const end = monotonic();
    Said said{.seconds = seconds < 0.0 ? end - instant : seconds, .late = collective && hot ? 0.0 : begin - instant};
    if (collective && failure.empty()) { failure = check_collective(self, request, whole); }
    std::strncpy(said.failure, failure.c_str(), sizeof said.failure - 1);
    return said;
}

} // namespace

struct MpiJob::State {
    MpiRank self;
    CommWorld world;
    double clock_error = 0.0, clocks_since = -INFINITY, lead = 1e-3;
    std::uint64_t cold_bytes = 0; ///< on rank 0, once it is known
    std::unique_ptr<Patience> patience;

    void enter(Order const& order);
    std::vector<Said> repetition(CommRequest const& request, MPI_Comm comm, bool whole, std::int64_t& began);
    CommRepetition joined(CommRequest const& request, std::vector<Said> const& all) const;
    void follow(CommRequest const& request, MPI_Comm comm);
};

/// Prepares a point on all ranks before its first repetition.
void MpiJob::State::enter(Order const& order) {
    if (order.new_clocks) { clock_error = agree_on_clocks(self); }
    make_room(self, order.request, order.cold_bytes);
}

/// Rank 0's side of one repetition.
std::vector<Said> MpiJob::State::repetition(CommRequest const& request, MPI_Comm comm, bool whole,
                                            std::int64_t& began) {
    double start = 0.0;
    MPI_Barrier(self.comm);
    start = monotonic() + lead;
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    began = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    double words[2] = {start, whole ? 1.0 : 0.0};
    MPI_Bcast(words, 2, MPI_DOUBLE, 0, self.comm);
    Said const mine = repeat_once(self, request, comm, start, whole);
    std::vector<Said> all(static_cast<std::size_t>(self.ranks));
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, self.comm);
    return all;
}

CommRepetition MpiJob::State::joined(CommRequest const& request, std::vector<Said> const& all) const {
    CommRepetition result;
    double longest = 0.0;
    for (Said const& one : all) {
        longest = std::max(longest, one.seconds);
        result.late_seconds = std::max(result.late_seconds, one.late);
        if (result.failure.empty()) { result.failure = one.failure; }
    }
    if (request.pattern != CommPattern::pairs) {
        result.seconds = {longest};
        return result;
    }
    auto const rounds = pair_rounds(Ranks{self.ranks});
    for (auto const& pair : rounds[static_cast<std::size_t>(request.round)]) {
        result.seconds.push_back(all[static_cast<std::size_t>(pair.first)].seconds);
    }
    return result;
}

/// The others' side of a point.
void MpiJob::State::follow(CommRequest const& request, MPI_Comm comm) {
    for (;;) {
        double words[2] = {};
        MPI_Barrier(self.comm);
        MPI_Bcast(words, 2, MPI_DOUBLE, 0, self.comm);
        if (words[0] == over) { return; }
        Said const mine = repeat_once(self, request, comm, words[0], words[1] != 0.0);
        MPI_Gather(&mine, sizeof mine, MPI_BYTE, nullptr, 0, MPI_BYTE, 0, self.comm);
    }
}

MpiJob::MpiJob() : state_{std::make_unique<State>()} {
    int provided = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MpiRank& self = state_->self;
    MPI_Comm_dup(MPI_COMM_WORLD, &self.comm);
    MPI_Comm_rank(self.comm, &self.rank);
    MPI_Comm_size(self.comm, &self.ranks);
    state_->world = world_of(self);
    self.crowded = state_->world.crowded();
    if (self.rank == 0) { state_->patience = std::make_unique<Patience>(); }
}

MpiJob::~MpiJob() {
    for (auto& [key, comm] : state_->self.forced) {
        if (comm != MPI_COMM_NULL) { MPI_Comm_free(&comm); }
    }
    MPI_Comm_free(&state_->self.comm);
    MPI_T_finalize();
}

CommWorld const& MpiJob::world() const { return state_->world; }
double MpiJob::clock_error_seconds() const { return state_->clock_error; }
void MpiJob::set_patience(double seconds) { state_->patience->set(seconds); }

void MpiJob::measure(CommRequest const& request, Heard const& heard) {
    State& state = *state_;
    state.patience->begin();
    if (request.cold != 0 && state.cold_bytes == 0) { state.cold_bytes = find_cold_bytes(state.world); }
    Order order{.goes_on = true,
                .new_clocks = monotonic() - state.clocks_since > clocks_hold,
                .cold_bytes = state.cold_bytes,
                .request = request};
    patient_broadcast(&order, sizeof order, state.self.comm);
    state.enter(order);
    if (order.new_clocks) { state.clocks_since = monotonic(); }
    MPI_Comm const comm = communicator_for(state.self, request.collective, request.algorithm);
    bool goes_on = comm != MPI_COMM_NULL;
    if (!goes_on) { heard({.failure = "the library does not let this algorithm be chosen while it runs"}); }
    int again = 0;
    std::exception_ptr fault;
    for (int i = 0; i < request.warm_ups + request.repeats && goes_on;) {
        state.patience->begin();
        bool const warm_up = i < request.warm_ups;
        std::int64_t began = 0;
        std::vector<Said> const all = state.repetition(request, comm, warm_up, began);
        CommRepetition result = state.joined(request, all);
        double const longest = *std::max_element(result.seconds.begin(), result.seconds.end());
        bool const late = result.late_seconds > std::max(late_enough, late_share * longest);
        state.lead = std::clamp(state.lead * (late ? 2.0 : 0.98), least_lead, most_lead);
        if (late && result.failure.empty() && !state.self.crowded && ++again <= most_again) {
            continue;
        } // crowded: the norm
        again = 0;
        ++i;
        result.warm_up = warm_up;
        result.began_ns = began;
        state.patience->end();
        try {
            goes_on = heard(result) && result.failure.empty();
        } catch (...) { // the others would wait for ever
            fault = std::current_exception();
            goes_on = false;
        }
    }
    state.patience->begin();
    MPI_Barrier(state.self.comm);
    double words[2] = {over, 0.0};
    MPI_Bcast(words, 2, MPI_DOUBLE, 0, state.self.comm);
    state.patience->end();
    if (fault) { std::rethrow_exception(fault); }
}

void MpiJob::serve() {
    // Ctrl-C is for rank 0 to answer: it ends the job when it has written what there is.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGTERM, SIG_IGN);
    State& state = *state_;
    for (;;) {
        Order order;
        patient_broadcast(&order, sizeof order, state.self.comm);
        if (!order.goes_on) { return; }
        state.enter(order);
        state.follow(order.request, communicator_for(state.self, order.request.collective, order.request.algorithm));
    }
}

void MpiJob::dismiss() {
    Order order;
    state_->patience->begin();
    patient_broadcast(&order, sizeof order, state_->self.comm);
    state_->patience->end();
}

} // namespace headroom::probe
