#include "comm/known_links.hpp"

#include "setting.hpp"

#include "headroom/io/measured_system.hpp"
#include "headroom/training/step.hpp"

namespace headroom::cli {

using namespace headroom::training;

std::optional<Cluster> stated_cluster(Arguments const& arguments, io::Catalog const& catalog) {
    auto const name = arguments.text("--cluster"), network = arguments.text("--network");
    if (network && !name) { refuse("--network", "needs --cluster", "it is between the nodes of one", "add --cluster"); }
    if (!name) { return std::nullopt; }
    Cluster cluster = io::load_cluster(catalog, *name);
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

} // namespace headroom::cli
