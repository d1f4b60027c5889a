#include "laws/laws_scale_up.hpp"

#include "arguments.hpp"
#include "document/text.hpp"

#include "headroom/error.hpp"
#include "headroom/io/words.hpp"
#include "headroom/scale_up.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace headroom::cli {
namespace {

constexpr double least_factor = 1e-3, largest_factor = 1e6, tie = 1e-9;

std::optional<DollarsPerSecond> read_machine_price(Arguments const& arguments, std::string const& option) {
    auto const text = arguments.text(option);
    if (!text) { return std::nullopt; }
    DollarsPerSecond const price = parse_price(*text, option);
    if (price <= DollarsPerSecond{} || price.base() > 1e12) {
        refuse(option, headroom::quoted(*text) + " is no price", "it is zero or out of range", "for example 2.5 $/h");
    }
    return price;
}

/// "up" or "out", whichever value is less; "tie" within rounding.
std::string lesser(double up, double out) {
    if (std::abs(up - out) <= tie * std::max(up, out)) { return "tie"; }
    return up < out ? "up" : "out";
}

/// One faster machine against K of the present ones.
struct Pair {
    int workers = 1;
    double speedup = 1.0;
    std::string faster, cheaper; ///< `cheaper` is empty without both prices
    double tie_ratio = 1.0;      ///< price of the faster machine over that of a present one at which they cost the same
    std::optional<DollarsPerSecond> tie, up_cost, out_cost;
};

Pair pair_of(ScaleUpQuestion const& question, int workers, double speedup) {
    Ranks const k{workers};
    Pair pair{.workers = workers,
              .speedup = speedup,
              .faster = lesser(1.0 / question.factor, 1.0 / speedup),
              .cheaper = {},
              .tie_ratio = question.factor * workers / speedup,
              .tie = {},
              .up_cost = {},
              .out_cost = {}};
    if (question.price) {
        pair.tie = tie_price(*question.price, question.factor, speedup, k);
        pair.out_cost = price_of_work(*question.price, speedup, k);
    }
    if (question.faster_price) { pair.up_cost = price_of_work(*question.faster_price, question.factor, Ranks{1}); }
    if (pair.up_cost && pair.out_cost) { pair.cheaper = lesser(pair.up_cost->base(), pair.out_cost->base()); }
    return pair;
}

constexpr DollarsPerSecond per_hour{1.0 / 3600.0};

std::optional<double> hourly(std::optional<DollarsPerSecond> const& price) {
    return price ? std::optional{price->in(per_hour)} : std::nullopt;
}

Json pair_json(Pair const& pair, std::optional<double> serial_fraction) {
    return Json::object()
        .set("serial_fraction", serial_fraction)
        .set("workers", pair.workers)
        .set("speedup", pair.speedup)
        .set("faster", pair.faster)
        .set("cheaper", pair.cheaper.empty() ? Json{} : Json{pair.cheaper})
        .set("tie_price_ratio", pair.tie_ratio)
        .set("tie_price_dollars_per_hour", hourly(pair.tie))
        .set("up_dollars_per_machine_hour_of_work", hourly(pair.up_cost))
        .set("out_dollars_per_machine_hour_of_work", hourly(pair.out_cost));
}

std::string matches_words(ScaleUpQuestion const& question, ScaleOut const& one) {
    std::string const who = one.serial_fraction ? " at " + percent_of(one.serial_fraction) + " % serial" : "";
    if (!one.to_match) {
        return "no number of present machines is as fast as one of " + times(question.factor) + " the speed" + who;
    }
    return workers_words(*one.to_match) + (*one.to_match == 1 ? " is" : " are") + " as fast as one machine of " +
           times(question.factor) + " the speed" + who;
}

/// Who is cheaper for a result, in one sentence, where it turns once at most; empty otherwise or without prices.
std::string cheaper_words(std::vector<Pair> const& pairs) {
    if (pairs.empty() || std::ranges::any_of(pairs, [](Pair const& one) { return one.cheaper.empty(); })) { return {}; }
    auto const is_out = [](Pair const& one) { return one.cheaper != "up"; };
    if (!std::ranges::is_partitioned(pairs, is_out)) { return {}; }
    auto const turn = std::ranges::partition_point(pairs, is_out);
    if (turn == pairs.begin()) { return "For a result the faster machine costs less at every listed count."; }
    if (turn == pairs.end()) { return "More of the present ones cost no more for a result at any listed count."; }
    return "A result costs no more with up to " + workers_words(std::prev(turn)->workers) +
           ", and less with the faster machine from " + workers_words(turn->workers) + " on.";
}

Table pairs_table(std::vector<ScaleOut> const& curves, std::vector<Pair> const& pairs, bool priced) {
    Table table{.title = "Up or out: one faster machine against more of them", .columns = {}, .rows = {}};
    bool const several = curves.size() > 1;
    if (several) { table.columns.push_back({"serial %"}); }
    table.columns.insert(table.columns.end(), {{"workers"}, {"speedup"}, {"faster", Align::left}});
    table.columns.push_back(priced ? Column{"tie price $/h"} : Column{"tie: price x"});
    if (priced) { table.columns.insert(table.columns.end(), {{"out $"}, {"up $"}, {"cheaper", Align::left}}); }
    std::size_t at = 0;
    for (ScaleOut const& one : curves) {
        for (std::size_t i = 0; i < one.curve.workers.size(); ++i, ++at) {
            Pair const& pair = pairs[at];
            std::vector<std::string> row;
            if (several) { row.push_back(percent_of(one.serial_fraction)); }
            row.insert(row.end(), {std::to_string(pair.workers), times(pair.speedup), pair.faster});
            row.push_back(priced ? plain(hourly(pair.tie)) : plain(pair.tie_ratio));
            if (priced) {
                row.insert(row.end(), {plain(hourly(pair.out_cost)), plain(hourly(pair.up_cost)),
                                       pair.cheaper.empty() ? "-" : pair.cheaper});
            }
            table.rows.push_back(std::move(row));
        }
    }
    return table;
}

} // namespace

