#include "comm/comm_candidates.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

/// Messages that one question may simulate: a second or two.
constexpr double most_messages = 20e6;

/// How many may still be simulated.
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
    throw InputError{Fault::usage,
                     {.where = network.domain > 0 ? network.name : "--link",
                      .problem = "no finite time for " + std::to_string(row.ranks) + " ranks",
                      .why = lacks ? "no link leaves a domain of " + std::to_string(network.domain) : "",
                      .hint = lacks ? "ask for fewer ranks" : "give a faster link"}};
}

/// Order by time. Of those equal to the least by nine digits the earliest row is the fastest.
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

/// Why there is nothing to show, when nothing is left.
[[noreturn]] void refuse_empty(CommReport const& report, int ranks) {
    CommQuestion const& question = report.question;
    std::string const over = question.movement + " over " + std::to_string(ranks) + " ranks";
    std::string const where = question.algorithms.empty() ? "--ranks" : "--algorithm";
    for (bool const too_long : {true, false}) {
        for (CommLeftOut const& one : report.left_out) {
            if (one.ranks != ranks || one.too_long != too_long) { continue; }
            refuse(where, "no time of " + one.algorithm + " for " + over, one.why,
                   too_long ? "ask for fewer ranks" : "ask for another algorithm");
        }
    }
    if (!question.network.torus.empty()) {
        refuse("--torus", "no algorithm of a torus for " + question.movement, "", "leave --torus out");
    }
    refuse(where, "none is left for " + over, "what is named needs another arrangement of the ranks",
           "give --torus for torus rows, --in-network for switches that add, --cluster for several levels");
}

void left_out_once(CommReport& report, CommLeftOut one) {
    bool const known = std::ranges::any_of(report.left_out, [&](CommLeftOut const& other) {
        return other.ranks == one.ranks && other.algorithm == one.algorithm;
    });
    if (!known) { report.left_out.push_back(std::move(one)); }
}

void add_rows(CommReport& report, std::vector<CommCandidate> const& candidates, int ranks, TotalBytes size,
              MessageBudget& budget) {
    CommQuestion const& question = report.question;
    std::size_t const first = report.rows.size();
    CollectiveCall const call = call_of(question, ranks, size);
    for (CommCandidate const& candidate : candidates) {
        bool const simulates =
            candidate.row != nullptr && (candidate.priced_by == PricedBy::simulated || question.simulate);
        bool const affordable = !simulates || budget.takes(candidate, call);
        if (!affordable) {
            left_out_once(
                report, {ranks, candidate.algorithm, "its messages are too many, or last too long, to simulate", true});
            if (candidate.priced_by == PricedBy::simulated) { continue; }
        }
        CommRow row = row_of(candidate, ranks, size);
        check_finite(row, question.network);
        if (simulates && affordable && question.simulate) {
            row.simulated = simulate(*candidate.row->schedule(call), call.layout, call.reduction);
        }
        report.rows.push_back(std::move(row));
    }
    if (report.rows.size() == first) { refuse_empty(report, ranks); }
    place(std::span{report.rows}.subspan(first));
}

/// Only formulas are followed over all sizes; messages would have to be simulated hundreds of times.
void add_crossovers(CommReport& report, std::vector<CommCandidate> const& candidates, int ranks) {
    CommQuestion const& question = report.question;
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
        report.crossovers.push_back({ranks, one.size, names[one.below], names[one.above], one.time});
    }
}

void answer_ranks(CommReport& report, int ranks, MessageBudget& budget) {
    std::vector<CommCandidate> const candidates = candidates_of(report.question, ranks, report.left_out);
    for (TotalBytes const size : sizes_of(report.question)) { add_rows(report, candidates, ranks, size, budget); }
    if (report.question.size.size > Bytes{}) { add_crossovers(report, candidates, ranks); }
}

} // namespace

std::string_view name_of(PricedBy by) {
    switch (by) {
    case PricedBy::closed_form: return "closed_form";
    case PricedBy::channels: return "channels";
    case PricedBy::simulated: return "simulated";
    case PricedBy::measured: return "measured";
    }
    return "";
}

std::string label_of(std::string const& algorithm, PricedBy by) {
    return by == PricedBy::closed_form ? algorithm : algorithm + " (" + std::string{name_of(by)} + ")";
}

CommReport answer_of(CommQuestion question, io::Catalog const& catalog, std::string calibration,
                     std::stop_token const& stop) {
    CommReport report{catalog, std::move(calibration), std::move(question), {}, {}, {}, {}, {}, {}, {}, {}, {}, true,
                      {}};
    MessageBudget budget;
    std::vector<int>& all = report.question.ranks;
    for (std::size_t i = 0; i < all.size() && report.complete; ++i) {
        answer_ranks(report, all[i], budget);
        if (report.question.levers.any()) { add_levers(report, all[i]); }
        bool const stopped = report.question.contention && !add_contention(report, all[i], stop);
        if (stopped || (stop.stop_requested() && i + 1 < all.size())) {
            report.complete = false;
            all.resize(i + 1);
        }
    }
    report.nccl = nccl_of(report.question, catalog);
    if (!report.question.measured.empty()) { add_measured(report); }
    return report;
}

} // namespace headroom::cli
