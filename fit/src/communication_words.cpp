// Words of fits: every sentence that says something of them.

#include "headroom/fit/communication_fit_answer.hpp"
#include "headroom/quantity.hpp"
#include "headroom/text.hpp"

#include <cmath>

namespace headroom::fit {

using namespace headroom::network;

namespace {

std::string dip_words(BandwidthDip const& dip, std::size_t pieces) {
    int const lost = static_cast<int>(std::lround(100.0 * (1.0 - dip.kept)));
    std::string text = "bandwidth falls by " + std::to_string(lost) + " % from " + format_binary(dip.from) + " to " +
                       format_binary(dip.to) + ", where alpha + n beta can only rise; ";
    text += pieces > 1 ? "segments of their own follow it" : "it stands in the residuals";
    return text + (dip.ends ? ", and larger messages win it back" : ", and no larger message wins it back");
}

std::string spread_words(RunSpread const& spread) {
    return "runs of the same sizes disagree: " + format_binary(spread.size) + " took " + format(spread.shortest) +
           " and " + format(spread.longest) + "; fit each run by itself";
}

} // namespace

std::string words_of(CommunicationFit const& fit) {
    std::string words{name_of(fit.collective)};
    for (std::string const& one : {fit.algorithm, fit.protocol, fit.data_type}) {
        if (!one.empty()) { words += " " + text::printable(one); }
    }
    return words;
}

std::string ranks_words(int ranks, int nodes) {
    return std::to_string(ranks) + " on " + std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
}

std::string words_of(CommunicationFit const& fit, FitRemark remark) {
    switch (remark) {
    case FitRemark::falls: return dip_words(fit.dip.value_or(BandwidthDip{}), fit.segments.size());
    case FitRemark::runs_differ: return spread_words(fit.spread.value_or(RunSpread{}));
    case FitRemark::loose_alpha: return "no size is small enough to show what no byte causes: alpha is loose";
    case FitRemark::loose_beta: return "no size is large enough to show what a byte costs: beta is loose";
    }
    return "";
}

std::vector<std::string> remarks_of(CommunicationFit const& fit) {
    std::vector<std::string> all;
    for (FitRemark const one : fit.remarks) { all.push_back(words_of(fit, one)); }
    return all;
}

std::string words_of(LinkNote const& note) {
    switch (note.remark) {
    case LinkRemark::flat: return "no time depends on its bandwidth: something else is slower, or sizes are too small";
    case LinkRemark::all_forms:
        return "times follow the fastest of all algorithms, as comm lists them; predict prices by a library's rings "
               "and trees";
    case LinkRemark::one_group: return "one group alone: its closed form is taken on trust";
    case LinkRemark::inside_counted: return "no group inside one node: what it costs there is counted between nodes";
    case LinkRemark::inside_known:
        return "no group inside one node: the link there is that of " + note.machine + " in the catalog";
    case LinkRemark::contended:
        return note.group + ": a byte takes " + std::to_string(std::lround(100.0 * note.factor)) +
               " % of its time in " + note.other;
    }
    return "";
}

std::string words_of(RefusedLevel const& refused) {
    FittedLevel const& level = refused.level;
    std::string const most = format(refused.most);
    std::string text = format(BytesPerSecond{level.bytes_per_second.value}) + " an accelerator is above the " + most +
                       (refused.machine.empty() ? " that any NIC carries"
                        : level.scale_out       ? " that its NIC carries in " + text::printable(refused.machine)
                                                : " of the link in " + text::printable(refused.machine));
    return text + (level.scale_out ? "; the times are nearly those inside a node: check --nodes"
                                   : "; check the sizes, the ranks and --cluster");
}

std::string words_of(SkippedGroup const& skipped) {
    return "fewer than " + std::to_string(skipped.least_sizes) + " sizes";
}

} // namespace headroom::fit
