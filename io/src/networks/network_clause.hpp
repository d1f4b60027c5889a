#pragma once

// Clauses of a text about networks: one network each, or a part of the statement before.

#include "networks/network_text.hpp"
#include "networks/network_words.hpp"

namespace headroom::io {

/// Gbit/s that no accelerator goes beyond.
inline constexpr double most_of_accelerator = 800.0;

/// Things that a rate or a count is stated for.
enum class ClauseScope { none, node, accelerator };

struct ClauseRate {
    double gigabits = 0.0;
    NetworkWord word;
};

struct NetworkClause {
    std::vector<ClauseRate> rates;
    double generation = 0.0; ///< Gbit/s of a NIC of the generation that is named
    double count = 0.0, ports = 1.0;
    double sharers = 1.0; ///< accelerators that each of them is for: "1 NIC per 2 GPUs"
    ClauseScope scope = ClauseScope::none;
    std::string family = {};
    bool rdma = false;
    bool inside = false;                 ///< names a link inside a node
    bool compute = false, other = false; ///< labels
    std::vector<NetworkRule> rules;
    std::vector<NetworkWord> left_over;

    [[nodiscard]] bool has_rate() const { return !rates.empty() || generation > 0.0; }
    [[nodiscard]] bool is_network() const { return has_rate() || !family.empty() || rdma; }
    [[nodiscard]] bool is_inside() const { return inside && family.empty() && generation <= 0.0 && !rdma; }
    [[nodiscard]] bool is_empty() const { return !is_network() && nics() <= 0.0; }
    /// NICs that are counted; 0 where none are.
    [[nodiscard]] double nics() const { return count > 0.0 ? count * ports : ports > 1.0 ? ports : 0.0; }
    /// Adds what another clause states and this one does not.
    void join(NetworkClause const& before);
};

struct ClauseReading {
    std::vector<NetworkClause> clauses;
    std::vector<NetworkWord> left_over; ///< words, and numbers that are neither rate nor count
    bool gigabit_alone = false;         ///< "Gigabit Ethernet" without a number
};
ClauseReading read_clauses(std::string_view text);

} // namespace headroom::io
