#include "comm/comm_candidates.hpp"

#include "headroom/error.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

/// The ranks that one collective of the logs was measured at, for the line that says what else they hold.
std::string held_words(std::vector<io::BenchmarkLog> const& logs, Collective collective) {
    std::vector<int> ranks;
    for (io::BenchmarkLog const& log : logs) {
        for (MeasuredCollective const& row : log.rows) {
            if (row.collective == collective) { ranks.push_back(row.ranks); }
        }
    }
    if (ranks.empty()) { return "they are of other collectives"; }
    std::ranges::sort(ranks);
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    std::string text = "there are rows of";
    for (std::size_t i = 0; i < std::min<std::size_t>(ranks.size(), 8); ++i) {
        text += (i > 0 ? ", " : " ") + std::to_string(ranks[i]);
    }
    return text + " ranks";
}

} // namespace

std::vector<CommNccl> nccl_of(CommQuestion const& question, io::Catalog const& catalog) {
    std::vector<CommNccl> all;
    if (!question.network.cluster || !question.collective || question.network.pod) { return all; }
    NcclTuning const tuning = catalog.nccl_tuning();
    for (int const ranks : question.ranks) {
        if (ranks < 2) { continue; }
        for (TotalBytes const size : sizes_of(question)) {
            auto choice = nccl_choice(tuning, *question.network.cluster, Ranks{ranks}, *question.collective, size);
            if (choice) { all.push_back({ranks, size, std::move(*choice)}); }
        }
    }
    return all;
}

void add_measured(CommReport& report) {
    CommQuestion const& question = report.question;
    Collective const collective = *question.collective;
    std::optional<NcclTuning> tuning;
    if (question.network.cluster && !question.network.pod) { tuning = report.catalog.nccl_tuning(); }
    for (io::BenchmarkLog const& log : question.measured) {
        for (MeasuredCollective const& row : log.rows) {
            if (row.collective != collective || std::ranges::find(question.ranks, row.ranks) == question.ranks.end()) {
                ++report.measured_elsewhere;
                continue;
            }
            CommMeasured one{row, cheapest(question, collective, row.size, row.ranks), {}};
            if (tuning && row.ranks > 1) {
                auto const choice =
                    nccl_choice(*tuning, *question.network.cluster, Ranks{row.ranks}, collective, row.size);
                if (choice) { one.nccl = choice->seconds; }
            }
            report.measured.push_back(std::move(one));
        }
    }
    std::ranges::stable_sort(report.measured, {}, [](CommMeasured const& one) {
        return std::pair{one.measured.ranks, one.measured.size.size.base()};
    });
    if (report.measured.empty()) {
        throw InputError{Fault::insufficient,
                         {.where = "--measured",
                          .problem = "no row of " + question.movement + " over the ranks asked about",
                          .why = held_words(question.measured, collective),
                          .hint = "ask for ranks that were measured"}};
    }
}

} // namespace headroom::cli
