#include "measure/measure.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/command_result.hpp"
#include "headroom/probe/run_command.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <unistd.h>

namespace headroom::cli {
namespace {

constexpr char const* command_group = "Command";
constexpr char const* result_group = "Result";
constexpr char const* order_group = "Runs";

constexpr std::array options{
    Option{"--workers", "COUNTS", "1,2,4,8 or 1..16 (doubling) or 8..64:8; {workers} in COMMAND", command_group},
    Option{"--mode", "HOW", "strong (default): one problem; weak: it grows with the workers", command_group},
    Option{"--problem", "N", "its size, of all workers (strong) or of each (weak); {size} and {per_worker} in COMMAND",
           command_group},
    Option{"--shell", "", "COMMAND is one text for /bin/sh (default: no shell)", command_group, Takes::nothing},
    Option{"--prepare", "TEXT", "for /bin/sh before each run, not timed; {workers} in it too", command_group},
    Option{"--example", "", "the example workload instead of a COMMAND: mpirun -np {workers} headroom-step",
           command_group, Takes::nothing},
    Option{"--result", "REGEX",
           "in what COMMAND prints: the first group, in the last line that matches (default: the wall clock)",
           result_group},
    Option{"--result-unit", "UNIT", "seconds (default), milliseconds, microseconds, nanoseconds or throughput",
           result_group},
    Option{"--repeats", "N", "runs of each count that are measured (default: 5)", order_group},
    Option{"--warm-up", "N", "runs of each count before, kept and left out of the answer (default: 0)", order_group},
    Option{"--timeout", "TIME", "of one run, then its whole group is ended: 90s (default: none)", order_group},
    Option{"--seed", "N", "of the order of the runs (default: 1)", order_group},
    Option{"--dry-run", "", "show the order and the time it takes, and run nothing", order_group, Takes::nothing},
};

constexpr std::uint32_t most_runs = 1'000'000;

// ---- the example ----------------------------------------------------------------------------------------------------

constexpr char const* example_pattern = "step_seconds = ([0-9.eE+-]+)"; ///< line that the workload prints

/// Path of headroom-step: next to this program, as installed and as built; else in PATH.
std::string workload() {
    std::error_code error;
    std::filesystem::path const self = std::filesystem::read_symlink("/proc/self/exe", error);
    if (!error) {
        auto const beside = (self.parent_path() / "headroom-step").string();
        if (!probe::find_program(beside).path.empty()) { return beside; }
    }
    auto const found = probe::find_program("headroom-step");
    if (found.path.empty()) {
        refuse("--example", "there is no headroom-step next to " + (error ? "headroom" : self.string()),
               "it is built where MPI is installed (Debian: libopenmpi-dev)",
               "build it, or give a COMMAND of your own");
    }
    return found.path;
}

/// mpirun and headroom-step; `sized`: --problem is its batch, of all workers or, `weak`, of each.
std::vector<std::string> example_command(bool weak, bool sized) {
    std::string const program = workload();
    if (probe::find_program("mpirun").path.empty()) {
        refuse("--example", "mpirun is not in PATH", "the workload is a program of MPI", "Debian: openmpi-bin");
    }
    std::vector<std::string> words{"mpirun", "-np", "{workers}", program};
    if (weak) {
        words.insert(words.end(), {"--local-batch", "{per_worker}"});
    } else if (sized) {
        words.insert(words.end(), {"--batch", "{size}"});
    }
    return words;
}

/// Variables that let mpirun start more processes than there are cores, and by whoever runs this.
std::vector<std::pair<std::string, std::string>> example_variables() {
    std::vector<std::pair<std::string, std::string>> variables{{"OMPI_MCA_rmaps_base_oversubscribe", "1"}};
    if (::geteuid() == 0) {
        variables.emplace_back("OMPI_ALLOW_RUN_AS_ROOT", "1");
        variables.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    return variables;
}

// ---- the question -----------------------------------------------------------------------------------------------------

/// Whether any of the texts has this placeholder.
bool mentions(std::vector<std::string> const& texts, std::string_view placeholder) {
    return std::ranges::any_of(texts, [&](std::string const& text) { return text.find(placeholder) != text.npos; });
}

std::int64_t read_problem(std::string const& given) {
    double const size = parse_count(given, "--problem");
    return static_cast<std::int64_t>(size);
}

/// A count that may be nothing.
std::uint32_t read_number(Arguments const& arguments, std::string const& name, std::uint32_t otherwise) {
    auto const given = arguments.text(name);
    if (!given) { return otherwise; }
    return *given == "0" ? 0U : static_cast<std::uint32_t>(parse_whole(*given, name));
}

void check_problem(ScalingQuestion const& question) {
    std::vector<std::string> texts = question.words;
    texts.push_back(question.prepare);
    bool const sized = mentions(texts, "{size}") || mentions(texts, "{per_worker}");
    if (sized && !question.problem) {
        refuse("--problem", "missing", "COMMAND has {size} or {per_worker} in it", "say how large: --problem 1000000");
    }
    if (question.problem && !sized) {
        refuse("--problem", "COMMAND takes no size", "neither {size} nor {per_worker} is in it",
               "put one where the size belongs, or leave --problem out");
    }
    if (!question.weak && mentions(texts, "{per_worker}")) {
        for (int const workers : question.workers) {
            if (*question.problem % workers == 0) { continue; }
            refuse("--problem", std::to_string(*question.problem) + " does not divide by " + std::to_string(workers),
                   "{per_worker} would be no whole number", "take a multiple of every count");
        }
    }
    if (question.weak && question.problem &&
        *question.problem > std::int64_t{1'000'000'000'000'000'000} / question.workers.back()) {
        refuse("--problem", "too large", "times " + std::to_string(question.workers.back()) + " workers", "");
    }
}

void check_placeholders(ScalingQuestion const& question) {
    std::vector<std::string> texts = question.words;
    texts.push_back(question.prepare);
    bool const differs = mentions(texts, "{workers}") || mentions(texts, "{size}") || mentions(texts, "{per_worker}");
    if (differs) { return; }
    refuse("COMMAND", "has no {workers} in it", "every count would run the same",
           "write {workers} where their number belongs, as in -- mpirun -np {workers} ./app");
}

void check_program(ScalingQuestion const& question) {
    for (int const workers : question.workers) {
        std::string const program = command_at(question, workers).front();
        probe::FoundProgram const found = probe::find_program(program);
        if (!found.path.empty()) { continue; }
        bool const line = !question.shell && question.words.size() == 1 && program.find(' ') != std::string::npos;
        refuse("COMMAND", headroom::quoted(program) + ": " + found.problem, "",
               line ? "write its words unquoted, or add --shell" : "nothing was run");
    }
}

void read_command(Arguments const& arguments, ScalingQuestion& question) {
    question.words = arguments.all("COMMAND");
    question.example = arguments.has("--example");
    question.shell = arguments.has("--shell");
    question.prepare = arguments.text("--prepare").value_or("");
    if (question.example) {
        if (!question.words.empty()) { refuse("--example", "given with a COMMAND", "", "give one of them"); }
        if (question.shell) { refuse("--shell", "belongs to a COMMAND", "--example needs none", "leave it out"); }
        question.words = example_command(question.weak, arguments.has("--problem"));
        question.variables = example_variables();
    }
    if (question.words.empty()) {
        refuse("COMMAND", "missing", "",
               "it stands after --, as in: measure scaling --workers 1,2,4 -- ./app {workers}");
    }
    if (question.shell && question.words.size() != 1) {
        refuse("--shell", "COMMAND is " + std::to_string(question.words.size()) + " words", "a shell reads one text",
               "quote it: --shell -- './app {workers} | tee log'");
    }
}

void read_result(Arguments const& arguments, ScalingQuestion& question) {
    question.pattern = arguments.text("--result").value_or("");
    if (question.example && question.pattern.empty()) { question.pattern = example_pattern; }
    constexpr std::array all{ResultUnit::seconds, ResultUnit::milliseconds, ResultUnit::microseconds,
                             ResultUnit::nanoseconds, ResultUnit::throughput};
    if (auto const unit = arguments.one_of("--result-unit", all)) {
        if (question.pattern.empty()) {
            refuse("--result-unit", "has no effect without --result", "the wall clock counts seconds",
                   "give --result 'REGEX' too");
        }
        question.unit = *unit;
    }
    if (arguments.has("--result")) { io::ResultPattern{question.pattern, question.unit, "--result"}; }
}

void read_runs(Arguments const& arguments, ScalingQuestion& question) {
    question.repeats = static_cast<std::uint32_t>(arguments.count("--repeats").value_or(5));
    question.warm_up = read_number(arguments, "--warm-up", 0);
    question.seed = read_number(arguments, "--seed", 1);
    if (auto const timeout = arguments.text("--timeout")) {
        question.timeout_seconds = parse_base(*timeout, {.seconds = 1}, "--timeout");
        if (!(*question.timeout_seconds > 0.0)) {
            refuse("--timeout", "must be above zero", "", "as in --timeout 90s");
        }
    }
    double const runs = static_cast<double>(question.workers.size()) *
                        (static_cast<double>(question.repeats) + static_cast<double>(question.warm_up));
    if (runs > most_runs) {
        refuse("--repeats", "more than a million runs", significant(runs) + " are asked for", "use fewer");
    }
}

} // namespace

std::span<Option const> scaling_options() { return options; }

ScalingQuestion read_scaling_question(Arguments const& arguments) {
    ScalingQuestion question;
    question.weak = arguments.choice("--mode", {"strong", "weak"}) == "weak";
    read_command(arguments, question);
    question.workers = parse_counts(arguments.required("--workers", "name the counts: --workers 1,2,4,8"), "--workers");
    if (auto const problem = arguments.text("--problem")) { question.problem = read_problem(*problem); }
    read_result(arguments, question);
    read_runs(arguments, question);
    check_placeholders(question);
    check_problem(question);
    check_program(question);
    return question;
}

void check_example(std::vector<std::string> const& command) {
    probe::CommandQuestion question{
        .words = {"mpirun", "-np", "2", command.at(3)}, .variables = example_variables(), .timeout_seconds = 60.0};
    for (char const* word :
         {"--layers", "1", "--hidden", "16", "--sequence", "16", "--batch", "2", "--steps", "1", "--warm-up", "0"}) {
        question.words.emplace_back(word);
    }
    probe::CommandRun const run = probe::run_command(question);
    if (run.end != probe::CommandEnd::exited || run.status != 0) {
        std::string const said = trimmed(printable(run.errors.empty() ? run.output : run.errors));
        refuse("--example", "mpirun -np 2 headroom-step: " + probe::end_words(run, question), said.substr(0, 200),
               "see what it says by hand");
    }
    if (run.output.find("2 workers") == std::string::npos) {
        refuse("--example", headroom::quoted(command.at(3)) + " was built without MPI",
               "each process would do all the work", "build it where MPI is (Debian: libopenmpi-dev)");
    }
}

} // namespace headroom::cli
