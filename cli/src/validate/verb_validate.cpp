#include "setting.hpp"
#include "validate/reports.hpp"
#include "watch.hpp"

#include "headroom/fit/collective_fit.hpp"
#include "headroom/fit/training_fit.hpp"
#include "headroom/interrupt.hpp"
#include "headroom/io/benchmark_log.hpp"
#include "headroom/io/embedded.hpp"
#include "headroom/io/executor.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/measured_system.hpp"
#include "headroom/io/plan_menu.hpp"
#include "headroom/io/runs.hpp"
#include "headroom/io/serving_runs.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <thread>

namespace headroom::cli {
namespace {

constexpr std::string_view embedded_runs = "validation/published_runs.csv",
                           embedded_ordinary = "validation/published_ordinary.csv";
constexpr std::string_view embedded_communication = "validation/published_communication.csv",
                           embedded_serving = "validation/published_serving.csv";
constexpr std::string_view folds_record = "folds";
constexpr int usual_plans = 1000, most_plans = 1'000'000;

void require_runs(bool any, std::string const& table) {
    if (any) { return; }
    too_little(table, "no runs", "the table has a header only", "add a row for each measured run");
}

constexpr std::array options{
    Option{"--runs", "FILE.csv", "measured runs (default: the published ones)", "Question"},
    Option{"--communication", "FILE.csv", "measured collectives instead (default: the published ones)", "Question",
           Takes::perhaps_value},
    Option{"--serving", "FILE.csv", "measured engines instead (default: the published ones)", "Question",
           Takes::perhaps_value},
    Option{"--simulation", "", "compare priced with simulated steps instead, over random legal plans", "Question",
           Takes::nothing},
    Option{"--memory", "", "compare the memory of the runs that state it instead", "Question", Takes::nothing},
    Option{"--plans", "N", "of --simulation (default: 1000)", "Question"},
    Option{"--seed", "N", "of --simulation: other plans (default: 0)", "Question"},
    Option{"--threads", "N", "of --simulation (default: all cores); the answer does not depend on it", "Question"},
    Option{"--leave-one-source-out", "", "refit without each source and predict it", "Question", Takes::nothing},
    Option{"--leave-one-scale", "", "predict the larger runs of each family given its smallest one", "Question",
           Takes::nothing},
    Option{"--calibration", "FILE", "constants of your own (TOML)", "Data"},
    Option{"--catalog", "DIR", "records that replace or extend the built-in ones", "Data"},
    Option{"--require", "CONDITIONS", "exit 99 unless they hold: 'median_absolute_error<=10%'", "Output"},
};

constexpr char const* examples = "  headroom validate\n"
                                 "  headroom validate --format csv --out residuals.csv\n"
                                 "  headroom validate --runs examples/runs.csv \\\n"
                                 "      --require 'median_absolute_error<=10%'\n"
                                 "  headroom validate --leave-one-source-out\n"
                                 "  headroom validate --leave-one-scale --require 'regret_median<=1%'\n"
                                 "  headroom validate --memory --require 'reserved_median_absolute_error<=10%'\n"
                                 "  headroom validate --communication\n"
                                 "  headroom validate --communication examples/collectives.csv\n"
                                 "      --require 'median_absolute_error_fitted<=5%'\n"
                                 "  headroom validate --serving --require 'tpot_median_absolute_error<=12%'\n"
                                 "  headroom validate --simulation --plans 5000 --require 'worst_unshared<=0.001%'";

struct RunsText {
    std::string text, name;
};

RunsText embedded_text(std::string_view path, std::string const& option) {
    for (io::EmbeddedFile const& file : io::embedded_files()) {
        if (file.path == path) { return {std::string{file.content}, std::string{file.path}}; }
    }
    refuse(option, "missing", "this program carries no published measurements", "name a table");
}

RunsText read_text(Arguments const& arguments, std::string const& option, std::string_view embedded) {
    auto const file = arguments.text(option);
    if (file && !file->empty()) { return {io::read_file(*file), *file}; }
    return embedded_text(embedded, option);
}

/// The constants fitted without each source: made now, or the catalog's. Those belong to the catalog's own
/// constants; for others nothing is known.
std::optional<Folds> read_folds(Arguments const& arguments, io::Catalog const& catalog,
                                std::span<PublishedRun const> runs, CalibrationSet const& calibration,
                                std::stop_token const& stop) {
    if (arguments.has("--leave-one-source-out")) {
        fit::FitSettings settings;
        settings.stop = stop;
        settings.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
        CalibrationSet independent = catalog.calibration("independent");
        for (Constant const id : fit::collective_constants) { independent[id] = calibration[id]; }
        return fit::leave_one_source_out(runs, calibration, independent, settings);
    }
    if (arguments.has("--calibration")) { return std::nullopt; }
    std::vector<std::string> const names = catalog.names(io::RecordKind::calibration);
    if (std::find(names.begin(), names.end(), folds_record) == names.end()) { return std::nullopt; }
    io::RecordText const& record = catalog.text(io::RecordKind::calibration, folds_record);
    return io::read_folds(record.content, record.origin);
}

// ---- collectives ------------------------------------------------------------------------------------------------

/// Prices from the catalog alone; a system that many rows share is looked up once.
class CatalogPrices {
public:
    explicit CatalogPrices(io::Catalog const& catalog) : catalog_{catalog}, tuning_{catalog.nccl_tuning()} {}

