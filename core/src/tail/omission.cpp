#include "tail/closed_loop.hpp"

#include "headroom/error.hpp"
#include "headroom/latency_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom {
namespace {

constexpr double most_counted = 0x1p53; ///< counts beyond it have no double

/// The requests that were not sent while one took `value`: value - i, value - 2i, ... down to i.
class LeftOut {
public:
    LeftOut(double value, double interval) : value_{value}, interval_{interval} {
        double const all = std::floor(value / interval) - 1.0;
        // value - count * interval >= interval, as the subtraction rounds
        count_ = std::max(0.0, all);
        if (count_ > 0.0 && latency(count_) < interval) { count_ -= 1.0; }
    }

    [[nodiscard]] double count() const { return count_; }
    [[nodiscard]] double latency(double number) const { return value_ - number * interval_; }
    [[nodiscard]] double shortest() const { return latency(count_); }
    [[nodiscard]] double longest() const { return latency(1.0); }
    /// How many take this long and longer.
    [[nodiscard]] double from(double latency) const {
        return std::clamp(std::floor((value_ - latency) / interval_), 0.0, count_);
    }

private:
    double value_, interval_;
    double count_ = 0.0;
};

/// Adds them `times` over, cell by cell: no more steps than there are cells, nor than there are requests.
void record(LatencyHistogram& into, LeftOut const& left_out, std::uint64_t times) {
    double longer = left_out.count(), low = left_out.shortest();
    while (longer > 0.0) {
        double const end = LatencyHistogram::cell_of(low).high;
        double const beyond = std::min(longer, left_out.from(end));
        into.record(low, static_cast<std::uint64_t>(longer - beyond) * times);
        longer = beyond;
        low = std::max(end, left_out.latency(longer)); // empty cells are stepped over
    }
}

void check_interval(double interval) {
    if (interval > 0.0 && std::isfinite(interval)) { return; }
    throw InputError{
        Fault::usage,
        {.where = "interval", .problem = "it is above zero", .hint = "give the time between requests, e.g. 1 ms"}};
}

double left_out_of(LatencyHistogram const& samples, double interval) {
    double sum = 0.0;
    samples.each([&](LatencyHistogram::Cell const& cell) {
        sum += LeftOut{cell.value, interval}.count() * static_cast<double>(cell.count);
    });
    return sum;
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
    check_interval(interval);
    if (!(left_out_of(samples, interval) + static_cast<double>(samples.count()) < most_counted)) {
        throw InputError{Fault::usage,
                         {.where = "interval",
                          .problem = "more than 2^53 requests would have been left out",
                          .why = "it is too short for samples this long",
                          .hint = "give it in the unit of the samples"}};
    }
    LatencyHistogram corrected{samples};
    samples.each([&](LatencyHistogram::Cell const& cell) {
        record(corrected, LeftOut{cell.value, interval}, cell.count);
    });
    return corrected;
}

OmissionFinding find_omission(LatencyDigest const& samples, std::optional<double> interval) {
    if (interval) { check_interval(*interval); }
    OmissionFinding finding;
    LatencyHistogram const& values = samples.values();
    if (values.empty()) {
        finding.why = "no sample";
        return finding;
    }
    auto const look = [&](double connections) {
        finding.connections = connections;
        finding.interval = interval ? *interval : connections * gap_of(samples);
        finding.affected = finding.interval > 0.0 ? values.count() - at_most(values, finding.interval) : 0;
    };
    look(1.0);
    if (!(finding.interval > 0.0)) {
        finding.why = "without times of requests, or the interval between them, nothing can be said";
    } else if (finding.affected == 0) {
        finding.why = "no sample is longer than the interval between requests";
    } else if (!samples.has_times()) {
        finding.suspected = true;
        finding.why = "samples are longer than the interval, and no times tell whether requests waited for them";
    } else if (waits_of_one(samples, finding)) {
        finding.suspected = true;
        finding.why = "after samples longer than the interval, the next request was sent when the answer was back";
    } else if (auto const waited = waits_of_many(samples.blocks())) {
        look(waited->connections);
        finding.suspected = finding.affected > 0;
        finding.why = finding.suspected
                          ? "requests were sent farther apart while answers took longer, as by connections that wait"
                          : "no sample is longer than the interval between requests of a connection";
    } else {
        finding.why = "requests were sent while answers were still missing, and as often while those took long";
    }
    if (finding.suspected) { finding.missing = left_out_of(values, finding.interval); }
    return finding;
}

} // namespace headroom
