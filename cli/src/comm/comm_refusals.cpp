#include "comm/comm_question.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <set>

namespace headroom::cli {

using namespace headroom::network;

namespace {

std::string over_ranks(CommRefused const& refused, CommQuestion const& question) {
    return question.movement + " over " + std::to_string(refused.ranks) + " ranks";
}

ErrorText no_row_text(CommRefused const& refused, CommQuestion const& question) {
    std::string const where = question.algorithms.empty() ? "--ranks" : "--algorithm";
    std::string const over = over_ranks(refused, question);
    if (refused.left_out) {
        bool const too_many = refused.left_out->why == CommWhyNot::too_many_messages;
        return {where, "no time of " + refused.left_out->algorithm + " for " + over, words_of(*refused.left_out),
                too_many ? "ask for fewer ranks" : "ask for another algorithm"};
    }
    if (!question.network.torus.empty()) {
        return {"--torus", "no algorithm of a torus for " + question.movement, "", "leave --torus out"};
    }
    return {where, "none is left for " + over, "what is named needs another arrangement of the ranks",
            "give --torus for torus rows, --in-network for switches that add, --cluster for several levels"};
}

/// Ranks that measured times of the collective have.
ErrorText not_measured_text(CommQuestion const& question) {
    std::set<int> ranks;
    for (MeasuredCollective const& row : question.measured) {
        if (row.collective == question.collective) { ranks.insert(row.ranks); }
    }
    constexpr std::size_t most_named = 8;
    std::string held;
    std::size_t named = 0;
    for (auto one = ranks.begin(); one != ranks.end() && named < most_named; ++one, ++named) {
        held += (held.empty() ? " " : ", ") + std::to_string(*one);
    }
    return {"--measured", "no row of " + question.movement + " over the ranks asked about",
            held.empty() ? "they are of other collectives" : "there are rows of" + held + " ranks",
            "ask for ranks that were measured"};
}

ErrorText text_of(CommRefused const& refused, CommQuestion const& question) {
    std::string const ranks = std::to_string(refused.ranks) + " ranks";
    std::string const messages = "the messages of " + refused.algorithm;
    std::string const network = question.network.domain > 0 ? question.network.name : "--link";
    switch (refused.reason) {
    case CommRefusal::no_outer_link:
        return {network, "no finite time for " + ranks,
                "no link leaves a domain of " + std::to_string(question.network.domain), "ask for fewer ranks"};
    case CommRefusal::no_finite_time: return {network, "no finite time for " + ranks, "", "give a faster link"};
    case CommRefusal::no_row: return no_row_text(refused, question);
    case CommRefusal::no_formula:
        return {"--collective", "no formula for " + refused.algorithm + " over " + ranks + " of this network",
                "it is needed to price the further questions", "ask for another number of ranks"};
    case CommRefusal::too_many_endpoints:
        return {"--groups", std::to_string(question.contention->groups) + " groups of " + ranks + " are too many",
                "a network has up to 65536 endpoints here", "ask for fewer"};
    case CommRefusal::no_flat_algorithm:
        return {"--topology", "no algorithm of one level is left to put on it", "", "name another --algorithm"};
    case CommRefusal::messages_too_long:
        return {"--topology", messages + " last too long, or are too many", "picoseconds count 46 days",
                "ask for less data or fewer ranks"};
    case CommRefusal::too_many_messages:
        return {"--topology", messages + " in all groups are too many", "up to a million share a network here",
                "ask for fewer ranks or groups"};
    case CommRefusal::not_measured: return not_measured_text(question);
    case CommRefusal::no_messages:
        return {"--schedule", "no row here has messages of its own", "libraries' algorithms are formulas only",
                "name another --algorithm"};
    case CommRefusal::schedule_too_long:
        return {"--schedule", messages + " last too long to write, or are too many", "picoseconds count 46 days",
                "ask for less data or fewer ranks"};
    case CommRefusal::too_many_to_write:
        return {"--schedule", messages + " are too many to write", "a file has up to a million", "ask for fewer ranks"};
    }
    return {};
}

} // namespace

void refuse(CommRefused const& refused, CommQuestion const& question) {
    bool const lacks = refused.reason == CommRefusal::not_measured;
    throw InputError{lacks ? Fault::insufficient : Fault::usage, text_of(refused, question)};
}

} // namespace headroom::cli
