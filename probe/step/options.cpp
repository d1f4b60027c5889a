#include "options.hpp"

#include "headroom/error.hpp"
#include "headroom/quantity.hpp"
#include "headroom/share.hpp"

#include <CLI/CLI.hpp>

namespace headroom::step_example {
namespace {

[[noreturn]] void refuse(std::string_view option, std::string problem, std::string why = {},
                         std::string hint = "see headroom-step --help") {
    headroom::refuse(option, std::move(problem), std::move(why), std::move(hint));
}

using Text = std::string const&;

template <class Quantity> double above_zero(Text option, Text text) {
    double const value = parse<Quantity>(text, option).base();
    if (!(value > 0.0)) { refuse(option, "must be more than zero"); }
    return value;
}

std::string replayed_file(Text text) {
    constexpr std::string_view replay = "replay:";
    if (text == "real") { return {}; }
    if (!text.starts_with(replay) || text.size() == replay.size()) {
        refuse("--compute", headroom::quoted(text) + " is neither real nor replay:FILE");
    }
    return text.substr(replay.size());
}

/// "35%" or "0.35".
double load_in(Text text) {
    auto const share = share_in(text);
    if (!share || *share < 0.0 || *share >= 1.0) {
        refuse("--exchange-load", headroom::quoted(text) + " is no share from 0% to less than 100%");
    }
    return *share;
}

void add_options(CLI::App& app, Options& o) {
    constexpr std::size_t one = 1, most_steps = 1000000;
    auto const count = [&](Text name, std::size_t& to, Text help, std::size_t from, std::size_t last) {
        return app.add_option(name, to, help)->type_name("N")->check(CLI::Range(from, last).description(""));
    };
    auto const text = [&](Text name, char const* value, Text help, std::function<void(Text)> const& take) {
        return app.add_option_function<std::string>(name, take, help)->type_name(value);
    };
    auto const word = [&](Text name, std::string& to, Text help, std::set<std::string> const& words) {
        app.add_option(name, to, help)->type_name("WORD")->check(CLI::IsMember(words).description(""));
    };
    count("--layers", o.shape.layers, "residual layers (16)", one, most_side);
    count("--hidden", o.shape.hidden, "width (256)", one, most_side);
    count("--sequence", o.shape.sequence, "tokens of a sequence (16)", one, most_side);
    auto* const batch = count("--batch", o.batch, "sequences of all workers: strong scaling (16)", one, most_side);
    count("--local-batch", o.batch, "sequences of each worker: weak scaling", one, most_side)->excludes(batch);
    count("--steps", o.steps, "that are timed (10)", one, most_steps);
    count("--warm-up", o.warm_up, "steps before those (2)", 0, most_steps);
    word("--precision", o.precision, "single or double (single)", {"single", "double"});
    text("--bucket", "SIZE", "gradients added up at a time (1MB)",
         [&o](Text size) { o.bucket_bytes = above_zero<Bytes>("--bucket", size); });
    app.add_flag("--overlap", o.overlap, "add up while the backward pass goes on");
    word("--all-reduce", o.algorithm, "mpi (the library's own choice) or ring (mpi)",
         {"mpi", "ring", "recursive_doubling", "rabenseifner"});
    text("--compute", "WORD", "real, or replay:FILE, which sleeps instead",
         [&o](Text how) { o.replay = replayed_file(how); });
    auto* const profile = app.add_option("--profile", o.profile, "write one worker's times, for replay:FILE");
    app.add_option("--json", o.json, "write the result; -: standard output, alone")->type_name("FILE");
    app.add_flag("--check")->description("compare with the steps of one process")->excludes(profile->type_name("FILE"));
    auto* const latency = text("--latency", "TIME", "of a message between two workers",
                               [&o](Text time) { o.latency = parse<Seconds>(time, "--latency").base(); });
    auto* const bandwidth = text("--bandwidth", "RATE", "each way while both are busy",
                                 [&o](Text rate) { o.bandwidth = above_zero<BytesPerSecond>("--bandwidth", rate); });
    auto* const load = text("--exchange-load", "SHARE", "of its processor an exchange takes (0%)",
                            [&o](Text share) { o.load = load_in(share); });
    auto* const predict = app.add_option("--predict", o.workers, "steps on so many, from replay:FILE");
    predict->type_name("K,K")
        ->delimiter(',')
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->check(CLI::Range(1, 1 << 20).description(""));
    predict->needs(latency); // and the bandwidth: the library names one of two needs by where they lie in memory
    for (auto* const option : {latency, bandwidth, load}) { option->needs(predict); }
    app.add_flag("--schema", o.schema, "print the JSON Schema of --json, and run nothing");
    app.add_flag("--help")->description("this");
}

void parse_words(CLI::App& app, std::span<char* const> arguments) {
    try {
        app.parse(static_cast<int>(arguments.size()), arguments.data());
    } catch (CLI::ExtrasError const&) {
        std::vector<std::string> known;
        for (auto const* option : app.get_options()) { known.push_back(option->get_name()); }
        std::string const name = app.remaining().front(), near = nearest(name, known);
        refuse("headroom-step", "unknown option " + headroom::quoted(name), "",
               near.empty() ? "" : "did you mean '" + near + "'?");
    } catch (CLI::ParseError const& error) { refuse("headroom-step", error.what()); }
}

void check_together(CLI::App const& app, Options const& o) {
    bool const predicts = o.mode == Mode::predict, replays = !o.replay.empty();
    if (o.shape.parameters() > most_parameters) { refuse("--hidden", "more than 2^30 parameters"); }
    if (replays && app.count("--layers") + app.count("--hidden") + app.count("--sequence") > 0) {
        refuse("--compute", "the profile states the model", "the two might differ",
               "leave out the options of its shape");
    }
    if (predicts && app.count("--bandwidth") == 0) { refuse("headroom-step", "--predict requires --bandwidth"); }
    if (predicts && !replays) {
        refuse("--predict", "needs what one worker measured", "", "give --compute replay:FILE of --profile FILE");
    }
    if (predicts && o.algorithm == "mpi") {
        refuse("--all-reduce", "'mpi' cannot be predicted", "the library may take any algorithm",
               "choose from ring, recursive_doubling, rabenseifner");
    }
    if (!predicts && o.algorithm != "ring" && o.algorithm != "mpi") {
        refuse("--all-reduce", "is not there as a program", "it can only be predicted", "choose from mpi, ring");
    }
    if (replays && o.mode == Mode::check) { refuse("--check", "a replay has no gradients to compare"); }
    if (replays && !o.profile.empty()) { refuse("--profile", "is written by steps that compute"); }
    if (o.profile == "-" && o.json == "-") {
        refuse("--profile", "goes to standard output, and so does --json", "", "name a file for one of them");
    }
}

} // namespace

Options read_options(std::span<char* const> arguments) {
    Options options;
    CLI::App app{"A data-parallel training step of a small network: forward, backward,\n"
                 "gradients added up in buckets, Adam. The last line is the median step:\n"
                 "step_seconds = X\n"
                 "mpirun -np K headroom-step shares the batch among K workers.",
                 "headroom-step"};
    app.set_help_flag();
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    app.get_formatter()->column_width(24);
    add_options(app, options);
    parse_words(app, arguments);
    if (app.count("--help") > 0) {
        options.help = app.help();
        return options;
    }
    if (options.schema) { return options; }
    if (!options.workers.empty()) { options.mode = Mode::predict; }
    if (app.count("--check") > 0) { options.mode = Mode::check; }
    options.local_batch = app.count("--local-batch") > 0;
    options.has_batch = app.count("--batch") > 0 || options.local_batch;
    if (options.algorithm.empty()) { options.algorithm = options.mode == Mode::predict ? "ring" : "mpi"; }
    check_together(app, options);
    return options;
}

} // namespace headroom::step_example
