// The directed part of the DOT language: https://graphviz.org/doc/info/lang.html

#include "graphs/dot_tokens.hpp"
#include "graphs/graph_formats.hpp"
#include "graphs/graph_named.hpp"
#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/numbers.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

namespace headroom::io {

using namespace headroom::laws;

namespace {

constexpr int deepest = 256;                     ///< subgraphs in one another
constexpr std::size_t most_expanded = 1U << 24U; ///< edges and members that groups stand for: {a b} -> {c d}
/// Keys of a cost: all of them of a node; of an edge all but `weight`, which is layout there.
constexpr std::array<std::string_view, 5> cost_keys{"cost", "work", "duration", "time", "weight"};
constexpr std::array<std::string_view, 2> kind_keys{"kind", "class"};
constexpr std::int64_t most_capacity = 1'000'000'000;

/// Attributes of nodes and edges that are read; the others are for drawing.
struct Attributes {
    double cost = no_cost;
    std::string_view cost_key = {}; ///< of `cost_keys`; empty: none, or a default's
    std::uint16_t kind = unnamed, resource = unnamed;
    std::string label = {};
    std::string_view unread = {}; ///< name of an attribute that is not read and names a cost
};

struct Node {
    Attributes said = {};
    Place place = no_place;
};

/// Numbers of nodes, each once.
using Group = std::vector<std::uint32_t>;

/// Whose attributes are read.
enum class Owner : std::uint8_t { node, edge, graph };

class DotGraph {
public:
    DotGraph(std::string_view text, std::string const& where)
        : say_{lines_of(text, where)}, tokens_{text, say_}, costs_{say_}, graph_{text, where} {}

    TaskGraph read();

private:
    void header();
    Group statements(int depth);
    bool defaults();
    void statement(Group& members, int depth);
    Group subgraph(int depth);
    std::uint32_t node(DotToken const& id);
    void connect(std::vector<Group> const& chain, Attributes const& said, Place place);
    void attribute_lists(Attributes& said, Owner owner);
    void attribute(Attributes& said, std::string_view key, DotToken const& value, Owner owner);
    void list_resources(DotToken const& list);
    void keep_one_of_each();
    TaskGraph finish();

    void advance() { now_ = tokens_.next(); }
    bool take(char mark) {
        bool const there = now_.is(mark);
        if (there) { advance(); }
        return there;
    }
    DotToken take_id(std::string_view what);
    void spend(std::size_t count);
    [[noreturn]] void fail(std::string problem, std::string why = {}, std::string hint = {}) const {
        unreadable_error(say_(now_.place), std::move(problem), std::move(why), std::move(hint));
    }
    [[noreturn]] void unexpected(std::string_view due) const;

