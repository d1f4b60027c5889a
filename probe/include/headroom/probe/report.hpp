#pragma once

// A study as a table for people and as JSON for programs.

#include "headroom/probe/study.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace headroom::probe {

// ---- for people ---------------------------------------------------------------------------------------------------

namespace report {

/// `std::snprintf` into a string.
template <class... Values> std::string text(char const* format, Values... values) {
    int const length = std::snprintf(nullptr, 0, format, values...);
    std::string written(static_cast<std::size_t>(std::max(0, length)) + 1, '\0');
    std::snprintf(written.data(), written.size(), format, values...);
    written.pop_back();
    return written;
}

constexpr std::size_t columns = 80; ///< of a terminal; numbers may be of any length

/// Words in lines of at most 80 columns, the first of which begins at column `at`, the others after `indent` blanks. A
/// word that no line has room for stays whole.
inline std::string wrapped(std::string_view words, std::size_t indent = 0, std::size_t at = 0) {
    std::string lines;
    std::size_t column = at;
    bool begins = true; // of a line: no blank before the word
    while (!words.empty()) {
        std::size_t const length = std::min(words.find(' '), words.size());
        if (!begins && column + 1 + length > columns) {
            lines += '\n' + std::string(indent, ' ');
            column = indent;
            begins = true;
        }
        lines += (begins ? "" : " ") + std::string{words.substr(0, length)};
        column += length + (begins ? 0 : 1);
        begins = false;
        words.remove_prefix(std::min(length + 1, words.size()));
    }
    return lines;
}

/// "312.4 ms": four digits and the unit that suits them.
inline std::string time(double seconds) {
    struct Unit {
        double seconds;
        char const* name;
    };
    constexpr Unit units[] = {{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
    for (Unit const& unit : units) {
        if (seconds >= unit.seconds) { return text("%.4g %s", seconds / unit.seconds, unit.name); }
    }
    return text("%.4g ns", seconds * 1e9);
}

/// "2.50"; of many digits four.
inline std::string factor(double value) { return text(std::abs(value) < 1e6 ? "%.2f" : "%.4g", value); }

/// "12 workers"' number; of many digits four.
inline std::string whole(double value) { return text(std::abs(value) < 1e15 ? "%.0f" : "%.4g", value); }

inline std::string or_dash(std::optional<double> value, char const* format) {
    return value ? text(format, *value) : "-";
}

/// The recording was interrupted so much that its strands say more about the machine than about the program.
inline bool disturbed(Study const& study) {
    return study.record.running_share.value_or(1.0) < 0.97 && study.clock == "steady";
}

/// The sentence that answers "would more workers help".
inline std::string verdict(Study const& study) {
    auto const all = parallelism(study.record);
    auto const burdened = burdened_parallelism(study.record);
    if (!all || !burdened) { return "Nothing was measured: no strand lasted as long as reading the clock."; }
    if (study.record.spawns == 0) { return "Nothing was spawned: this is a serial program."; }
    std::string const roughly = disturbed(study) ? "Interrupted while it was recorded, so roughly:\n" : "";
    std::string const limit = roughly +
                              wrapped((disturbed(study) ? "parallelism " : "Parallelism ") + text("%.4g", *all) +
                                      ": more than " + whole(std::ceil(*all)) + " workers cannot help.") +
                              '\n';
    double const well_used = std::floor(1.0 + *burdened / 4.0); // K with W / (W + (K-1) D) = 4/5, D burdened
    if (well_used < 2.0) { return limit + "Even 2 are predicted to be used to less than 80 %."; }
    return limit + wrapped("Up to " + whole(well_used) + " are predicted to be used to 80 % or better.");
}

inline void facts(std::ostream& out, Study const& study) {
    Record const& record = study.record;
    auto const row = [&](char const* name, std::string const& value, std::string const& meaning) {
        std::string const begin = text("  %-21s %10s   ", name, value.c_str());
        out << begin << wrapped(meaning, 37, begin.size()) << '\n';
    };
    row("work", time(record.work_seconds), "sum of all strands");
    if (study.serial_seconds) { row("serial program", time(*study.serial_seconds), "the same problem without spawns"); }
    row("span", time(record.span_seconds), "longest chain of dependent strands");
    row("parallelism", or_dash(parallelism(record), "%.4g"), "work / span");
    row("burdened span", time(record.burdened_span_seconds),
        "if each spawn and sync on it took " + time(record.burden_seconds));
    row("burdened parallelism", or_dash(burdened_parallelism(record), "%.4g"), "work / burdened span");
    row("spawns", std::to_string(record.spawns),
        std::to_string(strands(record)) + " strands of " + time(average_strand_seconds(record)) + " on average");
    row("recorded", std::to_string(record.repeats) + "x",
        "on " + std::to_string(record.workers) + (record.workers == 1 ? " worker" : " workers") + ", " + study.clock +
            " clock, least of each");
}

inline void curve(std::ostream& out, Study const& study) {
    out << "\n             predicted speedup             measured\n"
        << "  workers  burdened  at least   at most   speedup        time      median\n";
    for (CurvePoint const& point : speedup_curve(study)) {
        SpeedupRange const predicted = point.predicted.value_or(SpeedupRange{});
        auto const speedup = [&](double value) { return point.predicted ? factor(value) : "-"; };
        out << text("  %7d%10s", point.workers, speedup(predicted.burdened).c_str())
            << text("%10s%10s", speedup(predicted.at_least).c_str(), speedup(predicted.at_most).c_str())
            << text("%10s", (point.speedup ? factor(*point.speedup) : "-").c_str())
            << text("%12s", point.timing ? time(point.timing->seconds).c_str() : "-")
            << text("%12s", point.timing ? time(point.timing->median_seconds).c_str() : "-") << '\n';
    }
}

inline void price(std::ostream& out, SpawnCosts const& costs, double clock_seconds) {
    out << '\n'
        << wrapped("A spawn costs " + time(costs.plain_seconds) + " on one worker, " + time(costs.recorded_seconds) +
                   " recorded, " + time(costs.queued_seconds) + " through a queue, " + time(costs.handover_seconds) +
                   " to another worker that is awake. Reading the clock costs " + time(clock_seconds) +
                   ", which is taken off every strand.")
        << '\n';
}

/// Why a point is not where it was predicted; empty where it is.
inline std::string surprise(CurvePoint const& point) {
    if (!point.predicted || !point.speedup || point.workers == 1) { return {}; }
    int const threads = static_cast<int>(std::thread::hardware_concurrency());
    std::string const gave = text("%d workers gave ", point.workers) + factor(*point.speedup) + ", ";
    if (*point.speedup < 0.9 * point.predicted->burdened) {
        if (threads > 0 && point.workers > threads) {
            return gave + text("but this machine runs no more than %d threads at once", threads);
        }
        return gave + "less than " + factor(point.predicted->burdened) + ". The structure is not why: " +
               "caches, memory, order of pieces, spawns or other users of the cores may be";
    }
    if (*point.speedup > 1.05 * point.predicted->at_most) {
        return gave + "more than the structure allows, " + factor(point.predicted->at_most) + ": " +
               "caches, or a disturbed run on one worker";
    }
    return {};
}

/// Work and spawns are another way to the time on one worker. Where the two are far apart, one of them was disturbed.
inline std::string disagreement(Study const& study) {
    Record const& record = study.record;
    Timing const* const one = timing_on_one(study);
    if (one == nullptr || record.workers != 1) { return {}; }
    double const expected = record.work_seconds + static_cast<double>(record.spawns) * study.costs.plain_seconds;
    if (std::abs(one->seconds - expected) <= 0.15 * expected) { return {}; }
    return "one worker took " + time(one->seconds) + ", work and spawns come to " + time(expected) +
           ": the machine was disturbed in one of them";
}

/// Reasons to distrust the numbers, a sentence each.
inline std::vector<std::string> warnings(Study const& study) {
    std::vector<std::string> found;
    Record const& record = study.record;
    if (average_strand_seconds(record) < 10.0 * record.clock_seconds) {
        found.emplace_back("strands are so short that the clock decides what they seem to take");
    }
    if (disturbed(study)) {
        found.push_back(text("even the best run got only %.0f %% of a core: strands include what others did; ",
                             100.0 * *record.running_share) +
                        "the real parallelism is likely to be higher (see ThreadCpuClock)");
    }
    if (record.structure_varies) {
        found.emplace_back("the repeats did not spawn equally often; their times are mixed");
    }
    if (record.workers > 1) {
        found.emplace_back("recorded on several workers: strands include what these do to each other");
    }
    if (std::string apart = disagreement(study); !apart.empty()) { found.push_back(std::move(apart)); }
    for (CurvePoint const& point : speedup_curve(study)) {
        if (std::string why = surprise(point); !why.empty()) { found.push_back(std::move(why)); }
    }
    return found;
}

} // namespace report

/// Prints verdict, work and span, and the predicted and measured speedup.
inline void print(std::ostream& out, Study const& study) {
    out << report::wrapped(study.name + (study.problem.empty() ? "" : ": ") + study.problem) << "\n\n"
        << report::verdict(study) << "\n\n";
    report::facts(out, study);
    report::curve(out, study);
    report::price(out, study.costs, study.record.clock_seconds);
    for (std::string const& warning : report::warnings(study)) {
        out << "  - " << report::wrapped(warning, 4, 4) << '\n';
    }
}

// ---- for programs -------------------------------------------------------------------------------------------------

namespace report {

/// The shortest digits that read back as the same number; null where JSON has none.
inline std::string number(std::optional<double> value) {
    if (!value || !std::isfinite(*value)) { return "null"; }
    char digits[32];
    auto const end = std::to_chars(std::begin(digits), std::end(digits), *value).ptr;
    return {std::begin(digits), end};
}

inline std::string quoted(std::string_view words) {
    std::string written = "\"";
    for (char const c : words) {
        if (c == '"' || c == '\\') {
            written += '\\';
            written += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            written += text("\\u%04x", static_cast<unsigned>(c));
        } else {
            written += c;
        }
    }
    return written + '"';
}

inline void costs_json(std::ostream& out, SpawnCosts const& costs) {
    out << "  \"costs\": {\"clock_seconds\": " << number(costs.clock_seconds)
        << ", \"spawn_seconds\": " << number(costs.plain_seconds)
        << ", \"recorded_spawn_seconds\": " << number(costs.recorded_seconds)
        << ", \"queued_spawn_seconds\": " << number(costs.queued_seconds)
        << ", \"handover_seconds\": " << number(costs.handover_seconds) << "},\n";
}

inline void curve_json(std::ostream& out, Study const& study) {
    out << "  \"curve\": [";
    char const* separator = "\n";
    for (CurvePoint const& point : speedup_curve(study)) {
        auto const predicted = [&](double SpeedupRange::*part) {
            return point.predicted ? number(*point.predicted.*part) : "null";
        };
        auto const timed = [&](double Timing::*part) { return point.timing ? number(*point.timing.*part) : "null"; };
        out << separator << "    {\"workers\": " << point.workers
            << ", \"speedup_at_most\": " << predicted(&SpeedupRange::at_most)
            << ", \"speedup_at_least\": " << predicted(&SpeedupRange::at_least)
            << ", \"speedup_burdened\": " << predicted(&SpeedupRange::burdened)
            << ",\n     \"measured_speedup\": " << number(point.speedup)
            << ", \"measured_seconds\": " << timed(&Timing::seconds)
            << ", \"measured_median_seconds\": " << timed(&Timing::median_seconds)
            << ", \"repeats\": " << (point.timing ? point.timing->repeats : 0) << '}';
        separator = ",\n";
    }
    out << "\n  ]\n";
}

} // namespace report

/// One JSON object of schema `headroom.record/1` and a line end. `name` and `problem` must be UTF-8.
inline void write_json(std::ostream& out, Study const& study) {
    Record const& record = study.record;
    auto const row = [&](char const* key, std::string const& value) {
        out << "  \"" << key << "\": " << value << ",\n";
    };
    out << "{\n";
    row("schema", "\"headroom.record/1\"");
    row("name", report::quoted(study.name));
    row("problem", report::quoted(study.problem));
    row("clock", report::quoted(study.clock));
    row("work_seconds", report::number(record.work_seconds));
    row("span_seconds", report::number(record.span_seconds));
    row("burdened_span_seconds", report::number(record.burdened_span_seconds));
    row("elapsed_seconds", report::number(record.elapsed_seconds));
    row("parallelism", report::number(parallelism(record)));
    row("burdened_parallelism", report::number(burdened_parallelism(record)));
    row("spawns", std::to_string(record.spawns));
    row("syncs", std::to_string(record.syncs));
    row("strands", std::to_string(strands(record)));
    row("average_strand_seconds", report::number(average_strand_seconds(record)));
    row("burden_seconds", report::number(record.burden_seconds));
    row("clock_seconds", report::number(record.clock_seconds));
    row("workers", std::to_string(record.workers));
    row("repeats", std::to_string(record.repeats));
    row("running_share", report::number(record.running_share));
    row("structure_varies", record.structure_varies ? "true" : "false");
    row("hardware_threads", std::to_string(std::thread::hardware_concurrency()));
    row("serial_seconds", report::number(study.serial_seconds));
    report::costs_json(out, study.costs);
    report::curve_json(out, study);
    out << "}\n";
}

} // namespace headroom::probe
