#include "batch_service.hpp"
#include "finite_tail.hpp"
#include "found_states.hpp"
#include "single_server_tail.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/queue_choices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace headroom::serving {
namespace {

/// One of the lines alone.
struct Line {
    QueueLoad load;
    QueueShape shape;
};

QueueShape shape_of_line(QueueShape shape) {
    if (shape.places) {
        if (*shape.places % shape.servers != 0) {
            refuse("places",
                   std::to_string(*shape.places) + " do not divide among " + std::to_string(shape.servers) + " lines",
                   "each line has its part", "give a multiple");
        }
        shape.places = *shape.places / shape.servers;
    }
    shape.servers = 1;
    return shape;
}

std::optional<Line> line_of(ServedQueue const& queue) {
    if (queue.dispatch == Dispatch::shared_line) { return Line{queue.load, queue.shape}; }
    auto const load = load_of_line(queue.load, queue.shape.servers, queue.dispatch);
    if (!load) { return std::nullopt; }
    return Line{*load, shape_of_line(queue.shape)};
}

bool keeps(ServedQueue const& queue, LatencyObjective const& objective) {
    auto const answer = answer_of(queue);
    if (!answer || !answer->stable || answer->blocked > objective.blocked) { return false; }
    return *quantile_of(queue, objective.q) <= objective.latency;
}

/// Room that is a line's own grows with the lines.
ServedQueue with_servers(ServedQueue queue, int servers) {
    if (queue.shape.places && queue.dispatch != Dispatch::shared_line) {
        int const each = *queue.shape.places / queue.shape.servers;
        queue.shape.places = std::min(each, std::numeric_limits<int>::max() / servers) * servers;
    }
    queue.shape.servers = servers;
    return queue;
}

ScaleChoice choice_of(Scaling scaling, ServedQueue const& queue) {
    return {scaling, queue, *answer_of(queue), *quantile_of(queue, 0.5), *quantile_of(queue, 0.99)};
}

} // namespace

// ---- a line for each server ---------------------------------------------------------------------------------------

std::optional<QueueLoad> load_of_line(QueueLoad const& load, int lines, Dispatch dispatch) {
    if (lines < 1) { refuse("lines", "fewer than one", "", "give at least one"); }
    QueueLoad one = load;
    one.arrivals_per_second /= lines;
    switch (dispatch) {
    case Dispatch::shared_line: return load;
    case Dispatch::random: one.arrival_variation = 1.0 + (load.arrival_variation - 1.0) / lines; return one;
    case Dispatch::round_robin: one.arrival_variation = load.arrival_variation / lines; return one;
    case Dispatch::two_choices:
    case Dispatch::shortest_line: break;
    }
    if (lines == 1) { return load; } // nothing to choose between
    return std::nullopt;
}

std::optional<QueueAnswer> answer_of(ServedQueue const& queue) {
    auto const line = line_of(queue);
    if (!line) { return std::nullopt; }
    QueueAnswer answer = queue_answer(line->load, line->shape);
    double const lines = static_cast<double>(queue.shape.servers) / line->shape.servers;
    bool const thrown = queue.dispatch == Dispatch::random && lines > 1.0 && line->load.arrival_variation != 1.0;
    if (thrown && answer.method == QueueMethod::exact) { answer.method = QueueMethod::geometric_tail; } // gaps no gamma
    answer.throughput_per_second *= lines;
    answer.waiting *= lines;
    answer.present *= lines;
    return answer;
}

std::optional<Seconds> quantile_of(ServedQueue const& queue, double q) {
    auto const line = line_of(queue);
    if (!line) { return std::nullopt; }
    if (queue.service == nullptr || line->shape.batch > 1) {
        Seconds const usual = latency_quantile(line->load, line->shape, q); // refuses what it cannot take
        if (!queueing::has_found_states(line->load, line->shape)) { return usual; }
        return queueing::finite_quantile(line->load, line->shape, q);
    }
    QueueAnswer const answer = queue_answer(line->load, line->shape);
    double const scale = line->load.service.base() / queue.service->mean();
    if (queueing::is_single_server(line->load, line->shape)) {
        return queueing::single_server_quantile(answer.utilization, queueing::tail_of(*queue.service, scale), q,
                                                answer.latency.base() * -std::log1p(-q));
    }
    return measured_quantile(answer, *queue.service, scale, q);
}

std::optional<int> servers_for(ServedQueue const& queue, LatencyObjective const& objective, int most) {
    if (queue.dispatch == Dispatch::shared_line && queue.service == nullptr && !queue.shape.places) {
        return servers_for(queue.load, queue.shape, objective, most);
    }
    bool const bounded = queue.shape.places && queue.dispatch == Dispatch::shared_line;
    if (bounded) { most = std::min(most, *queue.shape.places); } // one for whom there is no place serves none
    int enough = 1, too_few = 0;                                 // found by doubling, then halved
    while (enough < most && !keeps(with_servers(queue, enough), objective)) {
        too_few = enough;
        enough = enough > most / 2 ? most : enough * 2;
    }
    if (!keeps(with_servers(queue, enough), objective)) { return std::nullopt; }
    while (enough - too_few > 1) {
        int const middle = too_few + (enough - too_few) / 2;
        (keeps(with_servers(queue, middle), objective) ? enough : too_few) = middle;
    }
    return enough;
}

double capacity_of_server(QueueLoad const& load, QueueShape shape) {
    shape.servers = 1;
    return queueing::capacity(load, shape);
}

// ---- faster, or more ----------------------------------------------------------------------------------------------

std::string_view name_of(Scaling scaling) {
    switch (scaling) {
    case Scaling::present: return "present";
    case Scaling::up: return "up";
    case Scaling::shared_out: return "out_shared_line";
    case Scaling::own_out: return "out_own_lines";
    }
    return {};
}

std::vector<ScaleChoice> scale_choices(ServedQueue const& present, double factor) {
    if (!(factor > 1.0)) { refuse("factor", "not above 1", "", "say how many times as fast, e.g. 2"); }
    double const more = present.shape.servers * factor;
    if (more != std::floor(more) || more > std::numeric_limits<int>::max()) {
        refuse("factor", "makes no whole number of servers", "they are compared at the same price",
               "give a factor that does, e.g. 2");
    }
    ServedQueue up = present;
    up.load.service /= factor;
    ServedQueue shared = with_servers(present, static_cast<int>(more)), own = shared;
    shared.dispatch = Dispatch::shared_line;
    own.dispatch = Dispatch::random;
    return {choice_of(Scaling::present, present), choice_of(Scaling::up, up), choice_of(Scaling::shared_out, shared),
            choice_of(Scaling::own_out, own)};
}

std::optional<double> variation_where_more_win(QueueLoad const& load, int servers, double factor) {
    QueueLoad exponential = load;
    exponential.arrival_variation = exponential.service_variation = 1.0;
    QueueLoad fast = exponential;
    fast.service /= factor;
    auto const up = queue_answer(fast, {.servers = servers});
    auto const out = queue_answer(exponential, {.servers = static_cast<int>(servers * factor)});
    if (!up.stable || !out.stable || !(up.wait > out.wait)) { return std::nullopt; }
    double const both = 2.0 * ((load.service - fast.service) / (up.wait - out.wait)); // c_a^2 + c_s^2
    return std::max(0.0, both - load.arrival_variation);
}

} // namespace headroom::serving
