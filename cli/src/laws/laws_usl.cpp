#include "arguments.hpp"
#include "document/text.hpp"
#include "laws/laws_report.hpp"
#include "laws/laws_scale_up.hpp"

#include "headroom/io/words.hpp"
#include "headroom/scaling_laws.hpp"

#include <algorithm>

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

struct UslResult {
    UniversalScalability law;
    double share = 0.9;
    LawCurve curve;
    std::optional<double> peak, breaks_at;
    std::optional<std::int64_t> best, for_share, for_90;
};

UslResult result_of(Arguments const& arguments) {
    UslResult result{.law = read_law(arguments),
                     .share = read_share(arguments),
                     .curve = {},
                     .peak = {},
                     .breaks_at = {},
                     .best = {},
                     .for_share = {},
                     .for_90 = {}};
    UniversalScalability const& law = result.law;
    result.peak = usl_peak(law);
    result.best = usl_best_workers(law);
    result.breaks_at = usl_breaks_at(law);
    result.for_share = workers_for_share_of_ceiling(law, result.share);
    result.for_90 = workers_for_share_of_ceiling(law, 0.9);
    double const last = result.breaks_at ? std::min(1024.0, *result.breaks_at / 2.0) : 1024.0;
    result.curve = {.name = "law",
                    .workers = read_law_workers(arguments, result.peak ? 2.0 * *result.peak : last),
                    .speedup = {},
                    .ceiling = usl_ceiling(law)};
    for (int const count : result.curve.workers) {
        auto const speedup = usl_speedup(law, Ranks{count});
        if (!speedup) {
            refuse("--workers", "the law has no throughput at " + workers_words(count),
                   "with alpha below zero it breaks down at " + plain(*result.breaks_at) + " workers",
                   "ask below that");
        }
        result.curve.speedup.push_back(*speedup);
    }
    return result;
}

// ---- for machines -------------------------------------------------------------------------------------------------

void fill_machines(LawsAnswer& answer, UslResult const& result) {
    UniversalScalability const& law = result.law;
    Json rows = Json::array();
    auto const gains = gains_of(result.curve);
    answer.sheet.header = {"workers", "throughput", "speedup", "efficiency", "marginal_speedup_per_doubling"};
    for (std::size_t i = 0; i < gains.size(); ++i) {
        int const workers = result.curve.workers[i];
        double const speedup = result.curve.speedup[i];
        rows.push(Json::object()
                      .set("workers", workers)
                      .set("throughput", law.gamma * speedup)
                      .set("speedup", speedup)
                      .set("efficiency", speedup / workers)
                      .set("super_linear", speedup > workers * (1.0 + 1e-12))
                      .set("marginal_speedup_per_doubling", gains[i]));
        answer.sheet.rows.push_back({std::to_string(workers), exact(law.gamma * speedup), exact(speedup),
                                     exact(speedup / workers), cell(gains[i])});
    }
    auto const add = [&answer](char const* key, Json value) { answer.members.emplace_back(key, std::move(value)); };
    add("usl", Json::object().set("alpha", law.alpha).set("beta", law.beta).set("gamma", law.gamma));
    add("peak_workers", result.peak);
    add("best_workers", result.best);
    add("ceiling", result.curve.ceiling);
    add("ceiling_throughput", result.curve.ceiling ? Json{law.gamma * *result.curve.ceiling} : Json{});
    add("contention_ceiling", law.alpha > 0.0 ? Json{1.0 / law.alpha} : Json{});
    add("breaks_at_workers", result.breaks_at);
    add("share", result.share);
    add("workers_for_90_percent", result.for_90);
    add("workers_for_share", result.for_share);
    add("knee_workers", knee_of(result.curve));
    add("rows", rows);
}

// ---- for people ---------------------------------------------------------------------------------------------------

std::string verdict(UslResult const& result) {
    std::string const share =
        result.for_share ? "; " + percent_of(result.share) + " % of that takes " + workers_words(*result.for_share)
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

Table rows_table(UslResult const& result) {
    bool const scaled = result.law.gamma != 1.0;
    Table table{.title = "Universal Scalability Law",
                .columns = {{"workers"}, {"speedup"}, {"eff. %"}, {"doubling"}},
                .rows = {}};
    if (scaled) { table.columns.push_back({"throughput"}); }
    auto const gains = gains_of(result.curve);
    for (std::size_t i = 0; i < gains.size(); ++i) {
        double const speedup = result.curve.speedup[i];
        table.rows.push_back({std::to_string(result.curve.workers[i]), times(speedup),
                              percent_of(speedup / result.curve.workers[i]), times(gains[i])});
        if (scaled) { table.rows.back().push_back(plain(result.law.gamma * speedup, 4)); }
    }
    return table;
}

/// The smallest K with the speedup, up to the peak.
std::optional<std::int64_t> workers_to_match(UslResult const& result, double factor) {
    if (!result.curve.ceiling) { return std::nullopt; }
    double const share = factor / *result.curve.ceiling;
    return share > 1.0 ? std::nullopt : workers_for_share_of_ceiling(result.law, share);
}

} // namespace

LawsAnswer usl_answer(Arguments const& arguments) {
    UslResult const result = result_of(arguments);
    auto const scale_up = read_scale_up(arguments);
    LawsAnswer answer{.title = "Universal Scalability Law", .members = {}, .blocks = {}, .sheet = {}};
    fill_machines(answer, result);
    answer.blocks.emplace_back(Paragraph{verdict(result), "", true});
    answer.blocks.emplace_back(rows_table(result));
    if (result.curve.workers.size() > 1) {
        std::optional<double> peak;
        if (result.best) { peak = static_cast<double>(*result.best); }
        answer.blocks.emplace_back(speedup_chart(
            result.best ? "Throughput turns at the peak: beyond it agreeing costs more than a worker adds."
                        : "Contention bends the curve away from the ideal line.",
            {result.curve}, 1.0, peak));
    }
    ScaleOut out{.curve = result.curve, .serial_fraction = {}, .to_match = {}};
    if (scale_up) { out.to_match = workers_to_match(result, scale_up->factor); }
    add_scale_up(answer, scale_up, {out});
    answer.blocks.emplace_back(Paragraph{"X(K) = gamma K / (1 + alpha (K-1) + beta K (K-1)): alpha waits for one "
                                         "shared thing, beta is what each pair of "
                                         "workers pays to agree. With beta = 0 it is Amdahl's law",
                                         "law"});
    return answer;
}

} // namespace headroom::cli
