#include "calibrate/calibrate_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/io/stated_calibration.hpp"

namespace headroom::cli {

using namespace headroom::training;

namespace {

std::string share_words(fit::Fitted const& share) {
    return percent(share.value) + " % (" + percent(share.low) + " to " + percent(share.high) + " %)";
}

void say_facts(fit::TraceFacts const& facts, std::vector<std::string>& lines) {
    if (facts.hidden) {
        lines.push_back("communication that overlaps with computation: " + share_words(*facts.hidden));
    }
    if (facts.step_seconds) {
        lines.push_back("median step: " + format(Seconds{*facts.step_seconds}) + " of " + counted(facts.steps, "step"));
    }
    if (facts.slowdown) {
        lines.push_back("computation that overlaps with communication takes x" +
                        significant(facts.slowdown->ratio.value) + " (" + significant(facts.slowdown->ratio.low) +
                        " to " + significant(facts.slowdown->ratio.high) + ")");
    }
    if (facts.step_variation) { lines.push_back("steps vary by " + percent(*facts.step_variation) + " %"); }
    if (facts.rank_variation) {
        lines.push_back("computation of ranks varies by " + percent(*facts.rank_variation) + " %");
    }
}

} // namespace

std::string calibration_text(fit::CalibrationAnswer const& answer) {
    std::vector<std::string> lines{"Measured, made by headroom calibrate; intervals are of 90 %.",
                                   answer.base
                                       ? "Whole: constants that were not measured are those of " + answer.base->name
                                       : "Partial: constants that are not stated are those of the catalog."};
    for (auto const& one : answer.evidence) {
        lines.push_back(std::string{name_of(one.kind)} + " " + one.name + ": " + one.gives +
                        (one.to.empty() ? "" : ", " + one.to) + (one.machine.empty() ? "" : ", " + one.machine));
    }
    for (auto const& one : answer.links.result.fits) {
        lines.push_back(fit::words_of(one) + " on " + fit::ranks_words(one.ranks, one.nodes) + ": residuals of " +
                        percent(one.median_relative_error, 2) + " % in the median, " +
                        percent(one.p90_relative_error, 2) + " % at the 90th percentile, " +
                        counted(one.residuals.size(), "row"));
    }
    for (fit::Disagreement const& one : answer.disagreements) { lines.push_back(words_of(one)); }
    if (answer.facts) { say_facts(*answer.facts, lines); }
    for (auto& line : lines) { line = printable(line); }
    StatedCalibration stated = answer.rest;
    stated.states = answer.states;
    stated.states.name = "measured by headroom calibrate";
    if (!answer.base) { return io::write_stated_calibration(stated, lines); }
    CalibrationSet whole = fit::with_stated(*answer.base, stated);
    whole.name = stated.states.name;
    std::string text = io::write_calibration(whole, lines);
    for (auto const& entry : stated.states.entries) { text += io::written_measured_entry(entry); }
    return text;
}

} // namespace headroom::cli