    SayPlace say_;
    DotTokens tokens_;
    CostReader costs_;
    NamedGraph graph_;
    DotToken now_;
    bool strict_ = false, weights_ = false;
    std::vector<Node> nodes_; ///< by number
    std::vector<GraphDraft::Link> links_;
    std::map<std::string, Group, std::less<>> subgraphs_;
    std::set<std::string, std::less<>> unread_; ///< attributes of nodes that are not read and name a cost
    Attributes node_default_, edge_default_;    ///< of the subgraph that is read
    std::size_t expanded_ = 0;
};

void DotGraph::unexpected(std::string_view due) const {
    if (now_.type == DotToken::Type::end) {
        fail(fmt::format("the text ends where {} is due", due), "a brace or bracket is not closed");
    }
    if (now_.type == DotToken::Type::line) {
        fail("an edge without a direction '--'", "it does not state which task waits for which", "write '->'");
    }
    std::string const text = now_.type == DotToken::Type::arrow ? "->" : now_.text;
    fail(fmt::format("{} where {} is due", headroom::quoted(text), due));
}

DotToken DotGraph::take_id(std::string_view what) {
    if (!now_.is_id()) { unexpected(what); }
    DotToken token = std::move(now_);
    advance();
    return token;
}

/// Groups stand for more than is written: what they stand for is bounded.
void DotGraph::spend(std::size_t count) {
    expanded_ += count;
    if (expanded_ > most_expanded) {
        fail("groups stand for too many edges", fmt::format("at most {} are read", most_expanded));
    }
}

TaskGraph DotGraph::read() {
    header();
    statements(0);
    if (!take('}')) { unexpected("'}'"); }
    if (now_.type != DotToken::Type::end) {
        if (now_.is_word("digraph") || now_.is_word("graph") || now_.is_word("strict")) {
            fail("a second graph", "which of the two is meant is not known", "give each a file of its own");
        }
        unexpected("the end of the file");
    }
    return finish();
}

void DotGraph::header() {
    tokens_.require_text();
    advance();
    if (now_.is_word("strict")) {
        strict_ = true;
        advance();
    }
    if (now_.is_word("graph")) {
        advance();
        if (now_.is('[')) { fail("a GML file", "it is not read as a graph", "write it as DOT or JSON"); }
        fail("an undirected graph", "it does not state which task waits for which", "write 'digraph' and '->'");
    }
    if (!now_.is_word("digraph")) { unexpected("'digraph'"); }
    advance();
    if (now_.is_id()) { graph_.set_name(take_id("a name").text); }
    if (!take('{')) { unexpected("'{'"); }
}

Group DotGraph::statements(int depth) {
    if (depth > deepest) { fail("subgraphs nested too deeply", fmt::format("at most {} levels are read", deepest)); }
    Group members;
    while (!now_.is('}') && now_.type != DotToken::Type::end) {
        if (!take(';')) { statement(members, depth); }
    }
    std::ranges::sort(members);
    members.erase(std::unique(members.begin(), members.end()), members.end());
    return members;
}

/// `node [...]`, `edge [...]`, `graph [...]`: what the nodes and edges after it say. False when it is none of them.
bool DotGraph::defaults() {
    Attributes unused;
    Attributes* said = nullptr;
    Owner owner = Owner::graph;
    if (now_.is_word("node")) {
        said = &node_default_, owner = Owner::node;
    } else if (now_.is_word("edge")) {
        said = &edge_default_, owner = Owner::edge;
    } else if (now_.is_word("graph")) {
        said = &unused;
    } else {
        return false;
    }
    advance();
    if (!now_.is('[')) { unexpected("'['"); }
    attribute_lists(*said, owner);
    said->cost_key = {}; // a node or edge may say its cost by another key
    return true;
}

void DotGraph::statement(Group& members, int depth) {
    if (defaults()) { return; }
    Place const place = now_.place;
    std::vector<Group> chain;
    bool const group = now_.is('{') || now_.is_word("subgraph");
    if (group) {
        chain.push_back(subgraph(depth));
    } else {
        DotToken const id = take_id("a name");
        if (take('=')) {
            Attributes unused;
            return attribute(unused, id.text, take_id("a value"), Owner::graph);
        }
        chain.push_back({node(id)});
    }
    while (now_.type == DotToken::Type::arrow) {
        advance();
        bool const next_group = now_.is('{') || now_.is_word("subgraph");
        chain.push_back(next_group ? subgraph(depth) : Group{node(take_id("a name"))});
    }
    if (now_.type == DotToken::Type::line) { unexpected("'->'"); }
    if (chain.size() > 1) {
        Attributes said = edge_default_;
        attribute_lists(said, Owner::edge);
        connect(chain, said, place);
    } else if (!group) {
        attribute_lists(nodes_[chain[0][0]].said, Owner::node);
    }
    if (depth == 0) { return; } // nobody asks for the members of the whole
    for (Group const& part : chain) { members.insert(members.end(), part.begin(), part.end()); }
}

/// A group: { a b }, subgraph NAME { a b }, or subgraph NAME for one that stands elsewhere.
Group DotGraph::subgraph(int depth) {
    std::string name;
    if (now_.is_word("subgraph")) {
        advance();
        if (now_.is_id()) { name = take_id("a name").text; }
        if (!now_.is('{')) {
            Group known = subgraphs_[name];
            spend(known.size());
            return known;
        }
    }
    Attributes const node_default = node_default_, edge_default = edge_default_;
    advance(); // past '{'
    Group members = statements(depth + 1);
    if (!take('}')) { unexpected("'}'"); }
    node_default_ = node_default, edge_default_ = edge_default;
    spend(members.size());
    if (!name.empty()) {
        Group& all = subgraphs_[name];
        spend(all.size());
        Group both;
        std::ranges::set_union(all, members, std::back_inserter(both));
        all = std::move(both);
    }
    return members;
}

/// A node by its name, which is made when it is met for the first time; a port after it is passed over.
std::uint32_t DotGraph::node(DotToken const& id) {
    for (int part = 0; part < 2 && take(':'); ++part) { take_id("a port"); }
    std::uint32_t const number = graph_.mention(id.text, false);
    if (number == nodes_.size()) { nodes_.push_back({.said = node_default_, .place = id.place}); }
    return number;
}

void DotGraph::connect(std::vector<Group> const& chain, Attributes const& said, Place place) {
    double const cost = std::isnan(said.cost) ? 0.0 : said.cost;
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
        if (chain[i].size() * chain[i + 1].size() > 1) { spend(chain[i].size() * chain[i + 1].size()); }
        for (std::uint32_t const from : chain[i]) {
            for (std::uint32_t const to : chain[i + 1]) {
                links_.push_back({{from, to}, place, cost, said.kind, said.resource});
            }
        }
    }
}

// ---- attributes -----------------------------------------------------------------------------------------------------

/// Any number of lists: [a=b, c=d; e=f] [g].
void DotGraph::attribute_lists(Attributes& said, Owner owner) {
    while (take('[')) {
        while (!take(']')) {
            DotToken const key = take_id("an attribute or ']'");
            DotToken value{.type = DotToken::Type::name, .text = "true", .place = key.place};
            if (take('=')) { value = take_id("a value"); }
            attribute(said, key.text, value, owner);
            if (!take(',')) { take(';'); }
        }
    }
}

void DotGraph::attribute(Attributes& said, std::string_view key, DotToken const& value, Owner owner) {
    if (owner == Owner::graph) {
        if (key == "unit") { costs_.set_unit(value.text, value.place); }
        if (key == "resources") { list_resources(value); }
        return;
    }
    auto const cost_key = std::ranges::find(cost_keys, key);
    if (owner == Owner::edge && key == "weight") {
        weights_ = true;
    } else if (cost_key != cost_keys.end()) {
        if (!said.cost_key.empty() && said.cost_key != key) {
            unreadable_error(say_(value.place), fmt::format("both '{}' and '{}'", said.cost_key, key),
                             "which of the two is the cost is not known", "leave one out");
        }
        said.cost = costs_.text(value.text, value.place);
        said.cost_key = *cost_key;
    } else if (std::ranges::count(kind_keys, key) > 0) {
        said.kind = graph_.kind(value.text);
    } else if (key == "resource") {
        said.resource = graph_.resource(value.text, value.place);
    } else if (key == "label" && owner == Owner::node && value.type != DotToken::Type::html) {
        said.label = value.text;
    } else if (owner == Owner::node && names_cost(key)) {
        said.unread = *unread_.emplace(key).first;
    }
}

/// resources="gpu0, link0:2"
void DotGraph::list_resources(DotToken const& list) {
    std::string_view rest = list.text;
    while (!rest.empty()) {
        std::string_view const entry = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
        auto const colon = std::min(entry.rfind(':'), entry.size());
        std::string_view const name = trimmed(entry.substr(0, colon)), count = trimmed(entry.substr(colon));
        std::int64_t capacity = count.empty() ? 1 : 0;
        if (!count.empty()) { std::from_chars(count.data() + 1, count.data() + count.size(), capacity); }
        if (name.empty() || capacity < 1 || capacity > most_capacity) {
            unreadable_error(say_(list.place), fmt::format("{} is no resource", headroom::quoted(entry)), {},
                             "write resources=\"gpu0, link0:2\"");
        }
        graph_.list_resource(name, capacity, list.place);
    }
}

/// Whether a label ends in a duration in brackets: "A (3 ms)".
bool ends_in_duration(std::string_view label) {
    label = trimmed_line(label);
    auto const open = label.find_last_of("([");
    bool const closed = label.ends_with(')') || label.ends_with(']');
    if (!closed || open == std::string_view::npos) { return false; }
    return printed_duration(label.substr(open + 1, label.size() - open - 2)).has_value();
}

/// A label as it is drawn, on one line: \N is the node's name, \n, \l and \r end lines.
std::string shown_label(std::string_view label, std::string const& name) {
    std::string shown;
    for (std::size_t i = 0; i < label.size(); ++i) {
        if (label[i] != '\\' || i + 1 == label.size()) {
            shown += label[i];
            continue;
        }
        char const escaped = label[++i];
        if (escaped == 'N') {
            shown += name;
        } else {
            shown += escaped == 'n' || escaped == 'l' || escaped == 'r' ? ' ' : escaped;
        }
    }
    return std::string{trimmed(shown)};
}

// ---- the whole ------------------------------------------------------------------------------------------------------

/// Keeps one edge between each pair of nodes of a strict graph, with the attributes of the last.
void DotGraph::keep_one_of_each() {
    auto const ends = [](GraphDraft::Link const& link) { return std::pair{link.edge.from, link.edge.to}; };
    std::ranges::stable_sort(links_, {}, ends);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < links_.size(); ++i) {
        if (kept > 0 && ends(links_[kept - 1]) == ends(links_[i])) { --kept; }
        links_[kept++] = links_[i];
    }
    links_.resize(kept);
    std::ranges::stable_sort(links_, {}, &GraphDraft::Link::place);
}

