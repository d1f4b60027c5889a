#include "records/cluster.hpp"

#include "networks/network_text.hpp"
#include "records/catalog_layer.hpp"
#include "records/record_words.hpp"

#include "headroom/io/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

namespace headroom::io {

namespace {

namespace fs = std::filesystem;

double dollars_an_hour(DollarsPerSecond price) { return price.in(units::dollar / units::hour); }

std::string price_origin(PriceRange const& range) {
    std::string text = range.offers == 1
                           ? fmt::format("1 on-demand offer, {:.2f} $/h", dollars_an_hour(range.median))
                           : fmt::format("median of {} on-demand offers, {:.2f} to {:.2f} $/h", range.offers,
                                         dollars_an_hour(range.low), dollars_an_hour(range.high));
    if (range.oldest.empty()) { return text + ", undated"; }
    return text + (range.oldest == range.newest ? fmt::format(", {}", range.oldest)
                                                : fmt::format(", {} to {}", range.oldest, range.newest));
}

AcceleratorRecord find_accelerator(Catalog const& catalog, std::string_view name) {
    auto const& record = catalog.text(RecordKind::accelerator, name);
    auto result = read_once(record, read_accelerator_record);
    result.accelerator.name = record.name;
    return result;
}

/// The keys of a cluster file, over a node of the catalog when it names one.
class ClusterFile {
public:
    ClusterFile(Catalog const& catalog, std::string_view text, std::string path)
        : catalog_{catalog}, path_{std::move(path)}, record_{text, path_}, root_{record_.root()} {}

    Cluster read() {
        read_base();
        read_accelerator();
        read_network();
        read_counts();
        read_link("scale_up", parts_.scale_up);
        if (network_.empty()) { read_link("scale_out", parts_.scale_out); }
        DollarsPerSecond price;
        bool const priced = root_.read("price", price);
        root_.skip({"notes", "source", "source_detail", "date", "host", "aliases", "confidence"});
        record_.refuse_the_rest();
        Cluster cluster = build_cluster(catalog_, parts_);
        join_nodes(cluster);
        if (priced) {
            cluster.price = price;
            cluster.price_origin = path_;
            cluster.price_kind = "given";
        }
        return cluster;
    }

private:
    void read_base() {
        std::string base;
        based_ = root_.read("node", base);
        if (based_) {
            auto const& record = catalog_.text(RecordKind::node, base);
            NodeRecord node = read_once(record, read_node);
            node.name = record.name;
            parts_ = look_up(catalog_, node);
        } else {
            parts_.node.name = fs::path{path_}.stem().string();
        }
        root_.read("name", parts_.node.name);
    }

    void read_accelerator() {
        if (root_.is_table("accelerator")) {
            parts_.accelerator = io::read_accelerator(root_.section("accelerator"));
        } else if (std::string name; root_.read("accelerator", name, due())) {
            parts_.accelerator = find_accelerator(catalog_, name);
        } else {
            return;
        }
        parts_.node.accelerator = parts_.accelerator.accelerator.name;
        std::string const& link = parts_.accelerator.scale_up_link;
        if (!based_ && !link.empty() && !root_.has("scale_up")) { parts_.scale_up = find_link(catalog_, link); }
    }

    /// `scale_out` in the words of people, "4x 100Gb RoCE", where the catalog has no link of that name.
    void read_network() {
        std::string text;
        if (root_.is_table("scale_out") || !root_.read("scale_out", text) || catalog_.has_link(text)) { return; }
        if (!read_network_text(text).states_rate()) { return; } // the error of an unknown link says more
        if (root_.has("nics") || root_.has("nic_rate")) {
            root_.fail("scale_out", "states NICs, as do nics and nic_rate", "one network is stated twice",
                       "keep one of the two");
        }
        network_ = text;
    }

    void join_nodes(Cluster& cluster) const {
        if (network_.empty()) { return; }
        std::string const where = path_ + ": 'scale_out'";
        JoinedNetwork const joined = join_by_network(catalog_, network_, where, cluster);
        if (joined.ambiguous) {
            refuse(where, headroom::quoted(network_) + " is ambiguous: " + joined.nics, "a file states it in full",
                   "write it like '4x 100Gb RoCE per node'");
        }
    }

