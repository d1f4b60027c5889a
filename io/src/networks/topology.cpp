#include "headroom/io/topology.hpp"

#include "records/record.hpp"

#include "headroom/io/words.hpp"
#include "headroom/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

using namespace headroom::network;

namespace {

/// The `key=value` fields after the kind of a network. Each must be asked for; a value is left alone where its key is
/// absent. Errors: InputError{usage} at `where`.
class TopologyFields {
public:
    /// `text`: fields with commas between them. The first may be one without a key: the sides of a torus.
    TopologyFields(std::string_view text, std::string_view where);

    [[nodiscard]] std::string_view sides() const { return sides_; }
    bool read(std::string_view key, int& value);
    bool read(std::string_view key, double& ratio);
    bool read(std::string_view key, bool& value);
    bool read(std::string_view key, std::string& word, std::vector<std::string> const& choices);
    template <int B, int F, int T, int D, int J> bool read(std::string_view key, Quantity<B, F, T, D, J>& value) {
        auto const text = find(key);
        if (text) { value = parse<Quantity<B, F, T, D, J>>(*text, place(key)); }
        return text != nullptr;
    }
    /// Refuses fields that no reader asked for.
    void refuse_the_rest() const;

private:
    struct Field {
        std::string key, value;
    };
    std::string const* find(std::string_view key);
    [[nodiscard]] std::string place(std::string_view key) const;

