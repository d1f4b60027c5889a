#include "comm_candidates.hpp"

#include <algorithm>

namespace headroom::network {
namespace {

bool has_nccl(CommQuestion const& question) {
    return question.nccl && question.network.cluster && !question.network.pod;
}

} // namespace

std::vector<CommNccl> nccl_of(CommQuestion const& question) {
    std::vector<CommNccl> all;
    if (!has_nccl(question) || !question.collective) { return all; }
    for (int const ranks : question.ranks) {
        if (ranks < 2) { continue; }
        for (TotalBytes const size : sizes_of(question)) {
            auto choice =
                nccl_choice(*question.nccl, *question.network.cluster, Ranks{ranks}, *question.collective, size);
            if (choice) { all.push_back({ranks, size, std::move(*choice)}); }
        }
    }
    return all;
}

void add_measured(CommAnswer& answer) {
    CommQuestion const& question = answer.question;
    Collective const collective = *question.collective;
    for (MeasuredCollective const& row : question.measured) {
        if (row.collective != collective || std::ranges::find(question.ranks, row.ranks) == question.ranks.end()) {
            ++answer.measured_elsewhere;
            continue;
        }
        CommMeasured one{row, cheapest(question, collective, row.size, row.ranks), {}};
        if (has_nccl(question) && row.ranks > 1) {
            auto const choice =
                nccl_choice(*question.nccl, *question.network.cluster, Ranks{row.ranks}, collective, row.size);
            if (choice) { one.nccl = choice->seconds; }
        }
        answer.measured.push_back(std::move(one));
    }
    std::ranges::stable_sort(answer.measured, {}, [](CommMeasured const& one) {
        return std::pair{one.measured.ranks, one.measured.size.size.base()};
    });
    if (answer.measured.empty()) { throw CommRefused{CommRefusal::not_measured}; }
}

} // namespace headroom::network
