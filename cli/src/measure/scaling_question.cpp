#include "measure/scaling_question.hpp"

#include "headroom/document/text.hpp"
#include "measure/example_command.hpp"

#include "headroom/error.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

namespace headroom::cli {

using namespace headroom::document;

using namespace headroom::measure;

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

/// Whether any of the texts has this placeholder.
bool mentions(std::vector<std::string> const& texts, std::string_view placeholder) {
    return std::ranges::any_of(texts, [&](std::string const& text) { return text.find(placeholder) != text.npos; });
}

void replace_all(std::string& text, std::string_view what, std::string const& by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
        text.replace(at, what.size(), by);
    }
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
    if (question.scaling == fit::Scaling::strong && mentions(texts, "{per_worker}")) {
        for (int const workers : question.workers) {
            if (*question.problem % workers == 0) { continue; }
            refuse("--problem", std::to_string(*question.problem) + " does not divide by " + std::to_string(workers),
                   "{per_worker} would be no whole number", "take a multiple of every count");
        }
    }
    if (question.scaling == fit::Scaling::weak && question.problem &&
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
        std::string const program = command_at(question, workers).words.front();
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
        if (!question.words.empty()) { refuse("--example", "given beside a COMMAND", "", "give one of them"); }
        if (question.shell) { refuse("--shell", "belongs to a COMMAND", "--example needs none", "leave it out"); }
        question.words = example_command(question.scaling == fit::Scaling::weak, arguments.has("--problem"));
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
    constexpr std::array all{io::ResultUnit::seconds, io::ResultUnit::milliseconds, io::ResultUnit::microseconds,
                             io::ResultUnit::nanoseconds, io::ResultUnit::throughput};
    std::vector<std::string> names;
    for (io::ResultUnit const one : all) { names.emplace_back(io::name_of(one)); }
    if (auto const unit = arguments.choice("--result-unit", names)) {
        if (question.pattern.empty()) {
            refuse("--result-unit", "says nothing without --result", "the wall clock counts seconds",
                   "give --result 'REGEX' too");
        }
        question.unit = all.at(static_cast<std::size_t>(std::ranges::find(names, *unit) - names.begin()));
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
    bool const weak = arguments.choice("--mode", {"strong", "weak"}) == "weak";
    question.scaling = weak ? fit::Scaling::weak : fit::Scaling::strong;
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

std::string filled(ScalingQuestion const& question, std::string text, int workers) {
    replace_all(text, "{workers}", std::to_string(workers));
    if (!question.problem) { return text; }
    bool const weak = question.scaling == fit::Scaling::weak;
    replace_all(text, "{size}", std::to_string(weak ? *question.problem * workers : *question.problem));
    replace_all(text, "{per_worker}", std::to_string(weak ? *question.problem : *question.problem / workers));
    return text;
}

probe::CommandQuestion command_at(ScalingQuestion const& question, int workers) {
    probe::CommandQuestion command{.words = {}, .timeout_seconds = question.timeout_seconds};
    if (question.shell) { command.words = {"/bin/sh", "-c"}; }
    for (std::string const& word : question.words) { command.words.push_back(filled(question, word, workers)); }
    if (question.example) { command.variables = example_variables(); }
    return command;
}

probe::CommandQuestion prepare_at(ScalingQuestion const& question, int workers) {
    return {.words = {"/bin/sh", "-c", filled(question, question.prepare, workers)},
            .timeout_seconds = question.timeout_seconds};
}

std::vector<MeasuredPoint> points_of(ScalingQuestion const& question) {
    std::vector<MeasuredPoint> points;
    for (int const workers : question.workers) {
        MeasuredPoint point{.label = counted(static_cast<std::size_t>(workers), "worker"),
                            .parameters = {{"workers", std::to_string(workers)}},
                            .unit = question.throughput() ? "items/second" : "seconds"};
        if (question.problem) {
            point.label += " on " + filled(question, "{size}", workers);
            point.parameters.emplace_back("size", filled(question, "{size}", workers));
        }
        points.push_back(std::move(point));
    }
    return points;
}

Facts settings_of(ScalingQuestion const& question) {
    std::vector<std::string> counts;
    for (int const workers : question.workers) { counts.push_back(std::to_string(workers)); }
    std::error_code error;
    Facts settings{{"command", command_words(question.words)},
                   {"shell", question.shell ? "yes" : "no"},
                   {"prepare", question.prepare},
                   {"workers", join(counts, ",")},
                   {"mode", std::string{fit::name_of(question.scaling)}},
                   {"problem", question.problem ? std::to_string(*question.problem) : ""},
                   {"repeats", std::to_string(question.repeats)},
                   {"warm_up", std::to_string(question.warm_up)},
                   {"timeout_seconds", question.timeout_seconds ? significant(*question.timeout_seconds, 15) : ""},
                   {"result", question.pattern.empty() ? "wall clock" : question.pattern},
                   {"result_unit", std::string{io::name_of(question.unit)}},
                   {"seed", std::to_string(question.seed)},
                   {"directory", std::filesystem::current_path(error).string()}};
    std::erase_if(settings, [](auto const& one) { return one.second.empty(); });
    return settings;
}

std::vector<PlannedRun> order_of(ScalingQuestion const& question) {
    return planned_order(question.workers.size(), question.warm_up, question.repeats, question.seed);
}

std::string command_words(std::vector<std::string> const& words) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%{}";
    std::string text;
    for (std::string const& word : words) {
        if (!text.empty()) { text += ' '; }
        if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
            text += word;
            continue;
        }
        std::string inside = word;
        replace_all(inside, "'", R"('\'')");
        text += "'" + inside + "'";
    }
    return text;
}

} // namespace headroom::cli
