#include "comm/comm_fit.hpp"
#include "comm/comm_report.hpp"
#include "setting.hpp"

#include "headroom/document/json.hpp"
#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/measured_system.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/io/topology.hpp"
#include "headroom/training/measured_links.hpp"
#include "headroom/training/step.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

Link read_link(std::string const& text, std::string const& option) {
    std::vector<std::string> const parts = split(text, ',');
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
        refuse(option, "cannot read " + headroom::quoted(text), "a link is a bandwidth and a latency",
               "write it like 450GB/s,1us");
    }
    Link const link{.latency = parse<Seconds>(parts[1], option + ": 'latency'"),
                    .bandwidth = parse<BytesPerSecond>(parts[0], option + ": 'bandwidth'")};
    if (link.bandwidth <= BytesPerSecond{}) {
        refuse(option, "the bandwidth is not above zero", "", "write it like 450GB/s,1us");
    }
    return link;
}

/// "8x8x4": up to three sides of at least two ranks.
std::vector<int> read_torus(std::string const& text) {
    std::vector<int> sides;
    for (std::string const& side : split(text, 'x')) { sides.push_back(parse_whole(side, "--torus")); }
    if (sides.empty() || sides.size() > Layout::most_levels || std::ranges::min(sides) < 2) {
        refuse("--torus", "cannot read " + headroom::quoted(text), "a torus has up to three sides of two ranks or more",
               "write it like 8x8x4");
    }
    return sides;
}

CommNetwork network_of_link(Arguments const& arguments, std::string const& text) {
    Link const link = read_link(text, "--link");
    CommNetwork network;
    network.name = format(link.bandwidth) + ", " + format(link.latency);
    network.fabric = {link, link};
    if (auto const torus = arguments.text("--torus")) { network.torus = read_torus(*torus); }
    return network;
}

/// Pods hold whole domains; the link between them is that of the scale-out network unless another is given.
std::optional<CommPod> read_pod(Arguments const& arguments, int domain, Link scale_out) {
    auto const ranks = arguments.count("--pod");
    if (!ranks) { return std::nullopt; }
    if (*ranks % domain != 0 || *ranks == domain) {
        refuse("--pod", std::to_string(*ranks) + " ranks are not several whole domains",
               "domains of this cluster have " + std::to_string(domain), "for example " + std::to_string(32 * domain));
    }
    auto const link = arguments.text("--pod-link");
    return CommPod{.ranks = *ranks, .link = link ? read_link(*link, "--pod-link") : scale_out};
}

} // namespace

CommNetwork read_network(Arguments const& arguments, io::Catalog const& catalog, std::string& calibration) {
    auto const link = arguments.text("--link");
    if (link && arguments.has("--cluster")) {
        refuse("--link", "given with --cluster", "a network is one or the other", "keep one");
    }
    check_belongs(arguments, "--torus", link.has_value(), "--link");
    check_belongs(arguments, "--pod", !link, "--cluster");
    check_belongs(arguments, "--network", !link, "--cluster");
    check_belongs(arguments, "--pod-link", arguments.has("--pod"), "--pod");
    if (link) { return network_of_link(arguments, *link); }
    Cluster cluster =
        io::load_machines(catalog, arguments.required("--cluster", "name the network: --link 450GB/s,1us, or "
                                                                   "--cluster dgx-h100"))
            .cluster;
    CalibrationSet constants = read_calibration(arguments, catalog);
    std::vector<std::string> notes = io::fit_links_to(catalog, cluster, constants);
    if (auto const text = arguments.text("--network")) {
        cluster.name += ", " + io::join_by_network(catalog, *text, "--network", cluster).nics;
    }
    use_measured_links(constants.network, cluster, constants);
    calibration = constants.name;
    CommNetwork network;
    network.name = cluster.name;
    network.fabric = calibrated_fabric(cluster, constants.values());
    network.domain = std::max(cluster.domain, 1);
    network.pod = read_pod(arguments, network.domain, network.fabric.scale_out);
    network.cluster = cluster;
    network.measured = constants.network;
    network.notes = std::move(notes);
    return network;
}

std::optional<Cluster> stated_cluster(Arguments const& arguments, io::Catalog const& catalog) {
    auto const name = arguments.text("--cluster"), network = arguments.text("--network");
    if (network && !name) { refuse("--network", "needs --cluster", "it is between the nodes of one", "add --cluster"); }
    if (!name) { return std::nullopt; }
    Cluster cluster = io::load_machines(catalog, *name).cluster;
    if (network) { io::join_by_network(catalog, *network, "--network", cluster); }
    return cluster;
}

std::function<std::optional<fit::KnownLinks>(std::string const&)> known_links_of(Arguments const& arguments,
                                                                                 io::Catalog const& catalog) {
    auto const constants = std::make_shared<CalibrationSet>(read_calibration(arguments, catalog));
    return [constants, &catalog, stated = stated_cluster(arguments, catalog)](std::string const& system) {
        std::optional<Cluster> const machine =
            stated ? stated : io::measured_system(catalog, system, "", 1).cluster; // one node: no network is assumed
        if (!machine) { return std::optional<fit::KnownLinks>{}; }
        Link const inside = calibrated_fabric(*machine, constants->values()).scale_up;
        return std::optional{fit::known_links(*machine, inside, stated.has_value())};
    };
}

