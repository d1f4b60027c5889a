#include "builders.hpp"

#include "headroom/error.hpp"
#include "headroom/quantity.hpp"

#include <bit>
#include <utility>

namespace headroom::laws {
namespace builders {
namespace {

constexpr std::int64_t largest_number = 1'000'000'000'000'000'000;
constexpr Parameter numbers{.what = "numbers"}, ranks{.what = "ranks"};
constexpr Parameter ranks_of_two{.what = "ranks", .power_of_two = true};

/// Every builder. A new one is two functions in a file of its family and a row here.
constexpr std::array rows{
    BuilderRow{.name = "sum-chain",
               .takes = {numbers},
               .parameters = "N",
               .summary = "N numbers added up one after another",
               .source = "JaJa1992",
               .size = sum_chain_size,
               .build = sum_chain},
    BuilderRow{.name = "sum-tree",
               .takes = {numbers},
               .parameters = "N",
               .summary = "N numbers added up in a balanced tree",
               .source = "JaJa1992",
               .size = sum_tree_size,
               .build = sum_tree},
    BuilderRow{.name = "dot",
               .takes = {numbers},
               .parameters = "N",
               .summary = "dot product of two vectors of N, summed by a tree",
               .source = "JaJa1992",
               .size = dot_size,
               .build = dot},
    BuilderRow{.name = "scan-naive",
               .takes = {numbers},
               .parameters = "N",
               .summary = "prefix sums of N numbers one after another",
               .source = "Blelloch1990",
               .size = scan_naive_size,
               .build = scan_naive},
    BuilderRow{.name = "scan-blelloch",
               .takes = {numbers},
               .parameters = "N",
               .summary = "exclusive prefix sums up and down a tree",
               .source = "Blelloch1990",
               .size = scan_blelloch_size,
               .build = scan_blelloch},
    BuilderRow{.name = "scan-blelloch-inclusive",
               .takes = {numbers},
               .parameters = "N",
               .summary = "the same, and each number added to its prefix",
               .source = "Blelloch1990",
               .size = scan_blelloch_inclusive_size,
               .build = scan_blelloch_inclusive},
    BuilderRow{.name = "scan-hillis-steele",
               .takes = {numbers},
               .parameters = "N",
               .summary = "inclusive prefix sums by doubling distances",
               .source = "HillisSteele1986",
               .size = scan_hillis_steele_size,
               .build = scan_hillis_steele},
    BuilderRow{.name = "chain-reduce",
               .takes = {ranks},
               .parameters = "P",
               .summary = "a vector of each of P ranks summed along a line",
               .source = "Thakur2005",
               .size = reduce_size,
               .build = chain_reduce},
    BuilderRow{.name = "tree-reduce",
               .takes = {ranks},
               .parameters = "P",
               .summary = "the same by a binomial tree",
               .source = "Thakur2005",
               .size = reduce_size,
               .build = tree_reduce},
    BuilderRow{.name = "chain-all-reduce",
               .takes = {ranks},
               .parameters = "P",
               .summary = "summed along a line, the sum sent back along it",
               .source = "Thakur2005",
               .size = all_reduce_size,
               .build = chain_all_reduce},
    BuilderRow{.name = "tree-all-reduce",
               .takes = {ranks},
               .parameters = "P",
               .summary = "summed and sent back by a binomial tree",
               .source = "Thakur2005",
               .size = all_reduce_size,
               .build = tree_all_reduce},
    BuilderRow{.name = "ring-all-reduce",
               .takes = {ranks},
               .parameters = "P",
               .summary = "P chunks round a ring, summed, then gathered",
               .source = "PatarasukYuan2009",
               .size = ring_all_reduce_size,
               .build = ring_all_reduce},
    BuilderRow{.name = "recursive-doubling",
               .takes = {ranks},
               .parameters = "P",
               .summary = "all-reduce: whole vectors swapped at doubling distances",
               .source = "Thakur2005",
               .size = recursive_doubling_size,
               .build = recursive_doubling},
    BuilderRow{.name = "halving-doubling",
               .takes = {ranks_of_two},
               .parameters = "P",
               .summary = "all-reduce: halves swapped and summed, then gathered",
               .source = "Rabenseifner2004",
               .size = halving_doubling_size,
               .build = halving_doubling},
    BuilderRow{.name = "reduce-scatter-ring",
               .takes = {ranks},
               .parameters = "P",
               .summary = "the first half of the ring all-reduce",
               .source = "PatarasukYuan2009",
               .size = reduce_scatter_ring_size,
               .build = reduce_scatter_ring},
    BuilderRow{.name = "all-gather-ring",
               .takes = {ranks},
               .parameters = "P",
               .summary = "its second half",
               .source = "PatarasukYuan2009",
               .size = all_gather_ring_size,
               .build = all_gather_ring},
    BuilderRow{.name = "broadcast-chain",
               .takes = {ranks},
               .parameters = "P",
               .summary = "a vector of one rank sent along a line of P",
               .source = "Thakur2005",
               .size = broadcast_chain_size,
               .build = broadcast_chain},
    BuilderRow{.name = "broadcast-tree",
               .takes = {ranks},
               .parameters = "P",
               .summary = "the same by a binomial tree",
               .source = "Thakur2005",
               .size = broadcast_tree_size,
               .build = broadcast_tree},
    BuilderRow{.name = "all-to-all",
               .takes = {ranks},
               .parameters = "P",
               .summary = "each of P ranks sends a part to each other",
               .source = "Thakur2005",
               .size = all_to_all_size,
               .build = all_to_all},
    BuilderRow{.name = "matmul",
               .takes = {Parameter{.what = "rows"}},
               .parameters = "N",
               .summary = "N x N matrices multiplied, each sum a tree",
               .source = "JaJa1992",
               .size = matmul_size,
               .build = matmul},
    BuilderRow{.name = "cholesky",
               .takes = {Parameter{.what = "tiles a side"}},
               .parameters = "T",
               .summary = "T x T tiles factored, right-looking",
               .source = "Buttari2009",
               .size = cholesky_size,
               .build = cholesky},
    BuilderRow{.name = "newton",
               .takes = {Parameter{.what = "iterations"}, Parameter{.what = "points", .otherwise = 1}},
               .parameters = "N[:M]",
               .summary = "N iterations; f and f' are sums over M points (1)",
               .source = "BertsekasTsitsiklis1989",
               .size = newton_size,
               .build = newton},
    BuilderRow{.name = "fft",
               .takes = {Parameter{.what = "points", .power_of_two = true}},
               .parameters = "N",
               .summary = "radix-2 butterflies over N points",
               .source = "CooleyTukey1965",
               .size = fft_size,
               .build = fft},
    BuilderRow{.name = "merge-sort",
               .takes = {numbers},
               .parameters = "N",
               .summary = "halves sorted side by side, merged one by one",
               .source = "Cormen2009",
               .size = merge_sort_size,
               .build = merge_sort},
    BuilderRow{.name = "stencil",
               .takes = {Parameter{.what = "points"}, Parameter{.what = "steps"}},
               .parameters = "N:STEPS",
               .summary = "three-point stencil on N points over steps",
               .source = "FrigoStrumpen2005",
               .size = stencil_size,
               .build = stencil},
};

std::string form_of(BuilderRow const& row) { return std::string{row.name} + ":" + std::string{row.parameters}; }

std::string count_of(double count) {
    return count < 1e15 ? std::to_string(static_cast<std::int64_t>(count)) : "over 10^15";
}

void check_number(Parameter const& parameter, std::int64_t value, std::string_view where) {
    if (value < 1) {
        refuse(where, quoted(std::to_string(value)) + " is below 1", "it counts " + std::string{parameter.what}, "");
    }
    if (value > largest_number) { refuse(where, quoted(std::to_string(value)) + " is too large", "", ""); }
    auto const number = static_cast<std::uint64_t>(value);
    if (!parameter.power_of_two || std::has_single_bit(number)) { return; }
    std::uint64_t const below = std::bit_floor(number);
    refuse(where, quoted(std::to_string(value)) + " is not a power of two", "it is halved again and again",
           "take " + std::to_string(below) + " or " + std::to_string(2 * below));
}

void check_size(GraphSize size, std::string_view where) {
    if (size.tasks <= most_tasks && size.edges <= most_edges) { return; }
    bool const tasks = size.tasks > most_tasks;
    refuse(where, tasks ? count_of(size.tasks) + " tasks are too many" : count_of(size.edges) + " edges are too many",
           "a graph is built up to 50 million tasks and 100 million edges", "ask for a smaller one");
}

TaskGraph build_row(BuilderRow const& row, Given given, std::string_view where) {
    std::size_t const most = row.takes[1].what.empty() ? 1 : 2, left_out = row.takes[1].otherwise > 0 ? 1 : 0;
    if (given.empty() || given.size() > most || given.size() + left_out < most) {
        std::string const count = given.empty()       ? " without a size"
                                  : given.size() == 1 ? " with one size"
                                                      : " with " + std::to_string(given.size()) + " sizes";
        refuse(where, quoted(row.name) + count, "", "write it like " + form_of(row));
    }
    std::array<std::int64_t, 2> const both{given[0], given.size() > 1 ? given[1] : row.takes[1].otherwise};
    Given const values = std::span{both}.first(most);
    for (std::size_t i = 0; i < most; ++i) { check_number(row.takes[i], values[i], where); }
    check_size(row.size(values), where);
    TaskGraph graph = row.build(values);
    graph.name = row.name;
    for (std::int64_t const value : given) { graph.name += ":" + std::to_string(value); }
    return graph;
}

template <std::size_t Row> TaskGraph build_checked(Given given) { return build_row(rows[Row], given, rows[Row].name); }

template <std::size_t... Row> constexpr auto faces_of(std::index_sequence<Row...>) {
    return std::array{GraphBuilder{.name = rows[Row].name,
                                   .parameters = rows[Row].parameters,
                                   .summary = rows[Row].summary,
                                   .source = rows[Row].source,
                                   .build = build_checked<Row>}...};
}
constexpr auto faces = faces_of(std::make_index_sequence<rows.size()>{});

BuilderRow const& row_named(std::string_view name, std::string_view where) {
    std::vector<std::string> names;
    for (BuilderRow const& row : rows) {
        if (normalised(row.name) == normalised(name)) { return row; }
        names.emplace_back(row.name);
    }
    std::string const near = nearest(name, names);
    refuse(where, "unknown builder " + quoted(name), "",
           near.empty() ? "headroom graph --list shows them" : "did you mean '" + near + "'?");
}

} // namespace

Sketch::Sketch(GraphSize size, std::initializer_list<char const*> kinds) : promised_{size} {
    check_size(size, "graph");
    graph_.kinds.assign(kinds.begin(), kinds.end());
    costs_.reserve(static_cast<std::size_t>(size.tasks));
    if (kinds.size() > 1) { graph_.kind_of.reserve(static_cast<std::size_t>(size.tasks)); }
    edges_.reserve(static_cast<std::size_t>(size.edges));
}

TaskGraph Sketch::finish() && {
    if (static_cast<double>(costs_.size()) != promised_.tasks ||
        static_cast<double>(edges_.size()) != promised_.edges) {
        throw ContractError{"a builder made " + std::to_string(costs_.size()) + " tasks and " +
                            std::to_string(edges_.size()) + " edges, not as many as its closed form says"};
    }
    DagResult result = build_dag(std::move(costs_), edges_);
    if (result.fault) { throw ContractError{"a builder made no graph"}; }
    graph_.dag = std::move(result.dag);
    return std::move(graph_);
}

TaskId add_up(Sketch& sketch, TaskId leaves, std::int64_t count, std::uint16_t kind) {
    auto const inputs = static_cast<TaskId>(count);
    std::optional<TaskId> first_sum;
    TaskId sum = leaves;
    auto const task_of = [&](TaskId node) { return node < inputs ? leaves + node : *first_sum + (node - inputs); };
    carry_tree(count, [&](TaskId, TaskId left, TaskId right) {
        sum = sketch.add(kind);
        if (!first_sum) { first_sum = sum; }
        sketch.after(sum, task_of(left));
        sketch.after(sum, task_of(right));
    });
    return sum;
}

} // namespace builders

std::span<GraphBuilder const> graph_builders() { return builders::faces; }

TaskGraph build_graph(std::string_view request, std::string_view where) {
    auto const colon = request.find(':');
    builders::BuilderRow const& row = builders::row_named(request.substr(0, colon), where);
    std::vector<std::int64_t> given;
    for (auto at = colon; at != std::string_view::npos && given.size() < 3;) {
        auto const end = request.find(':', at + 1);
        std::string_view const part = request.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
        given.push_back(static_cast<std::int64_t>(parse_count(part, where)));
        at = end;
    }
    return builders::build_row(row, given, where);
}

} // namespace headroom::laws
