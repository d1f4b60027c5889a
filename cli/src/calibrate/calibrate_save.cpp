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
    if (facts.slowdown) {
        lines.push_back("computation beside communication takes x" + significant(facts.slowdown->ratio.value) + " (" +
                        significant(facts.slowdown->ratio.low) + " to " + significant(facts.slowdown->ratio.high) +
                        ")");
    }
    if (facts.step_variation) { lines.push_back("steps vary by " + percent(*facts.step_variation) + " %"); }
    if (facts.rank_variation) {
        lines.push_back("computation of ranks varies by " + percent(*facts.rank_variation) + " %");
    }
}

/// What partial files state goes over the whole one, as it would over the catalog's.
CalibrationSet with_the_rest(CalibrationSet set, io::StatedCalibration const& states) {
    if (states.bands_alone) {
        set.bands.clear();
        set.seen.reset();
    }
    for (auto const& [kind, band] : states.bands) { set.bands.insert_or_assign(kind, band); }
    if (states.seen) { set.seen = states.seen; }
    for (auto const& [framework, pace] : states.pace) { set.pace.insert_or_assign(framework, pace); }
    if (states.dense) { set.warm.dense = *states.dense; }
    if (states.mixtures) { set.warm.mixtures = *states.mixtures; }
    set.network = states.states.network;
    return set;
}

} // namespace

std::string calibration_text(CalibrateAnswer const& answer) {
    std::vector<std::string> lines{"Measured, made by headroom calibrate; intervals are of 90 %.",
                                   answer.base
                                       ? "Whole: constants that were not measured are those of " + answer.base->name
                                       : "Partial: constants that are not stated are those of the catalog."};
    for (auto const& one : answer.evidence) {
        lines.push_back(one.kind + " " + one.name + ": " + one.gives + (one.to.empty() ? "" : ", " + one.to) +
                        (one.machine.empty() ? "" : ", " + one.machine));
    }
    for (auto const& one : answer.links.result.fits) {
        lines.push_back(words_of(one) + " on " + fit::ranks_words(one.ranks, one.nodes) + ": residuals of " +
                        percent(one.median_relative_error, 2) + " % in the median, " +
                        percent(one.p90_relative_error, 2) + " % at the 90th percentile, " +
                        counted(one.residuals.size(), "row"));
    }
    for (Disagreement const& one : answer.disagreements) { lines.push_back(words_of(one)); }
    if (answer.facts) { say_facts(*answer.facts, lines); }
    for (auto& line : lines) { line = printable(line); }
    io::StatedCalibration stated = answer.rest;
    stated.states = answer.states;
    stated.states.name = "measured by headroom calibrate";
    if (!answer.base) { return io::write_stated_calibration(stated, lines); }
    CalibrationSet whole = with_the_rest(*answer.base, stated);
    whole.name = stated.states.name;
    std::string text = io::write_calibration(whole, lines);
    for (auto const& entry : stated.states.entries) { text += io::written_measured_entry(entry); }
    return text;
}

} // namespace headroom::cli
