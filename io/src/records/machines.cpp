#include "records/cluster.hpp"
#include "records/record_words.hpp"

#include "headroom/io/words.hpp"
#include "headroom/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace headroom::io {

namespace {

constexpr int largest_count = 1'000'000, largest_box = 16;
constexpr char const* workstation_network = "10gbe";

/// The number of a text of digits; none for other texts.
std::optional<int> number_in(std::string_view text) {
    int number = 0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    bool const whole = error == std::errc{} && stop == text.data() + text.size() && number > 0;
    return whole && number <= largest_count ? std::optional{number} : std::nullopt;
}

/// Counts before a name, "4x8xH100", or one behind it, "H100:8", "H100x8".
struct Counted {
    std::optional<int> first, second;
    std::string name;
};

/// Takes "8x", "8 x " or "8 " from the front.
std::optional<int> take_count(std::string& text) {
    auto const digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string::npos) { return std::nullopt; }
    auto const number = number_in(std::string_view{text}.substr(0, digits));
    auto name = text.find_first_not_of(' ', digits);
    if (!number || name == std::string::npos) { return std::nullopt; }
    bool const times = text[name] == 'x' || text[name] == 'X' || text[name] == '*';
    if (!times && name == digits) { return std::nullopt; } // "4090"
    text = words::trimmed(std::string_view{text}.substr(times ? name + 1 : name));
    return number;
}

bool is_known(Catalog const& catalog, std::string const& name) {
    return catalog.has_node(name) || record_in_words(catalog, RecordKind::accelerator, name).has_value();
}

/// The chips of a slice of TPUs that a text names.
std::optional<Counted> named_slice(Catalog const& catalog, std::string_view what) {
    auto const slice = tpu_slice(what);
    auto const chip = slice ? record_in_words(catalog, RecordKind::accelerator, slice->accelerator) : std::nullopt;
    bool const whole =
        chip && slice->chips >= 1.0 && slice->chips <= largest_count && std::fmod(slice->chips, 1.0) == 0.0;
    if (!whole) { return std::nullopt; }
    return Counted{.first = static_cast<int>(slice->chips), .second = {}, .name = *chip};
}

Counted counted(Catalog const& catalog, std::string const& what) {
    Counted before{.first = {}, .second = {}, .name = words::trimmed(what)}, result = before;
    before.first = take_count(before.name);
    if (before.first) { before.second = take_count(before.name); }
    if (before.first && is_known(catalog, before.name)) { return before; } // "4090x2" has its number behind it
    auto const sign = result.name.find_last_of(":xX*");
    if (sign == std::string::npos) { return result; }
    result.first = number_in(words::trimmed(std::string_view{result.name}.substr(sign + 1)));
    if (result.first) { result.name = words::trimmed(std::string_view{result.name}.substr(0, sign)); }
    return result;
}

/// Cards that meet on the host's PCIe alone, in a box of their own.
bool is_card_box(Cluster const& node) {
    return node.scale_up_name.starts_with("pcie") && node.domain == node.accelerators_per_node;
}

/// A workstation with `cards` of them: the memory of a desktop up to two, beyond that of one socket, half of a server's; and
/// one NIC of 10 Gbit/s.
void make_workstation(Catalog const& catalog, Cluster& cluster, int cards) {
    constexpr BytesPerSecond desktop = 83.2 * units::GB / units::s; // 2 DDR5-5200
    constexpr int of_a_desktop = 2;
    BytesPerSecond const of_server = cluster.host_memory_bandwidth * static_cast<double>(cluster.accelerators_per_node);
    BytesPerSecond const memory = cards <= of_a_desktop ? std::min(desktop, of_server * 0.5) : of_server * 0.5;
    LinkRecord const network = find_link(catalog, workstation_network);
    cluster.name = fmt::format("{}x {}", cards, cluster.accelerator.name);
    cluster.accelerators_per_node = cluster.domain = cards;
    cluster.host = cluster.scale_up;
    cluster.host_memory_bandwidth = memory / static_cast<double>(cards);
    cluster.host_memory = Bytes{};
    cluster.scale_out = network.link;
    cluster.scale_out.bandwidth = network.link.bandwidth * (1.0 / cards);
    cluster.adapter = network.link.bandwidth;
    cluster.scale_out_name = network.name;
    cluster.scale_out_service = network.service;
}