    std::string where_, sides_;
    std::vector<Field> fields_;
    std::vector<std::string> asked_;
};

TopologyFields::TopologyFields(std::string_view text, std::string_view where) : where_{where} {
    for (bool first = true; !text.empty(); first = false) {
        std::string_view const field = text.substr(0, text.find(','));
        bool const last = field.size() == text.size();
        text = last ? std::string_view{} : text.substr(field.size() + 1);
        auto const sign = field.find('=');
        if (sign == std::string_view::npos) {
            if (!first || field.empty()) {
                refuse(where, fmt::format("{} is no field", headroom::quoted(field)), {}, "write key=value");
            }
            sides_ = field;
            continue;
        }
        Field const one{std::string{field.substr(0, sign)}, std::string{field.substr(sign + 1)}};
        bool const twice = std::any_of(fields_.begin(), fields_.end(), [&](Field const& other) {
            return normalised(other.key) == normalised(one.key);
        });
        if (twice) { refuse(where, fmt::format("{} is there twice", headroom::quoted(one.key)), {}, "say it once"); }
        fields_.push_back(one);
        if (last) { return; }
        if (text.empty()) { refuse(where, "ends with a comma", {}, "leave it out"); }
    }
}

std::string const* TopologyFields::find(std::string_view key) {
    asked_.emplace_back(key);
    auto const found = std::find_if(fields_.begin(), fields_.end(),
                                    [&](Field const& field) { return normalised(field.key) == normalised(key); });
    return found == fields_.end() ? nullptr : &found->value;
}

std::string TopologyFields::place(std::string_view key) const { return fmt::format("{}: '{}'", where_, key); }

bool TopologyFields::read(std::string_view key, int& value) {
    std::string const* const text = find(key);
    if (text != nullptr) { value = parse_whole(*text, place(key)); }
    return text != nullptr;
}

bool TopologyFields::read(std::string_view key, double& ratio) {
    std::string const* const text = find(key);
    if (text != nullptr) { ratio = parse_between(*text, 1e-3, 1e6, "ratio", place(key)); }
    return text != nullptr;
}

bool TopologyFields::read(std::string_view key, bool& value) {
    std::string word;
    bool const there = read(key, word, {"yes", "no"});
    if (there) { value = word == "yes"; }
    return there;
}

bool TopologyFields::read(std::string_view key, std::string& word, std::vector<std::string> const& choices) {
    std::string const* const text = find(key);
    if (text != nullptr) { word = parse_choice(*text, choices, place(key)); }
    return text != nullptr;
}

void TopologyFields::refuse_the_rest() const {
    for (Field const& field : fields_) {
        bool const known = std::any_of(asked_.begin(), asked_.end(), [&](std::string const& key) {
            return normalised(key) == normalised(field.key);
        });
        if (known) { continue; }
        std::string const near = did_you_mean(field.key, asked_);
        refuse(where_, fmt::format("unknown field {}", headroom::quoted(field.key)), {},
               near.empty() ? fmt::format("choose from {}", fmt::join(asked_, ", ")) : near);
    }
}

/// A text that is being read.
struct Reading {
    TopologyFields fields;
    std::string_view where;
    TopologyDefaults given;
};

int endpoints_of(Reading& reading) {
    int endpoints = reading.given.endpoints;
    reading.fields.read("endpoints", endpoints);
    if (endpoints == 0) { refuse(reading.where, "how many endpoints are there?", {}, "add endpoints=1024"); }
    return endpoints;
}

Link port_of(Reading& reading) {
    Link port = reading.given.port;
    reading.fields.read("bandwidth", port.bandwidth);
    reading.fields.read("latency", port.latency);
    if (port.bandwidth == BytesPerSecond{}) {
        refuse(reading.where, "which rate has a port?", {}, "add bandwidth=50GB/s,latency=2us");
    }
    return port;
}

/// A group that is smaller than a node is one node.
Nodes nodes_of(Reading& reading, int endpoints) {
    Nodes nodes = reading.given.nodes;
    if (nodes.accelerators > endpoints) { nodes = {endpoints, 1, nodes.scale_up}; }
    if (reading.fields.read("node", nodes.accelerators)) { nodes.adapters = nodes.accelerators; }
    reading.fields.read("adapters", nodes.adapters);
    reading.fields.read("scale-up", nodes.scale_up.bandwidth);
    reading.fields.read("scale-up-latency", nodes.scale_up.latency);
    if (nodes.accelerators > 1 && nodes.scale_up.bandwidth == BytesPerSecond{}) {
        refuse(reading.where, "the rate of the link inside a node is not stated", {},
               "add scale-up=450GB/s,scale-up-latency=1us");
    }
    return nodes;
}

Spread spread_of(Reading& reading) {
    std::string word = "destination";
    reading.fields.read("spread", word, {"destination", "hash"});
    return word == "hash" ? Spread::hash : Spread::destination;
}

template <class Network> Network edge_of(Reading& reading) {
    Network network;
    network.endpoints = endpoints_of(reading);
    network.port = port_of(reading);
    network.nodes = nodes_of(reading, network.endpoints);
    return network;
}

Topology finish(Reading const& reading, auto const& network) {
    reading.fields.refuse_the_rest();
    return build_topology(network, reading.where);
}

Topology read_star(Reading& reading) { return finish(reading, edge_of<StarNetwork>(reading)); }

Topology read_rails(Reading& reading) {
    if (reading.given.nodes.accelerators < 2) { reading.given.nodes = {8, 8, reading.given.nodes.scale_up}; }
    return finish(reading, edge_of<RailNetwork>(reading));
}

Topology read_leaf_spine(Reading& reading) {
    auto network = edge_of<LeafSpineNetwork>(reading);
    reading.fields.read("leaf", network.leaf);
    reading.fields.read("spines", network.spines);
    reading.fields.read("oversubscription", network.oversubscription);
    reading.fields.read("hop", network.hop);
    reading.fields.read("rail-optimised", network.rail_optimised);
    network.spread = spread_of(reading);
    return finish(reading, network);
}

Topology read_fat_tree(Reading& reading) {
    auto network = edge_of<FatTreeNetwork>(reading);
    reading.fields.read("leaf", network.leaf);
    reading.fields.read("pod", network.pod);
    reading.fields.read("oversubscription", network.oversubscription);
    reading.fields.read("hop", network.hop);
    network.spread = spread_of(reading);
    return finish(reading, network);
}

Topology read_dragonfly(Reading& reading) {
    auto network = edge_of<DragonflyNetwork>(reading);
    reading.fields.read("router", network.router);
    reading.fields.read("routers", network.routers);
    reading.fields.read("global", network.global);
    reading.fields.read("hop", network.hop);
    reading.fields.read("local-rate", network.local_rate);
    reading.fields.read("global-rate", network.global_rate);
    reading.fields.read("valiant", network.valiant);
    return finish(reading, network);
}

/// "8x8x4"
std::vector<int> sides_of(Reading const& reading) {
    std::vector<int> sides;
    std::string_view text = reading.fields.sides();
    if (text.empty()) { refuse(reading.where, "a torus needs its sides", {}, "write torus:8x8x4"); }
    while (sides.size() < 4) {
        std::string_view const side = text.substr(0, text.find('x'));
        sides.push_back(parse_whole(side, reading.where));
        if (side.size() == text.size()) { break; }
        text.remove_prefix(side.size() + 1);
    }
    return sides;
}

Topology read_torus(Reading& reading) {
    int endpoints = reading.given.endpoints;
    reading.fields.read("endpoints", endpoints);
    TorusNetwork const network{.sides = sides_of(reading), .link = port_of(reading)};
    Topology torus = finish(reading, network);
    if (endpoints != 0 && torus.endpoints() != endpoints) {
        refuse(reading.where, fmt::format("a torus of {} endpoints", torus.endpoints()),
               fmt::format("{} are asked for", endpoints), "give sides whose product is that");
    }
    return torus;
}

struct Kind {
    std::string_view name;
    Topology (*read)(Reading&);
};
constexpr std::array kinds{
    Kind{"star", read_star},         Kind{"rails", read_rails},         Kind{"leaf-spine", read_leaf_spine},
    Kind{"fat-tree", read_fat_tree}, Kind{"dragonfly", read_dragonfly}, Kind{"torus", read_torus}};

} // namespace

Topology parse_topology(std::string_view text, std::string_view where, TopologyDefaults const& defaults) {
    auto const colon = text.find(':');
    std::vector<std::string> names;
    for (Kind const& kind : kinds) { names.emplace_back(kind.name); }
    std::string const name = parse_choice(text.substr(0, colon), names, where);
    std::string_view const fields = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
    Reading reading{.fields = {fields, where}, .where = where, .given = defaults};
    if (name != "torus" && !reading.fields.sides().empty()) {
        refuse(where, fmt::format("{} is no field", headroom::quoted(reading.fields.sides())), {}, "write key=value");
    }
    for (Kind const& kind : kinds) {
        if (kind.name == name) { return kind.read(reading); }
    }
    throw ContractError{"a kind of network without a reader"};
}

} // namespace headroom::io
