#include "serve/asking.hpp"

#include "program.hpp"

#include "headroom/io/streams.hpp"

#include <exception>
#include <new>
#include <thread>
#include <utility>

namespace headroom::cli::serve {
namespace {

constexpr std::size_t most_pages = 4096; ///< that are remembered

/// Requests a stop after a time, unless it goes first.
class Deadline {
public:
    Deadline(std::stop_source stop, std::chrono::milliseconds limit)
        : thread_{[this, stop = std::move(stop), limit](std::stop_token over) mutable {
              std::unique_lock lock{mutex_};
              wake_.wait_for(lock, over, limit, [] { return false; });
              if (over.stop_requested()) { return; }
              passed_ = true;
              stop.request_stop();
          }} {}
    /// Whether the time passed.
    bool end() {
        thread_.request_stop();
        thread_.join();
        return passed_;
    }

private:
    std::mutex mutex_;
    std::condition_variable_any wake_;
    bool passed_ = false;
    std::jthread thread_;
};

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

Reply Asking::ask(std::vector<std::string> words, Turn const& turn) {
    Reply reply;
    std::stop_source stop;
    std::uint64_t mine = 0;
    {
        std::unique_lock lock{mutex_};
        reply.superseded = !begin(turn, stop);
        if (reply.superseded) { return reply; }
        mine = next_++;
        all_.emplace(mine, stop);
        bool const free = free_.wait(lock, stop.get_token(), [this] { return running_ < at_once_; });
        if (!free) {
            all_.erase(mine);
            reply.superseded = true;
            return reply;
        }
        ++running_;
    }
    Deadline deadline{stop, limit_};
    run(std::move(words), stop.get_token(), reply);
    reply.late = deadline.end();
    {
        std::lock_guard const lock{mutex_};
        --running_;
        all_.erase(mine);
    }
    free_.notify_one();
    reply.superseded = !reply.late && stop.stop_requested();
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

} // namespace headroom::cli::serve
