#include "calibrate/calibrate_report.hpp"
#include "document/text.hpp"

namespace headroom::cli {
namespace {

std::string share_words(fit::Fitted const& share) {
    return percent(share.value) + " % (" + percent(share.low) + " to " + percent(share.high) + " %)";
}

void say_facts(fit::TraceFacts const& facts, std::vector<std::string>& lines) {
    if (facts.hidden) { lines.push_back("communication beside computation: " + share_words(*facts.hidden)); }
    if (facts.step_seconds) {
        lines.push_back("median step: " + format(Seconds{*facts.step_seconds}) + " of " + counted(facts.steps, "step"));
    }
    if (facts.step_variation) { lines.push_back("steps vary by " + percent(*facts.step_variation) + " %"); }
    if (facts.rank_variation) {
        lines.push_back("computation of ranks varies by " + percent(*facts.rank_variation) + " %");
    }
}

} // namespace

std::string calibration_text(CalibrateAnswer const& answer) {
    std::vector<std::string> lines{"Measured, made by headroom calibrate; intervals are of 90 %.",
                                   "Partial: constants that are not stated are those of the catalog."};
    for (auto const& one : answer.evidence) { lines.push_back(one.kind + " " + one.name + ": " + one.gives); }
    for (auto const& one : answer.links.result.fits) {
        lines.push_back(words_of(one) + " on " + ranks_words(one.ranks, one.nodes) + ": residuals of " +
                        percent(one.median_relative_error, 2) + " % in the median, " +
                        percent(one.p90_relative_error, 2) + " % at the 90th percentile, " +
                        counted(one.residuals.size(), "row"));
    }
    if (answer.facts) { say_facts(*answer.facts, lines); }
    for (auto& line : lines) { line = printable(line); }
    return io::write_partial_calibration({.name = "measured by traces and benchmarks",
                                          .constants = answer.constants,
                                          .network = answer.network,
                                          .entries = answer.entries},
                                         lines);
}

} // namespace headroom::cli
