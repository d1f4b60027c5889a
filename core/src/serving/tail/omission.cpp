#include "headroom/counter_random.hpp"
#include "headroom/error.hpp"
#include "headroom/serving/latency_digest.hpp"
#include "headroom/serving/latency_histogram.hpp"
#include "headroom/serving/latency_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace headroom::serving {
namespace {

constexpr double most_counted = 0x1p53; ///< counts beyond it have no double

/// The requests that were not sent while one took `value`: value - i, value - 2i, ... down to i.
class Unsent {
public:
    Unsent(double value, double interval) : value_{value}, interval_{interval} {
        count_ = std::max(0.0, std::floor(value / interval) - 1.0);
        if (count_ > 0.0 && latency(count_) < interval) { count_ -= 1.0; } // as the subtraction rounds
    }

    [[nodiscard]] double count() const { return count_; }
    [[nodiscard]] double latency(double number) const { return value_ - number * interval_; }
    /// Number of requests that take this long or longer.
    [[nodiscard]] double from(double latency) const {
        double const steps = std::clamp((value_ - latency) / interval_, 0.0, count_);
        return static_cast<double>(static_cast<std::int64_t>(steps)); // floor, without a call
    }

private:
    double value_, interval_;
    double count_ = 0.0;
};

/// Cells in a row, and how many requests fall into each.
class CellCounts {
public:
    CellCounts(double least, double most) {
        for (double low = LatencyHistogram::cell_of(least).low; low <= most; low = highs_.back()) {
            lows_.push_back(low);
            highs_.push_back(LatencyHistogram::cell_of(low).high);
        }
        counts_.resize(lows_.size());
    }

    /// Whichever takes fewer steps: request by request, or cell by cell.
    void add(Unsent const& unsent, std::uint64_t times) {
        shortest_ = std::min(shortest_, unsent.latency(unsent.count()));
        if (unsent.count() * steps_per_request < static_cast<double>(lows_.size())) {
            for (double number = 1.0; number <= unsent.count(); number += 1.0) {
                auto const above = std::ranges::upper_bound(lows_, unsent.latency(number));
                counts_[static_cast<std::size_t>(above - lows_.begin()) - 1] += times;
            }
            return;
        }
        double longer = unsent.count();
        for (std::size_t cell = 0; longer > 0.0; ++cell) {
            double const beyond = std::min(longer, unsent.from(highs_[cell]));
            counts_[cell] += static_cast<std::uint64_t>(longer - beyond) * times;
            longer = beyond;
        }
    }

    void add_to(LatencyHistogram& samples) const {
        for (std::size_t cell = 0; cell < lows_.size(); ++cell) {
            if (counts_[cell] > 0) { samples.record(std::max(lows_[cell], shortest_), counts_[cell]); }
        }
    }

private:
    static constexpr double steps_per_request = 8.0; ///< to find its cell

