#include "comm/comm_question.hpp"
#include "setting.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/measured_system.hpp"
#include "headroom/training/measured_links.hpp"
#include "headroom/training/step.hpp"

#include <algorithm>

namespace headroom::cli {

using namespace headroom::network;
using namespace headroom::training;

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
        io::load_cluster(catalog, arguments.required("--cluster", "name the network: --link 450GB/s,1us, or "
                                                                  "--cluster dgx-h100"));
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

} // namespace headroom::cli
