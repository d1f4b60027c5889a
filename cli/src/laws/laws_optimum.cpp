#include "arguments.hpp"
#include "laws/laws_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

namespace headroom::cli {
namespace {

constexpr double largest_cost = 1e15, least_cost = 1e-15;

bool is_plain(std::string const& text) {
    return trimmed(text).find_first_not_of("0123456789.eE+-") == std::string::npos;
}

Seconds read_cost(Arguments const& arguments, std::string const& option, bool timed) {
    auto const text = arguments.text(option);
    if (!text) { return {}; }
    if (is_plain(*text) == timed) {
        refuse(option, headroom::quoted(*text) + (timed ? " has no unit" : " has a unit"),
               timed ? "--work is a time" : "--work is a plain number",
               "write all of them as times (1000s, 50ms), or all as plain numbers of one unit");
    }
    Seconds const cost =
        timed ? read_time(*text, option) : Seconds{io::parse_between(*text, 0.0, largest_cost, "cost", option)};
    if (cost > Seconds{} && cost.base() < least_cost) {
        refuse(option, headroom::quoted(*text) + " is too small", "costs begin at 1e-15", "");
    }
    return cost;
}

OptimumQuestion read_question(Arguments const& arguments) {
    std::string const work = arguments.required("--work", "the work on one worker: --work 1000000, or --work 20min");
    OptimumQuestion question{.work = {}, .per_level = {}, .per_worker = {}, .timed = !is_plain(work)};
    question.work = read_cost(arguments, "--work", question.timed);
    question.per_level = read_cost(arguments, "--per-level", question.timed);
    question.per_worker = read_cost(arguments, "--per-worker", question.timed);
    if (question.work <= Seconds{}) {
        refuse("--work", headroom::quoted(work) + " is not above zero", "there is nothing to divide", "");
    }
    return question;
}

std::string amount(OptimumQuestion const& question, Seconds time) {
    return question.timed ? format(time) : plain(time.base());
}

std::string formula(OptimumQuestion const& question) {
    std::string text = amount(question, question.work) + "/K";
    if (question.per_level > Seconds{}) { text += " + " + amount(question, question.per_level) + " log2 K"; }
    if (question.per_worker > Seconds{}) { text += " + " + amount(question, question.per_worker) + " K"; }
    return text;
}

std::string verdict(OptimumQuestion const& question, CurveAnswer const& result) {
    if (!result.best) { return "T(K) = " + formula(question) + " falls as far as K can be counted."; }
    return "T(K) = " + formula(question) + " is shortest at " + workers_words(*result.best) +
           " (K* = " + plain(result.k_star, 8) +
           "): " + amount(question, step_at(result.question.curve, static_cast<double>(*result.best))) + ", " +
           times(result.ceiling_over_k0) + " as fast as one worker. " + percent_of(result.question.share) +
           " % of that takes " + count_words(result.for_share) + ".";
}

Table rows_table(OptimumQuestion const& question, CurveAnswer const& result) {
    Table table{.title = "Work that divides, synchronisation that grows",
                .columns = {"workers", "time", "work", "synchronising", "sync. %", "speedup", "eff. %", "doubling"}};
    for (CurveRow const& row : result.rows) {
        table.rows.push_back({std::to_string(row.workers), amount(question, row.step), amount(question, row.compute),
                              amount(question, row.exposed), percent_of(row.communication_share), times(row.speedup),
                              percent_of(row.efficiency), times(row.gain)});
    }
    return table;
}

} // namespace

int run_optimum(Arguments const& arguments, LawsCall const& call) {
    OptimumAnswer answer{.question = read_question(arguments)};
    OptimumQuestion const& question = answer.question;
    StepCurve const curve{
        .work = question.work, .fixed = {}, .per_level = question.per_level, .per_worker = question.per_worker};
    if (question.per_level + question.per_worker <= Seconds{}) {
        refuse(arguments.has("--per-level") ? "--per-level" : "--per-worker", "costs nothing",
               "without a cost that grows with the workers there is no best count",
               "give --per-level (a tree: c log2 K) or --per-worker (a chain: c K) above zero");
    }
    answer.curve = steps_of({.curve = curve,
                             .k0 = 1,
                             .timed = question.timed,
                             .workers = read_law_workers(arguments, doubling_workers(curve, 1)),
                             .share = read_share(arguments)});
    std::vector<Block> blocks{Paragraph{verdict(question, answer.curve), "", true}, rows_table(question, answer.curve)};
    add_curve_chart(blocks, answer.curve,
                    "The time is shortest at the peak; to its right synchronising costs more than "
                    "the workers take off.");
    blocks.emplace_back(
        Paragraph{"work divides evenly; a tree costs c log2 K, a chain c K; nothing overlaps", "assumes"});
    return write_answer(call, answer, rows_of_curve, "The best number of workers", std::move(blocks));
}

} // namespace headroom::cli
