#include "arguments.hpp"
#include "laws/laws_fit.hpp"
#include "laws/laws_report.hpp"
#include "output.hpp"

#include "headroom/document/text.hpp"
#include "headroom/fit/scaling_answer.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/training/step_laws_answers.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace headroom::cli {
namespace {

constexpr char const* serial_group = "From a serial share";
constexpr char const* profile_group = "From a profile";
constexpr char const* optimum_group = "Best number of workers for W/K + c log2 K + d K";
constexpr char const* usl_group = "Universal Scalability Law";
constexpr char const* measured_group = "From measured speedups (Karp-Flatt)";
constexpr char const* iso_group = "Isoefficiency";
constexpr char const* batch_group = "Data parallelism: gradients against computing";
constexpr char const* pipeline_group = "Pipeline bubble";
constexpr char const* up_group = "Up or out (with a serial share, a profile or the universal law)";
constexpr char const* all_group = "All";

constexpr std::array options{
    Option{"--workers", "COUNTS", "8, 1,2,4, 1..1024 (doubling) or 8..64:8 (default: 1 to 1024 or past the peak)",
           all_group},
    Option{"--share", "SHARE", "of the ceiling or peak, whose worker count is asked (default: 90%)", all_group},
    Option{"--serial", "SHARES", "what does not divide: 0.5,0.1,2%", serial_group},
    Option{"--memory-growth", "EXPONENT",
           "also Sun-Ni: work grows with K^EXPONENT as memory grows with K (products of matrices: 1.5)", serial_group},
    Option{"--compute", "TIME", "computation of a step: 240ms", profile_group},
    Option{"--communication", "TIME", "its communication, hidden or not: 60ms", profile_group},
    Option{"--communication-share", "SHARE", "or communication as a share of the step: 22%", profile_group},
    Option{"--at-workers", "N", "the worker count that was profiled; there is no default", profile_group},
    Option{"--growth", "HOW", "of communication: fixed (default), log (a tree) or linear (a chain)", profile_group},
    Option{"--overlap", "SHARE", "of communication that overlaps with computation while that lasts (default: 0)",
           profile_group},
    Option{"--measured-speedup", "GAIN", "a gain that was measured, to hold against the profile: 3", profile_group},
    Option{"--from-workers", "N", "where that gain starts", profile_group},
    Option{"--to-workers", "N", "where it ends (default: --at-workers)", profile_group},
    Option{"--work", "W", "on one worker: 1000000 or 20min", optimum_group},
    Option{"--per-level", "C", "cost of each level of a tree: 50 or 3ms", optimum_group},
    Option{"--per-worker", "C", "cost of each member of a chain", optimum_group},
    Option{"--alpha", "SHARE", "contention", usl_group},
    Option{"--beta", "SHARE", "coherency", usl_group},
    Option{"--gamma", "NUMBER", "throughput of one worker (default: 1)", usl_group},
    Option{"--speedup", "NUMBERS", "over one worker, one for each of --workers: 1.9,3.4,6.4", measured_group},
    Option{"--overhead", "FORMULA", "of K and W, summed over workers: '2 K log2(K) + 5 W^0.5 K'", iso_group},
    Option{"--efficiency", "SHARE", "to hold: 0.8 or 70%; of a law or a fit: how many workers keep it", all_group},
    Option{"--parameters", "COUNTS", "sizes of models: 7B or 100M,7B,70B", batch_group},
    Option{"--rate", "RATE", "sustained by one worker: 312TFLOP/s", batch_group},
    Option{"--bandwidth", "RATE", "of one worker, each way: 600GB/s", batch_group},
    Option{"--latency", "TIME", "of one message (default: 0)", batch_group},
    Option{"--gradient-bytes", "SIZE", "of one gradient (default: 2B)", batch_group},
    Option{"--global-batch", "TOKENS", "of a step, divided among the workers", batch_group},
    Option{"--local-batch", "TOKENS", "of each worker, however many there are", batch_group},
    Option{"--stages", "COUNTS", "of the pipeline", pipeline_group},
    Option{"--micro-batches", "COUNTS", "of a step", pipeline_group},
    Option{"--virtual-stages", "N", "chunks a stage, interleaved (default: 1)", pipeline_group},
    Option{"--faster", "FACTOR", "one machine of so many times the speed, for the whole job: 2x", up_group},
    Option{"--faster-price", "PRICE", "of that machine: 5 $/h", up_group},
    Option{"--price", "PRICE", "of one present machine: 2 $/h", up_group},
};

constexpr char const* examples = "  headroom laws --serial 0.5,0.1,0.02 --workers 1,2,4,8,16,64,256,1024\n"
                                 "  headroom laws --compute 240ms --communication 60ms --at-workers 8\n"
                                 "  headroom laws --compute 240ms --communication 60ms --at-workers 8\n"
                                 "      --growth log --overlap 60%\n"
                                 "  headroom laws --communication-share 22% --at-workers 256\n"
                                 "      --measured-speedup 3 --from-workers 8\n"
                                 "  headroom laws --work 1000000 --per-level 50\n"
                                 "  headroom laws --alpha 0.0277 --beta 0.000104\n"
                                 "  headroom laws --speedup 1.9,3.4,6.4 --workers 2,4,16\n"
                                 "  headroom laws --efficiency 0.8 --overhead '2 K log2(K)'\n"
                                 "  headroom laws --parameters 7B --global-batch 2048 --rate 312TFLOP/s\n"
                                 "      --bandwidth 600GB/s\n"
                                 "  headroom laws --stages 8 --micro-batches 8..64\n"
                                 "  headroom laws --serial 5% --faster 2x --faster-price '5 $/h' --price '2 $/h'\n"
                                 "  headroom laws --fit examples/measured.csv --efficiency 70%";

// ---- which question ---------------------------------------------------------------------------------------------------

using Names = std::vector<std::string_view>;

/// A question: any of `leads` asks it, `options` are the others that belong to it.
struct LawsQuestion {
    char const* name;
    Names leads, options;
    int (*run)(Arguments const&, LawsCall const&);
};

/// A new law is a file and a row.
std::vector<LawsQuestion> const& questions() {
    static std::vector<LawsQuestion> const all{
        {"serial",
         {"--serial"},
         {"--workers", "--share", "--memory-growth", "--efficiency", "--faster", "--faster-price", "--price"},
         run_serial},
        {"profile",
         {"--compute", "--communication", "--communication-share"},
         {"--at-workers", "--growth", "--overlap", "--measured-speedup", "--from-workers", "--to-workers", "--workers",
          "--share", "--efficiency", "--faster", "--faster-price", "--price"},
         run_profile},
        {"usl",
         {"--alpha", "--beta"},
         {"--gamma", "--workers", "--share", "--efficiency", "--faster", "--faster-price", "--price"},
         run_usl},
        {"karp_flatt", {"--speedup"}, {"--workers"}, run_karp_flatt},
        {"isoefficiency", {"--overhead"}, {"--efficiency", "--work", "--workers"}, run_isoefficiency},
        {"optimum", {"--per-level", "--per-worker"}, {"--work", "--workers", "--share"}, run_optimum},
        {"data_parallel",
         {"--parameters"},
         {"--rate", "--bandwidth", "--latency", "--gradient-bytes", "--global-batch", "--local-batch", "--workers"},
         run_data_parallel},
        {"pipeline", {"--stages", "--micro-batches"}, {"--virtual-stages"}, run_pipeline},
    };
    return all;
}

bool contains(Names const& names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

/// The first of the question's own options that was given.
std::optional<std::string_view> lead_of(LawsQuestion const& question, Arguments const& arguments) {
    for (std::string_view const lead : question.leads) {
        if (arguments.has(std::string{lead})) { return lead; }
    }
    return std::nullopt;
}

/// Whose question an option is, as a hint: "--at-workers belongs to a profile (--compute ...)".
std::string owner_words(std::string_view option) {
    std::vector<std::string> owners;
    for (LawsQuestion const& question : questions()) {
        if (contains(question.options, option) || contains(question.leads, option)) {
            owners.emplace_back(question.leads.front());
        }
    }
    return join(owners, ", ");
}

[[noreturn]] void refuse_nothing_asked(Arguments const& arguments) {
    for (Option const& option : options) {
        if (!arguments.has(option.name)) { continue; }
        refuse(option.name, "asks nothing alone", "", "it belongs to " + owner_words(option.name));
    }
    refuse("laws", "nothing is asked", "",
           "start with --serial, --compute and --communication, --work, --alpha, --speedup, --overhead, "
           "--parameters, --stages or --fit; see headroom laws --help");
}

LawsQuestion const& question_of(Arguments const& arguments) {
    LawsQuestion const* found = nullptr;
    std::string_view by;
    for (LawsQuestion const& question : questions()) {
        auto const lead = lead_of(question, arguments);
        if (!lead) { continue; }
        if (found != nullptr) {
            refuse(std::string{*lead}, "given with " + std::string{by}, "they ask two different questions",
                   "ask one at a time");
        }
        found = &question;
        by = *lead;
    }
    if (found == nullptr) { refuse_nothing_asked(arguments); }
    return *found;
}

void check_belongs(LawsQuestion const& question, Arguments const& arguments) {
    for (Option const& option : options) {
        std::string const name = option.name;
        if (!arguments.has(name) || contains(question.leads, name) || contains(question.options, name)) { continue; }
        std::string const hint =
            name == "--at-workers" && std::string_view{question.name} == "serial"
                ? "for a share measured on many workers: --communication-share in place of --serial"
                : "it belongs to " + owner_words(name);
        refuse(name, "does not belong to " + std::string{question.leads.front()}, "it would be ignored", hint);
    }
}

bool is_fit_option(std::string_view name) {
    return std::ranges::any_of(fit_options(), [name](Option const& option) { return option.name == name; });
}

/// Refuses options of --fit that are given without it.
void check_no_fit(Arguments const& arguments) {
    for (Option const& option : fit_options()) {
        bool const shared =
            std::ranges::any_of(options, [&](Option const& own) { return std::string_view{own.name} == option.name; });
        if (!arguments.has(option.name) || shared) { continue; }
        refuse(option.name, "belongs to --fit", "it would be ignored", "leave it out, or give --fit FILE");
    }
}

void check_fit(Arguments const& arguments) {
    for (Option const& option : options) {
        bool const shared = is_fit_option(option.name) || std::string_view{option.name} == "--efficiency";
        if (!arguments.has(option.name) || shared) { continue; }
        refuse(option.name, "does not belong to --fit", "it would be ignored", "leave it out, or ask without --fit");
    }
}

/// The options above that fitting does not bring itself: a name is declared once.
std::span<Option const> own_options() {
    static std::vector<Option> const own = [] {
        std::vector<Option> kept;
        std::ranges::copy_if(options, std::back_inserter(kept),
                             [](Option const& option) { return !is_fit_option(option.name); });
        return kept;
    }();
    return own;
}

int run(Arguments const& arguments) {
    if (arguments.has("--fit")) {
        check_fit(arguments);
        return run_fit(arguments);
    }
    LawsCall const call{.output = read_output(arguments, screen_lines), .catalog = io::Catalog{}};
    check_no_fit(arguments);
    LawsQuestion const& question = question_of(arguments);
    check_belongs(question, arguments);
    return question.run(arguments, call);
}

} // namespace

Verb laws_verb() {
    Verb verb{"laws", "speedup laws, from a share, a profile or a table of measurements", {}, examples, run};
    verb.options = {own_options(), fit_options(), length_options(), output_options()};
    verb.answers = tables_of<SerialAnswer, ProfileAnswer, OptimumAnswer, UslAnswer, KarpFlattAnswer,
                             IsoefficiencyAnswer, DataParallelAnswer, PipelineLawAnswer, fit::TableFitAnswer>();
    return verb;
}

} // namespace headroom::cli