    void read_counts() {
        NodeRecord& node = parts_.node;
        bool const one_box = !based_ || node.scale_up_domain == node.accelerators;
        bool const share_given = root_.is_table("scale_out");
        root_.read("accelerators", node.accelerators, {1, 4096}, due());
        if (!root_.read("scale_up_domain", node.scale_up_domain, {1, 1'048'576}) && one_box) {
            node.scale_up_domain = node.accelerators;
        }
        if (share_given && (root_.has("nics") || root_.has("nic_rate"))) {
            root_.fail("scale_out", "a bandwidth of its own, with nics or nic_rate",
                       "nics and nic_rate already give the share of an accelerator", "keep one of the two");
        }
        Presence const adapters = share_given || !network_.empty() ? Presence::optional : due();
        root_.read("nics", node.nics, {1, 4096}, adapters);
        read_nic_rate(adapters);
        root_.read("host_link", node.host_link);
        root_.read("host_memory_bandwidth", node.host_memory_bandwidth);
        root_.read("host_memory", node.host_memory);
        parts_.scale_out_is_share = share_given;
    }

    /// "100 Gbit/s", and as people name NICs: "400G", "NDR", "100GbE".
    void read_nic_rate(Presence presence) {
        std::vector<std::string> words;
        bool is_switch = false;
        if (root_.has("nic_rate")) { root_.read_words("nic_rate", words, is_switch); }
        NetworkText const named = words.size() == 1 ? read_network_text(words.front()) : NetworkText{};
        if (named.nic > 0.0 && named.nics <= 0.0 && named.left_over.empty()) {
            parts_.node.nic_rate = named.nic * units::Gbit / units::s;
        } else {
            root_.read("nic_rate", parts_.node.nic_rate, presence);
        }
    }

    /// A link by the name of its record, or described in place.
    void read_link(std::string_view key, LinkRecord& link) {
        if (root_.is_table(key)) {
            Section section = root_.section(key);
            link.name = parts_.node.name + " " + std::string{key == "scale_up" ? "scale-up" : "scale-out"};
            section.read("name", link.name);
            section.read("bandwidth", link.link.bandwidth, Presence::required);
            section.read("latency", link.link.latency, Presence::required);
        } else if (std::string name;
                   root_.read(key, name, link.name.empty() ? Presence::required : Presence::optional)) {
            link = find_link(catalog_, name);
        }
    }

    /// Whether what a node of the catalog would give has to be written out.
    [[nodiscard]] Presence due() const { return based_ ? Presence::optional : Presence::required; }

