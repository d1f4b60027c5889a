// headroom-fit: makes catalog/calibration/{training,folds}.toml from the published runs of this tree, and with --memory
// memory.toml from tables of runs that state their memory, with --serving serving.toml from published serving.
#include "headroom/error.hpp"
#include "headroom/fit/ablation.hpp"
#include "headroom/fit/collective_fit.hpp"
#include "headroom/fit/serving_validation.hpp"
#include "headroom/fit/training_fit.hpp"
#include "headroom/io/benchmark_log.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/measured_system.hpp"
#include "headroom/io/runs.hpp"
#include "headroom/io/serving_runs.hpp"
#include "headroom/io/support.hpp"
#include "headroom/training/memory_validation.hpp"
#include "headroom/training/scale_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
using namespace headroom;
using namespace headroom::training;

void print_summary(char const* name, Validation const& validation) {
    std::printf("%s\n", name);
    for (auto const& group : validation.groups) {
        if (group.by == "strategy") { continue; }
        auto const& s = group.summary;
        std::printf("  %-12s %-24s rows %4d skipped %4d  median %5.1f %%  mean %5.1f %%  p90 %5.1f %%  bias %+5.1f %%  "
                    "inside %3.0f %%\n",
                    group.by.c_str(), group.name.c_str(), s.rows, s.skipped, 100 * s.median_absolute_error,
                    100 * s.mean_absolute_error, 100 * s.p90_absolute_error, 100 * s.mean_error,
                    100 * s.interval_coverage);
    }
}

/// The benchmarks of collectives whose machine the catalog has.
std::vector<fit::PlacedCollective> placed_collectives(fs::path const& table, io::Catalog const& catalog) {
    std::vector<fit::PlacedCollective> placed;
    std::map<std::string, io::MeasuredSystem> systems;
    for (auto const& row : io::read_benchmark_log(io::read_file(table), table.string()).rows) {
        std::string const key = row.system + '\n' + row.interconnect + '\n' + std::to_string(row.nodes);
        if (!systems.contains(key)) {
            systems.emplace(key, io::measured_system(catalog, row.system, row.interconnect, row.nodes));
        }
        if (auto const& cluster = systems.at(key).cluster) { placed.push_back({row, *cluster}); }
    }
    return placed;
}

bool is_tuned(PublishedRun const& run) { return !run.ordinary; }

/// Runs of tuned and of ordinary software, one below the other.
void print_both(std::string const& name, Validation const& all) {
    print_summary(name.c_str(), part_of(all, is_tuned));
    print_summary((name + ", ordinary software").c_str(),
                  part_of(all, [](PublishedRun const& run) { return run.ordinary; }));
}

/// Inputs that every part of this program reads.
struct Evidence {
    std::vector<PublishedRun> runs;
    CalibrationSet independent;
    fit::FitSettings settings;
};

Evidence read_evidence(fs::path const& root) {
    io::Catalog const catalog{{root / "catalog"}};
    auto const table = root / "validation" / "published_runs.csv";
    auto const benchmarks = root / "validation" / "published_communication.csv";
    Evidence evidence{.runs = io::read_runs(io::read_file(table), table.string(), catalog),
                      .independent = fit::fit_collectives(placed_collectives(benchmarks, catalog),
                                                          catalog.calibration("independent")),
                      .settings = {}};
    auto const ordinary = root / "validation" / "published_ordinary.csv";
    for (auto& run : io::read_runs(io::read_file(ordinary), ordinary.string(), catalog)) {
        run.ordinary = true;
        evidence.runs.push_back(std::move(run));
    }
    evidence.settings.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    return evidence;
}

void print_collectives(CalibrationSet const& set) {
    std::printf("constants of collectives, from benchmarks of them\n");
    for (Constant const id : fit::collective_constants) {
        auto const& constant = set[id];
        std::printf("  %-18s %.4g (independent %.4g, %d sources)\n",
                    std::string{constants()[static_cast<std::size_t>(id)].key}.c_str(), constant.value,
                    constant.independent, constant.sources);
    }
}

/// "median / mean / 90th percentile" in per cent.
std::string three_of(ErrorSummary const& s) {
    return fmt::format("{:.1f} / {:.1f} / {:.1f}", 100 * s.median_absolute_error, 100 * s.mean_absolute_error,
                       100 * s.p90_absolute_error);
}

std::string change_of(fit::AblationResult::Means const& means) {
    return fmt::format("{:.1f} to {:.1f}", 100 * means.whole, 100 * means.without);
}

