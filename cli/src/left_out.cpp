#include "left_out.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/training/left_out.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace headroom::cli {
namespace {

/// Formulas that open a term, and other words for it.
struct Row {
    LeftOut term;
    std::vector<std::string> formulas, words;
};

Row const& row_of_term(LeftOut term) {
    static std::array<Row, 5> const rows{
        Row{LeftOut::imbalance, {"imbalance_seconds"}, {}},
        Row{LeftOut::stragglers, {"stragglers_seconds"}, {}},
        Row{LeftOut::congestion, {"congestion_slowdown"}, {}},
        Row{LeftOut::failures,
            {"cluster_mtbf_seconds", "checkpoint_seconds", "young_interval_seconds", "time_over_work", "goodput"},
            {"goodput", "checkpoints"}},
        Row{LeftOut::critical_batch, {"sample_efficiency", "tokens_needed", "steps_needed"}, {"statistics"}},
    };
    return *std::ranges::find(rows, term, &Row::term);
}

// ---- for people ---------------------------------------------------------------------------------------------------

Table terms_table(std::vector<LeftOutTerm> const& rows, Seconds step) {
    bool const small = step < units::s;
    Seconds const unit = small ? units::ms : units::s;
    Table table{.title = "What the laws leave out",
                .columns = {left("term"), small ? "ms" : "s", "% of step", wrapped("how")}};
    for (LeftOutTerm const& row : rows) {
        std::string const name{name_of(row.term)};
        if (row.on) {
            std::string const sign = std::isfinite(row.seconds.base()) ? "+" : "";
            table.rows.push_back(
                {name, sign + significant(row.seconds.in(unit)), percent(row.seconds / step), row.explanation});
        } else {
            std::string const example{example_option(row.term)};
            table.rows.push_back({name, "off", "-", "not counted; add " + example});
        }
    }
    return table;
}

/// A whole number in full.
std::string amount(double value) { return value == std::round(value) ? whole(value) : significant(value, 4); }

std::string checkpoint_words(Goodput const& goodput) {
    std::string const failures =
        "a failure every " + format(goodput.model.mtbf) + ", then " + format(goodput.model.restart) + " to restart";
    if (goodput.model.checkpoint == Seconds{}) { return "free, and written all the time; " + failures; }
    std::string text = format(goodput.model.checkpoint) + " after every " + format(goodput.interval) +
                       " of work (least time: " + format(goodput.exact) + "; Young " + format(goodput.young) +
                       ", Daly " + format(goodput.daly) + ")";
    if (goodput.state > Bytes{}) { text += ", " + format(goodput.state) + " each"; }
    return text + "; " + failures;
}

Table shares_table(Goodput const& goodput) {
    Table table{.title = "Where the time of the run goes", .columns = {left("part"), "%", left("what")}};
    auto const row = [&table](char const* name, double share, char const* what) {
        table.rows.push_back({name, percent(share, 4), what});
    };
    row("work", goodput.shares.work, "the goodput: done once and kept");
    row("checkpoints", goodput.shares.checkpoint, "written and kept");
    row("redone", goodput.shares.redone, "work and checkpoints that a failure cut off");
    row("restarts", goodput.shares.restart, "from failures to the next step");
    return table;
}

std::string target_words(Prediction const& p) {
    Statistics const& statistics = *p.statistics;
    std::string text = "a batch of " + amount(statistics.batch) + " sequences, critical " +
                       amount(statistics.critical_batch) + ": a sample is worth " + percent(statistics.efficiency) +
                       " % of one of a small batch";
    if (!statistics.tokens) { return text + "; --tokens gives the time to the target"; }
    text += "; " + scaled(*statistics.tokens) + " tokens in " + scaled(*statistics.steps) + " steps instead of " +
            scaled(*p.question.tokens);
    if (auto const time = time_to_target(p)) { text += ", " + significant(time->in(units::day)) + " days"; }
    return text;
}

std::string run_time_words(Prediction const& p) {
    auto const all = run_time(p), work = productive_time(p);
    return significant(all->in(units::day)) + " days, of which " + significant(work->in(units::day)) +
           " would do if nothing failed";
}

} // namespace

std::vector<Term> explain_left_out(Prediction const& prediction, std::vector<Term> const& terms,
                                   std::string const& wanted) {
    for (LeftOut const term : every_left_out) {
        Row const& row = row_of_term(term);
        bool const other_word = std::ranges::any_of(
            row.words, [&](std::string const& word) { return normalised(word) == normalised(wanted); });
        if (normalised(name_of(term)) != normalised(wanted) && !other_word) { continue; }
        std::vector<Term> found;
        std::ranges::copy_if(terms, std::back_inserter(found),
                             [&](Term const& one) { return std::ranges::count(row.formulas, one.name) > 0; });
        if (!found.empty()) { return found; }
        if (!prediction.progresses()) {
            refuse("--explain", headroom::quoted(wanted) + " has no finite formula", prediction.goodput->why_not,
                   "give other times");
        }
        refuse("--explain", headroom::quoted(wanted) + " is off", "it adds nothing here",
               "switch it on: " + std::string{example_option(term)});
    }
    return {};
}

void add_left_out_in_short(std::vector<Block>& blocks, Prediction const& p, std::vector<LeftOutTerm> const& terms) {
    std::vector<std::string> on, off;
    for (LeftOutTerm const& term : terms) {
        std::string const name{name_of(term.term)};
        if (!term.on) {
            off.push_back(name);
        } else if (std::isfinite(term.seconds.base())) {
            on.push_back(name + " +" + percent(term.seconds / p.step()) + " % of the step");
        }
    }
    if (!on.empty()) { blocks.emplace_back(Paragraph{join(on, ", "), "counted"}); }
    if (!p.progresses()) { blocks.emplace_back(Paragraph{p.goodput->why_not, "run", true}); }
    if (p.goodput && p.progresses() && run_time(p)) { blocks.emplace_back(Paragraph{run_time_words(p), "run"}); }
    if (p.statistics) { blocks.emplace_back(Paragraph{target_words(p), "target"}); }
    if (!off.empty()) { blocks.emplace_back(Paragraph{join(off, ", "), "not counted"}); }
}

void add_left_out(std::vector<Block>& blocks, Prediction const& p, std::vector<LeftOutTerm> const& terms) {
    blocks.emplace_back(terms_table(terms, p.step()));
    if (p.goodput) {
        blocks.emplace_back(shares_table(*p.goodput));
        blocks.emplace_back(Paragraph{checkpoint_words(*p.goodput), "checkpoints"});
        if (!p.progresses()) { blocks.emplace_back(Paragraph{p.goodput->why_not, "run", true}); }
        if (run_time(p)) { blocks.emplace_back(Paragraph{run_time_words(p), "run"}); }
    }
    if (p.statistics) { blocks.emplace_back(Paragraph{target_words(p), "target"}); }
}

} // namespace headroom::cli
