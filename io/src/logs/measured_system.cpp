#include "headroom/io/measured_system.hpp"

#include "records/records.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace headroom::io {

namespace {

/// Words that must all stand in a description, and what they mean. A row before another wins.
struct Meaning {
    std::array<std::string_view, 2> words; ///< as `plain` writes them; a second may be empty
    std::string_view name;                 ///< of a record
};

/// Instances and machines that are sold with their network.
constexpr std::array machines{
    Meaning{{"p6-b200"}, "aws-p6-b200"},
    Meaning{{"p6-b300"}, "aws-p6-b300"},
    Meaning{{"p5en"}, "aws-p5en"},
    Meaning{{"p5e"}, "aws-p5e"},
    Meaning{{"p5"}, "aws-p5"},
    Meaning{{"p4de"}, "aws-p4de"},
    Meaning{{"p4d"}, "aws-p4d"},
    Meaning{{"g4dn"}, "aws-g4dn"},
    Meaning{{"g5"}, "aws-g5"},
    Meaning{{"a3-mega"}, "gcp-a3-mega"},
    Meaning{{"a3-megagpu"}, "gcp-a3-mega"},
    Meaning{{"a3-megagpu-8g"}, "gcp-a3-mega"},
    Meaning{{"a3-high"}, "gcp-a3-high"},
    Meaning{{"a3-highgpu"}, "gcp-a3-high"},
    Meaning{{"a3-highgpu-8g"}, "gcp-a3-high"},
    Meaning{{"a3-ultra"}, "gcp-a3-ultra"},
    Meaning{{"a3-ultragpu"}, "gcp-a3-ultra"},
    Meaning{{"a2-high"}, "gcp-a2-high"},
    Meaning{{"a2-highgpu"}, "gcp-a2-high"},
    Meaning{{"nd96isr", "h200"}, "dgx-h200"},
    Meaning{{"nd96isr", "h100"}, "dgx-h100"},
    Meaning{{"nd96amsr"}, "azure-nd96amsr-a100-v4"},
    Meaning{{"nd96asr"}, "azure-nd96asr-v4"},
    Meaning{{"azure", "h200"}, "dgx-h200"},
    Meaning{{"azure", "h100"}, "dgx-h100"},
    Meaning{{"azure", "a100"}, "azure-nd96asr-v4"},
    Meaning{{"nd40rs"}, "azure-nd40rs-v2"},
    Meaning{{"nvl72", "gb300"}, "gb300-nvl72"},
    Meaning{{"nvl72"}, "gb200-nvl72"},
    Meaning{{"frontier"}, "frontier-node"},
    Meaning{{"dgx-2"}, "dgx-2"},
    Meaning{{"dgx", "b300"}, "dgx-b300"},
    Meaning{{"dgx", "b200"}, "dgx-b200"},
    Meaning{{"dgx", "h200"}, "dgx-h200"},
    Meaning{{"dgx", "h100"}, "dgx-h100"},
    Meaning{{"dgx", "a100"}, "dgx-a100"},
    Meaning{{"dgx", "v100"}, "dgx-v100"},
};

/// Accelerators, with the node that is usual around them; its network is not taken.
constexpr std::array chips{
    Meaning{{"gb300"}, "gb300-nvl72"},
    Meaning{{"gb200"}, "gb200-nvl72"},
    Meaning{{"gh200"}, "gh200-node"},
    Meaning{{"b300"}, "dgx-b300"},
    Meaning{{"b200"}, "dgx-b200"},
    Meaning{{"h200", "nvl"}, "h200-nvl-pcie-8"},
    Meaning{{"h200"}, "dgx-h200"},
    Meaning{{"h100", "nvl"}, "h100-nvl-pcie-8"},
    Meaning{{"h100"}, "dgx-h100"},
    Meaning{{"h800"}, "hgx-h800"},
    Meaning{{"a800"}, "hgx-a800"},
    Meaning{{"a100", "40gb"}, "dgx-a100-40gb"},
    Meaning{{"a100"}, "dgx-a100"},
    Meaning{{"v100"}, "dgx-v100"},
    Meaning{{"mi355x"}, "mi355x-node"},
    Meaning{{"mi325x"}, "mi325x-node"},
    Meaning{{"mi300x"}, "mi300x-node"},
    Meaning{{"mi250x"}, "mi250x-node"},
    Meaning{{"mi250"}, "mi250x-node"},
    Meaning{{"l40s"}, "l40s-pcie-8"},
    Meaning{{"l4"}, "l4-pcie-8"},
    Meaning{{"a10g"}, "aws-g5"},
    Meaning{{"t4"}, "t4-pcie-4"},
    Meaning{{"4090"}, "rtx-4090-pcie-8"},
    Meaning{{"5090"}, "rtx-5090-pcie-4"},
    Meaning{{"2080", "nvlink"}, "rtx-2080-ti-nvlink-2"},
    Meaning{{"7900", "xtx"}, "rx-7900-xtx-pcie-6"},
    Meaning{{"6000", "pro"}, "rtx-pro-6000-pcie-8"},
};

/// The same chips on cards.
constexpr std::array cards{
    Meaning{{"h100", "bridge"}, "h100-pcie-nvlink-2"},
    Meaning{{"h100"}, "h100-pcie-8"},
    Meaning{{"a100", "40gb"}, "a100-pcie-40gb-8"},
    Meaning{{"a100"}, "a100-pcie-8"},
    Meaning{{"v100"}, "v100-pcie-4"},
};

/// Networks between nodes.
constexpr std::array networks{
    Meaning{{"tcpxo"}, "gcp-tcpxo"},
    Meaning{{"fastrak"}, "gcp-tcpxo"},
    Meaning{{"tcpx"}, "gcp-tcpx"},
    Meaning{{"efav4"}, "efa-v4"},
    Meaning{{"efav3"}, "efa-v3"},
    Meaning{{"efav2"}, "efa-v2"},
    Meaning{{"efa"}, "efa-v1"},
    Meaning{{"xdr"}, "infiniband-xdr"},
    Meaning{{"ndr"}, "infiniband-ndr"},
    Meaning{{"hdr"}, "infiniband-hdr"},
    Meaning{{"edr"}, "infiniband-edr"},
    Meaning{{"infiniband", "800g"}, "infiniband-xdr"},
    Meaning{{"infiniband", "400g"}, "infiniband-ndr"},
    Meaning{{"infiniband", "200g"}, "infiniband-hdr"},
    Meaning{{"infiniband", "100g"}, "infiniband-edr"},
    Meaning{{"roce", "800g"}, "800gbe"},
    Meaning{{"roce", "400g"}, "400gbe"},
    Meaning{{"roce", "200g"}, "200gbe"},
    Meaning{{"roce", "100g"}, "100gbe"},
    Meaning{{"cx7"}, "infiniband-ndr"},
    Meaning{{"slingshot"}, "slingshot-200"},
    Meaning{{"omni-path"}, "omni-path-100"},
    Meaning{{"25gbe"}, "25gbe"},
    Meaning{{"10gbe"}, "10gbe"},
    Meaning{{"100gbe"}, "100gbe"},
    Meaning{{"200gbe"}, "200gbe"},
    Meaning{{"400gbe"}, "400gbe"},
};

/// Lower case, with nothing but letters, digits and '-' inside a word; "8x" before a name stands apart.
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words{""};
    for (char const c : text) {
        auto const u = static_cast<unsigned char>(c);
        bool const inside = std::isalnum(u) != 0 || (c == '-' && !words.back().empty());
        if (inside) {
            words.back() += static_cast<char>(std::tolower(u));
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    if (words.back().empty()) { words.pop_back(); }
    return words;
}

/// Whether a word is the wanted one, with or without more behind a dash: "h100-80gb" is an h100.
bool begins(std::string_view word, std::string_view wanted) {
    return word.starts_with(wanted) && (word.size() == wanted.size() || word[wanted.size()] == '-');
}

/// The same for any of its parts between dashes, and behind a count: "8xh100-80gb".
bool is_about(std::string_view word, std::string_view wanted) {
    std::size_t const times = word.find_first_not_of("0123456789");
    if (times != 0 && times != std::string_view::npos && word[times] == 'x' &&
        is_about(word.substr(times + 1), wanted)) {
        return true;
    }
    if (begins(word, wanted)) { return true; }
    std::size_t const dash = word.find('-');
    return dash != std::string_view::npos && is_about(word.substr(dash + 1), wanted);
}

bool says(std::vector<std::string> const& words, std::string_view wanted) {
    return wanted.empty() ||
           std::ranges::any_of(words, [wanted](std::string const& word) { return is_about(word, wanted); });
}

template <std::size_t N>
std::string_view meaning(std::array<Meaning, N> const& table, std::vector<std::string> const& words) {
    auto const found = std::ranges::find_if(
        table, [&words](Meaning const& one) { return says(words, one.words[0]) && says(words, one.words[1]); });
    return found == table.end() ? std::string_view{} : found->name;
}

LinkRecord link_record(Catalog const& catalog, std::string_view name) {
    RecordText const& record = catalog.text(RecordKind::link, name);
    LinkRecord link = read_link(record.content, record.origin);
    link.name = record.name;
    return link;
}

/// A number that stands right before a word: "8 x hdr", "8x hdr", "3200 gbps"; zero without one.
double number_before(std::vector<std::string> const& words, std::size_t at) {
    for (std::size_t back = 1; back <= 2 && back <= at; ++back) {
        std::string const& word = words[at - back];
        if (word == "x") { continue; }
        std::size_t const end = word.find_first_not_of("0123456789");
        bool const counts = end == std::string::npos || (end > 0 && word.substr(end) == "x");
        return counts && word.size() < 9 ? std::stod(word.substr(0, end)) : 0.0;
    }
    return 0.0;
}

/// The rate of all adapters of a node where the words say it; zero where they do not.
BytesPerSecond stated_rate(std::vector<std::string> const& words, Link const& link) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "gbps" || words[i] == "gbit") {
            double const rate = number_before(words, i);
            if (rate >= 400.0) { return BytesPerSecond{rate * 1e9 / 8.0}; } // less is one adapter, not a node
        }
        for (std::string_view const kind : {"hdr", "ndr", "edr", "xdr"}) {
            double const count = words[i] == kind ? number_before(words, i) : 0.0;
            if (count >= 1.0 && count <= 64.0) { return link.bandwidth * count; }
        }
    }
    return {};
}

