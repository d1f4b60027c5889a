#include "trace/repetition.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

namespace headroom::trace {
namespace {

constexpr std::size_t fewest_marks = 3;
constexpr std::size_t shortest_period = 4; ///< in intervals: a loop over one kernel has no steps
constexpr double share_of_even_gaps = 0.75, unevenness = 0.10;
constexpr double least_cover = 0.75;
constexpr double least_explained = 0.90, nearly_as_good = 0.03;
constexpr double least_work = 0.001;  ///< of all: names of less say nothing
constexpr double most_foreign = 0.01; ///< of a period's work, in names that no period has
constexpr std::size_t looked_at = 32; ///< intervals after a mark
constexpr double least_alike = 0.5;   ///< of them, beyond chance
constexpr std::size_t most_distances = 24;

/// Work in the order in which it began, by name.
struct WorkSequence {
    std::vector<Ticks> begin, duration;
    std::vector<std::uint32_t> name;
    std::size_t names = 0;
    [[nodiscard]] std::size_t size() const { return begin.size(); }
};

/// Copies are left out: they follow a data loader more than the step.
WorkSequence device_sequence(RankTrace const& trace, BusyIntervals const& busy) {
    WorkSequence work;
    work.names = trace.timeline.names.size();
    for (auto const& interval : busy.intervals) {
        if (interval.kind == SpanKind::memory) { continue; }
        work.begin.push_back(interval.begin);
        work.duration.push_back(interval.end - interval.begin);
        work.name.push_back(trace.timeline.name[interval.span]);
    }
    return work;
}

/// Without a device: what the thread with the most intervals does.
WorkSequence host_sequence(RankTrace const& trace) {
    auto const& timeline = trace.timeline;
    auto lanes = spans_by_lane(trace);
    std::vector<std::uint32_t> busiest;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        auto& spans = lanes[lane];
        std::erase_if(spans, [&](std::uint32_t span) { return trace.kind[span] != SpanKind::host; });
        if (!trace.lanes[lane].device && spans.size() > busiest.size()) { busiest.swap(spans); }
    }
    WorkSequence work;
    work.names = timeline.names.size();
    for (auto const span : busiest) {
        work.begin.push_back(timeline.begin[span]);
        work.duration.push_back(std::max<Ticks>(0, timeline.end[span] - timeline.begin[span]));
        work.name.push_back(timeline.name[span]);
    }
    return work;
}

/// Where each label stands in a sequence.
class Places {
public:
    Places(std::span<std::uint32_t const> labels, std::size_t count) : first_(count + 1, 0), places_(labels.size()) {
        for (auto const label : labels) { ++first_[label + 1]; }
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        auto next = first_;
        for (std::uint32_t i = 0; i < labels.size(); ++i) { places_[next[labels[i]]++] = i; }
    }
    [[nodiscard]] std::size_t size() const { return first_.size() - 1; }
    [[nodiscard]] std::span<std::uint32_t const> operator[](std::size_t label) const {
        return std::span(places_).subspan(first_[label], first_[label + 1] - first_[label]);
    }

private:
    std::vector<std::uint32_t> first_, places_;
};

/// Marks that divide the sequence into periods.
struct PeriodMarks {
    std::span<std::uint32_t const> places;
    std::uint32_t distance = 0; ///< the median one
    double even = 0.0;          ///< share of distances near it
};

PeriodMarks marks_at(std::span<std::uint32_t const> places) {
    if (places.size() < fewest_marks) { return {}; }
    std::vector<std::uint32_t> gaps(places.size() - 1);
    for (std::size_t i = 0; i < gaps.size(); ++i) { gaps[i] = places[i + 1] - places[i]; }
    auto const middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
    std::nth_element(gaps.begin(), middle, gaps.end());
    auto const median = *middle;
    auto const slack = std::max(1.0, unevenness * median);
    auto const even = std::count_if(gaps.begin(), gaps.end(),
                                    [&](std::uint32_t gap) { return gap + slack >= median && gap <= median + slack; });
    return {places, median, static_cast<double>(even) / static_cast<double>(gaps.size())};
}

/// The marks of each distance: of those that differ by less than a tenth the most even, the most, the earliest.
std::vector<PeriodMarks> marks_by_distance(Places const& places, std::size_t sequence) {
    struct Distance {
        PeriodMarks best;
        std::size_t support = 0;
    };
    std::vector<PeriodMarks> all;
    for (std::size_t label = 0; label < places.size(); ++label) {
        auto const marks = marks_at(places[label]);
        if (marks.even < share_of_even_gaps || marks.distance < shortest_period) { continue; }
        auto const covered = marks.places.back() - marks.places.front() + marks.distance;
        if (static_cast<double>(covered) >= least_cover * static_cast<double>(sequence)) { all.push_back(marks); }
    }
    std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) {
        return a.distance != b.distance ? a.distance < b.distance : a.places.front() < b.places.front();
    });
    auto const better = [](PeriodMarks const& a, PeriodMarks const& b) {
        if (a.even != b.even) { return a.even > b.even; }
        if (a.places.size() != b.places.size()) { return a.places.size() > b.places.size(); }
        return a.places.front() < b.places.front();
    };
    std::vector<Distance> distances;
    std::uint32_t shortest = 0;
    for (auto const& marks : all) {
        if (distances.empty() || marks.distance > shortest * (1.0 + unevenness)) {
            distances.push_back({marks, 0});
            shortest = marks.distance;
        }
        auto& distance = distances.back();
        if (better(marks, distance.best)) { distance.best = marks; }
        ++distance.support;
    }
    std::stable_sort(distances.begin(), distances.end(),
                     [](auto const& a, auto const& b) { return a.support > b.support; });
    distances.resize(std::min(distances.size(), most_distances));
    std::vector<PeriodMarks> result;
    for (auto const& distance : distances) { result.push_back(distance.best); }
    return result;
}

