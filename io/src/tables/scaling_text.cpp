#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/scaling_cells.hpp"
#include "tables/scaling_parts.hpp"
#include "tables/value_columns.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headroom::io {
namespace {

constexpr std::array<std::string_view, 5> fields{"PARAMETER", "POINTS", "REGION", "METRIC", "DATA"};
constexpr std::array<std::string_view, 6> time_metrics{"time",     "runtime",   "seconds",
                                                       "walltime", "wallclock", "duration"};

/// The next line with something on it; comments are passed over.
bool next_line(TextLines& lines, std::string_view& line) {
    while (lines.next(line)) {
        if (!line.empty() && !line.starts_with('#')) { return true; }
    }
    return false;
}

std::string_view without_mark(std::string_view text) {
    return text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
}

/// The measurements of one region and metric: a line of repeats a point.
struct Block {
    std::string region, metric;
    std::vector<std::string_view> data;
    std::vector<std::size_t> lines;
};

struct Parsed {
    std::string parameter;
    std::vector<double> points;
    std::vector<Block> blocks;
};

class Reader {
public:
    Reader(std::string_view text, std::string_view where) : lines_{without_mark(text)}, where_{where} {}

    Parsed read() {
        std::string_view line;
        while (next_line(lines_, line)) {
            std::string_view rest = line;
            std::string_view const field = next_word(rest);
            if (field == "PARAMETER") {
                parameter(rest);
            } else if (field == "POINTS") {
                points(rest);
            } else if (field == "REGION" || field == "METRIC") {
                (field == "REGION" ? region_ : metric_) = rest;
                open_ = false;
            } else if (field == "DATA") {
                data(rest);
            } else {
                std::vector<std::string> const known(fields.begin(), fields.end());
                fail(fmt::format("unknown field {}", headroom::quoted(field)),
                     "a line of Extra-P's text begins with one", did_you_mean(field, known));
            }
        }
        return std::move(parsed_);
    }

private:
    [[noreturn]] void fail(std::string problem, std::string why = {}, std::string hint = {}) const {
        unreadable_error(fmt::format("{}:{}", where_, lines_.number()), std::move(problem), std::move(why),
                         std::move(hint));
    }

    void parameter(std::string_view rest) {
        std::string_view const name = next_word(rest);
        if (name.empty()) { fail("a parameter without a name"); }
        if (!rest.empty() || !parsed_.parameter.empty()) {
            refuse(fmt::format("{}:{}", where_, lines_.number()), "several parameters",
                   "a law is fitted over one count of workers", "write a file with one PARAMETER");
        }
        parsed_.parameter = name;
    }

    /// "( 20 )", "(4) (8)" or "4 8": brackets are spaces where there is one parameter.
    void points(std::string_view rest) {
        if (parsed_.parameter.empty()) { fail("points before the parameter"); }
        std::string plain{rest};
        std::ranges::replace_if(
            plain, [](char c) { return c == '(' || c == ')'; }, ' ');
        std::string_view left = plain;
        while (!trimmed_line(left).empty()) {
            std::string_view const word = next_word(left);
            parsed_.points.push_back(read_parameter_cell(word, {where_, lines_.number(), "POINTS"}));
            if (parsed_.points.size() > most_scaling_rows) { fail("too many points"); }
        }
    }

    void data(std::string_view rest) {
        if (!open_) {
            for (Block const& block : parsed_.blocks) {
                if (block.region == region_ && block.metric == metric_) {
                    fail(fmt::format("region {} and metric {} twice", headroom::quoted(region_),
                                     headroom::quoted(metric_)));
                }
            }
            constexpr std::size_t most_blocks = 10'000;
            if (parsed_.blocks.size() >= most_blocks) { fail("too many regions"); }
            parsed_.blocks.push_back(
                {.region = std::string{region_}, .metric = std::string{metric_}, .data = {}, .lines = {}});
            open_ = true;
        }
        Block& block = parsed_.blocks.back();
        if (block.data.size() >= parsed_.points.size()) {
            fail("more DATA lines than points", fmt::format("there are {} points", parsed_.points.size()));
        }
        if (rest.empty()) { fail("a DATA line without values"); }
        block.data.push_back(rest);
        block.lines.push_back(lines_.number());
    }

