// headroom-step: a real data-parallel training step, as an example that scales as theory says, and a check of it.

#include "job.hpp"
#include "options.hpp"
#include "prediction.hpp"
#include "run.hpp"
#include "step_report.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string_view>

namespace headroom::training {
namespace {

constexpr int usage_code = 2, unreadable_code = 4;
constexpr double most_buckets = 1e6;

[[noreturn]] void refuse(std::string where, std::string problem, std::string hint = {}, Fault fault = Fault::usage) {
    throw InputError{fault,
                     {.where = std::move(where), .problem = std::move(problem), .why = {}, .hint = std::move(hint)}};
}

StepProfile load_profile(std::string const& path) {
    std::ifstream file{path, std::ios::binary};
    std::string text;
    char block[1 << 14];
    constexpr std::size_t most = 1 << 24;
    while (file && text.size() <= most) {
        file.read(block, sizeof block);
        text.append(block, static_cast<std::size_t>(file.gcount()));
    }
    if (file.bad() || !file.eof() || text.empty()) {
        refuse(path, "cannot be read, or is no profile", "write one with headroom-step --profile FILE",
               Fault::unreadable);
    }
    return read_profile(text, path);
}

constexpr std::string_view standard_output = "-";

void write_file(std::string const& path, std::string const& text) {
    if (path == standard_output) {
        std::fputs(text.c_str(), stdout);
        return;
    }
    std::ofstream file{path, std::ios::binary | std::ios::trunc};
    file << text;
    file.close();
    if (!file) { refuse(path, "cannot be written", "", Fault::unreadable); }
}

/// What a run needs before the first message goes.
struct Prepared {
    Options options;
    std::optional<StepProfile> replayed = {};
    Gemm gemm = {};
};

Prepared prepare(std::span<char* const> arguments, Job const& job) {
    Prepared prepared{.options = read_options(arguments)};
    Options& options = prepared.options;
    if (options.help) { return prepared; }
    if (!options.replay.empty()) {
        prepared.replayed = load_profile(options.replay);
        options.shape = prepared.replayed->shape;
        options.is_double = prepared.replayed->is_double;
        if (!options.has_batch) { options.batch = prepared.replayed->batch; }
    } else {
        prepared.gemm = Gemm::load(options.gemm, options.threads);
        if (prepared.gemm.name().empty()) {
            refuse("--gemm", "no BLAS on this machine", "Debian: libopenblas0-pthread; or --gemm own");
        }
    }
    if (options.json == standard_output && options.profile == standard_output) {
        refuse("--profile", "goes to standard output, and so does --json", "name a file for one of them");
    }
    if (!options.profile.empty() && job.size() > 1) {
        refuse("--profile", "is of one worker, and this job has " + std::to_string(job.size()));
    }
    double const bytes = static_cast<double>(options.shape.parameters()) * (options.is_double ? 8.0 : 4.0);
    if (bytes / options.bucket_bytes > most_buckets) {
        refuse("--bucket", "makes more than a million buckets", "give a larger one");
    }
    std::size_t const workers = static_cast<std::size_t>(
        options.workers.empty() ? job.size() : *std::max_element(options.workers.begin(), options.workers.end()));
    if (!options.local_batch && options.batch < workers) {
        refuse(options.has_batch ? "--batch" : "headroom-step",
               std::to_string(options.batch) + " sequences for " + std::to_string(workers) +
                   " workers leave some without any",
               "give a larger --batch, or --local-batch");
    }
    return prepared;
}

/// Where the text for people goes: not between the lines of a file that is written to standard output.
std::FILE* text_stream(Options const& options) {
    return options.json == standard_output || options.profile == standard_output ? stderr : stdout;
}

void predict(Prepared const& prepared) {
    Options const& options = prepared.options;
    Division const division{.batch = options.batch,
                            .local = options.local_batch,
                            .bucket_bytes = options.bucket_bytes,
                            .overlap = options.overlap,
                            .algorithm = options.algorithm,
                            .link = {Seconds{*options.latency}, BytesPerSecond{*options.bandwidth}},
                            .load = options.load};
    std::vector<PredictedStep> steps;
    for (int const workers : options.workers) { steps.push_back(predict_step(*prepared.replayed, division, workers)); }
    std::fputs(prediction_text(*prepared.replayed, division, steps).c_str(), text_stream(options));
    if (!options.json.empty()) { write_file(options.json, prediction_json(*prepared.replayed, division, steps)); }
}

/// What the first process tells; whether all is as it should be.
bool tell(RunReport const& report) {
    Options const& options = report.options;
    if (!options.json.empty()) { write_file(options.json, run_json(report)); }
    if (!options.profile.empty()) { write_file(options.profile, profile_text(report.result.profile)); }
    bool const checks = options.mode == Mode::check;
    std::fputs((checks ? check_text(report) : run_text(report)).c_str(), text_stream(options));
    double const worst = std::max(report.result.loss_difference, report.result.gradient_difference);
    return !checks || worst <= allowed_difference(options.is_double);
}

int train(Prepared const& prepared, Job& job) {
    RunReport report{.options = prepared.options,
                     .result = run_steps(prepared.options, prepared.gemm, prepared.replayed, job),
                     .workers = job.size(),
                     .is_replay = prepared.replayed.has_value()};
    report.result.profile.gemm = prepared.replayed ? prepared.replayed->gemm : prepared.gemm.name();
    return job.rank() > 0 || tell(report) ? 0 : 1;
}

int code_of(InputError const& error) { return error.fault() == Fault::usage ? usage_code : unreadable_code; }

/// What went wrong, once: by the process of the lowest rank that it went wrong in.
int refused(Job& job, int code, std::string const& line) {
    double found[] = {static_cast<double>(code), code == 0 ? -1e9 : -static_cast<double>(job.rank())};
    job.take_largest(found);
    if (code != 0 && found[1] == -static_cast<double>(job.rank())) { std::fprintf(stderr, "%s\n", line.c_str()); }
    return static_cast<int>(found[0]);
}

int run(std::span<char* const> arguments, Job& job) {
    Prepared prepared;
    int code = 0;
    std::string line;
    try {
        prepared = prepare(arguments, job);
    } catch (InputError const& error) {
        code = code_of(error);
        line = error.what();
    }
    if (int const all = refused(job, code, line); all != 0) { return all; }
    bool const first = job.rank() == 0;
    if (prepared.options.help) {
        if (first) { std::fputs(usage().c_str(), stdout); }
        return 0;
    }
    if (prepared.options.mode == Mode::predict) {
        if (first) { predict(prepared); }
        return 0;
    }
    return train(prepared, job);
}

} // namespace
} // namespace headroom::training

int main(int count, char** arguments) {
    using namespace headroom::training;
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
