#include "predict/prediction_report.hpp"
#include "setting_words.hpp"
#include "several.hpp"

#include "headroom/document/text.hpp"
#include "headroom/training/training_answers.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace headroom::cli {
namespace {

std::string plain_title(io::Sweep const& sweep) {
    return sweep.name == "MODEL" ? "model" : sweep.name.substr(sweep.name.find_first_not_of('-'));
}

std::string fits_cell(Prediction const& p) { return p.odds ? fits_words(p.odds->fits) : p.fits ? "yes" : "no"; }

/// Columns that some row fills.
struct Shown {
    std::optional<Seconds> longest; ///< run
    bool cost = false, price = false, samples = false;
    bool sizes = false; ///< that differ
};
Shown shown_in(CombinationsAnswer const& answer) {
    Shown shown;
    Prediction const* before = nullptr;
    for (Combination const& one : answer.combinations) {
        if (!one.prediction) { continue; }
        shown.longest = std::max(shown.longest, run_time(*one.prediction));
        shown.cost = shown.cost || cost_of(*one.prediction);
        shown.price = shown.price || dollars_per_million(*one.prediction);
        shown.sizes = shown.sizes || (before != nullptr && before->workers != one.prediction->workers);
        before = &*one.prediction;
        shown.samples = shown.samples || one.prediction->question.model.works_on_samples();
    }
    shown.price = shown.price && !shown.cost;
    return shown;
}

/// "106 to 164": the interval in the unit of the step's column.
std::string interval_cell(Interval const& interval) {
    return significant(interval.low.base()) + " to " + significant(interval.high.base());
}

std::vector<std::string> combination_row(Combination const& one, Shown const& shown) {
    std::vector<std::string> row;
    for (auto const& value : one.values) { row.push_back(value.second); }
    auto const is_shown = [](bool column) { return static_cast<std::size_t>(column); };
    if (!one.prediction) {
        row.insert(
            row.end(),
            5 + is_shown(shown.sizes) + is_shown(shown.longest.has_value()) + is_shown(shown.cost || shown.price), "-");
        row.push_back(one.why_not);
        return row;
    }
    Prediction const& p = *one.prediction;
    if (shown.sizes) { row.push_back(std::to_string(p.workers)); }
    row.insert(row.end(), {significant(p.step().base()), interval_cell(p.interval), significant(p.tokens_per_second),
                           percent(p.mfu)});
    auto const time = run_time(p);
    if (shown.longest) { row.push_back(time ? significant(time->in(scale_of_run(*shown.longest).unit)) : "-"); }
    auto const cost = cost_of(p);
    if (shown.cost) { row.push_back(cost ? scaled(cost->base()) : "-"); }
    auto const price = dollars_per_million(p);
    if (shown.price) { row.push_back(price ? significant(*price) : "-"); }
    row.push_back(p.odds ? percent(p.odds->fits, 2) : p.fits ? "yes" : "no");
    row.push_back(short_name(p.question.strategy));
    return row;
}

Table table_of(CombinationsAnswer const& answer, std::span<io::Sweep const> sweeps) {
    Shown const shown = shown_in(answer);
    Table table{.title = ""};
    for (io::Sweep const& sweep : sweeps) {
        std::string title = plain_title(sweep);
        std::ranges::replace(title, '-', ' '); // so that it may be wrapped
        bool const is_name = sweep.name == "MODEL" || sweep.name == "--cluster";
        table.columns.push_back(is_name ? wrapped(title) : left(title));
    }
    if (shown.sizes) { table.columns.push_back("GPUs"); }
    table.columns.insert(table.columns.end(),
                         {"step s", spare("90 %"), spare(shown.samples ? "samples/s" : "tok/s"), spare("MFU %")});
    if (shown.longest) { table.columns.push_back(scale_of_run(*shown.longest).name); }
    if (shown.cost || shown.price) { table.columns.push_back(shown.cost ? "cost $" : "$/M"); }
    table.columns.push_back("fits %");
    table.columns.push_back(wrapped("plan"));
    for (std::size_t i = 0; i < answer.combinations.size(); ++i) {
        table.rows.push_back(combination_row(answer.combinations[i], shown));
        if (answer.combinations[i].soonest) { table.marked = i; }
    }
    return table;
}

std::string title_of(CombinationsAnswer const& answer) { return counted(answer.combinations.size(), "combination"); }

/// The first that runs, else the first that is predicted; null where none is.
Prediction const* example_of(CombinationsAnswer const& answer) {
    Prediction const* found = nullptr;
    for (Combination const& one : answer.combinations) {
        if (one.runs()) { return &*one.prediction; }
        if (found == nullptr && one.prediction) { found = &*one.prediction; }
    }
    return found;
}

/// All of it, or what a screen has: assumptions are those of one combination.
Document some_document(CombinationsAnswer const& answer, std::span<io::Sweep const> sweeps, Length length,
                       ScreenSize screen = {}) {
    Document document{title_of(answer), {}, ""};
    document.blocks.emplace_back(Paragraph{answer.verdict, "", true});
    document.blocks.emplace_back(table_of(answer, sweeps));
    if (Prediction const* p = example_of(answer); p != nullptr && !p->question.assumptions.empty()) {
        bool const whole = length == Length::full;
        document.blocks.emplace_back(whole ? Block{assumptions_table(p->question.assumptions)}
                                           : Block{assumed_in_short(p->question.assumptions)});
    }
    auto const best = std::ranges::find_if(answer.combinations, &Combination::soonest);
    if (best != answer.combinations.end() && !best->command.empty()) {
        document.blocks.emplace_back(command_block(best->command, screen));
    }
    return document;
}

/// Whether a list changes how much hardware or model there is: rates are then no measure of a plan.
bool changes_size(io::Sweep const& sweep) {
    constexpr std::array<std::string_view, 3> names{"MODEL", "--workers", "--nodes"};
    return std::ranges::count(names, sweep.name) > 0;
}

/// Rates over two lists of values, or MFU where sizes or models differ, with the plan of each.
HeatMap heat_map(CombinationsAnswer const& answer, io::Sweep const& down, io::Sweep const& across) {
    bool const sized = changes_size(down) || changes_size(across);
    HeatMap map{
        .title = (sized ? "MFU of the plan by " : "Rate by ") + plain_title(down) + " and " + plain_title(across),
        .caption = sized ? "The darker, the better the machine is used. A combination without a number cannot run."
                         : "The darker, the more work a second. A combination without a number cannot run.",
        .unit = sized                      ? "%"
                : shown_in(answer).samples ? "samples/s"
                                           : "tokens/s",
        .row_name = plain_title(down),
        .column_name = plain_title(across),
        .rows = down.values,
        .columns = across.values,
        .values = {}};
    map.values.assign(down.values.size(), std::vector<std::optional<double>>(across.values.size()));
    map.notes.assign(down.values.size(), std::vector<std::string>(across.values.size()));
    for (Combination const& one : answer.combinations) {
        if (!one.runs()) { continue; }
        auto const place = [](std::vector<std::string> const& values, std::string const& value) {
            return static_cast<std::size_t>(std::ranges::find(values, value) - values.begin());
        };
        std::size_t const row = place(down.values, one.values[0].second);
        std::size_t const column = place(across.values, one.values[1].second);
        map.values[row][column] = sized ? 100.0 * one.prediction->mfu : one.prediction->tokens_per_second;
        map.notes[row][column] = short_name(one.prediction->question.strategy);
    }
    return map;
}

/// Difference with its sign: "+8.10".
std::string signed_number(double value) { return (value > 0.0 ? "+" : "") + significant(value); }

} // namespace