    std::vector<double> lows_, highs_;
    std::vector<std::uint64_t> counts_;
    double shortest_ = HUGE_VAL;
};

/// Number of requests that were not sent while one took longer than the interval between them.
double unsent_requests(LatencyHistogram const& samples, double interval) {
    double sum = 0.0;
    samples.each([&](LatencyHistogram::Cell const& cell) {
        sum += Unsent{cell.value, interval}.count() * static_cast<double>(cell.count);
    });
    return sum;
}

void check_sum(LatencyHistogram const& samples, double interval) {
    if (unsent_requests(samples, interval) + static_cast<double>(samples.count()) < most_counted) { return; }
    refuse("interval", "more than 2^53 requests would have been left out", "it is too short for samples this long",
           "give it in the unit of the samples");
}

/// Errors: InputError{usage} where it is not above zero.
void check_request_interval(double interval) {
    if (interval > 0.0 && std::isfinite(interval)) { return; }
    refuse("interval", "it is above zero", {}, "give the time between requests, e.g. 1 ms");
}

/// Senders that each wait for their answer.
struct WaitingSenders {
    double connections = 1.0; ///< number of senders
    double likeness = 0.0;    ///< of gaps and latencies: their correlation
};

constexpr std::size_t fewest_pairs = 20;
constexpr double least_likeness = 0.5; ///< a closed loop makes gaps of latencies: they explain much of each other
constexpr int permutations = 1999;
constexpr int most_as_clear = 9; ///< of the permutations: one in two hundred
constexpr std::uint64_t seed = 0x7A11;

/// Some requests that follow each other.
struct Passage {
    double latency = 0.0, gap = 0.0; ///< means
};

/// Mean latency and gap of each `joined` blocks.
std::vector<Passage> passages_of(std::span<DigestBlock const> blocks, std::size_t joined) {
    std::vector<Passage> passages;
    for (std::size_t first = 0; first + joined < blocks.size(); first += joined) {
        double count = 0.0, latencies = 0.0;
        for (DigestBlock const& block : blocks.subspan(first, joined)) {
            count += static_cast<double>(block.count);
            latencies += static_cast<double>(block.count) * block.mean;
        }
        passages.push_back({latencies / count, (blocks[first + joined].start - blocks[first].start) / count});
    }
    return passages;
}

/// Differences between neighbours.
struct Differences {
    std::vector<double> latency, gap;
};

Differences differences_of(std::span<Passage const> passages) {
    Differences differences;
    for (std::size_t at = 0; at + 1 < passages.size(); at += 2) {
        Passage const &one = passages[at], &next = passages[at + 1];
        if (!(one.gap >= 0.0 && next.gap >= 0.0)) { continue; } // a clock that went backwards
        differences.latency.push_back(next.latency - one.latency);
        differences.gap.push_back(next.gap - one.gap);
    }
    return differences;
}

double product(std::span<double const> left, std::span<double const> right) {
    return std::inner_product(left.begin(), left.end(), right.begin(), 0.0);
}

/// Number of random pairings of latencies with gaps, in either direction, that look as much like a closed loop.
int as_clear(Differences const& differences, double seen) {
    CounterRandom random{seed};
    std::vector<double> gaps = differences.gap;
    int clear = 0;
    for (int permutation = 0; permutation < permutations; ++permutation) {
        for (std::size_t left = gaps.size(); left > 0; --left) {
            auto const drawn = static_cast<std::size_t>(random.below(static_cast<int>(left)));
            std::swap(gaps[left - 1], gaps[drawn]);
            if (random.below(2) == 1) { gaps[left - 1] = -gaps[left - 1]; }
        }
        if (product(differences.latency, gaps) >= seen) { ++clear; }
    }
    return clear;
}

std::optional<WaitingSenders> seen_in(Differences const& differences) {
    if (differences.gap.size() < fewest_pairs) { return std::nullopt; }
    double const latencies = product(differences.latency, differences.latency);
    double const gaps = product(differences.gap, differences.gap);
    double const both = product(differences.latency, differences.gap);
    if (!(both > 0.0)) { return std::nullopt; }
    double const likeness = both / std::sqrt(latencies * gaps);
    if (likeness < least_likeness || as_clear(differences, both) > most_as_clear) { return std::nullopt; }
    return WaitingSenders{.connections = std::max(1.0, std::round(latencies / both)), .likeness = likeness};
}

/// Looks for them in blocks with times: c connections that wait for answers send every (latency + pause) / c (Little's
/// law), so that gaps grow with latencies, by 1/c. Looks at differences of neighbouring blocks, so that slow changes of
/// the load say nothing; tested by random permutations of them, with a seed.
/// Returns: nothing where the gaps do not grow, or too few blocks have times.
std::optional<WaitingSenders> waits_of_many(std::span<DigestBlock const> blocks) {
    std::optional<WaitingSenders> clearest;
    for (std::size_t const joined : {1U, 4U, 16U}) { // a block says something when every connection has sent in it
        auto const seen = seen_in(differences_of(passages_of(blocks, joined)));
        if (seen && (!clearest || seen->likeness > clearest->likeness)) { clearest = seen; }
    }
    return clearest;
}

std::uint64_t at_most(LatencyHistogram const& samples, double limit) {
    std::uint64_t sum = 0;
    samples.each([&](LatencyHistogram::Cell const& cell) { sum += cell.value <= limit ? cell.count : 0; });
    return sum;
}

/// From one request to the next, as most are; where most are sent together, the mean. 0 without times.
double gap_of(LatencyDigest const& samples) {
    if (!samples.has_times() || samples.gaps().empty()) { return 0.0; }
    double const median = samples.gaps().quantile(0.5);
    return median > 0.0 ? median : samples.gaps().mean();
}

/// Whether most samples longer than the interval were followed by a request as soon as their answer was back, and not
/// before. One that is sent at a random time comes then once in 25 at most; one that is sent on time, never.
bool waits_of_one(LatencyDigest const& samples, OmissionFinding const& finding) {
    constexpr double most = 0.5;
    LatencyHistogram const& waited = samples.waited_for();
    if (waited.empty()) { return false; }
    double const longer = static_cast<double>(waited.count() - at_most(waited, finding.interval));
    return longer >= most * static_cast<double>(finding.affected);
}

} // namespace

LatencyHistogram corrected_for_omission(LatencyHistogram const& samples, double interval) {
    check_request_interval(interval);
    check_sum(samples, interval);
    LatencyHistogram corrected{samples};
    if (samples.empty() || samples.most() < interval) { return corrected; }
    CellCounts added{interval, samples.most()};
    samples.each([&](LatencyHistogram::Cell const& cell) {
        Unsent const unsent{cell.value, interval};
        if (unsent.count() > 0.0) { added.add(unsent, cell.count); }
    });
    added.add_to(corrected);
    return corrected;
}

OmissionFinding find_omission(LatencyDigest const& samples, std::optional<double> interval) {
    if (interval) { check_request_interval(*interval); }
    OmissionFinding finding;
    LatencyHistogram const& values = samples.values();
    if (values.empty()) { return finding; }
    auto const look = [&](double connections) {
        finding.connections = connections;
        finding.interval = interval ? *interval : connections * gap_of(samples);
        finding.affected = finding.interval > 0.0 ? values.count() - at_most(values, finding.interval) : 0;
    };
    look(1.0);
    if (!(finding.interval > 0.0)) {
        finding.sign = OmissionSign::no_interval;
    } else if (finding.affected == 0) {
        finding.sign = OmissionSign::none_longer;
    } else if (!samples.has_times()) {
        finding.suspected = true;
        finding.sign = OmissionSign::longer;
    } else if (waits_of_one(samples, finding)) {
        finding.suspected = true;
        finding.sign = OmissionSign::sent_after_answer;
    } else if (auto const waited = waits_of_many(samples.blocks())) {
        look(waited->connections);
        finding.suspected = finding.affected > 0;
        finding.sign = finding.suspected ? OmissionSign::farther_apart : OmissionSign::none_longer_of_many;
    } else {
        finding.sign = OmissionSign::sent_on_time;
    }
    if (finding.suspected) { finding.missing = unsent_requests(values, finding.interval); }
    return finding;
}

} // namespace headroom::serving
