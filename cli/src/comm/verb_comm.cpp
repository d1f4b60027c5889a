#include "arguments.hpp"
#include "comm/comm_fit.hpp"
#include "comm/comm_report.hpp"
#include "document/text.hpp"
#include "setting.hpp"

#include "headroom/error.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/step.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr std::array options{
    Option{"--collective", "NAME",
           "all_reduce (default), all_gather, reduce_scatter, all_to_all, broadcast, point_to_point, parameter_server "
           "or actor_learner",
           "Question"},
    Option{"--size", "SIZE", "the whole vector, counted once: 140GB", "Question"},
    Option{"--ranks", "COUNTS", "8, 8,16,64, 8..1024 (doubling) or 8..64:8", "Question"},
    Option{"--link", "BANDWIDTH,LATENCY", "one link for all ranks: 450GB/s,1us", "Question"},
    Option{"--cluster", "NAME|FILE", "or the two levels of a cluster, as calibrated", "Question"},
    Option{"--sweep", "", "every size from 1 KiB, doubling up to --size", "Question", Takes::nothing},
    Option{"--servers", "N|all", "ports of parameter servers, beside the all-reduce; all: a shard on each rank",
           "Question"},
    Option{"--actors", "COUNTS", "actor_learner: the same as --ranks", "Question"},
    Option{"--experience", "SIZE", "actor_learner: what an actor sends an update", "Question"},
    Option{"--ports", "N", "actor_learner: ports of the learner (default: 1)", "Question"},
    Option{"--gradient-compression", "KIND[:PARAM]",
           "all_reduce: also low_rank:RANK, quantised:BITS, top_k:SHARE, one_bit:WARM_UP or none", "Question"},
    Option{"--matrix", "ROWSxCOLUMNS", "low_rank: shape of the gradient matrices (default: one square)", "Question"},
    Option{"--element", "SIZE", "of one gradient before compression (default: 2 B)", "Question"},
    Option{"--calibration", "FILE", "constants of your own (TOML), for --cluster", "Data"},
    Option{"--catalog", "DIR", "records that go before the built-in ones", "Data"},
};

constexpr char const* examples =
    "  headroom comm --size 140GB --ranks 8 --link 450GB/s,1us\n"
    "  headroom comm --collective all_gather --size 1GB --ranks 8..1024\n      --cluster dgx-h100\n"
    "  headroom comm --size 1GB --ranks 64 --cluster dgx-h100 --sweep --format csv\n"
    "  headroom comm --size 1GB --ranks 8 --link 10GB/s,1us --servers 1\n"
    "  headroom comm --collective actor_learner --size 2GB --experience 50MB\n"
    "      --actors 64 --link 25GB/s,5us\n"
    "  headroom comm --size 14GB --ranks 64 --cluster dgx-a100\n"
    "      --gradient-compression one_bit\n"
    "  headroom comm --fit all_reduce.log all_gather.log --save network.toml";

constexpr int most_cells = 16384, most_ranks = 1'000'000'000;
constexpr Bytes largest{1e24};

/// Collectives that `library_algorithms` has.
constexpr std::array known_collectives{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                       Collective::all_to_all, Collective::broadcast,  Collective::point_to_point};

void read_movement(Arguments const& arguments, CommQuestion& question) {
    std::vector<std::string> names;
    for (Collective const one : known_collectives) { names.emplace_back(name_of(one)); }
    names.insert(names.end(), {"parameter_server", "actor_learner"});
    question.movement = arguments.choice("--collective", names).value_or("all_reduce");
    for (Collective const one : known_collectives) {
        if (question.movement == name_of(one)) { question.collective = one; }
    }
}

/// Options that belong to another movement would be ignored.
void check_belongs(Arguments const& arguments, std::string const& option, bool belongs, std::string const& to) {
    if (arguments.has(option) && !belongs) {
        refuse(option, "belongs to " + to, "it would be ignored", "leave it out");
    }
}

void check_options(Arguments const& arguments, CommQuestion const& question) {
    bool const reduces = question.movement == "all_reduce", acts = question.movement == "actor_learner";
    check_belongs(arguments, "--servers", reduces || question.movement == "parameter_server",
                  "all_reduce and parameter_server");
    for (char const* option : {"--actors", "--experience", "--ports"}) {
        check_belongs(arguments, option, acts, "actor_learner");
    }
    check_belongs(arguments, "--gradient-compression", reduces, "all_reduce");
    bool const compresses = arguments.has("--gradient-compression");
    for (char const* option : {"--matrix", "--element"}) {
        check_belongs(arguments, option, compresses, "--gradient-compression");
    }
    check_belongs(arguments, "--calibration", !arguments.has("--link"), "--cluster");
}

Bytes read_size(std::string const& text, std::string const& where) {
    Bytes const size = parse<Bytes>(text, where);
    if (size <= Bytes{}) { refuse(where, headroom::quoted(text) + " is not above zero", "", "for example 1GB"); }
    if (size > largest) { refuse(where, headroom::quoted(text) + " is too large", "sizes end at 1e24 bytes", ""); }
    return size;
}

void read_ranks(Arguments const& arguments, CommQuestion& question) {
    bool const acts = question.movement == "actor_learner";
    if (arguments.has("--actors") && arguments.has("--ranks")) {
        refuse("--actors", "given beside --ranks", "they mean the same", "keep one");
    }
    std::string const option = acts && !arguments.has("--ranks") ? "--actors" : "--ranks";
    question.ranks = parse_counts(arguments.required(option, "how many take part: " + option + " 8"), option);
    if (question.ranks.back() > most_ranks) {
        refuse(option, std::to_string(question.ranks.back()) + " is too many", "counts end at 1000000000", "");
    }
    std::size_t const cells = question.ranks.size() * sizes_of(question).size();
    if (cells > most_cells) {
        refuse(option, std::to_string(cells) + " pairs of ranks and size", "at most 16384 are answered at once",
               "ask for fewer");
    }
}