namespace {

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

std::optional<CommCompression> read_compression(Arguments const& arguments) {
    auto const text = arguments.text(compression_option);
    if (!text) { return std::nullopt; }
    auto const colon = text->find(':');
    return CommCompression{.how = io::parse_compression(*text, compression_option),
                           .parameter = colon == std::string::npos ? "" : text->substr(colon + 1),
                           .matrix = read_matrix(arguments)};
}

std::optional<CommBuckets> read_buckets(Arguments const& arguments) {
    auto const text = arguments.text("--buckets");
    if (!text) { return std::nullopt; }
    std::string const behind =
        arguments.required("--overlap-with", "how long the backward pass takes: --overlap-with 180ms");
    return CommBuckets{.size = read_size(*text, "--buckets"), .behind = parse<Seconds>(behind, "--overlap-with")};
}

/// Endpoints and ports of a network that its text need not repeat.
io::TopologyDefaults defaults_of(CommNetwork const& network, int endpoints) {
    io::TopologyDefaults defaults{.endpoints = endpoints, .port = network.fabric.scale_out, .nodes = {}};
    if (network.domain > 1 && endpoints > network.domain) {
        defaults.nodes = {
            .accelerators = network.domain, .adapters = network.domain, .scale_up = network.fabric.scale_up};
    }
    return defaults;
}

} // namespace

CommLevers read_levers(Arguments const& arguments) {
    CommLevers levers{.element = read_size(arguments.text("--element").value_or("2B"), "--element"),
                      .compression = read_compression(arguments),
                      .local_steps = arguments.count("--local-steps"),
                      .buckets = read_buckets(arguments)};
    return levers;
}

std::optional<CommContention> read_contention(Arguments const& arguments, CommNetwork const& network) {
    auto const topology = arguments.text("--topology");
    if (!topology) { return std::nullopt; }
    CommContention given{.topology = *topology, .groups = arguments.count("--groups").value_or(1)};
    given.network = [text = *topology, network](int endpoints) {
        return io::parse_topology(text, "--topology", defaults_of(network, endpoints));
    };
    given.stride = arguments.count("--stride").value_or(given.groups);
    if (given.groups % given.stride != 0) {
        refuse("--stride",
               std::to_string(given.stride) + " does not divide " + std::to_string(given.groups) + " groups",
               "as many groups lie between the ranks of one", "leave it out: neighbours are in different groups");
    }
    return given;
}

namespace {

/// Microseconds with all their digits and no exponent.
std::string microseconds(Ticks ticks) {
    std::string fraction = std::to_string(ticks % 1'000'000);
    return std::to_string(ticks / 1'000'000) + "." + std::string(6 - fraction.size(), '0') + fraction;
}

std::string name_of_participant(int participant, int ranks) {
    return participant < ranks ? "rank " + std::to_string(participant)
                               : "switch " + std::to_string(participant - ranks);
}

std::string event_of(std::int64_t round, Message const& message, Ticks begin, Ticks duration) {
    return R"({"ph":"X","name":"to )" + std::to_string(message.to) + R"(","cat":")" + (message.adds ? "add" : "copy") +
           R"(","pid":0,"tid":)" + std::to_string(message.from) + R"(,"ts":)" + microseconds(begin) + R"(,"dur":)" +
           microseconds(duration) + R"(,"args":{"round":)" + std::to_string(round) + R"(,"from":)" +
           std::to_string(message.from) + R"(,"to":)" + std::to_string(message.to) + R"(,"bytes":)" +
           exact(message.bytes) + R"(,"level":)" + std::to_string(message.level) + "}},\n";
}

} // namespace

std::string schedule_of(CommAnswer const& answer) {
    CommSchedule const schedule = comm_schedule(answer);
    CommRow const& row = *schedule.row;
    std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
    for (int one = 0; one < schedule.messages->participants(); ++one) { // the lane of each sender
        text += R"({"ph":"M","name":"thread_name","pid":0,"tid":)" + std::to_string(one) + R"(,"args":{"name":")" +
                name_of_participant(one, row.ranks) + "\"}},\n";
    }
    simulate(*schedule.messages, schedule.call.layout, schedule.call.reduction,
             [&](std::int64_t round, Message const& message, Ticks begin, Ticks duration) {
                 text += event_of(round, message, begin, duration);
             });
    text += R"({"ph":"M","name":"process_name","pid":0,"args":{"name":)";
    append_json_string(text, row.algorithm + " " + row.collective + " of " + size_words(row.size.size) + " over " +
                                 std::to_string(row.ranks) + " ranks");
    return text + "}}\n]}\n";
}

} // namespace headroom::cli
