#include "asking.hpp"

#include "program.hpp"

#include "headroom/io/streams.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace headroom::serve {

using namespace headroom::cli;
namespace {

constexpr std::size_t most_pages = 4096; ///< that are remembered

void run(std::vector<std::string> words, std::stop_token stop, Reply& reply) {
    io::Capture capture;
    capture.stop = std::move(stop);
    try {
        io::CaptureScope const scope{capture};
        reply.code = run_words(std::move(words), &reply.error);
    } catch (std::bad_alloc const&) { reply.out_of_memory = true; } catch (std::exception const& fault) {
        reply.failed = true;
        reply.error.problem = fault.what();
    }
    reply.out = std::move(capture.out);
    reply.notes = std::move(capture.error);
}

/// A question that runs in a thread of its own.
class Run {
public:
    Run(std::vector<std::string> words, std::stop_token stop)
        : thread_{[this, words = std::move(words), stop = std::move(stop)]() mutable {
              thread_number_ = ::gettid();
              run(std::move(words), std::move(stop), reply_);
              std::lock_guard const lock{mutex_};
              done_ = true;
              wake_.notify_all();
          }} {}
    bool ends_within(std::chrono::milliseconds time) {
        std::unique_lock lock{mutex_};
        return wake_.wait_for(lock, time, [this] { return done_; });
    }
    /// Lets threads of others go first.
    void goes_behind() const {
        constexpr int niceness = 10;
        pid_t const thread = thread_number_;
        if (thread != 0) { ::setpriority(PRIO_PROCESS, static_cast<id_t>(thread), niceness); }
    }
    Reply reply() {
        thread_.join();
        return std::move(reply_);
    }

private:
    std::mutex mutex_;
    std::condition_variable wake_;
    bool done_ = false;
    std::atomic<pid_t> thread_number_ = 0;
    Reply reply_;
    std::jthread thread_;
};

} // namespace

Asking::Asking(int at_once, std::chrono::milliseconds limit) : at_once_(at_once), limit_(limit) {}

bool Asking::begin(Turn const& turn, std::stop_source const& stop) {
    if (over_) { return false; }
    if (turn.page.empty()) { return true; }
    if (pages_.size() >= most_pages && !pages_.contains(turn.page)) { pages_.erase(pages_.begin()); }
    auto& page = pages_[turn.page];
    if (turn.number < page.number) { return false; }
    if (turn.number > page.number) { page.stop.request_stop(); }
    page = {turn.number, stop};
    return true;
}

bool Asking::leave_short_lane() {
    {
        std::lock_guard const lock{mutex_};
        constexpr int long_ones = 4; // for each short one
        if (long_ >= long_ones * at_once_) { return false; }
        --short_;
        ++long_;
    }
    free_.notify_one();
    return true;
}

void Asking::end(std::uint64_t number, bool was_long) {
    {
        std::lock_guard const lock{mutex_};
        --(was_long ? long_ : short_);
        all_.erase(number);
    }
    free_.notify_one();
}

Reply Asking::ask(std::vector<std::string> words, Turn const& turn) {
    std::stop_source stop;
    std::uint64_t mine = 0;
    Reply superseded;
    superseded.superseded = true;
    {
        std::unique_lock lock{mutex_};
        if (!begin(turn, stop)) { return superseded; }
        mine = next_++;
        all_.emplace(mine, stop);
        bool const free = free_.wait(lock, stop.get_token(), [this] { return short_ < at_once_; });
        if (!free) {
            all_.erase(mine);
            return superseded;
        }
        ++short_;
    }
    bool is_long = false, late = false;
    Reply reply;
    try {
        Run run{std::move(words), stop.get_token()};
        auto left = limit_;
        auto part = std::min(short_run, left); // until it is tried whether the lane of long ones has room
        while (!run.ends_within(part)) {
            left -= part;
            late = left <= std::chrono::milliseconds{0};
            if (late) {
                stop.request_stop();
                break;
            }
            if (!is_long) {
                is_long = leave_short_lane();
                if (is_long) { run.goes_behind(); }
            }
            part = is_long ? left : std::min(short_run, left);
        }
        reply = run.reply();
    } catch (std::system_error const&) { reply.out_of_memory = true; } // no thread is to be had
    end(mine, is_long);
    reply.late = late;
    reply.superseded = !late && stop.stop_requested();
    return reply;
}

bool Asking::turn(Turn const& turn) {
    std::lock_guard const lock{mutex_};
    return begin(turn, {});
}

void Asking::stop() {
    std::lock_guard const lock{mutex_};
    over_ = true;
    for (auto& [number, stop] : all_) { stop.request_stop(); }
}

} // namespace headroom::serve
