#include "comm_candidates.hpp"

#include "headroom/network/comparison.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::network {
namespace {

/// Messages that one question may simulate: they take a second or two.
constexpr double most_messages = 20e6;

/// Number of messages that may still be simulated.
class MessageBudget {
public:
    bool takes(CommCandidate const& candidate, CollectiveCall const& call) {
        auto const messages = messages_of(*candidate.row, call);
        if (!messages || *messages > left_) { return false; }
        left_ -= *messages;
        return true;
    }

private:
    double left_ = most_messages;
};

CommRow row_of(CommCandidate const& candidate, int ranks, TotalBytes size) {
    CommRow row{.collective = candidate.collective,
                .algorithm = candidate.algorithm,
                .source = candidate.source,
                .holds_for = candidate.holds_for,
                .priced_by = candidate.priced_by,
                .ranks = ranks,
                .size = size,
                .time = candidate.time(size),
                .adding_modelled = candidate.adding_modelled,
                .bus_bandwidth = {},
                .lower_bound = candidate.lower_bound(size),
                .parts = {},
                .simulated = {}};
    Seconds const total = row.time.total();
    if (candidate.bus_factor && total > Seconds{}) { row.bus_bandwidth = *candidate.bus_factor * size.size / total; }
    if (candidate.parts) { row.parts = candidate.parts(size); }
    return row;
}

/// A cluster may lack a level that a group of these ranks needs, and a link may be slower than any number.
void check_finite(CommRow const& row, CommNetwork const& network) {
    if (std::isfinite(row.time.total().base())) { return; }
    bool const lacks = network.domain > 0 && row.ranks > network.domain;
    throw CommRefused{lacks ? CommRefusal::no_outer_link : CommRefusal::no_finite_time, row.ranks};
}

/// Orders rows by time. Of those equal to the least by nine digits the earliest is the fastest.
void place(std::span<CommRow> rows) {
    std::vector<CommRow*> order;
    order.reserve(rows.size());
    for (CommRow& row : rows) { order.push_back(&row); }
    std::ranges::stable_sort(order, {}, [](CommRow const* row) { return row->time.total(); });
    Seconds const least = order.front()->time.total();
    auto best = order.begin();
    for (auto one = best; one != order.end() && (1.0 - 1e-9) * (*one)->time.total() <= least; ++one) {
        if (*one < *best) { best = one; }
    }
    std::rotate(order.begin(), best, best + 1);
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i]->place = static_cast<int>(i);
        order[i]->fastest = i == 0;
    }
}

/// The first algorithm that has no time, those with too many messages before the others.
[[noreturn]] void refuse_empty(CommAnswer const& answer, int ranks) {
    CommRefused refused{CommRefusal::no_row, ranks};
    for (bool const too_many : {true, false}) {
        for (CommLeftOut const& one : answer.left_out) {
            bool const wanted = one.ranks == ranks && (one.why == CommWhyNot::too_many_messages) == too_many;
            if (wanted && !refused.left_out) { refused.left_out = one; }
        }
    }
    throw refused;
}

void left_out_once(CommAnswer& answer, CommLeftOut one) {
    bool const known = std::ranges::any_of(answer.left_out, [&](CommLeftOut const& other) {
        return other.ranks == one.ranks && other.algorithm == one.algorithm;
    });
    if (!known) { answer.left_out.push_back(std::move(one)); }
}

void add_rows(CommAnswer& answer, std::vector<CommCandidate> const& candidates, int ranks, TotalBytes size,
              MessageBudget& budget) {
    CommQuestion const& question = answer.question;
    std::size_t const first = answer.rows.size();
    CollectiveCall const call = call_of(question, ranks, size);
    for (CommCandidate const& candidate : candidates) {
        bool const simulates =
            candidate.row != nullptr && (candidate.priced_by == PricedBy::simulated || question.simulate);
        bool const affordable = !simulates || budget.takes(candidate, call);
        if (!affordable) {
            left_out_once(answer, {ranks, candidate.algorithm, CommWhyNot::too_many_messages});
            if (candidate.priced_by == PricedBy::simulated) { continue; }
        }
        CommRow row = row_of(candidate, ranks, size);
        check_finite(row, question.network);
        if (simulates && affordable && question.simulate) {
            row.simulated = simulate(*candidate.row->schedule(call), call.layout, call.reduction);
        }
        answer.rows.push_back(std::move(row));
    }
    if (answer.rows.size() == first) { refuse_empty(answer, ranks); }
    place(std::span{answer.rows}.subspan(first));
}

/// Follows formulas over all sizes. Simulated algorithms are left out: they would be simulated hundreds of times.
void add_crossovers(CommAnswer& answer, std::vector<CommCandidate> const& candidates, int ranks) {
    CommQuestion const& question = answer.question;
    std::vector<TimeOfSize> times;
    std::vector<std::string> names;
    for (CommCandidate const& one : candidates) {
        if (one.priced_by == PricedBy::simulated) { continue; }
        times.emplace_back([&one](TotalBytes n) { return one.time(n).total(); });
        names.push_back(label_of(one.algorithm, one.priced_by));
    }
    TotalBytes const from{std::min(question.size.size, 1.0 * units::KiB)};
    TotalBytes const to{std::max(question.size.size, 1.0 * units::TiB)};
    for (Crossover const& one : crossovers(times, from, to)) {
        answer.crossovers.push_back({ranks, one.size, names[one.below], names[one.above], one.time});
    }
}

void answer_ranks(CommAnswer& answer, int ranks, MessageBudget& budget) {
    std::vector<CommCandidate> const candidates = candidates_of(answer.question, ranks, answer.left_out);
    for (TotalBytes const size : sizes_of(answer.question)) { add_rows(answer, candidates, ranks, size, budget); }
    if (answer.question.size.size > Bytes{}) { add_crossovers(answer, candidates, ranks); }
}

} // namespace

CommAnswer comm_answer(CommQuestion question, std::stop_token const& stop) {
    CommAnswer answer;
    answer.question = std::move(question);
    MessageBudget budget;
    std::vector<int>& all = answer.question.ranks;
    for (std::size_t i = 0; i < all.size() && answer.complete; ++i) {
        answer_ranks(answer, all[i], budget);
        if (answer.question.levers.any()) { add_levers(answer, all[i]); }
        bool const stopped = answer.question.contention && !add_contention(answer, all[i], stop);
        if (stopped || (stop.stop_requested() && i + 1 < all.size())) {
            answer.complete = false;
            all.resize(i + 1);
        }
    }
    answer.nccl = nccl_of(answer.question);
    if (!answer.question.measured.empty()) { add_measured(answer); }
    return answer;
}

} // namespace headroom::network