std::optional<ScaleUpQuestion> read_scale_up(Arguments const& arguments) {
    for (char const* option : {"--price", "--faster-price"}) {
        if (arguments.has(option) && !arguments.has("--faster")) {
            refuse(option, "belongs to --faster", "it would be ignored", "say how fast: --faster 2x");
        }
    }
    auto const text = arguments.text("--faster");
    if (!text) { return std::nullopt; }
    bool const with_x = text->ends_with('x');
    return ScaleUpQuestion{.factor = io::parse_between(with_x ? text->substr(0, text->size() - 1) : *text, least_factor,
                                                       largest_factor, "factor of speed (2x)", "--faster"),
                           .faster_price = read_machine_price(arguments, "--faster-price"),
                           .price = read_machine_price(arguments, "--price")};
}

void add_scale_up(LawsAnswer& answer, std::optional<ScaleUpQuestion> const& question,
                  std::vector<ScaleOut> const& curves) {
    if (!question) {
        answer.members.emplace_back("scale_up", Json{});
        return;
    }
    Json matches = Json::array(), rows = Json::array();
    std::vector<Pair> pairs;
    std::vector<std::string> words;
    for (ScaleOut const& one : curves) {
        matches.push(Json::object().set("serial_fraction", one.serial_fraction).set("workers_to_match", one.to_match));
        words.push_back(matches_words(*question, one));
        for (std::size_t i = 0; i < one.curve.workers.size(); ++i) {
            pairs.push_back(pair_of(*question, one.curve.workers[i], one.curve.speedup[i]));
            rows.push(pair_json(pairs.back(), one.serial_fraction));
        }
    }
    answer.members.emplace_back("scale_up", Json::object()
                                                .set("factor", question->factor)
                                                .set("faster_price_dollars_per_hour", hourly(question->faster_price))
                                                .set("price_dollars_per_hour", hourly(question->price))
                                                .set("matches", matches)
                                                .set("rows", rows));
    std::string verdict = join(words, "; ") + ".";
    if (curves.size() == 1) {
        if (std::string const cheaper = cheaper_words(pairs); !cheaper.empty()) { verdict += " " + cheaper; }
    }
    verdict[0] = verdict[0] == 'n' ? 'N' : verdict[0];                                    // "no number of ..."
    answer.blocks.insert(answer.blocks.begin(), Paragraph{std::move(verdict), "", true}); // it was asked for
    answer.blocks.emplace_back(pairs_table(curves, pairs, question->price.has_value()));
    answer.blocks.emplace_back(
        Paragraph{"the faster machine runs the whole job " + times(question->factor) +
                      " as fast, its serial part too; below the tie price it is the cheaper way to a result" +
                      (question->price ? ". out $ and up $: what an hour's work of one present machine costs" : "") +
                      ". Prices are paid while the job runs",
                  "up or out"});
}

} // namespace headroom::cli
