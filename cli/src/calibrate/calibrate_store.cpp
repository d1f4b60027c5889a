#include "calibrate/calibrate_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/stated_calibration.hpp"
#include "headroom/io/store.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace headroom::cli {
namespace {

constexpr char const* option = "--campaign";
/// Kinds that models have a use for.
constexpr std::array kinds{"roofline", "comm", "scaling"};

[[noreturn]] void refuse_empty(io::Store const& store, std::string const& what) {
    too_little(store.path().string(), "no campaign" + what + " is stored", "nothing was measured",
               "headroom measure roofline, comm or scaling fills it; headroom history lists it");
}

std::int64_t number_in(std::string const& word) {
    std::int64_t number = 0;
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size() || number < 1) {
        refuse(option, "no campaign is called " + headroom::quoted(word), "a number, last, roofline, comm, or scaling",
               "headroom history lists them");
    }
    return number;
}

/// The latest of a kind, of any where none is named.
std::int64_t latest(io::Store const& store, std::string const& kind) {
    auto const found = store.list(kind);
    if (found.empty()) { refuse_empty(store, kind.empty() ? "" : " of kind " + kind); }
    return found.back().id;
}

/// The latest campaign of each kind.
std::vector<std::int64_t> latest_of_each(io::Store const& store) {
    std::vector<std::int64_t> numbers;
    for (char const* kind : kinds) {
        auto const found = store.list(kind);
        if (!found.empty()) { numbers.push_back(found.back().id); }
    }
    if (numbers.empty()) { refuse_empty(store, ""); }
    return numbers;
}

std::vector<std::int64_t> numbers_of(NamedEvidence const& named, io::Store const& store) {
    if (named.campaigns.empty()) { return latest_of_each(store); }
    std::vector<std::int64_t> numbers;
    for (std::string const& words : named.campaigns) {
        for (std::string const& word : split(words, ',')) {
            bool const is_kind = std::ranges::find(kinds, word) != kinds.end();
            numbers.push_back(is_kind ? latest(store, word) : word == "last" ? latest(store, "") : number_in(word));
        }
    }
    return numbers;
}

} // namespace

std::vector<Campaign> chosen_campaigns(NamedEvidence const& named) {
    if (named.store.empty()) { return {}; }
    io::Store const store{named.store, io::Store::Access::read};
    std::vector<Campaign> campaigns;
    for (std::int64_t const number : numbers_of(named, store)) {
        bool const known = std::ranges::any_of(campaigns, [&](Campaign const& one) { return one.id == number; });
        if (!known) { campaigns.push_back(store.load(number)); }
    }
    return campaigns;
}

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
