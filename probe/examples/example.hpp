#pragma once

// Common parts of the examples: their options, random numbers, and running a problem recorded, timed and checked.

#include "headroom/probe/report.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace example {

struct Options {
    std::size_t size = 0;
    std::size_t grain = 0; ///< size that is not divided any further
    int repeat = 20;
    int record_on = 1;
    std::vector<int> workers{1, 2};
    std::string clock = "steady";
    std::string json = {};     ///< file to write
    bool serial_merge = false; ///< merge_sort only
};

[[noreturn]] inline void refuse(std::string const& problem) { throw std::invalid_argument(problem); }

inline std::size_t whole_number(std::string_view option, std::string_view given, std::size_t most) {
    std::size_t value = 0;
    auto const [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (error != std::errc{} || end != given.data() + given.size() || value < 1 || value > most) {
        refuse(std::string{option} + ": '" + std::string{given} + "' is no whole number from 1 to " +
               std::to_string(most));
    }
    return value;
}

inline std::vector<int> worker_list(std::string_view given) {
    std::vector<int> workers;
    for (std::size_t begin = 0; begin <= given.size();) {
        std::size_t const comma = std::min(given.find(',', begin), given.size());
        workers.push_back(static_cast<int>(whole_number("--workers", given.substr(begin, comma - begin), 256)));
        begin = comma + 1;
    }
    return workers;
}

inline void usage(std::string_view name, Options const& defaults) {
    std::cout << "usage: " << name << " [--size N] [--grain G] [--repeat R] [--workers K,K,...]\n"
              << "       [--record-on K] [--clock steady|cpu] [--json FILE]"
              << (name == "merge_sort" ? " [--serial-merge]" : "") << "\n\n"
              << "--size N       numbers (" << defaults.size << ")\n"
              << "--grain G      pieces of this many are not divided any further (" << defaults.grain << ")\n"
              << "--repeat R     runs of each kind, of which the least times count (" << defaults.repeat << ")\n"
              << "--workers K,K  to measure on (1,2)\n"
              << "--record-on K  workers to record on (1)\n"
              << "--clock WHICH  steady: time on the wall; cpu: time that the thread really ran, for shared machines\n"
              << "               and long strands, because reading it is slow (steady)\n"
              << "--json FILE    write the result there too\n";
}

inline Options parse(std::string_view name, std::span<char* const> arguments, Options options) {
    constexpr std::size_t most_numbers = std::size_t{1} << 30U;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        std::string_view const option = arguments[i];
        if (option == "--help") {
            usage(name, options);
            std::exit(0);
        }
        if (option == "--serial-merge" && name == "merge_sort") {
            options.serial_merge = true;
            continue;
        }
        bool const known = option == "--size" || option == "--grain" || option == "--repeat" || option == "--workers" ||
                           option == "--record-on" || option == "--clock" || option == "--json";
        if (!known) { refuse("unknown option '" + std::string{option} + "'; see --help"); }
        if (i + 1 == arguments.size()) { refuse(std::string{option} + " needs a value"); }
        std::string_view const value = arguments[++i];
        if (option == "--size") { options.size = whole_number(option, value, most_numbers); }
        if (option == "--grain") { options.grain = whole_number(option, value, most_numbers); }
        if (option == "--repeat") { options.repeat = static_cast<int>(whole_number(option, value, 1000)); }
        if (option == "--workers") { options.workers = worker_list(value); }
        if (option == "--record-on") { options.record_on = static_cast<int>(whole_number(option, value, 256)); }
        if (option == "--clock") {
            if (value != "steady" && value != "cpu") {
                refuse("--clock: '" + std::string{value} + "' is neither 'steady' nor 'cpu'");
            }
            options.clock = value;
        }
        if (option == "--json") { options.json = value; }
    }
    return options;
}

/// Random numbers, equal on every machine.
inline std::vector<std::uint64_t> numbers(std::size_t size) {
    std::vector<std::uint64_t> values(size);
    std::uint64_t state = 42;
    for (std::uint64_t& value : values) {
        state += 0x9E3779B97F4A7C15ULL;
        std::uint64_t z = (state ^ (state >> 30U)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
        value = z ^ (z >> 31U);
    }
    return values;
}

/// Types with which a problem runs: scopes that are measured, scopes that are not, and the workers.
template <class SomeClock> struct OwnWorkers {
    using Clock = SomeClock;
    using Recorded = headroom::probe::BasicScope<headroom::probe::Recording<Clock>>;
    using Plain = headroom::probe::PlainScope;
    using Arena = headroom::probe::Executor;
};

inline void write(headroom::probe::Study const& study, std::string const& path) {
    std::ofstream file{path};
    headroom::probe::write_json(file, study);
    file.close();
    if (!file) { refuse("'" + path + "' cannot be written"); }
}

/// Records and times `problem`, which has
///     prepare()             before every run, not measured
///     serial()              the best serial program, whose answer is the right one
///     parallel<Scope>()     the same with spawns
///     correct()             whether both answers agree
/// and prints what came out. False where an answer was wrong.
template <class Workers, class Problem>
bool study(std::string const& name, std::string const& words, Options const& options, Problem& problem) {
    namespace probe = headroom::probe;
    bool right = true;
    probe::Study result{.name = name, .problem = words, .clock = options.clock};
    auto const prepare = [&] { problem.prepare(); };
    auto const serial = probe::time_on(
        std::vector{1}, options.repeat, [&] { problem.serial(); }, prepare);
    result.serial_seconds = serial.front().seconds;

    std::vector<probe::Record> records;
    for (int repeat = 0; repeat < options.repeat; ++repeat) {
        problem.prepare();
        records.push_back(probe::record<typename Workers::Clock, typename Workers::Arena>(
            [&] { problem.template parallel<typename Workers::Recorded>(); }, {.workers = options.record_on}));
        right = right && problem.correct();
    }
    result.record = probe::least(records);
    result.costs = probe::spawn_costs();

    auto const parallel = [&] { problem.template parallel<typename Workers::Plain>(); };
    auto const check = [&] { right = right && problem.correct(); };
    result.timings = probe::time_on<typename Workers::Arena>(options.workers, options.repeat, parallel, prepare, check);
    probe::print(std::cout, result);
    if (!options.json.empty()) { write(result, options.json); }
    return right;
}

/// The program around it: 0, 1 for a wrong answer, 2 for wrong options.
template <class Problem, template <class Clock> class Workers = OwnWorkers>
int run(std::string const& name, std::span<char* const> arguments, Options const& defaults) {
    try {
        Options const options = parse(name, arguments, defaults);
        Problem problem{options};
        std::string const words =
            std::to_string(options.size) + " numbers, pieces of at most " + std::to_string(options.grain);
        namespace probe = headroom::probe;
        bool const right = options.clock == "cpu"
                               ? study<Workers<probe::ThreadCpuClock>>(name, words + problem.remark(), options, problem)
                               : study<Workers<probe::SteadyClock>>(name, words + problem.remark(), options, problem);
        if (right) { return 0; }
        std::cerr << name << ": the answer differs from that of the serial program\n";
        return 1;
    } catch (std::exception const& problem) {
        std::cerr << name << ": " << problem.what() << '\n';
        return 2;
    }
}

} // namespace example