/// Distribution of the occurrences of one name over the periods.
struct NameInPeriods {
    bool warms_up = false;   ///< none after the first period
    bool only_after = false; ///< all after the last mark
    bool steady = false;     ///< equally often in most periods
};

NameInPeriods name_in_periods(std::span<std::uint32_t const> places, std::span<std::uint32_t const> marks) {
    if (places.empty() || places.back() < marks[1]) { return {true, false, false}; }
    if (places.front() >= marks.back()) { return {false, true, false}; }
    auto const periods = marks.size() - 1;
    if (places.size() < periods / 2) { return {}; }
    std::vector<std::uint32_t> count(periods, 0);
    std::size_t period = 0;
    for (auto const place : places) {
        if (place < marks.front()) { continue; }
        if (place >= marks.back()) { break; }
        while (place >= marks[period + 1]) { ++period; }
        ++count[period];
    }
    auto sorted = count;
    auto const middle = sorted.begin() + static_cast<std::ptrdiff_t>(periods / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    auto const usual = *middle;
    auto const near = static_cast<std::size_t>(std::count_if(count.begin(), count.end(), [&](std::uint32_t times) {
        return 10 * std::max(times, usual) <= 11 * std::min(times, usual); // equal, or a tenth off where there are many
    }));
    return {false, false, usual > 0 && 3 * near >= 2 * periods};
}

/// In floating point: durations of damaged traces may add up to anything.
double work_between(WorkSequence const& work, std::size_t from, std::size_t to) {
    return std::accumulate(work.duration.begin() + static_cast<std::ptrdiff_t>(from),
                           work.duration.begin() + static_cast<std::ptrdiff_t>(to), 0.0,
                           [](double sum, Ticks duration) { return sum + static_cast<double>(duration); });
}

double work_of(WorkSequence const& work, std::span<std::uint32_t const> places) {
    return std::accumulate(places.begin(), places.end(), 0.0, [&](double sum, std::uint32_t place) {
        return sum + static_cast<double>(work.duration[place]);
    });
}

/// By chance two intervals have one name this often.
double chance_of(WorkSequence const& work, Places const& names) {
    double chance = 0.0;
    for (std::size_t name = 0; name < names.size(); ++name) {
        double const share = static_cast<double>(names[name].size()) / static_cast<double>(work.size());
        chance += share * share;
    }
    return chance;
}

/// Whether the same follows one mark and the next: a mixture without any order has its names as evenly as steps have.
bool goes_on_alike(WorkSequence const& work, PeriodMarks const& marks, double chance) {
    std::size_t same = 0, all = 0;
    for (std::size_t i = 0; i + 1 < marks.places.size(); ++i) {
        std::size_t const one = marks.places[i], other = marks.places[i + 1];
        for (std::size_t j = 1; j < std::min<std::size_t>(looked_at, marks.distance); ++j) {
            if (other + j >= work.size()) { break; }
            ++all;
            same += work.name[one + j] == work.name[other + j] ? 1U : 0U;
        }
    }
    return static_cast<double>(same) >= (chance + least_alike * (1.0 - chance)) * static_cast<double>(all);
}

/// The share of names that the periods explain; 0 where they cannot be steps.
double explained(WorkSequence const& work, Places const& names, PeriodMarks const& marks) {
    auto const periods = static_cast<double>(marks.places.size() - 1);
    auto const inside = work_between(work, marks.places.front(), marks.places.back());
    auto const after = work_between(work, marks.places.back(), work.size());
    auto const before = work_between(work, 0, marks.places.front());
    if (inside + std::min(after, inside / periods) < least_cover * (inside + after + before)) { return 0.0; }
    double foreign = 0.0;
    std::size_t steady = 0, all = 0;
    for (std::size_t name = 0; name < names.size(); ++name) {
        auto const found = name_in_periods(names[name], marks.places);
        auto const own = work_of(work, names[name]);
        if (found.only_after) { foreign += own; }
        if (found.warms_up || own < least_work * (inside + after + before)) { continue; }
        ++all;
        steady += found.steady ? 1U : 0U;
    }
    if (all == 0 || foreign > most_foreign * inside / periods) { return 0.0; }
    return static_cast<double>(steady) / static_cast<double>(all);
}

/// Labels of `width` labels in a row; returns how many there may be. What repeats has few, so few of them share a number
/// by chance, and a mark that is lost so is one of many.
std::size_t join_labels(std::vector<std::uint32_t>& labels, std::size_t width) {
    auto const bits = static_cast<int>(std::bit_width(labels.size())) + 1;
    std::size_t joined = 0;
    for (; joined + width <= labels.size(); ++joined) {
        std::uint64_t hash = 0xcbf29ce484222325U;
        for (std::size_t j = 0; j < width; ++j) {
            hash = (hash ^ labels[joined + j]) * 0x9E3779B97F4A7C15U;
            hash ^= hash >> 32;
        }
        labels[joined] = static_cast<std::uint32_t>(hash * 0x9E3779B97F4A7C15U >> (64 - bits));
    }
    labels.resize(joined);
    return std::size_t{1} << bits;
}

/// The first intervals of the periods that explain the sequence best; none where none does well.
std::vector<std::uint32_t> best_marks(WorkSequence const& work, Places const& names, Places const& places) {
    struct Rated {
        PeriodMarks marks;
        double rating = 0.0;
    };
    std::vector<Rated> rated;
    double best = 0.0;
    auto const chance = chance_of(work, names);
    for (auto const& marks : marks_by_distance(places, work.size())) {
        if (!goes_on_alike(work, marks, chance)) { continue; }
        rated.push_back({marks, explained(work, names, marks)});
        best = std::max(best, rated.back().rating);
    }
    if (best < least_explained) { return {}; }
    std::erase_if(rated, [&](auto const& candidate) { return candidate.rating < best - nearly_as_good; });
    auto const& chosen = *std::min_element(
        rated.begin(), rated.end(), [](auto const& a, auto const& b) { return a.marks.distance < b.marks.distance; });
    return {chosen.marks.places.begin(), chosen.marks.places.end()};
}

} // namespace

std::vector<TraceStep> repeated_steps(RankTrace const& trace, BusyIntervals const& busy) {
    auto const work = busy.on_host ? host_sequence(trace) : device_sequence(trace, busy);
    Places const names{work.name, work.names};
    auto marks = best_marks(work, names, names);
    // where every name comes several times a step, several in a row may come once
    auto labels = work.name;
    for (std::size_t width = 4; marks.empty() && width <= 64 && labels.size() > 4; width *= 4) {
        auto const count = join_labels(labels, 4);
        marks = best_marks(work, names, Places{labels, count});
    }
    std::vector<TraceStep> steps;
    for (std::size_t i = 0; i + 1 < marks.size(); ++i) {
        steps.push_back({static_cast<std::int64_t>(i), work.begin[marks[i]], work.begin[marks[i + 1]]});
    }
    return steps;
}

} // namespace headroom::trace
