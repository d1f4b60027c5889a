// headroom-step: a real data-parallel training step, as an example that scales as theory says, and a check of it.

#include "step_report.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>

namespace headroom::step_example {
namespace {

constexpr int usage_code = 2, unreadable_code = 4;

[[noreturn]] void refuse(std::string where, std::string problem, std::string hint = {}, Fault fault = Fault::usage) {
    throw InputError{fault,
                     {.where = std::move(where), .problem = std::move(problem), .why = {}, .hint = std::move(hint)}};
}

StepProfile load_profile(std::string const& path) {
    std::ifstream file{path, std::ios::binary};
    std::string text(std::size_t{1} << 24U, '\0'); // no profile is larger
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (file.bad() || !file.eof() || text.empty()) {
        refuse(path, "cannot be read, or is no profile", "write one with headroom-step --profile FILE",
               Fault::unreadable);
    }
    return read_profile(text, path);
}

void write_file(std::string const& path, std::string const& text) {
    if (path == "-") {
        std::fputs(text.c_str(), stdout);
    } else if (!path.empty()) {
        std::ofstream file{path, std::ios::binary | std::ios::trunc};
        file << text;
        file.close();
        if (!file) { refuse(path, "cannot be written", "", Fault::unreadable); }
    }
}

/// Reads what a run needs before the first message goes; options take over what a profile states.
std::optional<StepProfile> prepare(Options& options, Job const& job) {
    std::optional<StepProfile> replayed;
    if (!options.replay.empty()) {
        replayed = load_profile(options.replay);
        options.shape = replayed->shape;
        options.precision = replayed->is_double ? "double" : "single";
        if (!options.has_batch) { options.batch = replayed->batch; }
    }
    if (!options.profile.empty() && job.size() > 1) {
        refuse("--profile", "is of one worker, and this job has " + std::to_string(job.size()));
    }
    double const bytes = static_cast<double>(options.shape.parameters()) * (options.is_double() ? 8.0 : 4.0);
    if (bytes / options.bucket_bytes > 1e6) {
        refuse("--bucket", "makes more than a million buckets", "give a larger one");
    }
    int const workers = options.workers.empty() ? job.size() : std::ranges::max(options.workers);
    if (!options.local_batch && options.batch < static_cast<std::size_t>(workers)) {
        refuse(options.has_batch ? "--batch" : "headroom-step",
               std::to_string(options.batch) + " sequences for " + std::to_string(workers) +
                   " workers leave some without any",
               "give a larger --batch, or --local-batch");
    }
    return replayed;
}

/// Writes the results of the first process; the text for people goes to standard error if a file goes to standard
/// output.
void write_report(Options const& options, Report const& report) {
    for (std::string const& path : {options.json, options.profile}) { write_file(path, report.json); }
    std::fputs(report.text.c_str(), options.json == "-" || options.profile == "-" ? stderr : stdout);
}

int work(Options const& options, std::optional<StepProfile> const& replayed, Job& job) {
    bool const first = job.rank() == 0;
    if (!options.help.empty() || options.schema) {
        if (first) { std::fputs((options.schema ? report_schema() : options.help).c_str(), stdout); }
        return 0;
    }
    if (options.mode == Mode::predict) {
        if (!first) { return 0; }
        std::vector<PredictedStep> steps;
        for (int const workers : options.workers) { steps.push_back(predict_step(*replayed, options, workers)); }
        write_report(options, prediction_report(options, *replayed, steps));
        return 0;
    }
    RunResult const result = run_steps(options, replayed, job);
    if (!first) { return 0; }
    write_report(options, run_report(options, result, job.size()));
    return options.mode == Mode::check && !agrees(result) ? 1 : 0;
}

int code_of(InputError const& error) { return error.fault() == Fault::usage ? usage_code : unreadable_code; }

/// The exit code of all processes; the line of the lowest rank that has one is printed once.
int agreed(Job& job, int code, std::string const& line) {
    double found[] = {static_cast<double>(code), code == 0 ? -1e9 : -static_cast<double>(job.rank())};
    job.take_largest(found);
    if (code != 0 && found[1] == -static_cast<double>(job.rank())) { std::fprintf(stderr, "%s\n", line.c_str()); }
    return static_cast<int>(found[0]);
}

int run(std::span<char* const> arguments, Job& job) {
    Options options;
    std::optional<StepProfile> replayed;
    int code = 0;
    std::string line;
    try {
        options = read_options(arguments);
        if (options.help.empty() && !options.schema) { replayed = prepare(options, job); }
    } catch (InputError const& error) {
        code = code_of(error);
        line = error.what();
    }
    code = agreed(job, code, line);
    return code != 0 ? code : work(options, replayed, job);
}

} // namespace
} // namespace headroom::step_example

int main(int count, char** arguments) {
    using namespace headroom::step_example;
    Job job{count, arguments};
    try {
        return run({arguments, static_cast<std::size_t>(count)}, job);
    } catch (headroom::InputError const& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return code_of(error);
    } catch (std::exception const& failure) {
        std::fprintf(stderr, "headroom-step: %s\n", failure.what());
        return 1;
    }
}