    TextLines lines_;
    std::string_view where_, region_, metric_;
    bool open_ = false;
    Parsed parsed_;
};

void add_new(std::vector<std::string>& names, std::string const& name) {
    if (std::ranges::find(names, name) == names.end()) { names.push_back(name); }
}

void check_known(std::string const& asked, std::vector<std::string> const& names, std::string_view option,
                 std::string_view what) {
    if (asked.empty() || std::ranges::find(names, asked) != names.end()) { return; }
    std::string const near = did_you_mean(asked, names);
    refuse(option, fmt::format("no {} {}", what, headroom::quoted(asked)), {}, near.empty() ? one_of(names) : near);
}

Block const& chosen_block(Parsed const& parsed, ScalingTableQuestion const& question, ScalingTable& table) {
    for (Block const& block : parsed.blocks) {
        add_new(table.regions, block.region);
        add_new(table.metrics, block.metric);
    }
    check_known(question.region, table.regions, "--region", "region");
    check_known(question.metric, table.metrics, "--metric", "metric");
    for (Block const& block : parsed.blocks) {
        bool const region = question.region.empty() || block.region == question.region;
        bool const metric = question.metric.empty() || block.metric == question.metric;
        if (region && metric) { return block; }
    }
    refuse("--region", fmt::format("region {} has no metric {}", headroom::quoted(question.region),
                                   headroom::quoted(question.metric)));
}

ScalingQuantity quantity_of(Block const& block, ScalingTableQuestion const& question) {
    if (!question.quantity.empty()) { return scaling_quantity(question.quantity, "--quantity"); }
    bool const time = std::ranges::find(time_metrics, normalised(block.metric)) != time_metrics.end();
    return time ? ScalingQuantity::seconds : ScalingQuantity::value;
}

void add_rows(Block const& block, std::vector<double> const& points, std::string_view where, ScalingTable& table) {
    ValueCells cells{.quantity =
                         table.quantity == ScalingQuantity::throughput ? ScalingQuantity::value : table.quantity};
    for (std::size_t i = 0; i < block.data.size(); ++i) {
        std::string_view rest = block.data[i];
        while (!rest.empty()) {
            std::string_view const word = next_word(rest);
            table.rows.push_back({.workers = points[i],
                                  .value = read_value_cell(word, {where, block.lines[i], "DATA"}, cells),
                                  .weight = 1.0,
                                  .line = block.lines[i]});
        }
        if (table.rows.size() > most_scaling_rows) { return; } // refused by the caller
    }
}

} // namespace

bool is_extra_p_text(std::string_view text) {
    TextLines lines{without_mark(text)};
    std::string_view line;
    if (!next_line(lines, line)) { return false; }
    return std::ranges::find(fields, next_word(line)) != fields.end() && line.find(',') == std::string_view::npos;
}

ScalingTable read_extra_p_text(std::string_view text, std::string_view where, ScalingTableQuestion const& question) {
    if (!question.where.empty() || !question.workers_column.empty() || !question.value_column.empty()) {
        refuse(where, "a text of Extra-P has no columns", {}, "choose with --region and --metric");
    }
    Parsed const parsed = Reader{text, where}.read();
    ScalingTable table{.rows = {}, .format = "extra-p"};
    if (parsed.blocks.empty()) { unreadable_error(where, "no DATA lines", "there is nothing to fit"); }
    Block const& block = chosen_block(parsed, question, table);
    if (block.data.size() < parsed.points.size()) {
        unreadable_error(fmt::format("{}:{}", where, block.lines.back()),
                         fmt::format("{} DATA lines for {} points", block.data.size(), parsed.points.size()),
                         "each point has one, in the order of the points");
    }
    table.quantity = quantity_of(block, question);
    table.workers_column = parsed.parameter;
    table.value_column = block.metric.empty() ? "DATA" : block.metric;
    table.region = block.region;
    table.metric = block.metric;
    if (table.quantity == ScalingQuantity::seconds && question.quantity.empty()) {
        table.notes.push_back(fmt::format("metric {} is taken as seconds", headroom::quoted(block.metric)));
    }
    if (parsed.blocks.size() > 1 && question.region.empty() && question.metric.empty()) {
        table.notes.push_back(fmt::format(
            "of {} regions and metrics the first is fitted; choose with --region and --metric", parsed.blocks.size()));
    }
    add_rows(block, parsed.points, where, table);
    return table;
}

} // namespace headroom::io
