#include "queue_rows.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::serving {

std::optional<int> fewest_replicas(QueueQuestion const& question, LatencyObjective const& objective) {
    ServedQueue queue = question.queue;
    double const arrivals = queue.load.arrivals_per_second;
    double const of_one = capacity_of_server(queue.load, queue.shape);
    bool const lonely = queue.shape.places && *queue.shape.places < 2 && queue.dispatch == Dispatch::shared_line;
    ServedQueue const few = queue_with(question, lonely ? 1 : 2, of_one); // stands for any number of them
    bool const bounded = queue.shape.places && queue.dispatch == Dispatch::shared_line;
    bool const other_losses = bounded && queue.load.arrival_variation != 1.0; // exact for some counts only
    if (near_answer(few) && !other_losses) { return servers_for(queue, objective); }
    if (!answer_of(few)) { queue.dispatch = Dispatch::random; }
    auto const enough = servers_for(queue, objective);
    if (!enough && (!other_losses || service_quantile(question, objective.q) > objective.latency)) {
        return std::nullopt;
    }
    QueueQuestion asked = question;
    asked.objective = objective;
    auto const kept_by = [&](int count) { return *queue_row(asked, count, arrivals).keeps; };
    int low = queue.shape.places ? 0 : static_cast<int>(std::floor(arrivals / of_one)); // too few for the load
    int high = enough.value_or(low + 1);
    for (int const most = bounded ? *queue.shape.places : high * 1024; !kept_by(high);
         high = std::min(2 * high, most)) {
        if (high >= most) { return std::nullopt; }
        low = high;
    }
    while (high - low > 1) {
        int const middle = low + (high - low) / 2;
        (kept_by(middle) ? high : low) = middle;
    }
    return high;
}

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

} // namespace headroom::serving
