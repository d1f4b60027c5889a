#include "options.hpp"

#include "headroom/error.hpp"
#include "headroom/quantity.hpp"
#include "headroom/share.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <system_error>

namespace headroom::training {
namespace {

constexpr std::size_t most_parameters = std::size_t{1} << 30U;
constexpr int most_workers = 1 << 20;

[[noreturn]] void refuse(std::string_view option, std::string problem, std::string why = {}, std::string hint = {}) {
    throw InputError{Fault::usage,
                     {.where = std::string{option},
                      .problem = std::move(problem),
                      .why = std::move(why),
                      .hint = hint.empty() ? "see headroom-step --help" : std::move(hint)}};
}

std::size_t whole(std::string_view option, std::string_view text, std::size_t least, std::size_t most) {
    std::size_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
        refuse(option,
               quoted(text) + " is no whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return value;
}

void take_all_reduce(Options& options, std::string_view text) {
    options.algorithm = text;
    if (text == "mpi") {
        options.all_reduce = AllReduce::library;
    } else if (text == "ring") {
        options.all_reduce = AllReduce::ring;
    } else if (text != "recursive_doubling" && text != "rabenseifner") {
        refuse("--all-reduce", quoted(text) + " is no way to add up gradients", "",
               "choose from mpi, ring; with --predict from ring, recursive_doubling, rabenseifner");
    }
}

void take_compute(Options& options, std::string_view text) {
    constexpr std::string_view replay = "replay:";
    if (text == "real") {
        options.replay.clear();
    } else if (text.starts_with(replay) && text.size() > replay.size()) {
        options.replay = text.substr(replay.size());
    } else {
        refuse("--compute", quoted(text) + " is neither real nor replay:FILE");
    }
}

void take_workers(Options& options, std::string_view text) {
    options.mode = Mode::predict;
    for (std::size_t begin = 0; begin <= text.size();) {
        std::size_t const comma = std::min(text.find(',', begin), text.size());
        options.workers.push_back(
            static_cast<int>(whole("--predict", text.substr(begin, comma - begin), 1, most_workers)));
        begin = comma + 1;
    }
}

void take_gemm(Options& options, std::string_view text) {
    if (text == "auto" || text == "platform" || text == "own") {
        options.gemm = text == "auto" ? GemmChoice::automatic : text == "own" ? GemmChoice::own : GemmChoice::platform;
    } else {
        refuse("--gemm", quoted(text) + " is none of auto, platform, own");
    }
}

void take_precision(Options& options, std::string_view text) {
    if (text != "single" && text != "double") { refuse("--precision", quoted(text) + " is neither single nor double"); }
    options.is_double = text == "double";
}

void take_batch(Options& options, std::string_view option, std::string_view text) {
    if (options.has_batch) {
        refuse(option, "a batch was given already", "it is of all workers, or of each",
               "give --batch or --local-batch, once");
    }
    options.has_batch = true;
    options.local_batch = option == "--local-batch";
    options.batch = whole(option, text, 1, 1U << 20U);
}

double positive(double value, std::string_view option) {
    if (!(value > 0.0)) { refuse(option, "must be more than zero"); }
    return value;
}

/// "35%" or "0.35".
void take_load(Options& options, std::string_view text) {
    auto const share = share_in(text);
    if (!share || *share < 0.0 || *share >= 1.0) {
        refuse("--exchange-load", quoted(text) + " is no share from 0% to less than 100%");
    }
    options.load = *share;
}

/// One option: what `--help` says of it, and what it does with its value.
struct Row {
    char const* name;
    char const* value; ///< what stands for it in the help; empty: it takes none
    char const* help;
    void (*take)(Options&, std::string_view);
};

template <std::size_t TransformerShape::*Side>
void take_side(Options& options, char const* name, std::string_view text) {
    options.shape.*Side = whole(name, text, 1, 1U << 20U);
    options.has_shape = true;
}

constexpr std::array rows = {
    Row{"--layers", "N", "blocks of attention and perceptron (4)",
        [](Options& o, std::string_view t) { take_side<&TransformerShape::layers>(o, "--layers", t); }},
    Row{"--hidden", "N", "width (128)",
        [](Options& o, std::string_view t) { take_side<&TransformerShape::hidden>(o, "--hidden", t); }},
    Row{"--heads", "N", "of attention; they divide the width (4)",
        [](Options& o, std::string_view t) { take_side<&TransformerShape::heads>(o, "--heads", t); }},
    Row{"--sequence", "N", "tokens of a sequence (128)",
        [](Options& o, std::string_view t) { take_side<&TransformerShape::sequence>(o, "--sequence", t); }},
    Row{"--vocabulary", "N", "(1024)",
        [](Options& o, std::string_view t) { take_side<&TransformerShape::vocabulary>(o, "--vocabulary", t); }},
    Row{"--tied", "", "the output projection is the embedding",
        [](Options& o, std::string_view) { o.shape.tied = o.has_shape = true; }},
    Row{"--batch", "N", "sequences of all workers together: strong scaling (16)",
        [](Options& o, std::string_view t) { take_batch(o, "--batch", t); }},
    Row{"--local-batch", "N", "sequences of each worker: weak scaling",
        [](Options& o, std::string_view t) { take_batch(o, "--local-batch", t); }},
    Row{"--steps", "N", "that are timed (10)",
        [](Options& o, std::string_view t) { o.steps = whole("--steps", t, 1, 1000000); }},
    Row{"--warm-up", "N", "steps before those (2)",
        [](Options& o, std::string_view t) { o.warm_up = whole("--warm-up", t, 0, 1000000); }},
    Row{"--precision", "WORD", "single or double (single)", take_precision},
    Row{"--gemm", "WORD", "matrix products: platform (its BLAS), own, or auto (auto)", take_gemm},
    Row{"--threads", "N", "of the platform's matrix products (1)",
        [](Options& o, std::string_view t) { o.threads = static_cast<int>(whole("--threads", t, 1, 1024)); }},
    Row{"--bucket", "SIZE", "gradients that are added up at a time (1MB)",
        [](Options& o, std::string_view t) {
            o.bucket_bytes = positive(parse<Bytes>(t, "--bucket").base(), "--bucket");
        }},
    Row{"--overlap", "", "add up while the backward pass goes on",
        [](Options& o, std::string_view) { o.overlap = true; }},
    Row{"--all-reduce", "WORD", "mpi (the library's own choice) or ring (mpi)", take_all_reduce},
    Row{"--compute", "WORD", "real, or replay:FILE, sleeping as long as one worker computed", take_compute},
    Row{"--profile", "FILE", "write what one worker measured, for replay and --predict",
        [](Options& o, std::string_view t) { o.profile = t; }},
    Row{"--json", "FILE", "write the result there too; -: on standard output, alone",
        [](Options& o, std::string_view t) { o.json = t; }},
    Row{"--check", "", "compare losses and gradients with those of one process",
        [](Options& o, std::string_view) { o.mode = Mode::check; }},
    Row{"--predict", "K,K", "a step on so many workers, from --compute replay:FILE", take_workers},
    Row{"--latency", "TIME", "of a message between two workers, for --predict",
        [](Options& o, std::string_view t) { o.latency = parse<Seconds>(t, "--latency").base(); }},
    Row{"--bandwidth", "RATE", "each way while both are busy, for --predict",
        [](Options& o,
           std::string_view
               t) { o.bandwidth = positive(parse<BytesPerSecond>(t, "--bandwidth").base(), "--bandwidth"); }},
    Row{"--exchange-load", "SHARE", "of its processor that a worker's exchange takes (0%)", take_load},
    Row{"--help", "", "this", [](Options& o, std::string_view) { o.help = true; }},
};

Row const& row_of(std::string_view name) {
    std::vector<std::string> known;
    for (Row const& row : rows) {
        if (name == row.name) { return row; }
        known.emplace_back(row.name);
    }
    std::string const near = nearest(name, known);
    refuse("headroom-step", "unknown option " + quoted(name), "", near.empty() ? "" : "did you mean '" + near + "'?");
}

void check_shape(TransformerShape const& shape) {
    if (shape.hidden % shape.heads != 0) {
        refuse("--heads",
               std::to_string(shape.heads) + " heads do not divide a width of " + std::to_string(shape.hidden));
    }
    double const hidden = static_cast<double>(shape.hidden);
    double const all = hidden * (12.0 * hidden * static_cast<double>(shape.layers) +
                                 static_cast<double>(2 * shape.vocabulary + shape.sequence));
    if (all > static_cast<double>(most_parameters)) { refuse("--hidden", "more than 2^30 parameters"); }
}

void check_prediction(Options& options, bool has_algorithm) {
    if (options.replay.empty()) {
        refuse("--predict", "needs what one worker measured", "", "give --compute replay:FILE of --profile FILE");
    }
    if (!options.latency || !options.bandwidth) {
        refuse(options.latency ? "--bandwidth" : "--latency", "missing", "--predict needs the link between workers",
               "measure it with headroom measure comm");
    }
    if (!has_algorithm) { options.algorithm = "ring"; }
    if (options.algorithm == "mpi") {
        refuse("--all-reduce", "'mpi' cannot be predicted", "the library may take any algorithm",
               "choose from ring, recursive_doubling, rabenseifner");
    }
}

void check_together(Options& options, bool has_algorithm) {
    check_shape(options.shape);
    bool const predicts = options.mode == Mode::predict;
    if (!options.replay.empty() && options.has_shape) {
        refuse("--compute", "the profile states the model", "the two might differ",
               "leave out the options of its shape");
    }
    if (predicts) {
        check_prediction(options, has_algorithm);
    } else if (options.algorithm != "ring" && options.algorithm != "mpi") {
        refuse("--all-reduce", "is not there as a program", "it can only be predicted", "choose from mpi, ring");
    }
    if (!predicts && (options.latency || options.bandwidth || options.load > 0.0)) {
        refuse(options.latency     ? "--latency"
               : options.bandwidth ? "--bandwidth"
                                   : "--exchange-load",
               "says nothing about a step that runs", "", "it belongs to --predict");
    }
    if (options.mode == Mode::check && !options.replay.empty()) {
        refuse("--check", "a replay has no gradients to compare");
    }
    if (!options.profile.empty() && (!options.replay.empty() || options.mode != Mode::train)) {
        refuse("--profile", "is written by steps that compute, without --check");
    }
}

} // namespace

Options read_options(std::span<char* const> arguments) {
    Options options;
    bool has_algorithm = false;
    options.algorithm = "mpi";
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        Row const& row = row_of(arguments[i]);
        has_algorithm = has_algorithm || std::string_view{row.name} == "--all-reduce";
        if (*row.value == '\0') {
            row.take(options, {});
            continue;
        }
        if (i + 1 == arguments.size()) { refuse(row.name, "needs a value"); }
        row.take(options, arguments[++i]);
    }
    if (!options.help) { check_together(options, has_algorithm); }
    return options;
}

std::string usage() {
    std::string text = "usage: headroom-step [OPTION...]\n"
                       "       mpirun -np K headroom-step [OPTION...]\n\n"
                       "A data-parallel training step of a small transformer: forward, backward,\n"
                       "gradients added up in buckets, Adam. The last line is the median step:\n"
                       "step_seconds = X\n\n";
    for (Row const& row : rows) {
        std::string line = std::string{row.name} + ' ' + row.value;
        line.resize(std::max<std::size_t>(line.size() + 1, 18), ' ');
        text += line + row.help + '\n';
    }
    return text;
}

} // namespace headroom::training
