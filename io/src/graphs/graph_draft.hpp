#pragma once

#include "headroom/laws/task_graph.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Where something stands in a file, as its reader counts: a byte of a text, a node of a binary format.
using Place = std::uint32_t;
inline constexpr Place no_place = std::numeric_limits<Place>::max();

/// Converts a reader's place to text for people: "graph.json:12".
using SayPlace = std::function<std::string(Place)>;

/// "where:LINE" of a byte of a text.
SayPlace lines_of(std::string_view text, std::string where);

/// Length of the well-formed UTF-8 character at the start of `text`, which is not empty; 0 when there is none.
std::size_t utf8_length(std::string_view text);
/// The first byte of `text` that is no UTF-8, or a zero byte; npos when all is well.
std::size_t first_not_text(std::string_view text);

/// "1 edge", "2 edges".
std::string counted(std::size_t count, std::string_view noun);

/// Whether the first bytes hold a control character that no text has.
bool looks_binary(std::string_view bytes);

/// Without the white space around it.
std::string_view trimmed(std::string_view text);

/// Names and their numbers, in the order of first appearance.
class NameTable {
public:
    /// The number of a name; a new one when it is seen for the first time.
    std::uint32_t intern(std::string_view name);
    [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const;
    [[nodiscard]] std::size_t size() const { return names_.size(); }
    [[nodiscard]] std::string const& operator[](std::uint32_t number) const { return names_[number]; }
    [[nodiscard]] std::vector<std::string>& names() { return names_; }
    [[nodiscard]] std::vector<std::string> const& names() const { return names_; }

private:
    /// A place of the table, found by open addressing.
    struct Slot {
        std::uint32_t hash = 0;   ///< tells most names apart without a look at them
        std::uint32_t number = 0; ///< plus 1; 0 is free
    };
    [[nodiscard]] std::size_t slot_of(std::string_view name, std::uint32_t hash) const;
    void grow();
    std::vector<std::string> names_;
    std::vector<Slot> slots_;
};

/// A cost that the file does not state.
inline constexpr double no_cost = std::numeric_limits<double>::quiet_NaN();
/// The number of a kind or resource that the file does not state.
inline constexpr std::uint16_t unnamed = std::numeric_limits<std::uint16_t>::max();

struct GraphDraft;

/// Costs as files write them: plain numbers of one unit, or texts with a unit each ("3ms", "2GFLOP", "5MB"),
/// never both in one file.
/// Errors: InputError{unreadable} at the place given.
class CostReader {
public:
    explicit CostReader(SayPlace say) : say_{std::move(say)} {}
    /// A plain number, checked: finite, not negative, at most 1e30.
    double number(double value, Place place);
    /// A number, or a quantity in its base unit.
    double text(std::string_view text, Place place);
    /// Sets the unit of plain numbers: "ms", "FLOPs", or any word.
    void set_unit(std::string_view unit, Place place);
    /// Once every cost was read: names the draft's unit and brings its costs into it.
    void settle(GraphDraft& draft) const;
    /// Whether any cost was read.
    [[nodiscard]] bool any() const { return with_unit_.has_value(); }

private:
    void require_one_style(bool with_unit, Place place);
    [[nodiscard]] double checked(double value, Place place) const;
    SayPlace say_;
    std::optional<bool> with_unit_;
    std::string dimension_, stated_; ///< of quantities; of plain numbers
    double up_ = 1.0, down_ = 1.0;
    std::map<std::string, std::size_t, std::less<>> known_; ///< units met, by the row of the table they belong to
};

/// Tasks, edges and their places, as a reader collects them before costs become ticks. All columns of tasks are as long
/// as `costs`, or empty.
struct GraphDraft {
    std::string name;
    std::vector<double> costs;       ///< by task, in `unit`; `no_cost` where none is stated
    std::vector<std::string> names;  ///< by task, by which the file tells them apart
    std::vector<std::string> labels; ///< by task, shown in their place; empty: none
    std::vector<Place> places;       ///< by task
    std::vector<std::uint16_t> kind_of, resource_of;
    NameTable kinds;
    std::vector<laws::Resource> resources;

    struct Link {
        laws::Edge edge = {};
        Place place = no_place;
        double cost = 0.0; ///< of moving something along it: a task of its own where it is above 0
        std::uint16_t kind = unnamed, resource = unnamed;
    };
    std::vector<Link> links;

    std::string unit; ///< empty: the file names none
    std::vector<std::string> notes;

    /// The number of a kind; the last one stands for all kinds beyond 65535.
    std::uint16_t kind(std::string_view called);
};

/// The step that all readers share: costs become ticks, edges with a cost become tasks, and what `build_dag`
/// finds wrong becomes one line with its place.
///
/// A tick is 1 where all costs are whole, else the finest 10^-k that makes them exact (a picosecond where they are
/// seconds), else the finest with which the total stays below 2^62; rounding is noted.
/// Errors: InputError{unreadable}.
laws::TaskGraph finish_graph(GraphDraft draft, std::string const& where, SayPlace const& say);

/// Errors that all readers share.
inline constexpr std::size_t most_tasks = std::numeric_limits<std::uint32_t>::max() - 1;
[[noreturn]] void too_many_tasks(std::string const& where);

} // namespace headroom::io
