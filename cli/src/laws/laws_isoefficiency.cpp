#include "document/text.hpp"
#include "laws/laws_report.hpp"

#include "headroom/io/overhead.hpp"
#include "headroom/io/words.hpp"
#include "headroom/scaling_laws.hpp"

#include <cmath>

namespace headroom::cli {
namespace {

constexpr double least_work = 1e-15, largest_work = 1e15;

struct IsoQuestion {
    std::vector<OverheadTerm> overhead;
    std::string text;
    double efficiency = 0.8;
    std::vector<int> workers;
    std::optional<double> work; ///< a problem that stays as it is
};

IsoQuestion read_question(Arguments const& arguments) {
    IsoQuestion question;
    question.text = trimmed(
        arguments.required("--overhead", "what all workers together spend beside the work: --overhead '2 K log2(K)'"));
    question.overhead = io::parse_overhead(question.text, "--overhead");
    question.efficiency = io::parse_between(arguments.required("--efficiency", "what is to be held: --efficiency 0.8"),
                                            0.001, 0.9999, "efficiency between 0 and 1", "--efficiency");
    question.workers = read_law_workers(arguments);
    if (auto const work = arguments.text("--work")) {
        question.work = io::parse_between(*work, least_work, largest_work, "plain amount of work", "--work");
    }
    return question;
}

struct IsoRow {
    int workers = 1;
    std::optional<double> work, growth, overhead; ///< to hold the efficiency; growth: for a doubling of K
    std::optional<double> efficiency;             ///< of the problem that stays
};

std::vector<IsoRow> rows_of(IsoQuestion const& question) {
    std::vector<IsoRow> rows;
    for (int const count : question.workers) {
        IsoRow row{.workers = count,
                   .work = isoefficient_work(question.overhead, count, question.efficiency),
                   .growth = {},
                   .overhead = {},
                   .efficiency = {}};
        if (row.work) { row.overhead = total_overhead(question.overhead, *row.work, count); }
        if (question.work) { row.efficiency = efficiency_of_work(question.overhead, *question.work, count); }
        if (!rows.empty() && row.work && rows.back().work.value_or(0.0) > 0.0) {
            double const doublings = std::log2(static_cast<double>(count) / rows.back().workers);
            row.growth = std::pow(*row.work / *rows.back().work, 1.0 / doublings);
        }
        rows.push_back(row);
    }
    return rows;
}

std::string verdict(IsoQuestion const& question, std::vector<IsoRow> const& rows) {
    std::string const held = percent_of(question.efficiency) + " % efficiency";
    IsoRow const &first = rows.front(), &last = rows.back();
    std::string text =
        last.work ? "To hold " + held + ", " + workers_words(last.workers) + " need " + scaled(*last.work) + " of work"
                  : "No finite problem holds " + held + " on " + workers_words(last.workers);
    if (last.work && first.work.value_or(0.0) > 0.0 && rows.size() > 1) {
        text += ", " + scaled(*last.work / *first.work) + " times as much as " + std::to_string(first.workers);
    }
    if (last.growth) { text += "; the last doubling of the workers took " + times(last.growth) + " the work"; }
    text += ".";
    if (!question.work) { return text; }
    auto const most = largest_efficient_workers(question.overhead, *question.work, question.efficiency);
    std::string const given = " A problem of " + scaled(*question.work);
    if (most) { return text + given + " keeps it up to " + workers_words(*most) + "."; }
    return text + given +
           (efficiency_of_work(question.overhead, *question.work, 1.0) < question.efficiency
                ? " does not reach it on one worker."
                : " keeps it on any number of workers.");
}

Json row_json(IsoQuestion const& question, IsoRow const& row) {
    bool const known = row.work.has_value();
    return Json::object()
        .set("workers", row.workers)
        .set("work", row.work)
        .set("total_overhead", row.overhead)
        .set("work_growth_per_doubling", row.growth)
        .set("speedup", known ? Json{question.efficiency * row.workers} : Json{})
        .set("parallel_time", known ? Json{(*row.work + *row.overhead) / row.workers} : Json{})
        .set("efficiency_of_given_work", row.efficiency);
}

Table rows_table(IsoQuestion const& question, std::vector<IsoRow> const& rows) {
    Table table{.title = "How the problem must grow to hold " + percent_of(question.efficiency) + " % efficiency",
                .columns = {{"workers"}, {"work"}, {"doubling"}, {"overhead"}, {"time"}, {"speedup"}},
                .rows = {}};
    if (question.work) { table.columns.push_back({"eff. % of " + scaled(*question.work)}); }
    auto const amount = [](std::optional<double> value) { return value ? scaled(*value) : "-"; };
    for (IsoRow const& row : rows) {
        std::optional<double> time;
        if (row.work) { time = (*row.work + *row.overhead) / row.workers; }
        table.rows.push_back({std::to_string(row.workers), amount(row.work), times(row.growth), amount(row.overhead),
                              amount(time), row.work ? times(question.efficiency * row.workers) : "-"});
        if (question.work) { table.rows.back().push_back(percent_of(row.efficiency)); }
    }
    return table;
}

/// Work over workers; sizes of zero have no place on a logarithmic axis.
void add_chart(LawsAnswer& answer, IsoQuestion const& question, std::vector<IsoRow> const& rows) {
    Series series{.name = "work", .mark = Mark::line};
    for (IsoRow const& row : rows) {
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
    if (question.work) { chart.rules.push_back({false, *question.work, "given: " + scaled(*question.work)}); }
    answer.blocks.emplace_back(std::move(chart));
}

} // namespace

LawsAnswer isoefficiency_answer(Arguments const& arguments) {
    IsoQuestion const question = read_question(arguments);
    std::vector<IsoRow> const rows = rows_of(question);
    LawsAnswer answer{
        .title = "Isoefficiency",
        .members = {},
        .blocks = {},
        .sheet = {{"workers", "work", "work_growth_per_doubling", "total_overhead", "efficiency_of_given_work"}, {}}};
    Json json_rows = Json::array();
    for (IsoRow const& row : rows) {
        json_rows.push(row_json(question, row));
        answer.sheet.rows.push_back(
            {std::to_string(row.workers), cell(row.work), cell(row.growth), cell(row.overhead), cell(row.efficiency)});
    }
    Json terms = Json::array();
    for (OverheadTerm const& term : question.overhead) {
        terms.push(Json::object()
                       .set("coefficient", term.coefficient)
                       .set("work_exponent", term.work_exponent)
                       .set("worker_exponent", term.worker_exponent)
                       .set("log_exponent", term.log_exponent));
    }
    answer.members.emplace_back("efficiency", question.efficiency);
    answer.members.emplace_back("overhead", question.text);
    answer.members.emplace_back("terms", terms);
    answer.members.emplace_back("work", question.work);
    std::optional<std::int64_t> most;
    if (question.work) { most = largest_efficient_workers(question.overhead, *question.work, question.efficiency); }
    answer.members.emplace_back("largest_efficient_workers", most);
    answer.members.emplace_back("rows", json_rows);
    answer.blocks.emplace_back(Paragraph{verdict(question, rows), "", true});
    answer.blocks.emplace_back(rows_table(question, rows));
    add_chart(answer, question, rows);
    answer.blocks.emplace_back(Paragraph{"W = E/(1-E) T_o(W, K) with T_o = " + question.text +
                                             ", what all workers together spend beside the work W, in its units",
                                         "assumes"});
    return answer;
}

} // namespace headroom::cli