    Catalog const& catalog_;
    std::string path_, network_;
    Record record_;
    Section root_;
    ClusterParts parts_;
    bool based_ = false;
};

} // namespace

LinkRecord find_link(Catalog const& catalog, std::string_view name) {
    auto const& record = catalog.text(RecordKind::link, name);
    auto result = read_once(record, headroom::io::read_link);
    result.name = record.name;
    return result;
}

ClusterParts look_up(Catalog const& catalog, NodeRecord const& node) {
    return {.node = node,
            .accelerator = find_accelerator(catalog, node.accelerator),
            .scale_up = find_link(catalog, node.scale_up),
            .scale_out = find_link(catalog, node.scale_out)};
}

namespace {

/// The host that is usual around accelerators of a year: two sockets with all channels filled.
struct UsualHost {
    int since;
    std::string_view link;
    BytesPerSecond memory;
    int year; ///< of its processors
};
constexpr std::array usual_hosts{
    UsualHost{2022, "pcie5-x16", 614.4 * units::GB / units::s, 2023}, // 2 x 8 DDR5-4800
    UsualHost{2020, "pcie4-x16", 409.6 * units::GB / units::s, 2019}, // 2 x 8 DDR4-3200
    UsualHost{0, "pcie3-x16", 256.0 * units::GB / units::s, 2017},    // 2 x 6 DDR4-2666
};

/// The link to the host, where a node does not state it: that of cards on PCIe, else the usual one of the year.
std::string host_link_of(NodeRecord const& node, UsualHost const& usual) {
    if (!node.host_link.empty()) { return node.host_link; }
    return node.scale_up.starts_with("pcie") ? node.scale_up : std::string{usual.link};
}

void add_host(Catalog const& catalog, NodeRecord const& node, int year, Cluster& cluster) {
    auto const usual = std::ranges::find_if(usual_hosts, [year](UsualHost const& host) { return year >= host.since; });
    cluster.host = find_link(catalog, host_link_of(node, *usual)).link;
    cluster.host_year = usual->year;
    cluster.host_memory = node.host_memory;
    constexpr int fast_hosts = 2022; // those that carry such traffic at the rate of PCIe
    cluster.through_host =
        !cluster.accelerator.peer_to_peer && node.scale_up.starts_with("pcie") && usual->year < fast_hosts;
    bool const stated = node.host_memory_bandwidth.base() > 0.0;
    cluster.host_memory_bandwidth =
        (stated ? node.host_memory_bandwidth : usual->memory) / static_cast<double>(std::max(1, node.accelerators));
}

} // namespace

Cluster build_cluster(Catalog const& catalog, ClusterParts const& parts) {
    NodeRecord const& node = parts.node;
    Accelerator const& chip = parts.accelerator.accelerator;
    Cluster cluster;
    cluster.name = node.name;
    cluster.accelerator = chip;
    cluster.accelerators_per_node = node.accelerators;
    cluster.domain = node.scale_up_domain;
    cluster.scale_up = parts.scale_up.link;
    cluster.scale_up_name = parts.scale_up.name;
    cluster.scale_out = parts.scale_out.link;
    cluster.scale_out_name = parts.scale_out.name;
    cluster.scale_up_service = parts.scale_up.service;
    cluster.scale_out_service = parts.scale_out.service;
    // The chip's own figure is the better one, for the link that it was made for; a node may use another.
    bool const own_link = parts.scale_up.name == parts.accelerator.scale_up_link;
    if (own_link && chip.scale_up_bandwidth.base() > 0) { cluster.scale_up.bandwidth = chip.scale_up_bandwidth; }
    if (!parts.scale_out_is_share) {
        cluster.scale_out.bandwidth = node.nic_rate * (1.0 * node.nics / node.accelerators);
        cluster.adapter = node.nics > 0 ? node.nic_rate : BytesPerSecond{};
    }
    add_host(catalog, node, chip.year, cluster);
    if (catalog.has_accelerator(chip.name)) {
        if (auto const range = catalog.price(chip.name)) {
            cluster.price = range->median;
            cluster.price_origin = price_origin(*range);
            cluster.price_kind = "on-demand";
        }
    }
    return cluster;
}

Cluster read_cluster(Catalog const& catalog, std::string_view toml, std::string_view where) {
    return ClusterFile{catalog, toml, std::string{where}}.read();
}

Cluster load_cluster(Catalog const& catalog, std::string const& what) {
    bool const is_file = what.ends_with(".toml");
    if (is_file) { return read_cluster(catalog, read_file(what, record_limit), what); }
    if (catalog.has_node(what)) { return catalog.cluster(what); }
    if (auto const chip = record_in_words(catalog, RecordKind::accelerator, what)) {
        return catalog.cluster(catalog.default_node(*chip));
    }
    if (is_there(what)) { refuse(what, "not a cluster file", "a cluster is a name of the catalog or a .toml file"); }
    auto names = catalog.names_and_aliases(RecordKind::node);
    std::ranges::copy(catalog.names_and_aliases(RecordKind::accelerator), std::back_inserter(names));
    std::string hint = did_you_mean(what, names);
    if (std::string const one = name_without_count(catalog, what); // "4xdgx-h100"
        one != what && (catalog.has_node(one) || catalog.has_accelerator(one))) {
        hint = fmt::format("write '{}', without the number", one);
    }
    if (hint.empty()) { hint = "`headroom catalog list` shows the nodes; a .toml file describes another"; }
    refuse("--cluster", fmt::format("unknown cluster {}", headroom::quoted(what)),
           "neither a node, an accelerator nor a .toml file", hint);
}

} // namespace headroom::io