void set_network(Catalog const& catalog, std::string_view name, std::vector<std::string> const& words,
                 Cluster& cluster) {
    LinkRecord const link = link_record(catalog, name);
    bool const same = cluster.scale_out_name == link.name;
    double const per_node = std::max(1, cluster.accelerators_per_node);
    cluster.scale_out_name = link.name;
    cluster.scale_out_service = link.service;
    cluster.scale_out.latency = link.link.latency;
    if (BytesPerSecond const rate = stated_rate(words, link.link); rate > BytesPerSecond{}) {
        cluster.scale_out.bandwidth = rate / per_node;
    } else if (!same) { // as many adapters as the node is known to have are not known to be of this kind: one each
        cluster.scale_out.bandwidth = link.link.bandwidth;
    }
}

/// Settings that take a way of moving bytes from the library.
void apply_settings(Catalog const& catalog, std::string const& text, Cluster& cluster) {
    if (text.find("p2p_disable=1") != std::string::npos) {
        std::string_view const host = cluster.accelerator.year >= 2022   ? "pcie5-x16"
                                      : cluster.accelerator.year >= 2020 ? "pcie4-x16"
                                                                         : "pcie3-x16";
        LinkRecord const link = link_record(catalog, host);
        cluster.scale_up = link.link;
        cluster.scale_up_name = link.name;
        cluster.scale_up_service = link.service;
    }
    bool const plain = text.find("nvls_enable=0") != std::string::npos || text.find("no nvls") != std::string::npos;
    if (plain && cluster.scale_up_service.wire == Wire::nvls_switch) { cluster.scale_up_service.wire = Wire::nvswitch; }
}

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// Whether the words themselves say that something of the machine is not known.
bool leaves_open(std::string const& text) {
    return std::ranges::any_of(std::array{"not stated", "not in excerpt", "unknown"},
                               [&text](char const* words) { return text.find(words) != std::string::npos; });
}

} // namespace

