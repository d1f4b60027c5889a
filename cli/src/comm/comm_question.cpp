#include "comm/comm_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/benchmark_log.hpp"
#include "headroom/io/file.hpp"
#include "headroom/network/library_collectives.hpp"

#include <algorithm>
#include <iterator>

namespace headroom::cli {
namespace {

constexpr int most_cells = 16384, most_ranks = 1'000'000'000;
constexpr Bytes largest{1e24};

void read_movement(Arguments const& arguments, CommQuestion& question) {
    std::vector<std::string> names;
    for (Collective const one : collectives) { names.emplace_back(name_of(one)); }
    names.insert(names.end(), {"parameter_server", "actor_learner"});
    question.movement = arguments.choice("--collective", names).value_or("all_reduce");
    for (Collective const one : collectives) {
        if (question.movement == name_of(one)) { question.collective = one; }
    }
}

void check_options(Arguments const& arguments, CommQuestion const& question) {
    bool const reduces_all = question.movement == "all_reduce", acts = question.movement == "actor_learner";
    check_belongs(arguments, "--servers", reduces_all || question.movement == "parameter_server",
                  "all_reduce and parameter_server");
    for (char const* option : {"--actors", "--experience", "--ports"}) {
        check_belongs(arguments, option, acts, "actor_learner");
    }
    check_belongs(arguments, "--skew", question.collective == Collective::all_to_all, "all_to_all");
    check_belongs(arguments, "--reduction", question.collective && reduces(*question.collective),
                  "all_reduce, reduce_scatter and reduce");
    for (char const* option : {"--in-network", "--simulate", "--schedule", "--measured", "--torus", "--topology"}) {
        check_belongs(arguments, option, question.collective.has_value(), "collectives");
    }
    for (char const* option : {"--gradient-compression", "--local-steps", "--buckets"}) {
        check_belongs(arguments, option, reduces_all, "all_reduce");
    }
    check_belongs(arguments, "--matrix", arguments.has("--gradient-compression"), "--gradient-compression");
    check_belongs(arguments, "--element", arguments.has("--gradient-compression") || arguments.has("--local-steps"),
                  "--gradient-compression and --local-steps");
    check_belongs(arguments, "--overlap-with", arguments.has("--buckets"), "--buckets");
    for (char const* option : {"--groups", "--stride"}) {
        check_belongs(arguments, option, arguments.has("--topology"), "--topology");
    }
    check_belongs(arguments, "--topology", !arguments.has("--torus"), "networks that --torus does not name");
    check_belongs(arguments, "--calibration", !arguments.has("--link"), "--cluster");
    check_belongs(arguments, "--pod", question.collective.has_value(), "collectives");
}

/// Names all of size, ranks and network that are missing.
void require_all(Arguments const& arguments, CommQuestion const& question) {
    std::vector<std::pair<std::string, std::string>> needed;
    if (question.collective != Collective::barrier) { needed.emplace_back("--size", "140GB"); }
    bool const ranked = arguments.has("--ranks") || arguments.has("--actors") || arguments.has("--torus");
    if (!ranked) { needed.emplace_back(question.movement == "actor_learner" ? "--actors" : "--ranks", "8"); }
    if (!arguments.has("--link")) { needed.emplace_back("--cluster", "dgx-h100, or --link 450GB/s,1us"); }
    arguments.require_all(needed);
}

/// A barrier moves no data, so it has no size.
void read_sizes(Arguments const& arguments, CommQuestion& question) {
    bool const moves = question.collective != Collective::barrier;
    check_belongs(arguments, "--size", moves, "collectives that move data");
    check_belongs(arguments, "--sweep", moves, "collectives that move data");
    if (moves) {
        question.size = {read_size(arguments.required("--size", "how much is moved: --size 140GB"), "--size")};
    }
    question.sweep = arguments.has("--sweep");
}

/// A torus says itself how many ranks it has.
void read_torus_ranks(Arguments const& arguments, CommQuestion& question) {
    double product = 1.0;
    for (int const side : question.network.torus) { product *= side; }
    if (product > most_ranks) { refuse("--torus", "has too many ranks", "counts end at 1000000000", ""); }
    question.ranks = {static_cast<int>(product)};
    auto const given = arguments.text("--ranks");
    if (given && parse_counts(*given, "--ranks") != question.ranks) {
        refuse("--ranks", "this torus has " + std::to_string(question.ranks[0]) + " ranks", "", "leave --ranks out");
    }
}

void read_ranks(Arguments const& arguments, CommQuestion& question) {
    if (!question.network.torus.empty()) { return read_torus_ranks(arguments, question); }
    bool const acts = question.movement == "actor_learner";
    if (arguments.has("--actors") && arguments.has("--ranks")) {
        refuse("--actors", "given with --ranks", "they mean the same", "keep one");
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
    if (question.collective == Collective::point_to_point && question.ranks != std::vector{2} &&
        arguments.has("--schedule")) {
        refuse("--schedule", "one message has two ends", "", "give --ranks 2");
    }
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

/// Every name that an algorithm of this question may have, each once.
std::vector<std::string> algorithm_names(CommQuestion const& question) {
    std::vector<std::string> names;
    auto const add = [&](std::string_view name) {
        if (std::ranges::find(names, name) == names.end()) { names.emplace_back(name); }
    };
    auto const of_collective = [&](auto const& rows) {
        for (auto const& row : rows) {
            if (row.collective == question.listed()) { add(row.name); }
        }
    };
    of_collective(collective_algorithms());
    of_collective(library_algorithms());
    if (question.servers) { add(question.servers->on_ranks ? "sharded server" : "parameter server"); }
    if (question.actors) {
        for (WeightBroadcast const broadcast : weight_broadcasts) { add(name_of(broadcast)); }
    }
    return names;
}

void read_algorithms(Arguments const& arguments, CommQuestion& question) {
    auto const text = arguments.text("--algorithm");
    if (!text) { return; }
    for (std::string const& name : split(*text, ',')) {
        question.algorithms.push_back(io::parse_choice(name, algorithm_names(question), "--algorithm"));
    }
}

/// Reads the rate at which values are added: zero time unless a rate is given.
void read_reduction(Arguments const& arguments, CommQuestion& question) {
    auto const rate = arguments.quantity<BytesPerSecond>("--reduction");
    if (!rate) { return; }
    if (*rate <= BytesPerSecond{}) { refuse("--reduction", "the rate is not above zero", "", "for example 200GB/s"); }
    question.reduction = SecondsPerByte{1.0 / rate->base()};
}

void read_skew(Arguments const& arguments, CommQuestion& question) {
    auto const text = arguments.text("--skew");
    if (!text) { return; }
    double const most = question.ranks.front();
    question.skew = io::parse_between(
        *text, 1.0, most, "skew, what the busiest rank receives over the mean (at most the ranks)", "--skew");
}

/// The file for the messages of one call; empty where none is asked for.
std::string read_schedule(Arguments const& arguments, CommQuestion const& question) {
    auto const file = arguments.text("--schedule");
    if (!file) { return {}; }
    if (file->empty()) { refuse("--schedule", "names no file", "", "for example --schedule ring.json"); }
    if (question.ranks.size() > 1 || question.sweep) {
        refuse("--schedule", "several calls are asked about", "a file has the messages of one",
               "give one --ranks, and no --sweep");
    }
    if (question.algorithms.size() > 1) {
        refuse("--schedule", "several algorithms are asked about", "a file has the messages of one", "name one");
    }
    return *file;
}

/// Measured times of logs. Ranks and collective that a log omits are those of the question, where it names one.
void read_measured(Arguments const& arguments, CommRequest& request) {
    CommQuestion& question = request.question;
    io::LogQuestion const asked{
        .ranks = question.ranks.size() == 1 ? question.ranks.front() : 0,
        .collective = arguments.text("--collective").value_or(""),
        .node_size = [](std::string_view) { return most_ranks; }}; // its machines are those asked about
    for (std::string const& file : arguments.all("--measured")) {
        io::BenchmarkLog log = io::read_benchmark_log(io::read_file(file, io::benchmark_log_limit), file, asked);
        std::ranges::move(log.rows, std::back_inserter(question.measured));
        request.unused_lines += lines_of(log.issues);
    }
}

} // namespace

void check_belongs(Arguments const& arguments, std::string const& option, bool belongs, std::string const& to) {
    if (arguments.has(option) && !belongs) {
        refuse(option, "belongs to " + to, "it would be ignored", "leave it out");
    }
}

Bytes read_size(std::string const& text, std::string const& where) {
    Bytes const size = parse<Bytes>(text, where);
    if (size <= Bytes{}) { refuse(where, headroom::quoted(text) + " is not above zero", "", "for example 1GB"); }
    if (size > largest) { refuse(where, headroom::quoted(text) + " is too large", "sizes end at 1e24 bytes", ""); }
    return size;
}

CommRequest read_request(Arguments const& arguments, io::Catalog const& catalog) {
    CommRequest request;
    CommQuestion& question = request.question;
    read_movement(arguments, question);
    check_options(arguments, question);
    require_all(arguments, question);
    read_sizes(arguments, question);
    question.network = read_network(arguments, catalog, request.calibration);
    read_ranks(arguments, question);
    read_servers(arguments, question);
    read_actors(arguments, question);
    read_algorithms(arguments, question);
    read_reduction(arguments, question);
    read_skew(arguments, question);
    question.in_network = arguments.has("--in-network");
    question.simulate = arguments.has("--simulate");
    question.levers = read_levers(arguments);
    question.contention = read_contention(arguments, question.network);
    if (question.network.cluster) { question.nccl = catalog.nccl_tuning(); }
    request.all = arguments.has("--all");
    request.schedule_file = read_schedule(arguments, question);
    read_measured(arguments, request);
    return request;
}

} // namespace headroom::cli