/// Cells of an element's worth on the runs that it moves; empty where it moves none.
std::string moved_cells(fit::AblationResult const& r) {
    if (r.moved == 0) { return "0 | | |"; }
    return fmt::format("{} | {} | {} ({} : {}) |", r.moved, change_of(r.moved_fitted), change_of(r.moved_left_out),
                       r.sources_worse, r.sources_better);
}

/// The table of elements that ordinary software alone has.
void print_ordinary_ablation(std::span<PublishedRun const> runs, CalibrationSet const& set,
                             fit::FitSettings const& settings) {
    std::vector<PublishedRun> ordinary;
    std::ranges::copy_if(runs, std::back_inserter(ordinary), &PublishedRun::ordinary);
    fmt::print(
        "| taken out | instead | ordinary, family left out | runs moved | their error |\n|---|---|---|---|---|\n");
    for (auto const& r : fit::without_ordinary_elements(ordinary, set, settings)) {
        fmt::print("| {} | {} | {:.1f} / {:.1f} | {} | {} ({} : {}) |\n", r.name, r.instead, 100 * r.median,
                   100 * r.p90, r.moved, change_of(r.errors), r.families_worse, r.families_better);
    }
    std::fflush(stdout);
}

/// The tables of docs/accuracy.md: every element taken out, everything else fitted anew.
void print_ablation(fs::path const& root, bool ordinary) {
    auto const [runs, independent, settings] = read_evidence(root);
    print_ordinary_ablation(runs, io::Catalog{{root / "catalog"}}.calibration("training"), settings);
    if (ordinary) { return; }
    fmt::print("| taken out | instead | dense, fitted | dense, source left out | mixtures, fitted | mixtures, left "
               "out | runs moved | their error, fitted | their error, left out |\n"
               "|---|---|---|---|---|---|---|---|---|\n");
    auto const elements = fit::ablations();
    auto const whole = fit::fitted_without(elements.front(), runs, independent, settings);
    for (auto const& ablation : elements) {
        auto const r = fit::without_element(ablation, whole, runs, independent, settings);
        fmt::print("| {} | {} | {} | {} | {:.1f} | {:.1f} | {}\n", r.name, r.instead, three_of(r.dense),
                   three_of(r.dense_left_out), 100 * r.mixtures.median_absolute_error,
                   100 * r.mixtures_left_out.median_absolute_error, moved_cells(r));
        std::fflush(stdout);
    }
}

int run(fs::path const& root, fs::path const& out, bool quick) {
    if (!fs::is_directory(out)) { // a fit takes minutes: what cannot be written is said before
        refuse("--out " + out.string(), "is no folder", {}, "make it first");
    }
    auto const [runs, independent, settings] = read_evidence(root);
    print_collectives(independent);

    print_both("independent values, nothing fitted", validate(runs, independent));
    auto set = fit::fit_training(runs, independent, settings);
    set.name = "training";
    if (!quick) {
        auto const folds = fit::leave_one_source_out(runs, set, independent, settings);
        auto const left_out = validate_left_out(runs, set, folds);
        set.bands = conformal_bands(fit::left_out_residuals(runs, set, folds));
        set.warm = warm_start_of(residuals_of(part_of(left_out, is_tuned)));
        print_both("each source left out of the fit", left_out);
        io::write_file(out / "folds.toml",
                       io::write_folds(folds, {"What is fitted without one source each, and without one mixture each;",
                                               "made by `make fit`."}));
    }
    print_both("fitted", validate(runs, set));
    io::write_file(out / "training.toml",
                   io::write_calibration(set, {"Constants of the step model, fitted to validation/published_runs.csv "
                                               "and published_ordinary.csv; made by `make fit`.",
                                               "Each is pulled towards catalog/calibration/independent.toml."}));
    return 0;
}