MeasuredSystem measured_system(Catalog const& catalog, std::string_view system, std::string_view interconnect,
                               int nodes) {
    std::string const all = std::string{system} + " ; " + std::string{interconnect};
    std::vector<std::string> const words = words_of(all);
    std::string node, sold;
    if (catalog.has_node(system)) { node = sold = catalog.text(RecordKind::node, system).name; }
    if (node.empty()) { node = sold = meaning(machines, words); }
    bool const on_cards = says(words, "pcie") && !says(words, "sxm") && !says(words, "nvswitch") &&
                          lower(all).find("p2p_disable") == std::string::npos;
    if (node.empty() && on_cards) { node = meaning(cards, words); }
    if (node.empty()) { node = meaning(chips, words); }
    if (node.empty()) { return {std::nullopt, "names no accelerator or machine that the catalog has"}; }
    MeasuredSystem result{catalog.cluster(node), ""};
    std::string_view const network = meaning(networks, words);
    if (nodes > 1 && network.empty() && (sold.empty() || leaves_open(lower(all)))) {
        return {std::nullopt, "does not say what network joins its nodes"};
    }
    // "EFA" alone says less than the instance that it belongs to.
    bool const says_less = network == "efa-v1" && result.cluster->scale_out_name.starts_with("efa");
    if (nodes > 1 && !network.empty() && !says_less) { set_network(catalog, network, words, *result.cluster); }
    apply_settings(catalog, lower(all), *result.cluster);
    return result;
}

} // namespace headroom::io
