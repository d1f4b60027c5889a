#include "headroom/io/measured_system.hpp"

#include "networks/network_link.hpp"
#include "networks/network_text.hpp"
#include "records/cluster.hpp"
#include "records/record_words.hpp"
#include "records/records.hpp"

#include "headroom/error.hpp"
#include "headroom/network/link_class.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace headroom::io {

using namespace headroom::network;

namespace {

/// Words that must all stand in a description, and what they mean. A row before another wins.
struct SystemMeaning {
    std::array<std::string_view, 2> words; ///< as `plain` writes them; a second may be empty
    std::string_view name;                 ///< of a record
};

/// Machines that are sold with their network, by words that no name or alias of the catalog holds together.
constexpr std::array machines{
    SystemMeaning{{"nd96isr", "mi300x"}, "azure-nd96isr-mi300x-v5"},
    SystemMeaning{{"nd96isr", "h200"}, "azure-nd96isr-h200-v5"},
    SystemMeaning{{"nd96isr", "h100"}, "azure-nd96isr-h100-v5"},
    SystemMeaning{{"nd96amsr"}, "azure-nd96amsr-a100-v4"},
    SystemMeaning{{"nd96asr"}, "azure-nd96asr-v4"},
    SystemMeaning{{"azure", "h200"}, "azure-nd96isr-h200-v5"},
    SystemMeaning{{"azure", "h100"}, "azure-nd96isr-h100-v5"},
    SystemMeaning{{"azure", "a100"}, "azure-nd96asr-v4"},
    SystemMeaning{{"nd40rs"}, "azure-nd40rs-v2"},
    SystemMeaning{{"nvl72", "gb300"}, "gb300-nvl72"},
    SystemMeaning{{"nvl72"}, "gb200-nvl72"},
    SystemMeaning{{"dgx", "b300"}, "dgx-b300"},
    SystemMeaning{{"dgx", "b200"}, "dgx-b200"},
    SystemMeaning{{"dgx", "h200"}, "dgx-h200"},
    SystemMeaning{{"dgx", "h100"}, "dgx-h100"},
    SystemMeaning{{"dgx", "a100"}, "dgx-a100"},
    SystemMeaning{{"dgx", "v100"}, "dgx-v100"},
};

/// Accelerators, with the node that is usual around them; its network is not taken.
constexpr std::array chips{
    SystemMeaning{{"gb300"}, "gb300-nvl72"},
    SystemMeaning{{"gb200"}, "gb200-nvl72"},
    SystemMeaning{{"gh200"}, "gh200-node"},
    SystemMeaning{{"b300"}, "dgx-b300"},
    SystemMeaning{{"b200"}, "dgx-b200"},
    SystemMeaning{{"h200", "nvl"}, "h200-nvl-pcie-8"},
    SystemMeaning{{"h200"}, "dgx-h200"},
    SystemMeaning{{"h100", "nvl"}, "h100-nvl-pcie-8"},
    SystemMeaning{{"h100"}, "dgx-h100"},
    SystemMeaning{{"h800"}, "hgx-h800"},
    SystemMeaning{{"a800"}, "hgx-a800"},
    SystemMeaning{{"a100", "40gb"}, "dgx-a100-40gb"},
    SystemMeaning{{"a100"}, "dgx-a100"},
    SystemMeaning{{"v100"}, "dgx-v100"},
    SystemMeaning{{"mi355x"}, "mi355x-node"},
    SystemMeaning{{"mi325x"}, "mi325x-node"},
    SystemMeaning{{"mi300x"}, "mi300x-node"},
    SystemMeaning{{"mi250x"}, "frontier-node"}, // benchmarks count its halves
    SystemMeaning{{"mi250"}, "frontier-node"},
    SystemMeaning{{"l40s"}, "l40s-pcie-8"},
    SystemMeaning{{"l4"}, "l4-pcie-8"},
    SystemMeaning{{"a10g"}, "aws-g5"},
    SystemMeaning{{"t4"}, "t4-pcie-4"},
    SystemMeaning{{"4090"}, "rtx-4090-pcie-8"},
    SystemMeaning{{"5090"}, "rtx-5090-pcie-4"},
    SystemMeaning{{"2080", "nvlink"}, "rtx-2080-ti-nvlink-2"},
    SystemMeaning{{"7900", "xtx"}, "rx-7900-xtx-pcie-6"},
    SystemMeaning{{"6000", "pro"}, "rtx-pro-6000-pcie-8"},
};

/// Chips sold as PCIe cards, with the node that is usual around them.
constexpr std::array cards{
    SystemMeaning{{"h100", "bridge"}, "h100-pcie-nvlink-2"},
    SystemMeaning{{"h100"}, "h100-pcie-8"},
    SystemMeaning{{"a100", "40gb"}, "a100-pcie-40gb-8"},
    SystemMeaning{{"a100"}, "a100-pcie-8"},
    SystemMeaning{{"v100"}, "v100-pcie-4"},
};

/// Networks between nodes that have a name of their own; others are known by their rates.
constexpr std::array networks{
    SystemMeaning{{"tcpxo"}, "gcp-tcpxo"}, SystemMeaning{{"fastrak"}, "gcp-tcpxo"},
    SystemMeaning{{"tcpx"}, "gcp-tcpx"},   SystemMeaning{{"efav4"}, "efa-v4"},
    SystemMeaning{{"efav3"}, "efa-v3"},    SystemMeaning{{"efav2"}, "efa-v2"},
    SystemMeaning{{"efa"}, "efa-v1"},      SystemMeaning{{"omni-path"}, "omni-path-100"},
};

/// Lower case, with nothing but letters, digits and '-' inside a word; "8x" before a name stands apart.
std::vector<std::string> system_words(std::string_view text) {
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

/// Whether a word or any part of it between dashes is the wanted one, also behind a count: "8xh100-80gb".
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

bool has_word(std::vector<std::string> const& words, std::string_view wanted) {
    return wanted.empty() ||
           std::ranges::any_of(words, [wanted](std::string const& word) { return is_about(word, wanted); });
}

template <std::size_t N>
std::string_view meaning(std::array<SystemMeaning, N> const& table, std::vector<std::string> const& words) {
    auto const found = std::ranges::find_if(table, [&words](SystemMeaning const& one) {
        return has_word(words, one.words[0]) && has_word(words, one.words[1]);
    });
    return found == table.end() ? std::string_view{} : found->name;
}

/// Settings that take a way of moving bytes from the library.
void apply_settings(Catalog const& catalog, std::string const& text, Cluster& cluster) {
    bool const on_pcie = cluster.scale_up_name.starts_with("pcie"); // through the host already
    if (text.find("p2p_disable=1") != std::string::npos && !on_pcie) {
        std::string_view const host = cluster.accelerator.year >= 2022   ? "pcie5-x16"
                                      : cluster.accelerator.year >= 2020 ? "pcie4-x16"
                                                                         : "pcie3-x16";
        LinkRecord const link = find_link(catalog, host);
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

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Whether the words themselves say that something of the machine is not known.
bool leaves_open(std::string const& text) {
    return std::ranges::any_of(std::array{"not stated", "not in excerpt", "unknown"},
                               [&text](char const* words) { return text.find(words) != std::string::npos; });
}

/// "4x A100": smaller nodes than those that the catalog has of them share their NICs among fewer.
void set_size(std::string const& all, Cluster& cluster) {
    std::string const text = lower(all), chip = cluster.accelerator.name.substr(0, cluster.accelerator.name.find('-'));
    std::size_t at = text.find(chip);
    while (at > 0 && at != std::string::npos && text[at - 1] == ' ') { --at; }
    if (at == std::string::npos || at < 2 || text[at - 1] != 'x') { return; }
    std::size_t const end = text[at - 2] == ' ' ? at - 2 : at - 1;
    bool const one_digit = end > 0 && text[end - 1] >= '1' && text[end - 1] <= '9' &&
                           (end < 2 || std::isalnum(static_cast<unsigned char>(text[end - 2])) == 0);
    int const count = one_digit ? text[end - 1] - '0' : 0;
    if (count == 0 || count >= cluster.accelerators_per_node) { return; }
    cluster.domain = std::min(cluster.domain, count);
    cluster.accelerators_per_node = count;
}

/// Statements about the network; the column of the interconnect goes before that of the system.
NetworkText stated_network(std::string_view system, std::string_view interconnect) {
    NetworkText of_column = read_network_text(interconnect), of_system = read_network_text(system);
    bool const silent = of_column.family.empty() && !of_column.states_rate();
    return silent ? of_system : of_column;
}

/// Gives the cluster the network that the words name; else why it has none. A machine that is sold whole has its own.
std::string join_nodes(Catalog const& catalog, std::vector<std::string> const& words, std::string const& all, bool sold,
                       NetworkText const& stated, Cluster& cluster) {
    NodeNetwork const node = network_of_node(stated, cluster.accelerators_per_node, usual_nics(cluster));
    std::string_view const named = meaning(networks, words);
    std::string_view const network = named.empty() ? network_link(stated.family, node.nic) : named;
    if (network.empty() && (!sold || leaves_open(all))) {
        return stated.family.empty() ? "does not say what network joins its nodes"
                                     : "does not say how fast the network is that joins its nodes";
    }
    // "EFA" or "TCP" alone has_word less than the instance that it belongs to.
    bool const says_less = (network == "efa-v1" && cluster.scale_out_name.starts_with("efa")) ||
                           (sold && named.empty() && stated.family == "ethernet" && !stated.rdma);
    if (!network.empty() && !says_less) { set_network(find_link(catalog, network), stated, node, cluster); }
    return "";
}

} // namespace

MeasuredSystem measured_system(Catalog const& catalog, std::string_view system, std::string_view interconnect,
                               int nodes) {
    std::string const all = std::string{system} + " ; " + std::string{interconnect};
    std::vector<std::string> const words = system_words(all);
    std::string node, sold;
    if (catalog.has_node(system)) { node = sold = catalog.text(RecordKind::node, system).name; }
    if (node.empty()) { node = sold = node_named_in(catalog, all).value_or(std::string{meaning(machines, words)}); }
    bool const linked = contains(lower(all), "nvlink"), bridged = contains(lower(all), "bridge");
    bool const card_named = has_word(system_words(system), "pcie");
    bool const on_cards = has_word(words, "pcie") && !has_word(words, "sxm") && !has_word(words, "nvswitch") &&
                          (!linked || bridged || card_named) && !contains(lower(all), "p2p_disable");
    if (node.empty() && on_cards) { node = meaning(cards, words); }
    bool const known_pair = contains(node, "nvlink");
    if (on_cards && !node.empty() && sold.empty() && (linked || bridged) && !known_pair) {
        return {std::nullopt, "joins cards by a bridge for which the catalog has no machine"};
    }
    if (node.empty()) { node = meaning(chips, words); }
    if (node.empty()) { return {std::nullopt, "names no accelerator or machine that the catalog has"}; }
    MeasuredSystem result{catalog.cluster(node), ""};
    if (nodes > 1) {
        if (sold.empty()) { set_size(all, *result.cluster); }
        result.skipped_reason = join_nodes(catalog, words, lower(all), !sold.empty(),
                                           stated_network(system, interconnect), *result.cluster);
        if (!result.skipped_reason.empty()) { return {std::nullopt, result.skipped_reason}; }
    }
    apply_settings(catalog, lower(all), *result.cluster);
    return result;
}

bool names_machine(Catalog const& catalog, std::string_view system, Cluster const& cluster) {
    std::vector<std::string> const words = system_words(system);
    if (words.empty()) { return true; }
    std::string const& chip = cluster.accelerator.name;
    std::string const whole = normalised(system);
    auto const is_named = [&](std::string_view name) {
        return !name.empty() && (has_word(words, lower(std::string{name})) || whole == normalised(name));
    };
    if (is_named(cluster.name) || is_named(chip)) { return true; }
    if (catalog.has_accelerator(system) && catalog.accelerator(system).name == chip) { return true; }
    auto const chip_of = [](std::string const& name) { return name.substr(0, name.find('-')); };
    std::optional<Cluster> const known = measured_system(catalog, system, "", 1).cluster;
    return known && chip_of(known->accelerator.name) == chip_of(chip) &&
           scale_up_class(*known) == scale_up_class(cluster);
}

} // namespace headroom::io
