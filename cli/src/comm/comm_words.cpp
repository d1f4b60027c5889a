#include "comm/comm_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/network/local_updates.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace headroom::cli {
namespace {

/// "; of 84 cases tree is the fastest in 80, ring in 4": who wins how often, the most frequent first.
std::string winners_words(CommReport const& report) {
    std::vector<std::pair<std::string, std::size_t>> wins;
    std::size_t cases = 0;
    for (CommRow const& row : report.answer.rows) {
        if (!row.fastest) { continue; }
        ++cases;
        auto const same = std::ranges::find(wins, row.label(), &std::pair<std::string, std::size_t>::first);
        if (same == wins.end()) {
            wins.emplace_back(row.label(), 1);
        } else {
            ++same->second;
        }
    }
    std::ranges::stable_sort(wins, std::greater<>{}, &std::pair<std::string, std::size_t>::second);
    if (wins.size() == 1) {
        return "; it is the fastest in " + (cases == 2 ? "both" : "all " + std::to_string(cases)) + " cases";
    }
    std::string text;
    for (auto const& [algorithm, count] : wins) {
        text += (text.empty() ? "; of " + std::to_string(cases) + " cases " + algorithm + " is the fastest in "
                              : ", " + algorithm + " in ") +
                std::to_string(count);
    }
    return text;
}

CommRow const& best_of_largest(CommReport const& report) {
    auto best = report.answer.rows.begin();
    for (auto row = best; row != report.answer.rows.end(); ++row) {
        if (row->fastest && (!best->fastest || std::pair{row->ranks, row->size.size.base()} >=
                                                   std::pair{best->ranks, best->size.size.base()})) {
            best = row;
        }
    }
    return *best;
}

bool is_one_case(CommQuestion const& question) { return question.ranks.size() == 1 && !question.sweep; }

} // namespace

std::string size_convention(CommQuestion const& question) {
    if (question.actors) { return "one copy of the weights"; }
    if (!question.collective) { return "the whole vector of one worker"; }
    switch (*question.collective) {
    case Collective::barrier: return {};
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::scatter:
    case Collective::gather: return "the whole vector, the sum over ranks; other tools may count the share of one rank";
    case Collective::all_to_all: return "what one rank holds for all ranks";
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::all_reduce:
    case Collective::point_to_point: break;
    }
    return "the whole vector of one rank";
}

std::size_t shown_places(CommReport const& report) {
    constexpr std::size_t few = 5, fewest = 1, many_cases = 4;
    if (report.request.all || report.answer.question.actors) { return report.answer.rows.size(); }
    std::size_t const cases = report.answer.question.ranks.size() * sizes_of(report.answer.question).size();
    return cases > many_cases ? fewest : few;
}

std::string network_words(CommNetwork const& network) {
    auto const link = [](Link one) { return format(one.bandwidth) + ", " + format(one.latency); };
    if (!network.torus.empty()) {
        std::string sides;
        for (int const side : network.torus) { sides += (sides.empty() ? "" : " x ") + std::to_string(side); }
        return "a torus of " + sides + ", each link " + link(network.fabric.scale_up);
    }
    if (network.domain == 0) { return "one level, " + link(network.fabric.scale_up); }
    std::string text = network.name + ": " + link(network.fabric.scale_up) + " inside domains of " +
                       std::to_string(network.domain) + ", " + link(network.fabric.scale_out) + " between them";
    if (network.pod) {
        text += ", " + link(network.pod->link) + " between pods of " + std::to_string(network.pod->ranks);
    }
    return text + "; calibrated";
}

std::string verdict(CommReport const& report) {
    CommQuestion const& question = report.answer.question;
    CommRow const& best = best_of_largest(report);
    if (is_one_case(question) && !(best.time.total() > Seconds{})) {
        return question.movement + " over " + counted(static_cast<std::size_t>(best.ranks), "rank") +
               " takes no time: nothing moves.";
    }
    std::string const of = best.size.size > Bytes{} ? " of " + size_words(best.size.size) : "";
    std::string text = best.label() + ": " + format(best.time.total()) + " for " + question.movement + of + " over " +
                       counted(static_cast<std::size_t>(best.ranks), question.actors ? "actor" : "rank");
    if (best.bus_bandwidth) { text += ", bus bandwidth " + format(*best.bus_bandwidth); }
    if (!is_one_case(question)) { return text + winners_words(report) + "."; }
    if (report.answer.rows.size() < 2) { return text + "."; }
    text += "; the fastest of " + std::to_string(report.answer.rows.size());
    for (CommRow const& row : report.answer.rows) {
        if (row.priced_by == PricedBy::measured && &row != &best) {
            text += "; " + row.label() + ": " + format(row.time.total());
        }
    }
    return text + ".";
}

