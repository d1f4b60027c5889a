#include "records/record.hpp"

#include "headroom/io/catalog.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace headroom::io {

using namespace headroom::network;

namespace {

constexpr std::array algorithms{"tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
constexpr std::array generations{"volta", "ampere", "hopper", "blackwell"};
constexpr std::array protocols{"ll", "ll128", "simple"};
static_assert(algorithms.size() == nccl_algorithm_count && generations.size() == nccl_generation_count &&
              protocols.size() == nccl_protocol_count);

double parse_number(std::string const& text, std::string const& where, double*) {
    double value = 0.0;
    auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
        refuse(where, headroom::quoted(text) + " is no number");
    }
    return value;
}
template <class Q> Q parse_number(std::string const& text, std::string const& where, Q*) {
    return parse<Q>(text, where);
}

/// One row of a table: exactly as many numbers as it has places, none below zero.
template <class Value, std::size_t N> void read_row(Section& table, std::string_view key, std::array<Value, N>& row) {
    std::vector<std::string> words;
    table.read(key, words, Presence::required);
    if (words.size() != N) {
        table.fail(key, fmt::format("{} numbers", words.size()), fmt::format("the row has {}", N));
    }
    for (std::size_t i = 0; i < N; ++i) {
        row[i] = parse_number(words[i], table.place(key), static_cast<Value*>(nullptr));
        if (row[i] < Value{}) { table.fail(key, "below zero: " + headroom::quoted(words[i])); }
    }
}

template <class Row, std::size_t N, class Names>
void read_table(Section table, Names const& names, std::array<Row, N>& rows) {
    for (std::size_t i = 0; i < N; ++i) { read_row(table, names[i], rows[i]); }
}

} // namespace

NcclTuning read_nccl_tuning(std::string_view toml, std::string_view where) {
    Record record{toml, where};
    Section root = record.root();
    NcclTuning tuning;
    root.skip({"name", "aliases", "source", "source_detail", "confidence", "date", "notes"});
    read_table(root.section("base_latency"), algorithms, tuning.base_latency);
    read_table(root.section("nvlink_latency"), algorithms, tuning.nvlink_latency);
    read_table(root.section("pci_latency"), algorithms, tuning.pci_latency);
    read_table(root.section("net_latency"), algorithms, tuning.net_latency);
    read_table(root.section("ll_most"), generations, tuning.ll_most);
    read_table(root.section("ring_ll128_most"), generations, tuning.ring_ll128_most);
    read_table(root.section("tree_ll128_most"), generations, tuning.tree_ll128_most);
    read_table(root.section("tree_most"), generations, tuning.tree_most);
    read_table(root.section("nvls_tree_most"), generations, tuning.nvls_tree_most);
    read_table(root.section("tree_correction"), protocols, tuning.tree_correction);
    Section rates = root.section("rates");
    read_row(rates, "channel_bandwidth", tuning.channel_bandwidth);
    read_row(rates, "nvls_efficiency", tuning.nvls_efficiency);
    Section plateau = root.section("plateau");
    plateau.read("before_ampere", tuning.ring_plateau_before_ampere, {1.0, 100.0}, Presence::required);
    plateau.read("since", tuning.ring_plateau, {1.0, 100.0}, Presence::required);
    plateau.read("net_overhead", tuning.net_overhead, Presence::required);
    record.refuse_the_rest();
    return tuning;
}

} // namespace headroom::io
