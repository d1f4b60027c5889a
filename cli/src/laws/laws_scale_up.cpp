#include "arguments.hpp"
#include "laws/laws_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

#include <algorithm>
#include <iterator>

namespace headroom::cli {
namespace {

constexpr double least_factor = 1e-3, largest_factor = 1e6;

std::optional<DollarsPerSecond> read_machine_price(Arguments const& arguments, std::string const& option) {
    auto const text = arguments.text(option);
    if (!text) { return std::nullopt; }
    DollarsPerSecond const price = parse_price(*text, option);
    if (price <= DollarsPerSecond{} || price.base() > 1e12) {
        refuse(option, headroom::quoted(*text) + " is no price", "it is zero or out of range", "for example 2.5 $/h");
    }
    return price;
}

std::optional<double> hourly(std::optional<DollarsPerSecond> const& price) {
    return price ? std::optional{price->in(units::dollar / units::hour)} : std::nullopt;
}

std::string matches_words(ScaleUpQuestion const& question, ScaleUpMatch const& one) {
    std::string const who = one.serial_fraction ? " at " + percent_of(one.serial_fraction) + " % serial" : "";
    if (!one.workers) {
        return "no number of present machines is as fast as one of " + times(question.factor) + " the speed" + who;
    }
    return workers_words(*one.workers) + (*one.workers == 1 ? " is" : " are") + " as fast as one machine of " +
           times(question.factor) + " the speed" + who;
}

/// Sentence on the cheaper way to a result, where it changes once at most; empty otherwise or without prices.
std::string cheaper_words(std::vector<ScaleUpRow> const& rows) {
    if (rows.empty() || std::ranges::any_of(rows, [](ScaleUpRow const& one) { return !one.cheaper; })) { return {}; }
    auto const is_out = [](ScaleUpRow const& one) { return one.cheaper != UpOrOut::up; };
    if (!std::ranges::is_partitioned(rows, is_out)) { return {}; }
    auto const turn = std::ranges::partition_point(rows, is_out);
    if (turn == rows.begin()) { return "For a result the faster machine costs less at every listed count."; }
    if (turn == rows.end()) { return "More of the present ones cost no more for a result at any listed count."; }
    return "A result costs no more with up to " + workers_words(std::prev(turn)->workers) +
           ", and less with the faster machine from " + workers_words(turn->workers) + " on.";
}

Table rows_table(ScaleUp const& comparison) {
    Table table{.title = "Up or out: one faster machine against more of them"};
    bool const several = comparison.matches.size() > 1, priced = comparison.question.price.has_value();
    if (several) { table.columns.push_back("serial %"); }
    table.columns.insert(table.columns.end(), {"workers", "speedup", left("faster")});
    table.columns.push_back(priced ? Column{"tie price $/h"} : Column{"tie: price x"});
    if (priced) { table.columns.insert(table.columns.end(), {"out $", "up $", left("cheaper")}); }
    for (ScaleUpRow const& one : comparison.rows) {
        std::vector<std::string> row;
        if (several) { row.push_back(percent_of(one.serial_fraction)); }
        row.insert(row.end(), {std::to_string(one.workers), times(one.speedup), std::string{name_of(one.faster)}});
        row.push_back(priced ? plain(hourly(one.tie_price)) : plain(one.tie_price_ratio));
        if (priced) {
            row.insert(row.end(), {plain(hourly(one.out_price)), plain(hourly(one.up_price)),
                                   one.cheaper ? std::string{name_of(*one.cheaper)} : "-"});
        }
        table.rows.push_back(std::move(row));
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

void add_scale_up(std::vector<Block>& blocks, std::optional<ScaleUp> const& comparison) {
    if (!comparison) { return; }
    ScaleUpQuestion const& question = comparison->question;
    std::vector<std::string> words;
    for (ScaleUpMatch const& one : comparison->matches) { words.push_back(matches_words(question, one)); }
    std::string verdict = join(words, "; ") + ".";
    if (comparison->matches.size() == 1) {
        if (std::string const cheaper = cheaper_words(comparison->rows); !cheaper.empty()) { verdict += " " + cheaper; }
    }
    verdict[0] = verdict[0] == 'n' ? 'N' : verdict[0];                      // "no number of ..."
    blocks.insert(blocks.begin(), Paragraph{std::move(verdict), "", true}); // it was asked for
    blocks.emplace_back(as(Part::answer, rows_table(*comparison)));
    blocks.emplace_back(
        Paragraph{"the faster machine runs the whole job " + times(question.factor) +
                      " as fast, its serial part too; below the tie price it is the cheaper way to a result" +
                      (question.price ? ". out $ and up $: what an hour's work of one present machine costs" : "") +
                      ". Prices are paid while the job runs",
                  "up or out"});
}

} // namespace headroom::cli