std::string nccl_words(CommReport const& report) {
    CommNccl const& one = report.answer.nccl.back();
    CommRow const& best = best_of_largest(report);
    return "would take " + std::string{name_of(one.choice.algorithm)} + ", " +
           std::string{name_of(one.choice.protocol)} + ": " + format(one.choice.seconds) +
           " by its own tuning model; best here: " + best.label() + ", " + format(best.time.total());
}

std::string more_words(CommReport const& report) {
    std::size_t const places = shown_places(report);
    std::size_t most = 0;
    for (CommRow const& row : report.answer.rows) { most = std::max(most, static_cast<std::size_t>(row.place) + 1); }
    if (most <= places) { return {}; }
    bool const one = is_one_case(report.answer.question);
    std::string const each = one                                        ? ""
                             : !report.answer.question.sweep            ? " for each count"
                             : report.answer.question.ranks.size() == 1 ? " for each size"
                                                                        : " for each count and size";
    return std::to_string(most - places) + " more" + each + ", slower than these: --all";
}

std::string left_out_words(CommReport const& report) {
    std::vector<std::string> reasons, names;
    for (CommLeftOut const& one : report.answer.left_out) {
        std::string const why = words_of(one);
        auto const at = static_cast<std::size_t>(std::ranges::find(reasons, why) - reasons.begin());
        if (at == reasons.size()) {
            reasons.push_back(why);
            names.emplace_back();
        }
        std::vector<std::string> known = split(names[at], ',');
        if (std::ranges::find(known, one.algorithm) == known.end()) {
            names[at] += (names[at].empty() ? "" : ", ") + one.algorithm;
        }
    }
    for (std::size_t i = 0; i < reasons.size(); ++i) { names[i] += " (" + reasons[i] + ")"; }
    return join(names, "; ");
}

std::string compression_words(CommReport const& report) {
    CompressedGradients const& gradients = report.answer.compressed.front().gradients;
    CommCompression const& given = *report.answer.question.levers.compression;
    std::string text = significant(gradients.touched_per_parameter) + " bytes of memory traffic and " +
                       significant(gradients.kept_per_parameter) + " bytes of error feedback a parameter";
    if (gradients.products.base() > 0.0) { text += ", matrix products of " + format(gradients.products); }
    text += " (" + std::to_string(report.answer.compressed.front().ranks) + " ranks); their time is not in the table.";
    if (given.how.kind == Compression::low_rank && !given.matrix) {
        text += " The gradients count as one square matrix, the least any shapes need: give --matrix ROWSxCOLUMNS.";
    }
    return text;
}

std::string lever_words(CommReport const& report) {
    CommLevers const& levers = report.answer.question.levers;
    std::vector<std::string> parts{"averages over steps, each collective by its fastest formula"};
    if (levers.buckets) {
        parts.push_back("exposed of b buckets behind a backward pass of " + format(levers.buckets->behind) +
                        ": max(T/b, T - " + format(levers.buckets->behind) +
                        " (1 - 1/b)); the others are sent when it has ended");
    }
    if (levers.local_steps) {
        LocalUpdates const updates{.period = *levers.local_steps, .bytes_per_element = levers.element.in(units::byte)};
        double const parameters = report.answer.question.size.size / levers.element;
        Bytes const kept = local_updates(parameters, updates).outer_state;
        parts.push_back("local steps keep " + format(kept) +
                        " of outer state; whether training converges is not asked");
    }
    return join(parts, "; ");
}

std::string measured_words(CommReport const& report) {
    std::vector<double> factors;
    for (CommMeasured const& one : report.answer.measured) {
        factors.push_back(std::exp(std::abs(std::log(one.predicted.time.total() / one.measured.time))));
    }
    std::ranges::sort(factors);
    std::string text = "median error a factor of " + significant(factors[factors.size() / 2]) + ", over " +
                       counted(factors.size(), "time");
    if (report.answer.measured_elsewhere > 0) {
        text += "; " + counted(report.answer.measured_elsewhere, "row") + " of other collectives or ranks";
    }
    std::size_t const unused = report.request.unused_lines;
    return unused > 0 ? text + "; " + counted(unused, "line") + " could not be used" : text;
}

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

void refuse_comm(CommRefused const& refused, CommQuestion const& question) {
    bool const lacks = refused.reason == CommRefusal::not_measured;
    throw InputError{lacks ? Fault::insufficient : Fault::usage, text_of(refused, question)};
}

} // namespace headroom::cli
