#include "headroom/probe/pinned_team.hpp"

#include "headroom/probe/machine_facts.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace headroom::probe {

struct PinnedTeam::Shared {
    std::mutex mutex;
    std::condition_variable wake, ended;
    std::uint64_t call = 0; ///< number of calls of `run`: a worker that has seen fewer has work to do
    int working = 0, unpinned = 0;
    bool over = false;
    std::function<void(int)> const* part = nullptr;
    std::exception_ptr problem;
    std::atomic<int> arrived{0};
    std::vector<double> begins, ends;
    std::vector<std::jthread> threads;

    void wait_for_all();
    void work_once(int index);
    void work(int index, int core_id);
};

namespace {

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

/// All threads begin together. Where others use the cores too, spinning would keep away the one that is waited for.
void PinnedTeam::Shared::wait_for_all() {
    constexpr int patience = 2000;
    int const all = static_cast<int>(threads.size());
    arrived.fetch_add(1, std::memory_order_acq_rel);
    for (int spins = 0; arrived.load(std::memory_order_acquire) < all; ++spins) {
        if (spins > patience) { std::this_thread::yield(); }
    }
}

void PinnedTeam::Shared::work_once(int index) {
    wait_for_all();
    begins[index] = seconds_now();
    try {
        (*part)(index);
    } catch (...) {
        std::lock_guard const lock{mutex};
        problem = std::current_exception();
    }
    ends[index] = seconds_now();
}

void PinnedTeam::Shared::work(int index, int core_id) {
    bool const pinned = pin_to(core_id);
    std::unique_lock lock{mutex};
    unpinned += pinned ? 0 : 1;
    working -= 1;
    ended.notify_one();
    for (std::uint64_t seen = 0;;) {
        wake.wait(lock, [&] { return over || call != seen; });
        if (over) { return; }
        seen = call;
        lock.unlock();
        work_once(index);
        lock.lock();
        working -= 1;
        ended.notify_one();
    }
}

PinnedTeam::PinnedTeam(std::vector<int> core_ids) : shared_{std::make_unique<Shared>()} {
    auto& all = *shared_;
    int const count = static_cast<int>(core_ids.size());
    all.begins.assign(core_ids.size(), 0.0);
    all.ends.assign(core_ids.size(), 0.0);
    all.working = count;
    for (int i = 0; i < count; ++i) {
        all.threads.emplace_back([&all, i, core_id = core_ids[i]] { all.work(i, core_id); });
    }
    std::unique_lock lock{all.mutex};
    all.ended.wait(lock, [&all] { return all.working == 0; });
}

PinnedTeam::~PinnedTeam() {
    {
        std::lock_guard const lock{shared_->mutex};
        shared_->over = true;
    }
    shared_->wake.notify_all();
    shared_->threads.clear(); // joined before what they use goes
}

int PinnedTeam::size() const { return static_cast<int>(shared_->threads.size()); }

bool PinnedTeam::pinned() const {
    std::lock_guard const lock{shared_->mutex};
    return shared_->unpinned == 0;
}

double PinnedTeam::run(std::function<void(int)> const& part) {
    auto& all = *shared_;
    std::unique_lock lock{all.mutex};
    all.part = &part;
    all.arrived = 0;
    all.problem = nullptr;
    all.working = size();
    all.call += 1;
    all.wake.notify_all();
    all.ended.wait(lock, [&all] { return all.working == 0; });
    if (all.problem) { std::rethrow_exception(all.problem); }
    return *std::ranges::max_element(all.ends) - *std::ranges::min_element(all.begins);
}

} // namespace headroom::probe
