#pragma once

#include "graphs/graph_draft.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Whether a key that nothing reads names a cost: "runtime_ms".
bool names_cost(std::string_view key);

/// A graph whose tasks are named in any order: edges may come before the tasks between which they lead.
/// Errors: InputError{unreadable} at the place given.
class NamedGraph {
public:
    NamedGraph(std::string_view text, std::string where) : say_{lines_of(text, where)}, where_{std::move(where)} {}

    /// Attributes of a task.
    struct Task {
        double cost = no_cost;
        std::uint16_t kind = unnamed, resource = unnamed;
        std::string label;
        Place place = no_place; ///< where it is declared
    };

    /// The number of a task by its name; `whole`: the name is a whole number.
    std::uint32_t mention(std::string_view name, bool whole);
    [[nodiscard]] std::string const& called(std::uint32_t task) const { return names_[task]; }
    /// From here on, what is mentioned must be declared somewhere in the file.
    void require_declarations() { must_declare_ = true; }
    /// A task of the list of tasks; without a name it is called by its place in it. Returns its number.
    std::uint32_t declare(std::optional<std::uint32_t> name, Task task);
    /// An edge; its ends are numbers of `mention`.
    void link(GraphDraft::Link link) { draft_.links.push_back(link); }
    void set_links(std::vector<GraphDraft::Link> links) { draft_.links = std::move(links); }
    [[nodiscard]] std::size_t link_count() const { return draft_.links.size(); }

    std::uint16_t resource(std::string_view name, Place place);
    /// Lists a resource; once one is listed, all must be.
    void list_resource(std::string_view name, std::int64_t capacity, Place place);
    std::uint16_t kind(std::string_view name) { return draft_.kind(name); }
    void set_name(std::string_view name) { draft_.name = name; }
    void note(std::string text) { draft_.notes.push_back(std::move(text)); }

    laws::TaskGraph finish(CostReader const& costs);

private:
    struct ResourceUse {
        Place first = no_place;
        bool listed = false;
    };
    [[nodiscard]] std::vector<std::uint32_t> order() const;
    void place_tasks(std::vector<std::uint32_t> const& order);
    void require_listed_resources() const;
    [[noreturn]] void unknown_task(std::uint32_t name, Place place) const;

    SayPlace say_;
    std::string where_;
    NameTable names_, resource_names_;
    std::vector<Task> tasks_;             ///< by number of `mention`
    std::vector<std::uint32_t> declared_; ///< in the order of their list
    std::vector<ResourceUse> uses_;
    bool must_declare_ = false, all_whole_ = true, some_unnamed_ = false, some_named_ = false, lists_resources_ = false;
    GraphDraft draft_;
};

} // namespace headroom::io