/// Fits the spread of measured memory to the runs of some tables.
int fit_memory(fs::path const& root, fs::path const& out, std::vector<fs::path> const& tables) {
    io::Catalog const catalog{{root / "catalog"}};
    std::vector<PublishedRun> runs;
    std::vector<std::string> header{
        "Spread of measured memory about the predicted one, in uncertain bytes; made by `make fit` of:"};
    for (auto const& table : tables) {
        auto const read = io::read_runs(io::read_file(table), table.string(), catalog);
        auto const stated = std::ranges::count_if(read, [](auto const& run) { return run.asks_memory() != nullptr; });
        header.push_back(fmt::format("{}: {} runs with a memory", table.filename().string(), stated));
        runs.insert(runs.end(), read.begin(), read.end());
    }
    auto const validation = validate_memory(runs, std::nullopt);
    if (validation.all.families < 2) {
        too_little("--memory", "too few families", "a spread between families needs two",
                   "name more tables with --runs");
    }
    auto const samples = memory_samples(validation.rows);
    io::write_file(out / "memory.toml", io::write_memory_spread(fit_memory_spread(samples), header));
    auto const& all = validation.all;
    fmt::print("{} runs of {} families: median {:.1f} %, families weighed alike {:.1f} %, 90th percentile {:.1f} %; "
               "inside with the family left out {:.1f} %\n",
               all.rows, all.families, 100 * all.median_absolute_error, 100 * all.families_median_absolute_error,
               100 * all.families_p90_absolute_error, 100 * all.left_out_coverage.value_or(0.0));
    return 0;
}

/// Counts the measured runs by what they have in common.
int count_runs(fs::path const& root, fs::path const& out) {
    Evidence const evidence = read_evidence(root);
    auto const groups = run_groups(evidence.runs);
    io::write_file(out / "evidence.toml",
                   io::write_run_groups(groups, {"Measured runs of validation/published_runs.csv and "
                                                 "published_ordinary.csv that count; made by `make fit`."}));
    fmt::print("{} groups of measured runs\n", groups.size());
    return 0;
}

/// Fits factors and overheads of engines to the published serving, and bands to what each family is predicted without.
int fit_engines(fs::path const& root, fs::path const& out) {
    io::Catalog const catalog{{root / "catalog"}};
    fs::path const table = root / "validation" / "published_serving.csv";
    std::vector<Issue> issues;
    auto const runs = io::read_serving_runs(io::read_file(table), table.string(), catalog, issues);
    auto samples = fit::serving_samples(runs, catalog.calibration("training").values());
    auto const folds = fit::fit_serving_folds(samples.samples);
    io::write_file(
        out / "serving.toml",
        io::write_serving_calibration(
            folds.all, {"Constants of serving, fitted to validation/published_serving.csv; made by `make fit`.",
                        "Times of a layer of a decode step, a layer with prompts, a decoding sequence."}));
    auto const validation = fit::validate_serving(std::move(samples), folds.all, folds.without);
    for (auto const& group : validation.groups) {
        if (group.by != "all" && group.by != "family") { continue; }
        auto const& e = group.errors;
        fmt::print(
            "{:<36} {:<10} rows {:4}  in sample {:5.1f} % {:5.1f} %  left out {:5.1f} % {:5.1f} %  inside {:3.0f} %\n",
            group.name, name_of(group.metric), e.in_use.rows, 100 * e.in_use.families_median_absolute_error,
            100 * e.in_use.families_p90_absolute_error, 100 * e.left_out.families_median_absolute_error,
            100 * e.left_out.families_p90_absolute_error, 100 * e.coverage);
    }
    return 0;
}

} // namespace

int main(int count, char** values) {
    try {
        fs::path root = ".";
        fs::path out;
        std::vector<fs::path> tables;
        bool quick = false, ablate = false, memory = false, serving = false, counts = false, ordinary = false;
        for (int i = 1; i < count; ++i) {
            std::string const argument = values[i];
            if (argument == "--quick") {
                quick = true;
            } else if (argument == "--ablation") {
                ablate = true;
            } else if (argument == "--ordinary") { // of --ablation: elements of ordinary software alone
                ordinary = true;
            } else if (argument == "--memory") {
                memory = true;
            } else if (argument == "--evidence") {
                counts = true;
            } else if (argument == "--serving") {
                serving = true;
            } else if (argument == "--runs" && i + 1 < count) {
                tables.emplace_back(values[++i]);
            } else if (argument == "--out" && i + 1 < count) {
                out = values[++i];
            } else {
                root = argument;
            }
        }
        if (ablate) {
            print_ablation(root, ordinary);
            return 0;
        }
        if (out.empty()) { out = root / "catalog" / "calibration"; }
        if (counts) { return count_runs(root, out); }
        if (serving) { return fit_engines(root, out); }
        if (memory) {
            if (tables.empty()) {
                tables = {root / "validation" / "published_runs.csv", root / "validation" / "published_ordinary.csv"};
            }
            return fit_memory(root, out, tables);
        }
        return run(root, out, quick);
    } catch (InputError const& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    } catch (std::exception const& error) {
        std::fprintf(stderr, "headroom-fit: %s\n", error.what());
        return 1;
    }
}
