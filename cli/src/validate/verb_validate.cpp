#include "setting.hpp"
#include "validate/validation_report.hpp"
#include "watch.hpp"

#include "headroom/error.hpp"
#include "headroom/fit/training_fit.hpp"
#include "headroom/io/embedded.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/runs.hpp"

#include <algorithm>
#include <array>
#include <thread>

namespace headroom::cli {
namespace {

constexpr std::string_view embedded_runs = "validation/published_runs.csv";
constexpr std::string_view folds_record = "folds";

constexpr std::array options{
    Option{"--runs", "FILE.csv", "measured runs (default: the published ones)", "Question"},
    Option{"--leave-one-source-out", "", "refit without each source and predict it", "Question", Takes::nothing},
    Option{"--calibration", "FILE", "constants of your own (TOML)", "Data"},
    Option{"--catalog", "DIR", "records that go before the built-in ones", "Data"},
    Option{"--require", "CONDITIONS", "exit 99 unless they hold: 'median_absolute_error<=10%'", "Output"},
};

constexpr char const* examples = "  headroom validate\n"
                                 "  headroom validate --format csv --out residuals.csv\n"
                                 "  headroom validate --runs mine.csv --require 'median_absolute_error<=10%'\n"
                                 "  headroom validate --leave-one-source-out";

struct RunsText {
    std::string text, name;
};

RunsText read_runs_text(Arguments const& arguments) {
    if (auto const file = arguments.text("--runs")) { return {io::read_file(*file), *file}; }
    for (io::EmbeddedFile const& file : io::embedded_files()) {
        if (file.path == embedded_runs) { return {std::string{file.content}, std::string{file.path}}; }
    }
    throw InputError{Fault::usage,
                     {.where = "--runs",
                      .problem = "missing",
                      .why = "this program carries no published runs",
                      .hint = "name a table of runs"}};
}

/// The constants fitted without each source: made now, or the catalog's. Those belong to the catalog's own
/// constants; for others nothing is known.
std::optional<Folds> read_folds(Arguments const& arguments, io::Catalog const& catalog,
                                std::span<PublishedRun const> runs, CalibrationSet const& calibration) {
    if (arguments.has("--leave-one-source-out")) {
        fit::FitSettings settings;
        settings.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
        return fit::leave_one_source_out(runs, calibration, catalog.calibration("independent"), settings);
    }
    if (arguments.has("--calibration")) { return std::nullopt; }
    std::vector<std::string> const names = catalog.names(io::RecordKind::calibration);
    if (std::find(names.begin(), names.end(), folds_record) == names.end()) { return std::nullopt; }
    io::RecordText const& record = catalog.text(io::RecordKind::calibration, folds_record);
    return io::read_folds(record.content, record.origin);
}

int run(Arguments const& arguments) {
    Stopwatch const stopwatch;
    Output const output = read_output(arguments);
    check_gates(arguments, metrics_of(ErrorSummary{}, {}));
    io::Catalog const catalog = open_catalog(arguments);
    CalibrationSet const calibration = read_calibration(arguments, catalog);
    refuse_other_machine(calibration, "--calibration");
    RunsText const text = read_runs_text(arguments);
    std::vector<PublishedRun> const runs = io::read_runs(text.text, text.name, catalog);
    if (runs.empty()) {
        throw InputError{Fault::insufficient,
                         {.where = text.name,
                          .problem = "no runs",
                          .why = "the table has a header only",
                          .hint = "add a row for each measured run"}};
    }
    ValidationReport report{catalog,
                            calibration.name,
                            text.name,
                            validate(runs, calibration),
                            {},
                            arguments.has("--leave-one-source-out"),
                            calibration.pace,
                            {},
                            {},
                            {}};
    {
        Watch const watch{"refitting without each source", output.quiet || !report.refitted};
        if (auto const folds = read_folds(arguments, catalog, runs, calibration)) {
            report.left_out = validate_left_out(runs, calibration, *folds);
            report.pace_without = folds->pace;
        }
    }
    auto const left_out = report.left_out ? std::optional{report.left_out->summary} : std::nullopt;
    report.gates = check_gates(arguments, metrics_of(report.validation.summary, left_out));
    if (output.stats) { report.wall_seconds = stopwatch.seconds(); }
    write_result(output, {[&] { return document_of(report); }, [&] { return json_of(report); },
                          [&] { return sheet_of(report); }});
    return report_gates(report.gates) ? Exit::done : Exit::gate;
}

} // namespace

Verb validate_verb() {
    return {"validate", "published measured runs, predicted and compared row by row",
            {},         {options, output_options()},
            examples,   run};
}

} // namespace headroom::cli