/// Machines of `count` accelerators in all, or in each of `nodes` nodes.
Machines of_accelerators(Catalog const& catalog, Counted const& text) {
    int const each = text.second.value_or(*text.first);
    Machines machines{
        .cluster = catalog.cluster(catalog.default_node(text.name)), .nodes = {}, .workers = {}, .reading = {}};
    Cluster& cluster = machines.cluster;
    std::string const node = cluster.name;
    int const size = cluster.accelerators_per_node;
    int const all = text.second ? *text.first * each : each;
    machines.workers = all;
    machines.reading =
        fmt::format("{} of {}", headroom::text::counted(static_cast<std::size_t>(all), "accelerator"), node);
    bool const lone_card = size == 1 && each > 1 && cluster.scale_up_name.starts_with("pcie");
    if (each % size == 0 && (!text.second || each == size) && !lone_card) {
        if (all > size) { machines.reading += fmt::format(", on {} machines of {}", all / size, size); }
        return machines;
    }
    if ((is_card_box(cluster) || lone_card) && each <= largest_box) {
        make_workstation(catalog, cluster, each);
        machines.reading =
            fmt::format("{} with {}, joined by {}{}: assumed; a .toml file describes yours",
                        text.second ? fmt::format("{} workstations", *text.first) : "a workstation", cluster.name,
                        cluster.scale_up_name, text.second ? ", and by " + cluster.scale_out_name : std::string{});
    } else if (each < size && cluster.domain == size) {
        use_part_of_node(cluster, each, "--cluster");
        machines.reading = fmt::format("{} of the {} accelerators of {}{}", each, size, node,
                                       text.second ? fmt::format(", on {} of them", *text.first) : std::string{});
    }
    return machines;
}

} // namespace

void use_part_of_node(Cluster& cluster, int used, std::string_view where) {
    int const size = cluster.accelerators_per_node;
    if (used == size) { return; }
    if (used > size) {
        refuse(where, fmt::format("{} accelerators are more than a node holds", used),
               fmt::format("{} has {}", cluster.name, size), "leave it out, or name another machine");
    }
    cluster.name += fmt::format(" ({} of {} used)", used, size);
    cluster.host_memory_bandwidth = cluster.host_memory_bandwidth * (1.0 * size / used);
    cluster.accelerators_per_node = used;
    if (cluster.domain == size) { cluster.domain = used; }
}

std::string name_without_count(Catalog const& catalog, std::string const& what) { return counted(catalog, what).name; }

bool names_machines(Catalog const& catalog, std::string const& what) {
    return named_slice(catalog, what) || is_known(catalog, what) ||
           is_known(catalog, name_without_count(catalog, what));
}

Machines load_machines(Catalog const& catalog, std::string const& what) {
    bool const is_plain = what.ends_with(".toml") || catalog.has_node(what) || catalog.has_accelerator(what);
    std::optional<Counted> const slice = is_plain ? std::nullopt : named_slice(catalog, what);
    Counted text = is_plain ? Counted{} : slice.value_or(counted(catalog, what));
    bool const is_node = text.first && catalog.has_node(text.name);
    if (is_node && !text.second) {
        Cluster cluster = catalog.cluster(text.name);
        std::string reading = fmt::format("{} nodes of {}, {} accelerators", *text.first, cluster.name,
                                          std::int64_t{*text.first} * cluster.accelerators_per_node);
        return {.cluster = std::move(cluster), .nodes = text.first, .workers = {}, .reading = std::move(reading)};
    }
    auto const chip = record_in_words(catalog, RecordKind::accelerator, text.name);
    if (text.first && !is_node && chip) {
        text.name = *chip;
        Machines machines = of_accelerators(catalog, text);
        if (slice) { machines.reading += ", by the name of the slice"; }
        return machines;
    }
    return {.cluster = load_cluster(catalog, what), .nodes = {}, .workers = {}, .reading = {}};
}

namespace {

/// Accelerators that reach each other without the network between nodes.
int ranks_inside(Cluster const& cluster) { return std::max(cluster.accelerators_per_node, cluster.domain); }

} // namespace

std::function<int(std::string_view)> node_sizes(Catalog const& catalog, std::string const& cluster) {
    if (!cluster.empty()) {
        return [size = ranks_inside(load_machines(catalog, cluster).cluster)](std::string_view) { return size; };
    }
    return [&catalog](std::string_view system) {
        if (auto const node = node_named_in(catalog, system)) { return ranks_inside(catalog.cluster(*node)); }
        int most = 0;
        auto const accelerator = record_in_words(catalog, RecordKind::accelerator, system);
        for (std::string const& name : accelerator ? catalog.names(RecordKind::node) : std::vector<std::string>{}) {
            Cluster const cluster_of_name = catalog.cluster(name);
            bool const of_it = cluster_of_name.accelerator.name == *accelerator;
            most = of_it ? std::max(most, ranks_inside(cluster_of_name)) : most;
        }
        return most;
    };
}

} // namespace headroom::io
