#include "graphs/graph_named.hpp"

#include "records/record.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace headroom::io {

using namespace headroom::laws;

namespace {

constexpr std::size_t most_candidates = 10'000; ///< names among which a near miss is looked for

std::int64_t number_of(std::string_view name) {
    std::int64_t number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    return number;
}

} // namespace

bool names_cost(std::string_view key) {
    constexpr std::array words{"duration", "cost", "latency", "elapsed", "flops", "seconds", "runtime", "exectime"};
    std::string const plain = headroom::normalised(key);
    return std::ranges::any_of(words, [&](char const* word) { return plain.find(word) != std::string::npos; });
}

std::uint32_t NamedGraph::mention(std::string_view name, bool whole) {
    std::uint32_t const number = names_.intern(name);
    if (number >= tasks_.size()) { tasks_.resize(number + std::size_t{1}); }
    all_whole_ = all_whole_ && whole;
    return number;
}

std::uint32_t NamedGraph::declare(std::optional<std::uint32_t> name, Task task) {
    (name ? some_named_ : some_unnamed_) = true;
    if (some_named_ && some_unnamed_) {
        unreadable_error(say_(task.place), name ? "a task with a name" : "a task without a name",
                         name ? "earlier tasks have none" : "earlier tasks have one", "give every task an 'id'");
    }
    std::uint32_t const number = name ? *name : mention(std::to_string(declared_.size()), true);
    if (tasks_[number].place != no_place) {
        unreadable_error(say_(task.place), fmt::format("task {} twice", headroom::quoted(names_[number])),
                         fmt::format("first at {}", say_(tasks_[number].place)), "tasks are identified by name");
    }
    tasks_[number] = std::move(task);
    declared_.push_back(number);
    return number;
}

std::uint16_t NamedGraph::resource(std::string_view name, Place place) {
    std::uint32_t const number = resource_names_.intern(name);
    if (number + 1U >= unnamed) { // one is kept for tasks that name none
        unreadable_error(say_(place), "too many resources", fmt::format("at most {} are read", unnamed - 1));
    }
    if (number == uses_.size()) {
        uses_.push_back({.first = place});
        draft_.resources.push_back({std::string{name}, 1});
    }
    return static_cast<std::uint16_t>(number);
}

void NamedGraph::list_resource(std::string_view name, std::int64_t capacity, Place place) {
    auto const number = resource(name, place);
    if (uses_[number].listed) {
        unreadable_error(say_(place), fmt::format("resource {} twice", headroom::quoted(name)));
    }
    uses_[number].listed = lists_resources_ = true;
    draft_.resources[number].capacity = capacity;
}

void NamedGraph::require_listed_resources() const {
    if (!lists_resources_) { return; }
    for (std::size_t i = 0; i < uses_.size(); ++i) {
        if (uses_[i].listed) { continue; }
        std::vector<std::string> listed;
        for (std::size_t k = 0; k < uses_.size(); ++k) {
            if (uses_[k].listed) { listed.push_back(draft_.resources[k].name); }
        }
        unreadable_error(say_(uses_[i].first),
                         fmt::format("unknown resource {}", headroom::quoted(draft_.resources[i].name)),
                         "it is not among the resources of the file", did_you_mean(draft_.resources[i].name, listed));
    }
}

/// As declared; else by number where all names are whole numbers, so that birth order follows them; else by appearance.
std::vector<std::uint32_t> NamedGraph::order() const {
    if (must_declare_) { return declared_; }
    std::vector<std::uint32_t> order(names_.size());
    std::iota(order.begin(), order.end(), 0U);
    if (all_whole_) {
        std::vector<std::int64_t> numbers(names_.size());
        std::ranges::transform(names_.names(), numbers.begin(), number_of);
        std::ranges::stable_sort(order, {}, [&](std::uint32_t name) { return numbers[name]; });
    }
    return order;
}

void NamedGraph::unknown_task(std::uint32_t name, Place place) const {
    std::vector<std::string> candidates;
    if (declared_.size() <= most_candidates) {
        for (std::uint32_t const task : declared_) { candidates.push_back(names_[task]); }
    }
    unreadable_error(say_(place), fmt::format("unknown task {}", headroom::quoted(names_[name])),
                     "an edge names it and the list of tasks does not", did_you_mean(names_[name], candidates));
}

/// Columns in the final order, and edges between its numbers.
void NamedGraph::place_tasks(std::vector<std::uint32_t> const& order) {
    std::vector<TaskId> number(names_.size(), no_place);
    bool const labels = std::ranges::any_of(tasks_, [](Task const& task) { return !task.label.empty(); });
    for (std::size_t i = 0; i < order.size(); ++i) {
        Task& task = tasks_[order[i]];
        number[order[i]] = static_cast<TaskId>(i);
        draft_.costs.push_back(task.cost);
        draft_.places.push_back(task.place);
        draft_.kind_of.push_back(task.kind);
        draft_.resource_of.push_back(task.resource);
        if (labels) { draft_.labels.push_back(std::move(task.label)); }
    }
    for (auto& [edge, place, cost, kind, resource] : draft_.links) {
        for (TaskId* end : {&edge.from, &edge.to}) {
            if (number[*end] == no_place) { unknown_task(*end, place); }
            *end = number[*end];
        }
    }
    for (std::uint32_t const name : order) { draft_.names.push_back(std::move(names_.names()[name])); }
}

TaskGraph NamedGraph::finish(CostReader const& costs) {
    require_listed_resources();
    place_tasks(order());
    tasks_ = {};
    costs.settle(draft_);
    return finish_graph(std::move(draft_), where_, say_);
}

} // namespace headroom::io
