#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace headroom::probe {

/// A command to be run and timed: a program and its arguments, as they are. No shell reads them.
struct CommandQuestion {
    std::vector<std::string> words; ///< the program first: a path, or a name that PATH finds
    std::vector<std::pair<std::string, std::string>> variables =
        {}; ///< set for it alone, in addition to those of this process
    std::optional<double> timeout_seconds = {};
    double grace_seconds = 2.0;         ///< between asking a command to end and ending it
    std::size_t keep_bytes = 1U << 20U; ///< of each of its two outputs, the last ones
    std::stop_token stop = {};          ///< a request sends SIGINT to the whole group, and SIGKILL after the grace
};

enum class CommandEnd {
    exited,
    signalled,
    timed_out,
    stopped,     ///< because `stop` asked for it
    not_started, ///< the operating system refused; `message` says why
    not_ended,   ///< still there after SIGKILL (it waits for a device); left alone
};

/// End of a command, and its use of time and memory.
struct CommandRun {
    CommandEnd end = CommandEnd::not_started;
    int status = 0;       ///< of `exited`
    int signal = 0;       ///< of `signalled`
    double seconds = 0.0; ///< by a clock that nobody sets, from just before the program was loaded to its end
    double user_seconds = 0.0, system_seconds = 0.0; ///< of it and of the children that it waited for
    std::uint64_t peak_memory_bytes = 0;             ///< of the largest of them
    std::string output, errors;                      ///< the last `keep_bytes` of standard output and error
    std::uint64_t output_bytes = 0;                  ///< all that was written to standard output
    int left_behind = 0;      ///< processes that were still there a moment after it had ended, and were ended
    std::string message = {}; ///< of `not_started`: why, in words
};

/// Where the program of a command is: its path, or why there is none.
struct FoundProgram {
    std::string path = {};    ///< empty: not found
    std::string problem = {}; ///< "not found in PATH", "no permission to run it", "a folder"
};
FoundProgram find_program(std::string const& name);

/// "exit status 3", "signal 11 (Segmentation fault)", "longer than 2 s": how it ended, in words.
std::string end_words(CommandRun const& run, CommandQuestion const& question);

/// Runs a command in a process group of its own, with nothing on its standard input, and waits for its end.
///
/// Whatever becomes of it, none of its processes stays: the group is ended, and so are descendants that left the group,
/// which this process inherits (PR_SET_CHILD_SUBREAPER). A guard, forked with the first command, ends the group also
/// where this process is killed outright; what left the group then stays.
/// Holds for:  one call at a time. Children that this process had before are left alone.
/// Assumes:    Linux. Output is read while the command runs: writing much of it is part of the time.
/// Errors:     none thrown: `not_started` carries the reason.
CommandRun run_command(CommandQuestion const& question);

} // namespace headroom::probe
