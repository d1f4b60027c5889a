#include "rebuilt_service.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

namespace headroom::serving {

std::optional<LatencyHistogram> rebuilt_services(std::span<SentRequest const> requests, int servers) {
    constexpr double most_negative = 0.005; // of all time in service
    std::vector<SentRequest> sent(requests.begin(), requests.end());
    std::ranges::stable_sort(sent, {}, &SentRequest::sent);
    std::priority_queue<double, std::vector<double>, std::greater<>> ends; // of those that started last on each server
    LatencyHistogram services;
    double negative = 0.0, total = 0.0;
    for (SentRequest const& one : sent) {
        double start = one.sent;
        if (ends.size() == static_cast<std::size_t>(servers)) {
            start = std::max(start, ends.top());
            ends.pop();
        }
        double const end = one.sent + one.latency, service = end - start;
        ends.push(end);
        (service < 0.0 ? negative : total) += std::abs(service);
        services.record(std::max(service, 0.0));
    }
    bool const fits = total > 0.0 && negative <= most_negative * total;
    return fits ? std::optional{std::move(services)} : std::nullopt;
}

} // namespace headroom::serving