CommNetwork read_link(std::string const& text) {
    std::vector<std::string> const parts = split(text, ',');
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
        refuse("--link", "cannot read " + headroom::quoted(text), "a link is a bandwidth and a latency",
               "write it like 450GB/s,1us");
    }
    Link const link{.latency = parse<Seconds>(parts[1], "--link: 'latency'"),
                    .bandwidth = parse<BytesPerSecond>(parts[0], "--link: 'bandwidth'")};
    if (link.bandwidth <= BytesPerSecond{}) {
        refuse("--link", "the bandwidth is not above zero", "", "write it like 450GB/s,1us");
    }
    return {.name = format(link.bandwidth) + ", " + format(link.latency), .fabric = {link, link}};
}

CommNetwork read_network(Arguments const& arguments, io::Catalog const& catalog, std::string& calibration) {
    auto const link = arguments.text("--link");
    if (link && arguments.has("--cluster")) {
        refuse("--link", "given beside --cluster", "a network is one or the other", "keep one");
    }
    if (link) { return read_link(*link); }
    Cluster cluster =
        io::load_cluster(catalog, arguments.required("--cluster", "name the network: --link 450GB/s,1us, or "
                                                                  "--cluster dgx-h100"));
    CalibrationSet constants = read_calibration(arguments, catalog);
    use_measured_links(constants.network, cluster, constants);
    calibration = constants.name;
    return {.name = cluster.name,
            .fabric = calibrated_fabric(cluster, constants.values()),
            .domain = std::max(cluster.domain, 1)};
}

void read_servers(Arguments const& arguments, CommQuestion& question) {
    auto const text = arguments.text("--servers");
    if (!text && question.movement != "parameter_server") { return; }
    question.servers = CommServers{};
    if (text && normalised(*text) == "all") {
        question.servers->on_ranks = true;
    } else if (text) {
        question.servers->count = parse_whole(*text, "--servers");
    }
}

void read_actors(Arguments const& arguments, CommQuestion& question) {
    if (question.movement != "actor_learner") { return; }
    std::string const experience =
        arguments.required("--experience", "how much an actor sends an update: --experience 50MB");
    question.actors = CommActors{.experience = parse<Bytes>(experience, "--experience"),
                                 .ports = arguments.count("--ports").value_or(1)};
    if (question.actors->experience > largest) {
        refuse("--experience", headroom::quoted(experience) + " is too large", "sizes end at 1e24 bytes", "");
    }
}

// ---- compression ------------------------------------------------------------------------------------------------

constexpr char const* compression_option = "--gradient-compression";

std::optional<GradientMatrix> read_matrix(Arguments const& arguments) {
    auto const text = arguments.text("--matrix");
    if (!text) { return std::nullopt; }
    std::vector<std::string> const sides = split(*text, 'x');
    if (sides.size() != 2) {
        refuse("--matrix", "cannot read " + headroom::quoted(*text), "a shape is rows and columns",
               "write it like 4096x16384");
    }
    return GradientMatrix{.rows = static_cast<double>(parse_whole(sides[0], "--matrix")),
                          .columns = static_cast<double>(parse_whole(sides[1], "--matrix"))};
}

void read_compression(Arguments const& arguments, CommQuestion& question) {
    auto const text = arguments.text(compression_option);
    if (!text) { return; }
    auto const colon = text->find(':');
    std::string const parameter = colon == std::string::npos ? "" : text->substr(colon + 1);
    question.compression =
        CommCompression{.how = io::parse_compression(*text, compression_option),
                        .parameter = parameter,
                        .element = read_size(arguments.text("--element").value_or("2B"), "--element"),
                        .matrix = read_matrix(arguments)};
}

CommQuestion read_question(Arguments const& arguments, io::Catalog const& catalog, std::string& calibration) {
    CommQuestion question;
    read_movement(arguments, question);
    check_options(arguments, question);
    question.size = {read_size(arguments.required("--size", "how much is moved: --size 140GB"), "--size")};
    question.sweep = arguments.has("--sweep");
    read_ranks(arguments, question);
    question.network = read_network(arguments, catalog, calibration);
    read_servers(arguments, question);
    read_actors(arguments, question);
    read_compression(arguments, question);
    return question;
}

int run(Arguments const& arguments) {
    if (arguments.has("--fit")) { return run_comm_fit(arguments, options); }
    check_no_comm_fit(arguments);
    Stopwatch const stopwatch;
    Output const output = read_output(arguments);
    io::Catalog const catalog = open_catalog(arguments);
    std::string calibration;
    CommQuestion question = read_question(arguments, catalog, calibration);
    CommReport report = answer_of(std::move(question), catalog, std::move(calibration));
    if (output.stats) { report.wall_seconds = stopwatch.seconds(); }
    write_result(output, {[&] { return document_of(report); }, [&] { return json_of(report); },
                          [&] { return sheet_of(report); }});
    return Exit::done;
}

} // namespace

Verb comm_verb() {
    return {"comm",
            "how long collectives take, and which algorithm wins",
            comm_fit_positionals(),
            {options, comm_fit_options(), output_options()},
            examples,
            run};
}

} // namespace headroom::cli
