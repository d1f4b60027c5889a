#include "comm/comm_fit.hpp"

#include "arguments.hpp"
#include "setting.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/benchmark_log.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

namespace headroom::cli {
namespace {

namespace fs = std::filesystem;

constexpr char const* log_words = "[LOG...]";
constexpr char const* group = "Fits to measured collectives";

constexpr std::array options{
    Option{"--fit", "LOG",
           "logs of nccl-tests, rccl-tests, OSU or Intel MPI benchmarks, tables (CSV), folders of them; several after "
           "one another",
           group, Takes::perhaps_value},
    Option{"--nodes", "N", "that the ranks were on, where a log does not say", group},
    Option{"--system", "NAME", "that was measured, where a log does not say", group},
    Option{"--in-place", "", "the in-place columns of nccl-tests instead of the others", group, Takes::nothing},
    Option{"--save", "FILE", "a calibration file (TOML) with what was fitted, for --calibration", group},
};

constexpr std::array positionals{Positional{log_words, "more logs or folders of them, for --fit", true}};

/// Options of `comm` that mean the same here: what a log may leave out, and the machine that it is of.
constexpr std::array shared{"--ranks", "--collective", "--cluster", "--network", "--catalog", "--calibration"};

constexpr std::size_t most_files = 4096;

io::LogQuestion log_question(Arguments const& arguments, io::Catalog const& catalog) {
    return {.system = arguments.text("--system").value_or(""),
            .ranks = arguments.count("--ranks").value_or(0),
            .nodes = arguments.count("--nodes").value_or(0),
            .collective = arguments.text("--collective").value_or(""),
            .in_place = arguments.has("--in-place"),
            .node_size = io::node_sizes(catalog, arguments.text("--cluster").value_or(""))};
}

std::vector<std::string> named_files(Arguments const& arguments) {
    std::vector<std::string> given = arguments.all(log_words), files;
    if (auto const first = arguments.text("--fit"); first && !first->empty()) { given.insert(given.begin(), *first); }
    if (given.empty()) { refuse("--fit", "no log is named", "", "name a file: --fit all_reduce.log"); }
    for (std::string const& name : given) {
        std::error_code error;
        if (!fs::is_directory(name, error)) {
            files.push_back(name);
            continue;
        }
        std::vector<std::string> const inside = io::files_in(name);
        files.insert(files.end(), inside.begin(), inside.end());
    }
    if (files.size() > most_files) {
        refuse("--fit", std::to_string(files.size()) + " files", "at most 4096 are read at once", "name fewer");
    }
    return files;
}

/// Files that are named again, or with their folder: one measurement, and not two that agree.
class Repeated {
public:
    bool operator()(std::string const& name) {
        std::error_code error;
        fs::path const path = fs::weakly_canonical(name, error);
        return !error && !seen_.insert(path).second;
    }

private:
    std::set<fs::path> seen_;
};

/// Reads one file into the answer. A text that is no log is named there, unless it is the only one. Returns whether it is a
/// log at all, whatever of it can be used.
bool read_one(std::string const& name, io::LogQuestion const& question, bool alone,
              fit::CommunicationFitAnswer& answer) {
    fit::MeasuredFile file{.name = name};
    std::string const text = io::read_file(name);
    bool is_log = true;
    try {
        io::BenchmarkLog log = io::read_benchmark_log(text, name, question);
        file.format = log.format;
        file.lines = log.lines;
        file.rows = log.rows.size();
        file.issues = std::move(log.issues);
        file.notes = std::move(log.notes);
        for (MeasuredCollective& row : log.rows) {
            row.file = name;
            answer.rows.push_back(std::move(row));
        }
    } catch (InputError const& error) {
        if (alone || error.fault() == Fault::usage) { throw; }
        file.refusal = error.what();
        is_log = error.fault() == Fault::insufficient;
    }
    answer.files.push_back(std::move(file));
    return is_log;
}

void read_files(Arguments const& arguments, io::Catalog const& catalog, fit::CommunicationFitAnswer& answer) {
    std::vector<std::string> const names = named_files(arguments);
    io::LogQuestion const question = log_question(arguments, catalog);
    Repeated repeated;
    bool any_log = false;
    for (std::string const& name : names) {
        if (repeated(name)) {
            answer.files.push_back({.name = name, .refusal = name + ": named twice (it is read once)"});
            continue;
        }
        any_log |= read_one(name, question, names.size() == 1, answer);
    }
    if (!answer.rows.empty()) { return; }
    throw InputError{any_log ? Fault::insufficient : Fault::unreadable,
                     {.where = "--fit",
                      .problem = "no file of " + std::to_string(names.size()) + " is a log with usable rows",
                      .why = answer.files.front().refusal}};
}

void require_fits(fit::CommunicationFitAnswer const& answer) {
    if (!answer.result.fits.empty()) { return; }
    std::size_t most = 0;
    for (fit::SkippedGroup const& one : answer.result.skipped) { most = std::max(most, one.sizes); }
    too_little("--fit", "too few sizes to fit",
               "the largest group of one collective on one number of ranks has " + std::to_string(most) +
                   (most == 1 ? " size" : " sizes"),
               "measure three sizes or more; eight doublings separate protocols");
}

void say_issues(Output const& output, fit::CommunicationFitAnswer const& answer) {
    for (fit::MeasuredFile const& file : answer.files) {
        if (!file.refusal.empty()) { note(output, printable("not used: " + file.refusal)); }
        for (Issue const& one : file.issues) { note(output, printable(file.name + ": " + words_of(one))); }
        for (std::string const& one : file.notes) { note(output, printable(file.name + ": " + one)); }
    }
}

void check_comm_fit(Arguments const& arguments, std::span<Option const> others) {
    for (Option const& option : others) {
        bool const is_shared = std::ranges::find(shared, std::string_view{option.name}) != shared.end();
        if (!arguments.has(option.name) || is_shared) { continue; }
        refuse(option.name, "does not belong to --fit", "it would be ignored", "leave it out, or ask without --fit");
    }
}

void check_save(Arguments const& arguments, Output const& output) {
    auto const file = arguments.text("--save");
    if (!file) { return; }
    if (file->empty() || *file == "-") { refuse("--save", "names no file", "", "for example --save network.toml"); }
    if (same_file(*file, output.file) || (!output.html.empty() && same_file(*file, output.html))) {
        refuse("--save", headroom::quoted(*file) + " is where the result goes too", "they would run into each other",
               "give one of them another file");
    }
}

std::vector<std::string> saved_header(fit::CommunicationFitAnswer const& answer) {
    std::vector<std::string> lines{"Measured links, fitted by headroom comm --fit; intervals are of 90 %.",
                                   "Partial: constants that are not stated are those of the catalog."};
    for (fit::MeasuredFile const& file : answer.files) {
        lines.push_back(file.name + ": " + std::to_string(file.rows) + " rows");
    }
    return lines;
}

/// Writes the calibration file before the result. Nothing is written where the result has no place.
void save(std::string const& file, Output const& output, fit::CommunicationFitAnswer& answer) {
    if (auto const systems = different_systems(answer)) {
        refuse("--save", "the logs are of more than one system",
               headroom::quoted(systems->first) + " and " + headroom::quoted(systems->second),
               "a calibration is of one: give the logs of each on their own");
    }
    MeasuredNetwork const network = measured_network(answer);
    if (!result_has_place(output)) { return; }
    io::write_file(file, io::write_measured_network(network, "measured network", saved_header(answer)));
    answer.saved = file;
    note(output, "written: " + printable(file));
}

} // namespace

std::span<Option const> comm_fit_options() { return options; }
std::span<Positional const> comm_fit_positionals() { return positionals; }

void check_no_comm_fit(Arguments const& arguments) {
    for (Option const& option : options) {
        if (!arguments.has(option.name)) { continue; }
        refuse(option.name, "belongs to --fit", "it would be ignored", "leave it out, or give --fit LOG");
    }
    if (arguments.has(log_words)) {
        refuse("command line", "unexpected argument " + headroom::quoted(arguments.all(log_words).front()), "",
               "logs are named after --fit");
    }
}

int run_comm_fit(Arguments const& arguments, std::span<Option const> others) {
    Output const output = read_output(arguments, screen_lines);
    check_comm_fit(arguments, others);
    check_save(arguments, output);
    fit::CommunicationFitAnswer answer;
    io::Catalog const catalog = open_catalog(arguments);
    read_files(arguments, catalog, answer);
    say_issues(output, answer);
    answer.result = fit::fit_communication(answer.rows, {.known = known_links_of(arguments, catalog)});
    require_fits(answer);
    for (fit::RefusedLevel const& one : answer.result.refused) {
        note(output, "link " + level_words(one.level) + " not used: " + words_of(one));
    }
    if (auto const file = arguments.text("--save")) { save(*file, output, answer); }
    Result result = result_of(
        head_of("comm", catalog, ""), answer, [&] { return document_of(answer, catalog); }, {{}, stats_of(output)},
        [&] { return row_sheet(fitted_rows(answer)); });
    result.issues = {}; // said above
    write_result(output, result);
    return Exit::done;
}

} // namespace headroom::cli
