#include "headroom/fit/measured_messages.hpp"

#include "campaign_points.hpp"

#include "headroom/error.hpp"
#include "headroom/fit/campaign_fit.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>

namespace headroom::fit {

using namespace headroom::measure;
using namespace headroom::network;

namespace {

double middle(std::vector<double> values) {
    std::ranges::sort(values);
    return values.empty() ? 0.0 : values[values.size() / 2];
}

std::string word(MeasuredPoint const& point, std::string_view name) { return word_of(point, std::array{name}); }

/// Whole number that a point states; 0 where it does not.
template <class Whole = int> Whole number(MeasuredPoint const& point, std::string_view name) {
    std::string const text = word(point, name);
    Whole value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

TimedMessage timed_message(MeasuredPoint const& point, Campaign const& campaign) {
    auto const bytes = number<std::uint64_t>(point, "bytes");
    std::string buffers = word(point, "buffers");
    bool const usual = buffers.empty() || buffers == buffers_of_programs(campaign, static_cast<double>(bytes));
    return {.point = &point,
            .pattern = comm_pattern_from(word(point, "pattern")).value_or(CommPattern::one_way),
            .bytes = bytes,
            .buffers = std::move(buffers),
            .usual = usual,
            .peer = number(point, "peer"),
            .first = number(point, "first"),
            .second = number(point, "second"),
            .collective = collective_from(word(point, "collective")).value_or(Collective::all_reduce),
            .algorithm = word(point, "algorithm"),
            .seconds = {}};
}

void add_timed(MeasuredMessages& answer) {
    for (std::uint32_t point = 0; point < answer.campaign.points.size(); ++point) {
        std::vector<double> const values = values_of(answer.campaign, point);
        if (values.empty()) { continue; }
        TimedMessage& one = answer.timed.emplace_back(timed_message(answer.campaign.points[point], answer.campaign));
        one.seconds = summarize(values);
        if (point >= answer.late_seconds.size() || answer.late_seconds[point].empty()) { continue; }
        one.late_median = middle(answer.late_seconds[point]);
        one.late_most = std::ranges::max(answer.late_seconds[point]);
    }
}

void add_failures(MeasuredMessages& answer) {
    std::map<std::uint32_t, FailedMessage> by_point;
    for (Sample const& one : answer.campaign.samples) {
        if (one.outcome != SampleOutcome::failed) { continue; }
        FailedMessage& failure = by_point[one.point];
        failure.point = answer.campaign.points[one.point].label;
        failure.message = one.message;
        ++failure.count;
    }
    for (auto& [point, failure] : by_point) { answer.failures.push_back(std::move(failure)); }
}

/// A probe whose pattern models of links have no term for, as a row of a table of collectives; nothing for others.
std::optional<MeasuredCollective> row_of(MeasuredMessages const& answer, TimedMessage const& one) {
    CommWorld const& world = answer.world;
    MeasuredCollective row;
    row.system = system_of(answer.campaign);
    row.collective = Collective::point_to_point;
    row.size = {Bytes{static_cast<double>(one.bytes)}};
    row.ranks = world.ranks();
    row.nodes = world.nodes();
    row.time = Seconds{one.seconds.median};
    row.algorithm = std::string{name_of(one.pattern)};
    switch (one.pattern) {
    case CommPattern::both_ways:
        row.ranks = 2;
        row.nodes = world.link_to(one.peer) == "between hosts" ? 2 : 1;
        return row;
    case CommPattern::shifted: return row;
    case CommPattern::all_at_once: row.collective = Collective::all_to_all; return row;
    default: return std::nullopt;
    }
}

/// The fits of messages and collectives are those of `headroom calibrate`, so that one measurement has one answer.
void add_rows(MeasuredMessages& answer) {
    CommunicationFitAnswer& fit = answer.fit;
    fit.rows = measured_collectives(answer.campaign, {.system = system_of(answer.campaign), .source = {}}).rows;
    answer.table_rows = fit.rows.size();
    fit.result = fit_communication(fit.rows);
    for (CommunicationFit& one : fit.result.fits) {
        if (one.algorithm.empty()) {
            one.algorithm = one.collective == Collective::point_to_point ? "one_way" : "library";
        }
    }
    std::vector<MeasuredCollective> others;
    for (TimedMessage const& one : answer.timed) {
        auto row = one.usual ? row_of(answer, one) : std::nullopt;
        if (row) { others.push_back(std::move(*row)); }
    }
    for (CommunicationFit& one : fit_communication(others).fits) {
        for (FitResidual& residual : one.residuals) { residual.row += answer.table_rows; }
        fit.result.fits.push_back(std::move(one));
    }
    std::ranges::move(others, std::back_inserter(fit.rows));
}

/// The median of this pattern with the same buffers and size and, between two, of the same peer.
std::optional<double> median_like(MeasuredMessages const& answer, CommPattern pattern, TimedMessage const& like,
                                  std::string_view buffers) {
    for (TimedMessage const& one : answer.timed) {
        bool const any_peer = pattern == CommPattern::shifted;
        bool const same = one.pattern == pattern && one.bytes == like.bytes && one.buffers == buffers;
        if (same && (any_peer || one.peer == like.peer)) { return one.seconds.median; }
    }
    return std::nullopt;
}

void add_ratios(MeasuredMessages& answer) {
    int const outermost = answer.world.far_peer().value_or(answer.world.near_peer().value_or(1));
    for (TimedMessage const& one : answer.timed) {
        if (one.pattern != CommPattern::one_way) { continue; }
        MessageRatio ratio;
        ratio.link = answer.world.link_to(one.peer);
        ratio.buffers = one.buffers;
        ratio.bytes = one.bytes;
        ratio.one_way = one.seconds.median;
        ratio.both_ways = median_like(answer, CommPattern::both_ways, one, one.buffers);
        if (one.peer == outermost) { ratio.shifted = median_like(answer, CommPattern::shifted, one, one.buffers); }
        for (auto* const value : {&ratio.both_ways, &ratio.shifted}) {
            if (*value) { **value /= ratio.one_way; }
        }
        if (ratio.both_ways || ratio.shifted) { answer.ratios.push_back(ratio); }
    }
}

void add_load(MeasuredMessages& answer) {
    for (TimedMessage const& one : answer.timed) {
        bool const loaded = one.pattern == CommPattern::loaded;
        if (!loaded && one.pattern != CommPattern::computing) { continue; }
        auto const alone = median_like(answer, CommPattern::one_way, one, "hot");
        if (!alone) { continue; }
        answer.load.push_back({answer.world.link_to(one.peer), loaded ? "others transfer" : "cores compute", one.bytes,
                               *alone, one.seconds.median});
    }
}

void add_loggp(MeasuredMessages& answer) {
    for (auto const& peer : {answer.world.near_peer(), answer.world.far_peer()}) {
        std::vector<MessageTrain> trains;
        for (TimedMessage const& one : answer.timed) {
            if (!peer || one.pattern != CommPattern::train || one.peer != *peer) { continue; }
            auto const at = static_cast<std::uint32_t>(one.point - answer.campaign.points.data());
            bool const paced = word(*one.point, "paced") == "yes";
            for (double const value : values_of(answer.campaign, at)) {
                trains.push_back(
                    {Bytes{static_cast<double>(one.bytes)}, number(*one.point, "messages"), paced, Seconds{value}});
            }
        }
        if (trains.empty()) { continue; }
        try {
            answer.loggp.push_back({answer.world.link_to(*peer), fit_loggp(trains, {.seed = answer.seed})});
        } catch (InputError const& error) { answer.notes.push_back(error.what()); }
    }
}

/// Pairs with messages of one size: the small ones, or the large ones.
std::optional<MeasuredPairs> pairs_of(MeasuredMessages const& answer, bool small) {
    constexpr std::uint64_t largest_small = 4096;
    CommWorld const& world = answer.world;
    MeasuredPairs pairs;
    for (TimedMessage const& one : answer.timed) {
        if (one.pattern != CommPattern::pairs || (one.bytes <= largest_small) != small) { continue; }
        if (pairs.times.empty()) { pairs.bytes = one.bytes; }
        bool const same_host = world.host_of(one.first) == world.host_of(one.second);
        pairs.times.push_back({one.first, one.second, same_host, one.seconds.least, one.seconds.median});
    }
    if (pairs.times.empty()) { return std::nullopt; }
    if (world.crowded()) { return pairs; } // what is slow there is the scheduler
    PairVerdict const verdict = find_slow_links(pairs.times);
    pairs.judged = verdict.judged;
    for (SlowLink const& one : verdict.links) {
        auto const [first, second, same_host, least, median] = pairs.times[one.pair];
        pairs.slow_links.push_back(
            {first, second, world.host_of(first), world.host_of(second), one.factor, one.always});
    }
    for (SlowRank const& one : verdict.ranks) {
        pairs.slow_ranks.push_back({one.rank, world.host_of(one.rank), one.factor, one.slow, one.of});
    }
    return pairs;
}

} // namespace

void work_out(MeasuredMessages& answer) {
    add_timed(answer);
    add_failures(answer);
    if (answer.timed.empty()) {
        too_little("measure comm", "nothing was timed",
                   answer.failures.empty() ? "it was stopped before the first value" : answer.failures.front().message);
    }
    add_rows(answer);
    add_ratios(answer);
    add_load(answer);
    add_loggp(answer);
    answer.pairs_small = pairs_of(answer, true);
    answer.pairs_large = pairs_of(answer, false);
    add_predictions(answer);
    add_notes(answer);
}

} // namespace headroom::fit
