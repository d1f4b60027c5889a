#include "queue/queue_report.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {

/// The fewest that keep an objective: by closed form, or by halving over simulated queues, between the best that one
/// line gives and the worst of chance.
std::optional<int> fewest_replicas(QueueQuestion const& question, LatencyObjective const& objective) {
    ServedQueue queue = question.queue;
    if (answer_of(queue_with(question, 2, queue.load.arrivals_per_second))) { return servers_for(queue, objective); }
    queue.dispatch = Dispatch::random;
    auto const enough = servers_for(queue, objective);
    if (!enough) { return std::nullopt; }
    QueueQuestion asked = question;
    asked.objective = objective;
    double const arrivals = question.queue.load.arrivals_per_second;
    int high = *enough,
        low = static_cast<int>(std::floor(
            arrivals / capacity_of_server(question.queue.load, question.queue.shape))); // too few for the load
    while (high - low > 1) {
        int const middle = low + (high - low) / 2;
        (*queue_row(asked, middle, arrivals).keeps ? high : low) = middle;
    }
    return high;
}

/// The one that was stated; of several the fewest that keep the objective, or without one those from which on more
/// replicas shorten p99 no further. Where none of the list does, its last.
int answered_replicas(QueueReport const& report) {
    QueueQuestion const& question = report.question;
    if (question.stated_replicas && question.replicas.size() == 1) { return question.replicas.front(); }
    auto const& wanted = question.objective ? report.fewest : report.enough;
    if (wanted && !question.stated_replicas) { return *wanted; }
    if (wanted) {
        for (int const count : question.replicas) {
            if (count >= *wanted) { return count; }
        }
    }
    return question.replicas.back();
}

/// What is listed: as stated when several were, else around the answer.
std::vector<int> listed_replicas(QueueReport const& report, int answered) {
    QueueQuestion const& question = report.question;
    if (question.stated_replicas && question.replicas.size() > 1) { return question.replicas; }
    std::vector<int> counts = question.replicas;
    double const least = std::floor(question.queue.load.arrivals_per_second /
                                    capacity_of_server(question.queue.load, question.queue.shape)) +
                         1.0;
    double const last = std::max(2.0 * answered, 1.5 * least);
    for (int step = 0; step <= 8; ++step) {
        counts.push_back(static_cast<int>(std::lround(least * std::pow(last / least, step / 8.0))));
    }
    counts.push_back(answered);
    if (answered > least) { counts.push_back(answered - 1); }
    if (report.fewest) { counts.push_back(*report.fewest); }
    auto const& places = question.queue.shape.places;
    std::erase_if(counts, [&](int count) { return count < 1 || count > last || (places && count > *places); });
    counts.push_back(answered);
    std::ranges::sort(counts);
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
}

} // namespace headroom::cli
