#pragma once

#include "headroom/network/comm_answer.hpp"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace headroom::network {

/// An algorithm that can move the data of a question over a number of ranks.
struct CommCandidate {
    std::string collective, algorithm, source, holds_for;
    PricedBy priced_by = PricedBy::closed_form;
    std::function<CollectiveTime(TotalBytes)> time;
    std::function<Seconds(TotalBytes)> lower_bound;
    std::optional<double> bus_factor;
    bool adding_modelled = true;
    std::function<ActorLearnerTime(TotalBytes)> parts = {};
    CollectiveAlgorithm const* row = nullptr; ///< of the table; null for libraries and servers
};

/// Every candidate for a number of ranks; those without a formula there are simulated. Algorithms that have no time there
/// are added to `left_out`.
std::vector<CommCandidate> candidates_of(CommQuestion const& question, int ranks, std::vector<CommLeftOut>& left_out);

/// The call of an algorithm of the table.
CollectiveCall call_of(CommQuestion const& question, int ranks, TotalBytes size);

/// Largest number of messages of a schedule; empty where picoseconds cannot count its time.
std::optional<double> messages_of(CollectiveAlgorithm const& row, CollectiveCall const& call);

/// The fastest formula for a collective of this question's network.
/// Errors: CommRefused where there is none.
CommPriced cheapest(CommQuestion const& question, Collective collective, TotalBytes size, int ranks);

// Parts of the answer that are asked for by options.
std::vector<CommNccl> nccl_of(CommQuestion const& question);
void add_levers(CommAnswer& answer, int ranks);
/// False where it was stopped before its end; then nothing is added.
bool add_contention(CommAnswer& answer, int ranks, std::stop_token const& stop);
void add_measured(CommAnswer& answer);

} // namespace headroom::network