TaskGraph DotGraph::finish() {
    graph_.require_declarations(); // in the order of their first mention
    for (auto const& [said, place] : nodes_) {
        if (std::isnan(said.cost) && !said.unread.empty()) {
            unreadable_error(say_(place), fmt::format("attribute {} is not read", headroom::quoted(said.unread)),
                             "it may hold the cost of a task that states no other", "write [cost=\"3ms\"]");
        }
        if (costs_.any() || !ends_in_duration(said.label)) { continue; }
        unreadable_error(say_(place), fmt::format("label {} is not read", headroom::quoted(said.label)),
                         "it may hold a cost, and no task has another", "write [cost=\"3ms\"]");
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        auto& [said, place] = nodes_[i];
        auto const number = static_cast<std::uint32_t>(i);
        graph_.declare(number, {.cost = said.cost,
                                .kind = said.kind,
                                .resource = said.resource,
                                .label = shown_label(said.label, graph_.called(number)),
                                .place = place});
    }
    if (strict_) { keep_one_of_each(); }
    bool const costly = std::ranges::any_of(links_, [](auto const& link) { return link.cost > 0.0; });
    graph_.set_links(std::move(links_));
    if (weights_ && !costly) {
        graph_.note("'weight' of an edge is layout in DOT and no cost; write cost=... where an edge costs something");
    }
    return graph_.finish(costs_);
}

} // namespace

bool looks_like_dot(std::string_view bytes) {
    try {
        DotTokens tokens{bytes, [](Place) { return std::string{}; }};
        DotToken const first = tokens.next();
        return first.is_word("digraph") || first.is_word("graph") || first.is_word("strict");
    } catch (InputError const&) { return false; }
}

TaskGraph read_dot_graph(std::string_view bytes, std::string const& where) { return DotGraph{bytes, where}.read(); }

} // namespace headroom::io