Document document_of(CombinationsAnswer const& answer, std::span<io::Sweep const> sweeps) {
    return some_document(answer, sweeps, Length::full);
}

Document screen_document(CombinationsAnswer const& answer, std::span<io::Sweep const> sweeps, ScreenSize screen) {
    Document document = some_document(answer, sweeps, Length::screen, screen);
    constexpr std::size_t at = 1, least = 4;
    narrow(std::get<Table>(document.blocks[at]), screen.width);
    std::size_t const all = answer.combinations.size();
    if (!fit_to_screen(document, at, all, screen)) {
        if (std::holds_alternative<Verbatim>(document.blocks.back())) { document.blocks.pop_back(); }
        document.blocks.emplace_back(Paragraph{"left out", ""});
        fit_to_screen(document, at, least, screen);
        std::size_t const left_out = all - std::get<Table>(document.blocks[at]).rows.size();
        document.blocks.back() = Paragraph{(left_out == 0 ? "" : counted(left_out, "row") + " and ") +
                                               "the command of the best: --full has all",
                                           "left out"};
    }
    return document;
}

Document page_of(CombinationsAnswer const& answer, std::span<io::Sweep const> sweeps) {
    Document document = some_document(answer, sweeps, Length::full);
    if (sweeps.size() == 2) {
        document.blocks.insert(document.blocks.begin() + 1, heat_map(answer, sweeps[0], sweeps[1]));
    }
    return document;
}

