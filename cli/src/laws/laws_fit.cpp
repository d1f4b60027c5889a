#include "laws/laws_fit.hpp"

#include "arguments.hpp"
#include "laws/laws_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/scaling_table.hpp"

#include <array>

namespace headroom::cli {
namespace {

constexpr char const* fit_group = "Fits to a table of measurements";
constexpr char const* file_group = "What is in that table";

constexpr std::array file_options{
    Option{"--fit", "FILE", "a CSV with workers and seconds, throughput or speedup, or a text of Extra-P", fit_group},
    Option{"--scaling", "HOW",
           "strong: a fixed problem; weak: the work grows with the workers (default: times are "
           "of a fixed problem, rates are fitted both ways)",
           fit_group},
    Option{"--seed", "N", "of a bootstrap (default: 1)", fit_group},
    Option{"--quantity", "WHAT", "seconds, throughput, speedup or sync (times of synchronisation alone)", file_group},
    Option{"--workers-column", "NAME", "where the worker counts are", file_group},
    Option{"--value-column", "NAME", "where the values are", file_group},
    Option{"--where", "COLUMN=VALUE", "only such rows; more conditions after semicolons", file_group},
    Option{"--region", "NAME", "of an Extra-P text (default: the first)", file_group},
    Option{"--metric", "NAME", "of an Extra-P text (default: the first)", file_group},
};

constexpr std::array question_options{
    Option{"--law", "NAMES", "fit only these: usl,amdahl (default: every law that applies)", fit_group},
    Option{"--predict", "COUNTS", "workers to predict (default: the measured ones and two doublings)", fit_group},
    Option{"--intervals", "HOW", "profile (default), asymptotic, bootstrap or bootstrap_pairs", fit_group},
    Option{"--coverage", "SHARE", "of intervals and bands (default: 0.9)", fit_group},
    Option{"--resamples", "N", "of a bootstrap (default: 999)", fit_group},
    Option{"--normalise", "", "gamma is X(1) as measured, in every law that has it", fit_group, Takes::nothing},
    Option{"--centre", "HOW", "mean (default) fits repeats as they are, median their median", fit_group},
    Option{"--errors", "HOW", "absolute (default): as large at every count; relative: a share of the value", fit_group},
    Option{"--efficiency", "SHARE", "to hold, 0.7 or 70%: how many workers keep it (without --fit: of a law)",
           fit_group},
    Option{"--falling-terms", "", "the normal form may also take terms that fall with the workers", fit_group,
           Takes::nothing},
};

constexpr std::size_t most_predictions = 256;
constexpr int most_resamples = 20'000;

fit::Measured measured_of(io::ScalingQuantity quantity) {
    switch (quantity) {
    case io::ScalingQuantity::seconds: return fit::Measured::seconds;
    case io::ScalingQuantity::throughput: return fit::Measured::throughput;
    case io::ScalingQuantity::speedup: return fit::Measured::speedup;
    case io::ScalingQuantity::sync: return fit::Measured::sync;
    case io::ScalingQuantity::value: break;
    }
    return fit::Measured::value;
}

fit::ScalingSource source_of(io::ScalingTable const& table) {
    std::vector<std::string> conditions;
    for (io::ScalingSeries const& one : table.series) { conditions.push_back(one.condition); }
    return {.workers_column = table.workers_column,
            .value_column = table.value_column,
            .weight_column = table.weight_column,
            .unit = table.unit,
            .format = table.format,
            .rows = table.rows.size(),
            .ignored = table.ignored,
            .issues = table.issues,
            .series = std::move(conditions),
            .notes = table.notes,
            .region = table.region,
            .metric = table.metric,
            .regions = table.regions,
            .metrics = table.metrics};
}

/// "the rows are of 2 series that differ in 'size': choose one with --where 'size=100000000'"; empty for one series.
std::string mixed_words(io::ScalingTable const& table) {
    if (table.series.empty()) { return ""; }
    io::ScalingSeries const& first = table.series.front();
    return "the rows are of " + std::to_string(first.series) + " series that differ in " +
           headroom::quoted(first.column) + ": choose one with --where '" + printable(first.condition) + "'";
}

/// Takes the scaling from the work of the steps, where no option states it.
void take_scaling_of_work(io::ScalingTable& table, fit::ScalingData& data) {
    if (data.scaling != fit::Scaling::unsaid || data.measured != fit::Measured::seconds) { return; }
    std::string const column = headroom::quoted(table.work.column);
    switch (table.work.growth) {
    case io::WorkGrowth::with_workers:
        data.scaling = fit::Scaling::weak;
        table.notes.push_back("the work grows with the workers, as " + column +
                              " shows: the scaling is weak; say --scaling strong to change that");
        return;
    case io::WorkGrowth::otherwise:
        refuse("--fit", "the work of a step differs between the worker counts",
               column + " shows it, and it is not in proportion to the workers",
               "fit the throughput, or say --scaling strong or weak");
    default: return;
    }
}

io::ScalingTableQuestion table_question(Arguments const& arguments) {
    auto const quantity = arguments.choice("--quantity", {"seconds", "throughput", "speedup", "sync"});
    return {.quantity = quantity.value_or(""),
            .workers_column = arguments.text("--workers-column").value_or(""),
            .value_column = arguments.text("--value-column").value_or(""),
            .where = arguments.text("--where").value_or(""),
            .region = arguments.text("--region").value_or(""),
            .metric = arguments.text("--metric").value_or("")};
}

fit::Scaling read_scaling(Arguments const& arguments, fit::Measured measured) {
    auto const given = arguments.choice("--scaling", {"strong", "weak"});
    if (!given) { return fit::Scaling::unsaid; }
    if (measured == fit::Measured::sync || measured == fit::Measured::value) {
        refuse("--scaling", "has no effect here", "the values are not of steps", "leave it out");
    }
    return *given == "weak" ? fit::Scaling::weak : fit::Scaling::strong;
}

std::vector<std::string> read_laws(Arguments const& arguments, fit::ScalingData const& data) {
    auto const given = arguments.text("--law");
    if (!given) { return {}; }
    std::vector<std::string> known, names;
    for (fit::ScalingLaw const& law : fit::scaling_laws()) { known.emplace_back(law.name); }
    for (std::string const& part : split(*given, ',')) {
        names.push_back(parse_choice(part, known, "--law"));
        if (fit::scaling_law(names.back())->applies(data.measured, data.scaling)) { continue; }
        refuse("--law", headroom::quoted(names.back()) + " does not apply",
               "the values are " + std::string{fit::name_of(data.measured)} + ", the scaling is " +
                   std::string{fit::name_of(data.scaling)},
               "see --scaling and --quantity");
    }
    return names;
}

fit::Intervals read_intervals(Arguments const& arguments) {
    constexpr std::array all{fit::Intervals::profile, fit::Intervals::asymptotic, fit::Intervals::bootstrap,
                             fit::Intervals::bootstrap_pairs};
    return arguments.one_of("--intervals", all).value_or(all.front());
}

fit::FitAnswer read_fit(Arguments const& arguments) {
    std::string const file = arguments.required("--fit", "name a table: --fit measured.csv");
    io::ScalingTable table = io::read_scaling_table(io::read_file(file), file, table_question(arguments));
    fit::FitAnswer answer{.file = file, .table = {}, .data = {}, .question = {}, .report = {}};
    answer.data.measured = measured_of(table.quantity);
    answer.data.scaling = read_scaling(arguments, answer.data.measured);
    take_scaling_of_work(table, answer.data);
    answer.table = source_of(table);
    answer.data.mixed = mixed_words(table);
    for (io::ScalingRow const& row : table.rows) {
        answer.data.samples.push_back({.workers = row.workers, .value = row.value, .weight = row.weight});
    }
    answer.question = read_fit_question(arguments, answer.data);
    answer.data.centre = answer.question.centre;
    answer.report = fit::fit_scaling(answer.data, answer.question);
    return answer;
}

/// --seed and --resamples would be ignored without a bootstrap.
void check_bootstrap(Arguments const& arguments, fit::FitQuestion const& question) {
    for (char const* option : {"--seed", "--resamples"}) {
        if (arguments.has(option) && !fit::draws(question.intervals)) {
            refuse(option, "belongs to a bootstrap", "it would be ignored", "say --intervals bootstrap");
        }
    }
    if (question.resamples < 100 || question.resamples > most_resamples) {
        refuse("--resamples", std::to_string(question.resamples) + " is out of range", "from 100 to 20000", "");
    }
}

std::vector<double> read_predictions(Arguments const& arguments) {
    auto const given = arguments.text("--predict");
    if (!given) { return {}; }
    std::vector<int> const counts = parse_counts(*given, "--predict");
    if (counts.size() > most_predictions) {
        refuse("--predict", std::to_string(counts.size()) + " counts", "at most 256 are predicted at once",
               "use a larger step");
    }
    return {counts.begin(), counts.end()};
}

} // namespace

fit::FitQuestion read_fit_question(Arguments const& arguments, fit::ScalingData const& data) {
    fit::FitQuestion question;
    question.laws = read_laws(arguments, data);
    question.intervals = read_intervals(arguments);
    question.seed = static_cast<std::uint64_t>(arguments.count("--seed").value_or(1));
    question.resamples = arguments.count("--resamples").value_or(999);
    check_bootstrap(arguments, question);
    if (auto const coverage = arguments.text("--coverage")) {
        question.coverage = io::parse_between(*coverage, 0.5, 0.999, "coverage", "--coverage");
    }
    question.normalise = arguments.has("--normalise");
    bool const median = arguments.choice("--centre", {"mean", "median"}) == "median";
    question.centre = median ? fit::Centre::median : fit::Centre::mean;
    question.relative_errors = arguments.choice("--errors", {"absolute", "relative"}) == "relative";
    question.negative_exponents = arguments.has("--falling-terms");
    question.predict = read_predictions(arguments);
    question.efficiency = read_efficiency(arguments);
    if (question.efficiency && !fit::of_steps(data.measured)) {
        refuse("--efficiency", "has no effect here", "the values are not of steps", "leave it out");
    }
    return question;
}

std::span<Option const> fit_question_options() { return question_options; }

std::span<Option const> fit_options() {
    static std::vector<Option> const all = [] {
        std::vector<Option> both{file_options.begin(), file_options.end()};
        both.insert(both.begin() + 1, question_options.begin(), question_options.end()); // --fit is the first
        return both;
    }();
    return all;
}

int run_fit(Arguments const& arguments) {
    Output const output = read_output(arguments, screen_lines);
    fit::TableFitAnswer const answer{read_fit(arguments)};
    if (output.format == "json" || output.format == "csv") { // the others carry them
        for (std::string const& one : answer.fit.table.notes) { note(output, printable(answer.fit.file + ": " + one)); }
    }
    io::Catalog const catalog;
    auto const rows = [&] { return row_sheet(fit::predictions_by_law(answer.fit)); };
    write_result(output, result_of(
                             head_of("laws", catalog, ""), answer, [&] { return document_of(answer.fit, catalog); },
                             {{}, stats_of(output)}, rows));
    return Exit::done;
}

} // namespace headroom::cli
