#include "closed_loop.hpp"
#include "unsent_requests.hpp"

#include "headroom/serving/latency_statistics.hpp"

namespace headroom::serving {
namespace {

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
