#include "graph/graph_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <cmath>

namespace headroom::cli {
namespace {

std::string format_tenths(double value) {
    auto const tenths = std::llround(10.0 * value);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

std::string without_work(GraphAnswer const& report) {
    std::size_t const tasks = report.graph().dag.size();
    if (tasks == 0) { return "Nothing has to be done: the graph is empty."; }
    std::string text = "Nothing is counted: no task costs anything.";
    for (KindShare const& share : report.kinds) {
        if (share.kind == message_kind) { text += " Give the messages a cost to see how they chain: --message 1."; }
    }
    return text;
}

/// Up to which worker count nothing is wasted, whatever the order, and past which something is.
std::string efficient_words(GraphAnswer const& report) {
    Ticks const work = report.measured.work, depth = report.measured.depth;
    double const share = report.question.efficiency;
    std::string const efficient = ratio_words(100.0 * share) + " % efficient";
    std::int64_t const surely = workers_surely_efficient(work, depth, share).value_or(1);
    std::int64_t const perhaps = workers_perhaps_efficient(work, depth, share).value_or(1);
    if (perhaps < 2) { return " Two workers cannot be " + efficient + "."; }
    if (surely < 2) { return " Past " + std::to_string(perhaps) + " workers no schedule is " + efficient + "."; }
    std::string text = " Up to " + std::to_string(surely) + " workers any greedy schedule is at least " + efficient +
                       ", past " + std::to_string(perhaps) + " none can be";
    auto const best = report.efficient_row();
    if (best && report.schedules[*best].greedy && report.schedules[*best].workers > surely) {
        text += "; the one simulated still is on " + std::to_string(report.schedules[*best].workers);
    }
    return text + ".";
}

std::string placed_words(GraphAnswer const& report) {
    if (!report.placement || !report.placement->greedy) { return ""; }
    GraphPlacement const& placement = *report.placement;
    Ticks const time = *placement.greedy;
    std::size_t busiest = 0;
    double most = -1.0;
    std::vector<Resource> const& resources = report.question.resources;
    for (std::size_t i = 0; i < resources.size(); ++i) {
        double const busy = static_cast<double>(placement.bounds.work[i]) / static_cast<double>(resources[i].capacity);
        if (busy > most) {
            most = busy;
            busiest = i;
        }
    }
    return " On its resources it takes " + amount_words(report, static_cast<double>(time), true) + "; the busiest, " +
           printable(resources[busiest].name) + ", works " + percent(most / static_cast<double>(time)) + " % of that.";
}

} // namespace

std::string ratio_words(double ratio) {
    std::string text = significant(ratio, 4);
    if (text.find('.') == std::string::npos || text.find('e') != std::string::npos) { return text; }
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') { text.pop_back(); }
    return text;
}

std::string amount_words(GraphAnswer const& report, double ticks, bool with_unit) {
    double const value = report.amount(ticks);
    if (report.graph().unit == "seconds") { return format(Seconds{value}); }
    std::string number = significant(value, 3);
    if (value >= 1e15) {
        number = significant(value, 4);
    } else if (value >= 1e7) {
        number = scaled(value, 4);
    } else if (value >= 1e5 || value == std::floor(value)) {
        number = whole(value);
    } else if (value >= 10.0) {
        number = format_tenths(value);
    }
    if (!with_unit || report.graph().unit.empty()) { return number; }
    std::string unit = printable(report.graph().unit);
    if (number == "1" && unit.ends_with('s')) { unit.pop_back(); }
    return number + " " + unit;
}

std::string task_words(TaskGraph const& graph, TaskId task) {
    if (!graph.names.empty() && !graph.names[task].empty()) { return printable(graph.names[task]); }
    return std::to_string(task);
}

std::string family_of(std::string const& resource) {
    auto const last = resource.find_last_not_of("0123456789");
    if (last == std::string::npos || last + 1 == resource.size()) { return resource; }
    std::string const family = trimmed(std::string_view{resource}.substr(0, last + 1));
    return family.empty() ? resource : family;
}

void add_notes(GraphAnswer& report) {
    if (auto const& skipped = report.skipped) {
        report.notes.push_back(
            "greedy schedules of " + std::to_string(skipped->counts) + " worker counts are left out: each places " +
            std::to_string(report.graph().dag.size()) + " tasks. " +
            (skipped->named ? "Name fewer counts to have them" : "Name the counts to have them: --workers 8,64"));
    }
    if (auto const workers = report.timeline_workers) {
        report.notes.push_back("the timeline shows " + std::to_string(*workers) +
                               (*workers == 1 ? " worker" : " workers"));
    }
}

std::string verdict(GraphAnswer const& report) {
    Ticks const work = report.measured.work, depth = report.measured.depth;
    if (work == 0) { return without_work(report); }
    if (work == depth) {
        return "Parallelism 1: all work is on one path, so a second worker does not help." + placed_words(report);
    }
    std::string const parallelism = ratio_words(report.parallelism().value_or(1.0));
    return "Parallelism " + parallelism + ": no number of workers is more than " + parallelism + "x as fast as one." +
           efficient_words(report) + " From " +
           counted(static_cast<std::size_t>(crossover_workers(work, depth).value_or(1)), "worker") +
           " on the longest path (depth D) outweighs a worker's share of the work (W/K)." + placed_words(report);
}

} // namespace headroom::cli
