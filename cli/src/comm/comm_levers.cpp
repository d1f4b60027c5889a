#include "comm/comm_question.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/io/topology.hpp"

namespace headroom::cli {

using namespace headroom::document;

using namespace headroom::network;

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

} // namespace headroom::cli
