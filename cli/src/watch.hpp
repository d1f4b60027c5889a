#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace headroom::cli {

/// Makes Ctrl-C end the program with its exit code and a line that says so, wherever no Watch watches the work.
void end_on_interrupt();

/// Watches long work: turns Ctrl-C into a request to stop, and after a second shows on a terminal
/// that the work goes on, with a bar and the time that is left where the work says how far it is. A second Ctrl-C ends
/// the program. In a captured call (`io::CaptureScope`) signals are left alone: its token stops the work.
class Watch {
public:
    Watch(std::string what, bool quiet);
    ~Watch();
    Watch(Watch const&) = delete;
    Watch& operator=(Watch const&) = delete;

    [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
    [[nodiscard]] bool interrupted() const { return stop_.stop_requested(); }
    /// The share of the work that is done, 0 to 1; from any thread.
    void progress(double share) { share_.store(share, std::memory_order_relaxed); }

private:
    void stand_by(std::stop_token over);

    std::string what_;
    bool show_;
    std::atomic<double> share_{-1.0}; ///< below 0: the work does not say
    std::stop_source stop_;
    std::optional<std::stop_callback<std::function<void()>>> outside_; ///< of who called, in a captured call
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::jthread thread_;
};

} // namespace headroom::cli
