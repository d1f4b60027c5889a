#include "laws/laws_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/io/overhead.hpp"
#include "headroom/io/words.hpp"

namespace headroom::cli {
namespace {

constexpr double least_work = 1e-15, largest_work = 1e15;

IsoefficiencyQuestion read_question(Arguments const& arguments) {
    IsoefficiencyQuestion question;
    question.text = trimmed(arguments.required(
        "--overhead", "overhead of all workers together, apart from the work: --overhead '2 K log2(K)'"));
    question.overhead = io::parse_overhead(question.text, "--overhead");
    question.efficiency = read_efficiency(arguments.required("--efficiency", "what is to be held: --efficiency 0.8"));
    question.workers = read_law_workers(arguments, doubling_workers());
    if (auto const work = arguments.text("--work")) {
        question.work = io::parse_between(*work, least_work, largest_work, "plain amount of work", "--work");
    }
    return question;
}

std::string verdict(IsoefficiencyAnswer const& answer) {
    IsoefficiencyQuestion const& question = answer.question;
    std::string const held = percent_of(question.efficiency) + " % efficiency";
    IsoefficiencyRow const &first = answer.rows.front(), &last = answer.rows.back();
    std::string text =
        last.work ? "To hold " + held + ", " + workers_words(last.workers) + " need " + scaled(*last.work) + " of work"
                  : "No finite problem holds " + held + " on " + workers_words(last.workers);
    if (last.work && first.work.value_or(0.0) > 0.0 && answer.rows.size() > 1) {
        text += ", " + scaled(*last.work / *first.work) + " times as much as " + std::to_string(first.workers);
    }
    if (last.growth) { text += "; the last doubling of the workers took " + times(last.growth) + " the work"; }
    text += ".";
    if (!question.work) { return text; }
    auto const& most = answer.largest_efficient_workers;
    std::string const given = " A problem of " + scaled(*question.work);
    if (most) { return text + given + " keeps it up to " + workers_words(*most) + "."; }
    return text + given +
           (efficiency_of_work(question.overhead, *question.work, 1.0) < question.efficiency
                ? " does not reach it on one worker."
                : " keeps it on any number of workers.");
}

Table rows_table(IsoefficiencyAnswer const& answer) {
    IsoefficiencyQuestion const& question = answer.question;
    Table table{.title = "How the problem must grow to hold " + percent_of(question.efficiency) + " % efficiency",
                .columns = {"workers", "work", "doubling", "overhead", "time", "speedup"}};
    if (question.work) { table.columns.push_back("eff. % of " + scaled(*question.work)); }
    auto const amount = [](std::optional<double> value) { return value ? scaled(*value) : "-"; };
    for (IsoefficiencyRow const& row : answer.rows) {
        table.rows.push_back({std::to_string(row.workers), amount(row.work), times(row.growth), amount(row.overhead),
                              amount(row.time), times(row.speedup)});
        if (question.work) { table.rows.back().push_back(percent_of(row.given_efficiency)); }
    }
    return table;
}

/// Work over workers; sizes of zero have no place on a logarithmic axis.
void add_chart(std::vector<Block>& blocks, IsoefficiencyAnswer const& answer) {
    Series series{.name = "work", .mark = Mark::line};
    for (IsoefficiencyRow const& row : answer.rows) {
        if (row.work.value_or(0.0) <= 0.0) { continue; }
        series.x.push_back(row.workers);
        series.y.push_back(*row.work);
    }
    if (series.x.size() < 2) { return; }
    Series ideal{.name = "work in step with the workers",
                 .mark = Mark::dashed,
                 .x = {series.x.front(), series.x.back()},
                 .y = {series.y.front(), series.y.front() * series.x.back() / series.x.front()}};
    Chart chart{.title = "Isoefficiency",
                .caption = "The steeper the curve above the dashed line, the worse the job scales: the problem must "
                           "grow faster than the machine.",
                .x = {"workers", AxisScale::logarithmic},
                .y = {"work, in units of the overhead", AxisScale::logarithmic},
                .series = {std::move(series), std::move(ideal)}};
    if (auto const& work = answer.question.work) { chart.rules.push_back({false, *work, "given: " + scaled(*work)}); }
    blocks.emplace_back(std::move(chart));
}

} // namespace

int run_isoefficiency(Arguments const& arguments, LawsCall const& call) {
    IsoefficiencyAnswer const answer = work_to_hold(read_question(arguments));
    std::vector<Block> blocks{Paragraph{verdict(answer), "", true}, rows_table(answer)};
    add_chart(blocks, answer);
    blocks.emplace_back(Paragraph{"W = E/(1-E) T_o(W, K) with T_o = " + answer.question.text +
                                      ", the overhead of all workers together in units of the work W",
                                  "assumes"});
    return write_answer(call, answer, rows_of, "Isoefficiency", std::move(blocks));
}

} // namespace headroom::cli
