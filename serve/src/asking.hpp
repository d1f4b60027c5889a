#pragma once

#include "headroom/error.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

namespace headroom::serve {

/// Result of one question.
struct Reply {
    int code = 0;           ///< exit code of the verb
    std::string out, notes; ///< standard output, and standard error
    ErrorText error;        ///< of a refused input
    bool superseded = false, late = false, failed = false, out_of_memory = false;
};

/// A page that asks, and which of its questions this is: a later one stops an earlier one. No page: nothing supersedes.
struct Turn {
    std::string page;
    std::uint64_t number = 0;
};

/// Runs verbs in this process, at most `at_once` at a time, each for at most `limit`. What runs for longer than `short_run` goes on
/// in another lane, with up to four times as many, behind what is asked meanwhile: short questions do not wait for long ones.
class Asking {
public:
    static constexpr std::chrono::milliseconds short_run{50};

    Asking(int at_once, std::chrono::milliseconds limit);
    Reply ask(std::vector<std::string> words, Turn const& turn);
    /// Stops what the page asked earlier; false where it asked a later question already.
    bool turn(Turn const& turn);
    /// Stops what runs and refuses what follows.
    void stop();

private:
    struct Running {
        std::uint64_t number = 0;
        std::stop_source stop;
    };
    bool begin(Turn const& turn, std::stop_source const& stop);
    bool leave_short_lane();
    void end(std::uint64_t number, bool was_long);

    int const at_once_;
    std::chrono::milliseconds const limit_;
    std::mutex mutex_;
    std::condition_variable_any free_;
    int short_ = 0, long_ = 0; ///< that run, by lane
    bool over_ = false;
    std::map<std::string, Running> pages_;
    std::map<std::uint64_t, std::stop_source> all_; ///< by a number of their own
    std::uint64_t next_ = 0;
};

} // namespace headroom::serve