Document document_of(PlanPairAnswer const& answer) {
    Prediction const &first = *answer.first.prediction, &second = *answer.second.prediction;
    Document document{"Two plans: " + first.question.model.name + " on " + first.question.cluster.name, {}, ""};
    document.blocks.emplace_back(Paragraph{answer.verdict, "", true});
    TimeScale const scale = scale_of(std::min(first.step(), second.step()));
    Table table{.title = "",
                .columns = {left(""), wrapped("plan", Align::right), wrapped("plan 2", Align::right), "difference"}};
    table.rows.push_back({"strategy", short_name(first.question.strategy), short_name(second.question.strategy), ""});
    auto const row = [&](std::string name, double one, double other) {
        table.rows.push_back({std::move(name), significant(one), significant(other), signed_number(other - one)});
    };
    for (PartDifference const& part : answer.parts) {
        row(part.part + ", " + scale.name, part.first.in(scale.unit), part.second.in(scale.unit));
    }
    table.marked = table.rows.size();
    row("step, " + scale.name, first.step().in(scale.unit), second.step().in(scale.unit));
    table.rows.push_back({"90 %", interval_words(first), interval_words(second), ""});
    row("MFU, %", 100.0 * first.mfu, 100.0 * second.mfu);
    row("memory, GiB", first.memory.total().in(units::GiB), second.memory.total().in(units::GiB));
    table.rows.push_back({"fits", fits_cell(first), fits_cell(second), ""});
    if (auto const one = cost_of(first), other = cost_of(second); one && other) {
        TimeScale const run = scale_of_run(std::max(*run_time(first), *run_time(second)));
        row(run.name, run_time(first)->in(run.unit), run_time(second)->in(run.unit));
        table.rows.push_back({"cost, $", scaled(one->base()), scaled(other->base()), ""});
    }
    document.blocks.emplace_back(std::move(table));
    return document;
}

Sheet sheet_of(CombinationsAnswer const& answer, std::span<io::Sweep const> sweeps) {
    Sheet sheet = row_sheet(answer.combinations);
    sheet.header.erase(sheet.header.begin()); // the values, as one text
    std::vector<std::string> names;
    for (io::Sweep const& sweep : sweeps) { names.push_back("asked." + plain_title(sweep)); }
    sheet.header.insert(sheet.header.begin(), names.begin(), names.end());
    for (std::size_t i = 0; i < sheet.rows.size(); ++i) {
        std::vector<std::string> values;
        for (auto const& value : answer.combinations[i].values) { values.push_back(value.second); }
        sheet.rows[i].erase(sheet.rows[i].begin());
        sheet.rows[i].insert(sheet.rows[i].begin(), values.begin(), values.end());
    }
    return sheet;
}

} // namespace headroom::cli
