#include "headroom/document/text.hpp"
#include "measure/measure_comm.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace headroom::cli {

using namespace headroom::measure;

namespace {

using probe::CommPattern;

constexpr std::uint64_t large = 256 << 10;
constexpr double slower_both_ways = 1.3;
constexpr double many_late = 0.2;

void note_crowd(CommMeasureReport& report) {
    if (!report.world.crowded()) { return; }
    report.notes.emplace_back(
        "some host has more ranks than cores: ranks that wait take the cores of those that work, and times "
        "measure the scheduler. Open MPI: --mca mpi_yield_when_idle 1; medians suffer most, least "
        "times less");
}

/// A receiver that fetches asks in between the data that goes the same way.
void note_both_ways(CommMeasureReport& report) {
    double worst = 0.0;
    CommRatio const* at = nullptr;
    for (CommRatio const& one : report.ratios) {
        if (one.bytes >= large && one.both_ways && *one.both_ways > worst) {
            worst = *one.both_ways;
            at = &one;
        }
    }
    if (at == nullptr || worst < slower_both_ways) { return; }
    std::string text = "both ways at once, messages of " + format_binary(Bytes{static_cast<double>(at->bytes)}) + " " +
                       at->link + " take " + significant(worst) +
                       " times as long as one way: collectives whose ranks send and receive "
                       "at once pay this, and a model fitted to a ping-pong does not know it";
    bool const open_mpi = report.world.implementation.find("Open MPI") != std::string::npos;
    bool const told = fact(report.campaign.machine, "OMPI_MCA_btl_tcp_flags").has_value(); // the user knows
    if (open_mpi && at->link == "between hosts" && !told) {
        text += ". Open MPI over TCP: control messages queue behind bulk data; try --mca btl_tcp_flags 1";
    }
    report.notes.push_back(std::move(text));
}

void note_late(CommMeasureReport& report) {
    std::size_t late = 0, of = 0;
    for (CommTimed const& one : report.timed) {
        ++of;
        if (one.late_median > many_late * one.seconds.median) { ++late; }
    }
    if (late == 0) { return; }
    report.notes.push_back("ranks began late by more than a fifth of the median time at " + std::to_string(late) +
                           " of " + std::to_string(of) + " points: their times hold that skew, as a program's would");
}

void note_clocks(CommMeasureReport& report) {
    if (report.clock_error_seconds <= 0.0) { return; }
    report.notes.push_back(
        "clocks of hosts agree within " + format(Seconds{report.clock_error_seconds}) +
        ": times of collectives and of all at once may be off by as much; those between two ranks are "
        "by one clock");
}

void note_few(CommMeasureReport& report) {
    std::size_t fewest = report.timed.front().seconds.count;
    for (CommTimed const& one : report.timed) { fewest = std::min(fewest, one.seconds.count); }
    if (fewest >= 6) { return; }
    report.notes.push_back("some points have " + counted(fewest, "repetition") +
                           ": their intervals cover less than 95 % (see coverage). give --time more");
}

/// Points that failed for one reason are told together.
void note_failures(CommMeasureReport& report) {
    constexpr std::size_t most_named = 3;
    std::map<std::string, std::vector<std::string>> points;
    for (CommFailure const& one : report.failures) {
        points[one.message].push_back(report.campaign.points[one.point].label);
    }
    for (auto& [message, labels] : points) {
        std::size_t const count = labels.size();
        labels.resize(std::min(count, most_named));
        std::string const more = count > most_named ? ", and " + std::to_string(count - most_named) + " more" : "";
        report.notes.push_back("no value: " + join(labels, ", ") + more + " (" + message + ")");
    }
}

void note_stop(CommMeasureReport& report) {
    if (report.progress.interrupted) {
        report.notes.push_back("interrupted: " + std::to_string(report.timed.size()) + " of " +
                               std::to_string(report.campaign.points.size()) +
                               " points have values; the same command goes on with them");
    }
    if (report.resumed > 0) {
        report.notes.push_back("went on: " + std::to_string(report.resumed) +
                               " samples are of an earlier, unfinished run");
    }
    note_failures(report);
}

void note_loggp(CommMeasureReport& report) {
    for (CommLogGp const& one : report.loggp) {
        for (std::string const& text : one.fit.notes) { report.notes.push_back("LogGP " + one.link + ": " + text); }
    }
}

void note_prediction(CommMeasureReport& report) {
    bool const collectives = report.question.wants(CommPart::collectives);
    if (!report.predictions.empty() || !collectives) { return; }
    report.notes.emplace_back(
        report.question.wants(CommPart::messages)
            ? "collectives were not predicted: it takes probes of three sizes or more of each link, and "
              "as many ranks on each host, one host after the other"
            : "collectives were not predicted: the probes of messages were left out");
}

} // namespace

void add_comm_notes(CommMeasureReport& report) {
    note_stop(report);
    note_crowd(report);
    note_both_ways(report);
    note_late(report);
    note_clocks(report);
    note_few(report);
    note_loggp(report);
    note_prediction(report);
    report.notes.insert(report.notes.end(), report.tasks.notes.begin(), report.tasks.notes.end());
}

} // namespace headroom::cli
