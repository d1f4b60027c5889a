#pragma once

#include "comm/comm_report.hpp"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace headroom::cli {

/// One way to move the data of a question over a number of ranks.
struct CommCandidate {
    std::string collective, algorithm, source, holds_for;
    PricedBy priced_by = PricedBy::closed_form;
    std::function<CollectiveTime(TotalBytes)> time;
    std::function<Seconds(TotalBytes)> lower_bound;
    std::optional<double> bus_factor;
    bool adding_modelled = true;
    std::function<ActorLearnerTime(TotalBytes)> parts = {};
    CollectiveAlgorithm const* row = nullptr; ///< of the table; none for what libraries and servers do
};

/// Every way for so many ranks; what has no formula there is to be simulated. Left out are added to `left_out`.
std::vector<CommCandidate> candidates_of(CommQuestion const& question, int ranks, std::vector<CommLeftOut>& left_out);

/// The call of an algorithm of the table.
CollectiveCall call_of(CommQuestion const& question, int ranks, TotalBytes size);

/// Messages that a schedule has at most, and whether picoseconds can count its time. Empty: they cannot.
std::optional<double> messages_of(CollectiveAlgorithm const& row, CollectiveCall const& call);

/// The fastest formula for a collective of this question's network.
/// Errors: InputError{usage} where there is none.
CommPriced cheapest(CommQuestion const& question, Collective collective, TotalBytes size, int ranks);

// What else may be asked.
std::vector<CommNccl> nccl_of(CommQuestion const& question, io::Catalog const& catalog);
void add_levers(CommReport& report, int ranks);
/// Whether it came to its end before somebody asked to stop; else nothing is added.
bool add_contention(CommReport& report, int ranks, std::stop_token const& stop);
void add_measured(CommReport& report);

} // namespace headroom::cli
