#include "arguments.hpp"
#include "comm/comm_fit.hpp"
#include "comm/comm_report.hpp"
#include "setting.hpp"
#include "watch.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/fit/communication_fit_answer.hpp"
#include "headroom/io/file.hpp"

#include <array>

namespace headroom::cli {
namespace {

constexpr std::array options{
    Option{"--collective", "NAME",
           "all_reduce (default), all_gather, reduce_scatter, all_to_all, broadcast, reduce, scatter, gather, barrier, "
           "point_to_point, parameter_server or actor_learner",
           "Question"},
    Option{"--size", "SIZE", "the whole vector, counted once: 140GB", "Question"},
    Option{"--ranks", "COUNTS", "8, 8,16,64, 8..1024 (doubling) or 8..64:8", "Question"},
    Option{"--sweep", "", "every size from 1 KiB, doubling up to --size", "Question", Takes::nothing},
    Option{"--algorithm", "NAME,...", "these alone (default: every one that holds)", "Question"},
    Option{"--all", "", "show every algorithm, not the fastest alone", "Question", Takes::nothing},
    Option{"--skew", "X", "all_to_all: what the busiest rank receives over the mean", "Question"},
    Option{"--reduction", "RATE", "how fast a rank adds: 200GB/s (default: adding costs no time)", "Question"},
    Option{"--link", "BANDWIDTH,LATENCY", "one link for all ranks: 450GB/s,1us", "Network"},
    Option{"--torus", "SIDES", "with --link: a ring along each side, 8x8x4", "Network"},
    Option{"--cluster", "NAME|FILE", "or the two levels of a cluster, as calibrated", "Network"},
    Option{"--network", "TEXT", "between the nodes of --cluster, in other words: '4x 100Gb RoCE'", "Network"},
    Option{"--pod", "RANKS", "with --cluster: beyond so many a third level begins", "Network"},
    Option{"--pod-link", "BANDWIDTH,LATENCY", "of the third level (default: as the second)", "Network"},
    Option{"--in-network", "", "switches that add, too", "Network", Takes::nothing},
    Option{"--topology", "TEXT", "also on links that are shared: leaf-spine:leaf=32,oversubscription=2", "Network"},
    Option{"--groups", "N", "with --topology: so many such collectives at once", "Network"},
    Option{"--stride", "S", "with --groups: places between the ranks of one (default: N)", "Network"},
    Option{"--servers", "N|all", "ports of parameter servers, compared with the all-reduce; all: a shard on each rank",
           "Servers and actors"},
    Option{"--actors", "COUNTS", "actor_learner: the same as --ranks", "Servers and actors"},
    Option{"--experience", "SIZE", "actor_learner: what an actor sends an update", "Servers and actors"},
    Option{"--ports", "N", "actor_learner: ports of the learner (default: 1)", "Servers and actors"},
    Option{"--gradient-compression", "KIND[:PARAM]",
           "all_reduce: also low_rank:RANK, quantised:BITS, top_k:SHARE, one_bit:WARM_UP or none", "Levers"},
    Option{"--matrix", "ROWSxCOLUMNS", "low_rank: shape of the gradient matrices (default: one square)", "Levers"},
    Option{"--element", "SIZE", "of one gradient before compression (default: 2 B)", "Levers"},
    Option{"--local-steps", "H", "all_reduce: one exchange every H steps", "Levers"},
    Option{"--buckets", "SIZE", "all_reduce: in buckets, while the backward pass makes the rest", "Levers"},
    Option{"--overlap-with", "TIME", "how long that backward pass takes: 180ms", "Levers"},
    Option{"--simulate", "", "also simulate the messages of each algorithm", "Messages", Takes::nothing},
    Option{"--schedule", "FILE", "write the messages of one algorithm as a Chrome trace (up to a million)", "Messages"},
    Option{"--measured", "FILE", "benchmark output to compare with the predictions; may be given again", "Data",
           Takes::values},
    Option{"--calibration", "FILE", "constants of your own (TOML), for --cluster", "Data"},
    Option{"--catalog", "DIR", "records that replace or extend the built-in ones", "Data"},
};

constexpr char const* examples =
    "  headroom comm --size 140GB --ranks 8 --link 450GB/s,1us\n"
    "  headroom comm --collective all_gather --size 1GB --ranks 8..1024\n      --cluster dgx-h100\n"
    "  headroom comm --size 1GB --ranks 64 --cluster dgx-h100 --sweep --format csv\n"
    "  headroom comm --collective all_to_all --size 64MB --ranks 32 \n      --link 50GB/s,5us --skew 4 --all\n"
    "  headroom comm --size 1GB --torus 8x8x4 --link 90GB/s,1us\n"
    "  headroom comm --size 1MB --ranks 12 --link 10GB/s,5us \n      --algorithm rabenseifner --schedule "
    "messages.json\n"
    "  headroom comm --size 14GB --ranks 64 --cluster dgx-a100\n"
    "      --gradient-compression one_bit --buckets 100MB --overlap-with 180ms\n"
    "  headroom comm --collective actor_learner --size 2GB --experience 50MB\n"
    "      --actors 64 --link 25GB/s,5us\n"
    "  headroom comm --fit examples/all_reduce.log examples/all_gather.log \\\n"
    "      --save network.toml";

void check_schedule(Arguments const& arguments, Output const& output) {
    auto const file = arguments.text("--schedule");
    if (!file) { return; }
    if (same_file(*file, output.file) || (!output.html.empty() && same_file(*file, output.html))) {
        refuse("--schedule", headroom::quoted(*file) + " is where the result goes too",
               "they would run into each other", "give one of them another file");
    }
}

/// The answer, after its messages were written where that is asked for.
CommAnswer answer_of(CommRequest const& request, std::stop_token const& stop, Output const& output) {
    try {
        CommAnswer answer = comm_answer(request.question, stop);
        if (!request.schedule_file.empty() && result_has_place(output)) { // else the result is refused
            io::write_file(request.schedule_file, schedule_of(answer));
        }
        return answer;
    } catch (CommRefused const& refused) { refuse_comm(refused, request.question); }
}

int run(Arguments const& arguments) {
    if (arguments.has("--fit")) { return run_comm_fit(arguments, options); }
    check_no_comm_fit(arguments);
    Output const output = read_output(arguments, screen_lines);
    io::Catalog const catalog = open_catalog(arguments);
    check_schedule(arguments, output);
    CommRequest const request = read_request(arguments, catalog);
    std::size_t const asked = request.question.ranks.size();
    Watch const watch{"pricing " + std::to_string(asked) + (asked == 1 ? " number" : " numbers") + " of ranks",
                      output.quiet};
    CommReport const report{.request = request,
                            .answer = answer_of(request, watch.token(), output),
                            .footer = footer(catalog, request.calibration)};
    for (std::string const& text : request.question.network.notes) { note(output, "note: " + printable(text)); }
    write_result(output,
                 result_of(
                     head_of("comm", catalog, request.calibration), report.answer, [&] { return document_of(report); },
                     {{}, stats_of(output)}, [&] { return row_sheet(report.answer.rows); }));
    if (report.answer.complete) { return Exit::done; }
    note(output, "comm: interrupted (" + std::to_string(report.answer.question.ranks.size()) + " of " +
                     std::to_string(asked) +
                     " numbers of ranks priced; of the last what shares links is missing). the result covers those");
    return Exit::interrupted;
}

} // namespace

Verb comm_verb() {
    Verb verb{"comm", "how long collectives take, and which algorithm wins", comm_fit_positionals(), examples, run};
    verb.options = {options, comm_fit_options(), length_options(), output_options()};
    verb.answers = tables_of<CommAnswer, fit::CommunicationFitAnswer>();
    return verb;
}

} // namespace headroom::cli
