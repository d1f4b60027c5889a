#include "headroom/document/text.hpp"
#include "measure/measure_comm.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace headroom::cli {

using namespace headroom::measure;
using namespace headroom::network;

namespace {

using probe::CommPattern;

double middle(std::vector<double> values) {
    std::ranges::sort(values);
    return values.empty() ? 0.0 : values[values.size() / 2];
}

void add_timed(CommMeasureReport& report) {
    for (std::size_t task = 0; task < report.tasks.tasks.size(); ++task) {
        auto const& points = report.tasks.tasks[task].points;
        for (std::size_t pair = 0; pair < points.size(); ++pair) {
            std::vector<double> const values = values_of(report.campaign, points[pair]);
            if (values.empty()) { continue; }
            CommTimed one{.point = points[pair], .task = task, .pair = pair, .seconds = summarize(values)};
            if (auto const& late = report.progress.late_seconds[points[pair]]; !late.empty()) {
                one.late_median = middle(late);
                one.late_most = std::ranges::max(late);
            }
            report.timed.push_back(one);
        }
    }
}

void add_failures(CommMeasureReport& report) {
    std::map<std::uint32_t, CommFailure> by_point;
    for (Sample const& one : report.campaign.samples) {
        if (one.outcome != SampleOutcome::failed) { continue; }
        CommFailure& failure = by_point[one.point];
        failure.point = one.point;
        failure.message = one.message;
        ++failure.count;
    }
    for (auto& [point, failure] : by_point) { report.failures.push_back(std::move(failure)); }
}

std::string parameter(CommMeasureReport const& report, CommTimed const& one, std::string_view name) {
    return std::string{fact(report.campaign.points[one.point].parameters, name).value_or("")};
}

/// As a row of a table of collectives; nothing for what is none.
std::optional<MeasuredCollective> row_of(CommMeasureReport const& report, CommTimed const& one) {
    auto const& request = request_of(report, one);
    probe::CommWorld const& world = report.world;
    MeasuredCollective row;
    row.system = world.implementation;
    row.collective = Collective::point_to_point;
    row.size = {Bytes{static_cast<double>(request.bytes)}};
    row.ranks = world.ranks();
    row.nodes = world.nodes();
    row.time = Seconds{one.seconds.median};
    row.algorithm = std::string{name_of(request.pattern)};
    switch (request.pattern) {
    case CommPattern::one_way:
    case CommPattern::both_ways:
        row.ranks = 2;
        row.nodes = link_words(world, request.peer) == "between hosts" ? 2 : 1;
        return row;
    case CommPattern::shifted: return row;
    case CommPattern::all_at_once: row.collective = Collective::all_to_all; return row;
    case CommPattern::collective:
        row.collective = request.collective;
        row.algorithm = parameter(report, one, "algorithm");
        return row;
    default: return std::nullopt;
    }
}

void add_rows(CommMeasureReport& report) {
    for (CommTimed const& one : report.timed) {
        if (auto row = row_of(report, one)) { report.rows.push_back(std::move(*row)); }
    }
    report.fits = fit::fit_communication(report.rows);
}

/// The median of this pattern, of the same size and, between two, of the same peer.
std::optional<double> median_of(CommMeasureReport const& report, CommPattern pattern, std::uint64_t bytes, int peer) {
    for (CommTimed const& one : report.timed) {
        auto const& request = request_of(report, one);
        bool const any_peer = pattern == CommPattern::shifted;
        if (request.pattern == pattern && request.bytes == bytes && (any_peer || request.peer == peer)) {
            return one.seconds.median;
        }
    }
    return std::nullopt;
}

void add_ratios(CommMeasureReport& report) {
    int const outermost = report.world.far_peer().value_or(report.world.near_peer().value_or(1));
    for (CommTimed const& one : report.timed) {
        auto const& request = request_of(report, one);
        if (request.pattern != CommPattern::one_way) { continue; }
        CommRatio ratio;
        ratio.link = link_words(report.world, request.peer);
        ratio.bytes = request.bytes;
        ratio.one_way = one.seconds.median;
        ratio.both_ways = median_of(report, CommPattern::both_ways, request.bytes, request.peer);
        if (request.peer == outermost) { ratio.shifted = median_of(report, CommPattern::shifted, request.bytes, 0); }
        for (auto* const value : {&ratio.both_ways, &ratio.shifted}) {
            if (*value) { **value /= ratio.one_way; }
        }
        if (ratio.both_ways || ratio.shifted) { report.ratios.push_back(ratio); }
    }
}

void add_load(CommMeasureReport& report) {
    for (CommTimed const& one : report.timed) {
        auto const& request = request_of(report, one);
        bool const loaded = request.pattern == CommPattern::loaded;
        if (!loaded && request.pattern != CommPattern::computing) { continue; }
        auto const alone = median_of(report, CommPattern::one_way, request.bytes, request.peer);
        if (!alone) { continue; }
        report.load.push_back({link_words(report.world, request.peer), loaded ? "others transfer" : "cores compute",
                               request.bytes, *alone, one.seconds.median});
    }
}

void add_loggp(CommMeasureReport& report) {
    for (auto const& peer : {report.world.near_peer(), report.world.far_peer()}) {
        std::vector<fit::MessageTrain> trains;
        for (CommTimed const& one : report.timed) {
            auto const& request = request_of(report, one);
            if (!peer || request.pattern != CommPattern::train || request.peer != *peer) { continue; }
            bool const paced = parameter(report, one, "paced") == "yes";
            for (double const value : values_of(report.campaign, one.point)) {
                trains.push_back({Bytes{static_cast<double>(request.bytes)}, request.messages, paced, Seconds{value}});
            }
        }
        if (trains.empty()) { continue; }
        try {
            report.loggp.push_back(
                {link_words(report.world, *peer), fit::fit_loggp(trains, {.seed = report.question.seed})});
        } catch (InputError const& error) { report.notes.push_back(error.what()); }
    }
}

void add_pairs(CommMeasureReport& report) {
    std::vector<std::uint64_t> sizes;
    for (std::size_t i = 0; i < report.timed.size(); ++i) {
        CommTimed const& one = report.timed[i];
        if (request_of(report, one).pattern != CommPattern::pairs) { continue; }
        int const first = std::stoi(parameter(report, one, "first")),
                  second = std::stoi(parameter(report, one, "second"));
        auto const host = [&](int rank) { return report.world.hosts[static_cast<std::size_t>(rank)]; };
        fit::PairTime const pair{first, second, host(first) == host(second), one.seconds.least, one.seconds.median};
        bool const small = request_of(report, one).bytes <= 4096;
        (small ? report.pair_small : report.pair_large).push_back(pair);
        (small ? report.pair_small_at : report.pair_large_at).push_back(i);
    }
    if (report.world.crowded()) { return; } // what is slow there is the scheduler
    report.slow_small = fit::find_slow_links(report.pair_small);
    report.slow_large = fit::find_slow_links(report.pair_large);
}

} // namespace

probe::CommRequest const& request_of(CommMeasureReport const& report, CommTimed const& one) {
    return report.tasks.tasks[one.task].request;
}

CommTimed const* timed_of(CommMeasureReport const& report, std::uint32_t point) {
    auto const at = std::ranges::find(report.timed, point, &CommTimed::point);
    return at == report.timed.end() ? nullptr : &*at;
}

void work_out(CommMeasureReport& report) {
    add_timed(report);
    add_failures(report);
    if (report.timed.empty()) {
        throw InputError{Fault::insufficient,
                         {.where = "measure comm",
                          .problem = "nothing was timed",
                          .why = report.failures.empty() ? "it was stopped before the first value"
                                                         : report.failures.front().message}};
    }
    add_rows(report);
    add_ratios(report);
    add_load(report);
    add_loggp(report);
    add_pairs(report);
    add_predictions(report);
    add_comm_notes(report);
}

} // namespace headroom::cli
