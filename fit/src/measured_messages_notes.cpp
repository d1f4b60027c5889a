#include "headroom/fit/measured_messages.hpp"
#include "headroom/text.hpp"

#include <algorithm>
#include <map>

namespace headroom::fit {

using namespace headroom::measure;

namespace {

using text::counted, text::join, text::significant;

constexpr std::uint64_t large = 256 << 10;
constexpr double slower_both_ways = 1.3;
constexpr double many_late = 0.2;

void note_crowd(MeasuredMessages& answer) {
    if (!answer.world.crowded()) { return; }
    answer.notes.emplace_back(
        "some host has more ranks than cores: ranks that wait take the cores of those that work, and times "
        "measure the scheduler. Open MPI: --mca mpi_yield_when_idle 1; medians suffer most, least "
        "times less");
}

/// A receiver that fetches asks in between the data that goes the same way.
void note_both_ways(MeasuredMessages& answer) {
    double worst = 0.0;
    MessageRatio const* at = nullptr;
    for (MessageRatio const& one : answer.ratios) {
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
    bool const open_mpi = answer.world.implementation.find("Open MPI") != std::string::npos;
    bool const told = fact(answer.campaign.machine, "OMPI_MCA_btl_tcp_flags").has_value(); // the user knows
    if (open_mpi && at->link == "between hosts" && !told) {
        text += ". Open MPI over TCP: control messages queue behind bulk data; try --mca btl_tcp_flags 1";
    }
    answer.notes.push_back(std::move(text));
}

/// Notes which state of the buffers is used for which sizes.
void note_buffers(MeasuredMessages& answer) {
    bool const any = std::ranges::any_of(answer.timed, [](TimedMessage const& one) { return !one.buffers.empty(); });
    auto const limit = fact(answer.campaign.machine, "largest hot message");
    if (!any || !limit) { return; }
    answer.notes.push_back("messages up to " + format_binary(Bytes{std::stod(std::string{*limit})}) +
                           " are taken with hot buffers, larger ones with cold buffers: for fits, --save and headroom "
                           "calibrate. A program's small messages are still in a cache when they are sent");
}

/// A link is no faster both ways at once than one way: such a ratio is of its library or of its scatter.
void note_impossible(MeasuredMessages& answer) {
    constexpr double least = 0.85;
    MessageRatio const* worst = nullptr;
    std::size_t count = 0;
    for (MessageRatio const& one : answer.ratios) {
        if (!one.both_ways || *one.both_ways >= least) { continue; }
        ++count;
        if (worst == nullptr || *one.both_ways < *worst->both_ways) { worst = &one; }
    }
    if (worst == nullptr) { return; }
    answer.notes.push_back("both ways at once takes " + significant(*worst->both_ways) + " of the time of one way (" +
                           worst->buffers + " buffers, " + format_binary(Bytes{static_cast<double>(worst->bytes)}) +
                           (count > 1 ? ", and " + std::to_string(count - 1) + " more sizes" : "") +
                           "): no link does that. The ranks waited for each other or shared a core: measure again");
}

void note_late(MeasuredMessages& answer) {
    std::size_t late = 0, of = 0;
    for (TimedMessage const& one : answer.timed) {
        ++of;
        if (one.late_median > many_late * one.seconds.median) { ++late; }
    }
    if (late == 0) { return; }
    answer.notes.push_back("ranks began late by more than a fifth of the median time at " + std::to_string(late) +
                           " of " + std::to_string(of) + " points: their times hold that skew, as a program's would");
}

void note_clocks(MeasuredMessages& answer) {
    if (answer.clock_error_seconds <= 0.0) { return; }
    answer.notes.push_back(
        "clocks of hosts agree within " + format(Seconds{answer.clock_error_seconds}) +
        ": times of collectives and of all at once may be off by as much; those between two ranks are "
        "by one clock");
}

void note_few(MeasuredMessages& answer) {
    std::size_t fewest = answer.timed.front().seconds.count;
    for (TimedMessage const& one : answer.timed) { fewest = std::min(fewest, one.seconds.count); }
    if (fewest >= 6) { return; }
    answer.notes.push_back("some points have " + counted(fewest, "repetition") +
                           ": their intervals cover less than 95 % (see coverage). give --time more");
}

/// Points that failed for one reason are listed together.
void note_failures(MeasuredMessages& answer) {
    constexpr std::size_t most_named = 3;
    std::map<std::string, std::vector<std::string>> points;
    for (FailedMessage const& one : answer.failures) { points[one.message].push_back(one.point); }
    for (auto& [message, labels] : points) {
        std::size_t const count = labels.size();
        labels.resize(std::min(count, most_named));
        std::string const more = count > most_named ? ", and " + std::to_string(count - most_named) + " more" : "";
        answer.notes.push_back("no value: " + join(labels, ", ") + more + " (" + message + ")");
    }
}

void note_stop(MeasuredMessages& answer) {
    if (!answer.complete) {
        answer.notes.push_back("interrupted: " + std::to_string(answer.timed.size()) + " of " +
                               std::to_string(answer.campaign.points.size()) +
                               " points have values; the same command goes on with them");
    }
    if (answer.resumed > 0) {
        answer.notes.push_back("went on: " + std::to_string(answer.resumed) +
                               " samples are of an earlier, unfinished run");
    }
    note_failures(answer);
}

void note_loggp(MeasuredMessages& answer) {
    for (LinkLogGp const& one : answer.loggp) {
        for (std::string const& text : one.fit.notes) { answer.notes.push_back("LogGP " + one.link + ": " + text); }
    }
}

void note_prediction(MeasuredMessages& answer) {
    if (!answer.predictions.empty() || !answer.wants_collectives) { return; }
    answer.notes.emplace_back(
        answer.wants_messages
            ? "collectives were not predicted: it takes probes of three sizes or more of each link, and "
              "as many ranks on each host, one host after the other"
            : "collectives were not predicted: the probes of messages were left out");
}

} // namespace

void add_notes(MeasuredMessages& answer) {
    note_stop(answer);
    note_crowd(answer);
    note_buffers(answer);
    note_both_ways(answer);
    note_impossible(answer);
    note_late(answer);
    note_clocks(answer);
    note_few(answer);
    note_loggp(answer);
    note_prediction(answer);
    answer.notes.insert(answer.notes.end(), answer.unmeasured.begin(), answer.unmeasured.end());
}

} // namespace headroom::fit
