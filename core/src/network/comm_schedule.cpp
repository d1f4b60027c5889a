#include "comm_candidates.hpp"

#include <algorithm>

namespace headroom::network {
namespace {

/// Messages of a schedule that is written.
constexpr double most_written = 1e6;

CollectiveAlgorithm const* algorithm_of(CommRow const& row) {
    for (CollectiveAlgorithm const& one : collective_algorithms()) {
        if (row.collective == name_of(one.collective) && row.algorithm == one.name) { return &one; }
    }
    return nullptr;
}

} // namespace

CommSchedule comm_schedule(CommAnswer const& answer) {
    std::vector<CommRow const*> order;
    for (CommRow const& row : answer.rows) { order.push_back(&row); }
    std::ranges::sort(order, {}, &CommRow::place);
    for (CommRow const* row : order) {
        CollectiveAlgorithm const* algorithm = algorithm_of(*row);
        if (row->priced_by == PricedBy::channels || algorithm == nullptr) { continue; }
        CollectiveCall const call = call_of(answer.question, row->ranks, row->size);
        auto const messages = messages_of(*algorithm, call);
        if (!messages) { throw CommRefused{CommRefusal::schedule_too_long, row->ranks, row->algorithm}; }
        if (*messages > most_written) { throw CommRefused{CommRefusal::too_many_to_write, row->ranks, row->algorithm}; }
        return {row, call, algorithm->schedule(call)};
    }
    throw CommRefused{CommRefusal::no_messages};
}

} // namespace headroom::network
