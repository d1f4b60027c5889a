#include "arguments.hpp"
#include "laws/laws_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/io/words.hpp"

namespace headroom::cli {
namespace {

constexpr double largest_gamma = 1e18;

UniversalScalability read_law(Arguments const& arguments) {
    auto const number = [&](char const* option, double low, double high, char const* what, double otherwise) {
        auto const text = arguments.text(option);
        return text ? io::parse_between(*text, low, high, what, option) : otherwise;
    };
    UniversalScalability const law{.alpha = number("--alpha", -1.0, 1.0, "share that contends", 0.0),
                                   .beta = number("--beta", 0.0, 1.0, "cost of a pair of workers", 0.0),
                                   .gamma = number("--gamma", 1e-18, largest_gamma, "throughput of one worker", 1.0)};
    if (law.beta > 0.0 && law.beta < 1e-24) { refuse("--beta", "is too small", "it begins at 1e-24", "leave it out"); }
    return law;
}

UslQuestion read_question(Arguments const& arguments) {
    UslQuestion question{.law = read_law(arguments), .share = read_share(arguments)};
    question.workers = read_law_workers(arguments, doubling_workers(question.law));
    for (int const count : question.workers) {
        if (usl_speedup(question.law, Ranks{count})) { continue; }
        refuse("--workers", "the law has no throughput at " + workers_words(count),
               "with alpha below zero it breaks down at " + plain(*usl_breaks_at(question.law)) + " workers",
               "ask below that");
    }
    question.efficiency = read_efficiency(arguments);
    question.scale_up = read_scale_up(arguments);
    return question;
}

std::string verdict(UslAnswer const& result) {
    std::string const share = result.for_share ? "; " + percent_of(result.question.share) + " % of that takes " +
                                                     workers_words(*result.for_share)
                                               : "";
    if (result.best) {
        return "Throughput is largest at " + workers_words(*result.best) + " (K* = " + plain(result.peak) +
               "): " + times(result.curve.ceiling) + " one worker" + share + ". Beyond, more workers hurt.";
    }
    if (result.curve.ceiling) {
        return "No number of workers gives more than " + times(result.curve.ceiling) + share + ".";
    }
    if (result.breaks_at) {
        return "Super-linear by these coefficients: the law breaks down at " + plain(*result.breaks_at) +
               " workers and names no ceiling.";
    }
    return "Nothing contends and nothing has to agree: throughput grows with the workers, without a ceiling.";
}

Table rows_table(UslAnswer const& result) {
    bool const scaled = result.question.law.gamma != 1.0;
    Table table{.title = "Universal Scalability Law", .columns = {"workers", "speedup", "eff. %", "doubling"}};
    if (scaled) { table.columns.push_back("throughput"); }
    for (UslRow const& row : result.rows) {
        table.rows.push_back(
            {std::to_string(row.workers), times(row.speedup), percent_of(row.speedup / row.workers), times(row.gain)});
        if (scaled) { table.rows.back().push_back(plain(row.throughput, 4)); }
    }
    return table;
}

} // namespace

int run_usl(Arguments const& arguments, LawsCall const& call) {
    UslAnswer const answer = speedups_of(read_question(arguments));
    std::vector<Block> blocks{Paragraph{verdict(answer), "", true}, rows_table(answer)};
    if (answer.rows.size() > 1) {
        std::optional<double> peak;
        if (answer.best) { peak = static_cast<double>(*answer.best); }
        blocks.emplace_back(speedup_chart(
            answer.best ? "Throughput turns at the peak: beyond it agreeing costs more than a worker adds."
                        : "Contention bends the curve away from the ideal line.",
            {{"law", answer.curve}}, 1.0, peak));
    }
    add_scale_up(blocks, answer.scale_up);
    if (auto const& efficiency = answer.question.efficiency) {
        blocks.emplace_back(Paragraph{held_words(*efficiency, answer.most_efficient), "efficiency"});
    }
    blocks.emplace_back(Paragraph{"X(K) = gamma K / (1 + alpha (K-1) + beta K (K-1)): alpha waits for one "
                                  "shared thing, beta is what each pair of "
                                  "workers pays to agree. With beta = 0 it is Amdahl's law",
                                  "law"});
    return write_answer(call, answer, rows_of, "Universal Scalability Law", std::move(blocks));
}

} // namespace headroom::cli