    fit::UnfittedPrice operator()(MeasuredCollective const& row) {
        std::string const key = row.system + '\n' + row.interconnect + '\n' + std::to_string(row.nodes);
        auto known = systems_.find(key);
        if (known == systems_.end()) {
            known = systems_.emplace(key, io::measured_system(catalog_, row.system, row.interconnect, row.nodes)).first;
        }
        io::MeasuredSystem const& system = known->second;
        if (!system.cluster) { return {std::nullopt, "", system.skipped_reason}; }
        auto const price = published_price(tuning_, *system.cluster, row.collective, row.size, row.ranks, row.nodes);
        if (!price) { return {std::nullopt, "", "no published constants for this collective on such hardware"}; }
        std::string how = "sends";
        if (price->algorithm && price->protocol) {
            how = name_of(*price->algorithm);
            how.append(" ").append(name_of(*price->protocol));
        }
        return {price->time.total(), std::move(how), ""};
    }

private:
    io::Catalog const& catalog_;
    NcclTuning tuning_;
    std::map<std::string, io::MeasuredSystem> systems_;
};

constexpr std::size_t validate_lines = 40;

/// Refuses options that a mode has no use for.
void refuse_unused(Arguments const& arguments, std::initializer_list<char const*> options_of_others,
                   std::string const& why) {
    for (char const* option : options_of_others) {
        if (arguments.has(option)) { refuse(option, why, "it would be ignored", "leave it out"); }
    }
}

/// Begins a call: its output, and conditions of --require that are read before any work.
template <class Answer> Output begin(Arguments const& arguments) {
    Output output = read_output(arguments, validate_lines);
    check_gates(arguments, [] { return metrics_of(static_cast<Answer const*>(nullptr)); });
    return output;
}

/// Writes a report, and returns how the conditions of --require came out.
template <class Answer>
std::vector<GateOutcome> write(Arguments const& arguments, Output const& output, Validated<Answer> const& report,
                               std::function<Sheet()> const& rows) {
    auto gates = check_gates(arguments, [&] { return metrics_of(&report.answer); });
    write_result(output, result_of(
                             head_of("validate", report.catalog, report.calibration), report.answer,
                             [&] { return document_of(report); }, {gates, stats_of(output)}, rows));
    return gates;
}

int exit_of(std::vector<GateOutcome> const& gates) { return report_gates(gates) ? Exit::done : Exit::gate; }

int run_communication(Arguments const& arguments) {
    Output const output = begin<fit::CommunicationAnswer>(arguments);
    refuse_unused(arguments, {"--runs", "--leave-one-source-out", "--leave-one-scale", "--calibration"},
                  "belongs to runs, not to --communication");
    io::Catalog const catalog = open_catalog(arguments);
    RunsText const text = read_text(arguments, "--communication", embedded_communication);
    io::BenchmarkLog const log = io::read_benchmark_log(text.text, text.name);
    CatalogPrices prices{catalog};
    CommunicationReport report{catalog, "", {.table_name = text.name, .validation = {}}};
    report.answer.validation =
        fit::validate_communication(log.rows, [&prices](MeasuredCollective const& row) { return prices(row); });
    report.answer.not_read = log.issues;
    return exit_of(write(arguments, output, report, [&] { return row_sheet(report.answer.validation.rows); }));
}

// ---- simulated step -----------------------------------------------------------------------------------------------

std::uint64_t read_seed(Arguments const& arguments) {
    auto const text = arguments.text("--seed");
    return text && *text != "0" ? static_cast<std::uint64_t>(parse_whole(*text, "--seed")) : 0;
}

int read_plans(Arguments const& arguments) {
    int const plans = arguments.count("--plans").value_or(usual_plans);
    if (plans > most_plans) {
        refuse("--plans", std::to_string(plans) + " are too many", "", "ask for at most " + std::to_string(most_plans));
    }
    return plans;
}

int run_simulation(Arguments const& arguments) {
    Output const output = begin<AgreementAnswer>(arguments);
    refuse_unused(arguments, {"--runs", "--leave-one-source-out", "--leave-one-scale"},
                  "belongs to runs, not to --simulation");
    refuse_unused(arguments, {"--communication"}, "asks another question than --simulation");
    int const plans = read_plans(arguments), cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    Executor const run = io::executor(std::min(256, arguments.count("--threads").value_or(cores)));
    std::uint64_t const seed = read_seed(arguments);
    io::Catalog const catalog = open_catalog(arguments);
    CalibrationSet const calibration = read_calibration(arguments, catalog);
    refuse_other_machine(calibration, "--simulation");
    AgreementReport report{catalog, calibration.name, {.asked = plans, .seed = seed}};
    AgreementAnswer& answer = report.answer;
    {
        Watch const watch{"simulating " + std::to_string(plans) + " plans", output.quiet};
        answer.rows = agreement_rows(io::agreement_menu(catalog), calibration, seed, plans, run, watch.token());
    }
    answer.table = agreement_table(answer.rows);
    auto const gates = write(arguments, output, report, [&] { return row_sheet(answer.rows); });
    if (!answer.complete()) {
        note(output, "validate: interrupted (" + std::to_string(answer.rows.size()) + " of " + std::to_string(plans) +
                         " plans finished). the result covers those");
        return Exit::interrupted;
    }
    return exit_of(gates);
}

/// The runs of ordinary software that the program carries.
std::vector<PublishedRun> ordinary_runs(io::Catalog const& catalog, std::vector<Issue>* issues) {
    RunsText const text = embedded_text(embedded_ordinary, "--runs");
    auto runs = io::read_runs(text.text, text.name, catalog, issues);
    for (PublishedRun& run : runs) { run.ordinary = true; }
    return runs;
}

// ---- memory -------------------------------------------------------------------------------------------------------

int run_memory(Arguments const& arguments) {
    Output const output = begin<MemoryValidationAnswer>(arguments);
    refuse_unused(arguments, {"--communication"}, "asks another question than --memory");
    refuse_unused(arguments, {"--leave-one-source-out", "--leave-one-scale"}, "is about step times, not memory");
    io::Catalog const catalog = open_catalog(arguments);
    CalibrationSet const calibration = read_calibration(arguments, catalog);
    RunsText const text = read_text(arguments, "--runs", embedded_runs);
    std::vector<Issue> issues;
    std::vector<PublishedRun> runs = io::read_runs(text.text, text.name, catalog, &issues);
    std::string name = text.name;
    if (!arguments.text("--runs")) {
        std::ranges::move(ordinary_runs(catalog, &issues), std::back_inserter(runs));
        name += " and " + std::string{embedded_ordinary};
    }
    MemoryReport report{catalog,
                        calibration.name,
                        {.runs_name = name,
                         .validation = validate_memory(runs, calibration.memory),
                         .issues = std::move(issues),
                         .spread = calibration.memory}};
    if (report.answer.validation.rows.empty()) {
        too_little(text.name, "no run with a memory that can be predicted", "",
                   "fill in the column measured_memory_gib_per_gpu");
    }
    return exit_of(write(arguments, output, report, [&] { return row_sheet(report.answer.validation.rows); }));
}

// ---- serving ------------------------------------------------------------------------------------------------------

int run_serving(Arguments const& arguments) {
    Output const output = begin<fit::ServingValidationAnswer>(arguments);
    refuse_unused(arguments, {"--runs", "--memory", "--communication", "--leave-one-source-out", "--leave-one-scale"},
                  "asks another question than --serving");
    io::Catalog const catalog = open_catalog(arguments);
    CalibrationSet const calibration = read_calibration(arguments, catalog);
    refuse_other_machine(calibration, "--serving");
    RunsText const text = read_text(arguments, "--serving", embedded_serving);
    std::vector<Issue> issues;
    auto const runs = io::read_serving_runs(text.text, text.name, catalog, issues);
    require_runs(!runs.empty(), text.name);
    auto samples = fit::serving_samples(runs, calibration.values());
    if (samples.samples.empty()) {
        auto const& left = samples.skipped.empty() ? samples.refused : samples.skipped;
        too_little(text.name, "no run that can be predicted", left.front().reason,
                   "name them as validation/published_serving.csv does");
    }
    std::map<std::string, serving::ServingCalibration> without;
    if (!arguments.text("--serving") || arguments.text("--serving")->empty()) {
        without = fit::fit_serving_folds(samples.samples).without;
    }
    ServedReport report{
        catalog,
        calibration.name,
        {.runs_name = text.name,
         .validation = fit::validate_serving(std::move(samples), catalog.serving_calibration(), without),
         .issues = std::move(issues)}};
    return exit_of(write(arguments, output, report, [&] { return row_sheet(report.answer.validation.rows); }));
}

// ---- runs -------------------------------------------------------------------------------------------------------

/// The runs that are compared, those of ordinary software and the latter with their frameworks guessed.
struct ComparedTables {
    std::vector<PublishedRun> runs, ordinary, unnamed;
};

/// Adds what constants that never saw a source, or a mixture, predict.
void compare_left_out(Arguments const& arguments, io::Catalog const& catalog, ComparedTables const& tables,
                      CalibrationSet const& calibration, std::stop_token const& stop, ValidationAnswer& answer) {
    auto const& runs = tables.runs;
    std::vector<PublishedRun> all = runs;
    std::ranges::copy(tables.ordinary, std::back_inserter(all));
    if (auto const folds = read_folds(arguments, catalog, all, calibration, stop)) {
        if (!tables.ordinary.empty()) {
            answer.ordinary_left_out = validate_left_out(tables.ordinary, calibration, *folds);
            answer.ordinary_unnamed = validate_left_out(tables.unnamed, calibration, *folds);
        }
        answer.left_out = validate_left_out(runs, calibration, *folds);
        answer.models_left_out = validate_models_left_out(runs, calibration, *folds);
        answer.pace_without = folds->pace;
        answer.scales = leave_one_scale(runs, calibration, *folds, *answer.left_out);
    } else if (arguments.has("--leave-one-scale")) {
        refuse("--leave-one-scale", "constants that never saw a source are not known for --calibration", "",
               "add --leave-one-source-out, which makes them");
    }
}

void check_measures(std::vector<PublishedRun> const& runs, ValidationAnswer& answer) {
    answer.utilization = check_utilization(runs);
    answer.choice = plan_choice(answer.left_out ? answer.left_out->rows : answer.validation.rows);
    auto const known = [](auto const& part) { return part ? &*part : nullptr; };
    answer.measures = accuracy_measures({.in_sample = answer.validation,
                                         .left_out = known(answer.left_out),
                                         .models_left_out = known(answer.models_left_out),
                                         .scales = known(answer.scales),
                                         .choice = &answer.choice,
                                         .ordinary = known(answer.ordinary),
                                         .ordinary_left_out = known(answer.ordinary_left_out),
                                         .ordinary_unnamed = known(answer.ordinary_unnamed)});
}

int run_runs(Arguments const& arguments) {
    Output const output = begin<ValidationAnswer>(arguments);
    io::Catalog const catalog = open_catalog(arguments);
    CalibrationSet const calibration = read_calibration(arguments, catalog);
    refuse_other_machine(calibration, "--calibration");
    RunsText const text = read_text(arguments, "--runs", embedded_runs);
    std::vector<Issue> issues;
    ComparedTables tables{.runs = io::read_runs(text.text, text.name, catalog, &issues), .ordinary = {}, .unnamed = {}};
    auto const& runs = tables.runs;
    if (!arguments.text("--runs")) {
        tables.ordinary = ordinary_runs(catalog, &issues);
        tables.unnamed = unnamed_runs(tables.ordinary);
    }
    require_runs(!runs.empty(), text.name);
    bool const none = std::ranges::none_of(runs, [](PublishedRun const& run) { return run.question.has_value(); });
    if (none) { // a run that is dropped as suspect has a question
        too_little(text.name, "no run that can be predicted", runs.front().skipped_reason,
                   "headroom validate --help; the columns are those of validation/published_runs.csv");
    }
    ValidationReport report{catalog,
                            calibration.name,
                            {.runs_name = text.name,
                             .validation = validate(runs, calibration),
                             .issues = std::move(issues),
                             .free_constants = free_constants(calibration),
                             .refitted = arguments.has("--leave-one-source-out"),
                             .pace = calibration.pace,
                             .asked_for_scales = arguments.has("--leave-one-scale")}};
    ValidationAnswer& answer = report.answer;
    if (!tables.ordinary.empty()) { answer.ordinary = validate(tables.ordinary, calibration); }
    {
        Watch const watch{"validate: refitting without each source", output.quiet || !answer.refitted};
        try {
            compare_left_out(arguments, catalog, tables, calibration, watch.token(), answer);
        } catch (Interrupted const&) { answer.complete = answer.refitted = false; }
    }
    check_measures(runs, answer);
    answer.narrows = narrowings(answer.validation.rows, calibration);
    auto const sheet = [&] {
        return answer.scales && answer.asked_for_scales ? row_sheet(answer.scales->rows)
                                                        : row_sheet(compared_runs(answer));
    };
    auto const gates = write(arguments, output, report, sheet);
    if (!answer.complete) {
        refusal("validate", "interrupted (the comparison with the constants in use is finished; that without each "
                            "source is left out)");
        return Exit::interrupted;
    }
    return exit_of(gates);
}

int run(Arguments const& arguments) {
    if (arguments.has("--simulation")) {
        refuse_unused(arguments, {"--memory", "--serving"}, "asks another question than --simulation");
        return run_simulation(arguments);
    }
    refuse_unused(arguments, {"--plans", "--seed", "--threads"}, "belongs to --simulation");
    if (arguments.has("--serving")) { return run_serving(arguments); }
    if (arguments.has("--memory")) { return run_memory(arguments); }
    return arguments.has("--communication") ? run_communication(arguments) : run_runs(arguments);
}

} // namespace

Verb validate_verb() {
    Verb verb{"validate", "published measured runs, predicted and compared row by row", {}, examples, run};
    verb.options = {options, length_options(), output_options()};
    verb.answers = tables_of<ValidationAnswer, fit::CommunicationAnswer, AgreementAnswer, MemoryValidationAnswer,
                             fit::ServingValidationAnswer>();
    return verb;
}

} // namespace headroom::cli
