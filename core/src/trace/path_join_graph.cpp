#include "trace/merge_runs.hpp"
#include "trace/path_joiner.hpp"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

namespace headroom::trace::path {

using namespace headroom::laws;

namespace {

constexpr std::size_t things_of_a_stretch = std::size_t{1} << 15; ///< about: their order is found within the caches

/// A vertex on its way to its number: tasks, then meetings.
struct Item {
    Ticks time = 0;
    std::uint32_t order = 0; ///< of equal times: meetings, what goes on after one, everything else
    std::uint32_t thing = 0;
};

bool earlier(Item const& a, Item const& b) { return std::tie(a.time, a.order) < std::tie(b.time, b.order); }

/// A stretch of time of all ranks. Stretches are numbered one after another and made in parallel.
struct Stretch {
    std::vector<Item> items; ///< in the order of their numbers
    std::size_t vertices = 0, edges = 0, waits = 0;
    std::size_t first_vertex = 0, first_edge = 0;
};

class GraphMaker {
public:
    GraphMaker(Joiner const& joiner, JoinedSteps& joined) : joiner_(joiner), joined_(joined) { sort_meetings(); }
    void make(Executor const& run);

private:
    void sort_meetings();
    void cut();
    [[nodiscard]] std::vector<Ticks> borders() const;
    void order(std::size_t number);
    void count(Stretch& stretch) const;
    void number_stretches();
    void add_vertices(Stretch const& stretch);
    void add_edges(Stretch const& stretch);

    Joiner const& joiner_;
    JoinedSteps& joined_;
    std::vector<std::vector<Item>> meeting_items_; ///< meetings, then the tasks that go on after one: sorted each
    std::vector<std::vector<std::size_t>> cuts_;   ///< of each rank's tasks and of `meeting_items_`, by stretch
    std::vector<Stretch> stretches_;
    std::unique_ptr<std::uint32_t[]> vertex_; ///< by thing
    std::vector<Ticks> costs_;
    std::unique_ptr<Edge[]> edges_;
};

void GraphMaker::sort_meetings() {
    std::vector<Item> meetings, after;
    for (std::uint32_t m = 0; m < joiner_.meetings().size(); ++m) {
        meetings.push_back({joiner_.meetings()[m].at, 0, joiner_.tasks() + m});
    }
    for (std::uint32_t task = 0; task < joiner_.tasks(); ++task) {
        auto const meeting = joiner_.meeting_of(task);
        if (meeting != no_task) { after.push_back({joiner_.meetings()[meeting].at, 1, task}); }
    }
    std::stable_sort(meetings.begin(), meetings.end(), earlier);
    std::stable_sort(after.begin(), after.end(), earlier);
    meeting_items_ = {std::move(meetings), std::move(after)};
}

/// The first moments of all stretches but the first, so that each has about as many things as another.
std::vector<Ticks> GraphMaker::borders() const {
    constexpr std::size_t apart = 256;
    std::vector<Ticks> sample;
    for (std::size_t r = 0; r < joiner_.ranks().size(); ++r) {
        auto const& begin = joiner_.ranks()[r].begin;
        for (std::size_t i = 0; i < begin.size(); i += apart) { sample.push_back(begin[i] + joiner_.shift(r)); }
    }
    std::sort(sample.begin(), sample.end());
    std::vector<Ticks> borders;
    constexpr std::size_t samples_of_a_stretch = things_of_a_stretch / apart;
    for (std::size_t i = samples_of_a_stretch; i < sample.size(); i += samples_of_a_stretch) {
        if (borders.empty() || borders.back() < sample[i]) { borders.push_back(sample[i]); }
    }
    return borders;
}

/// Each thing falls into one stretch whatever its time, also where tasks are not numbered by begin.
void GraphMaker::cut() {
    auto const moments = borders();
    auto const add = [&](auto const& things, auto const& is_before) {
        std::vector<std::size_t> cuts{0};
        for (auto const moment : moments) {
            auto const from = things.begin() + static_cast<std::ptrdiff_t>(cuts.back());
            auto const to =
                std::partition_point(from, things.end(), [&](auto const& thing) { return is_before(thing, moment); });
            cuts.push_back(static_cast<std::size_t>(to - things.begin()));
        }
        cuts.push_back(things.size());
        cuts_.push_back(std::move(cuts));
    };
    for (std::size_t r = 0; r < joiner_.ranks().size(); ++r) {
        add(joiner_.ranks()[r].begin,
            [shift = joiner_.shift(r)](Ticks begin, Ticks moment) { return begin + shift < moment; });
    }
    for (auto const& items : meeting_items_) {
        add(items, [](Item const& item, Ticks moment) { return item.time < moment; });
    }
    stretches_.resize(moments.size() + 1);
}

void GraphMaker::order(std::size_t number) {
    auto& items = stretches_[number].items;
    std::vector<std::size_t> runs{0};
    auto const ranks = joiner_.ranks().size();
    for (std::size_t i = 0; i < meeting_items_.size(); ++i) {
        auto const& cuts = cuts_[ranks + i];
        items.insert(items.end(), meeting_items_[i].begin() + static_cast<std::ptrdiff_t>(cuts[number]),
                     meeting_items_[i].begin() + static_cast<std::ptrdiff_t>(cuts[number + 1]));
        runs.push_back(items.size());
    }
    for (std::size_t r = 0; r < ranks; ++r) {
        auto const first = joiner_.first_task(r);
        auto const& begin = joiner_.ranks()[r].begin;
        for (auto i = cuts_[r][number]; i < cuts_[r][number + 1]; ++i) {
            auto const task = first + static_cast<std::uint32_t>(i);
            if (joiner_.meeting_of(task) == no_task) { items.push_back({begin[i] + joiner_.shift(r), 2, task}); }
        }
        runs.push_back(items.size());
    }
    merge_runs(items, std::move(runs), earlier);
    count(stretches_[number]);
}

/// A vertex for each thing and each delay before it; two edges where there is a delay.
void GraphMaker::count(Stretch& stretch) const {
    stretch.vertices = stretch.items.size();
    for (auto const& item : stretch.items) {
        std::size_t const late = joiner_.begins_late(item.thing) > 0 ? 1 : 0;
        std::size_t waits = 0, delays = 0;
        joiner_.each_before(item.thing, [&](std::uint32_t, Ticks delay, TraceEdge) {
            ++waits;
            delays += delay > 0 ? 1 : 0;
        });
        stretch.vertices += late + delays;
        stretch.edges += late + waits + delays;
        stretch.waits += waits;
    }
}

void GraphMaker::number_stretches() {
    std::size_t vertices = 0, edges = 0;
    for (auto& stretch : stretches_) {
        stretch.first_vertex = std::exchange(vertices, vertices + stretch.vertices);
        stretch.first_edge = std::exchange(edges, edges + stretch.edges);
        joined_.edges += stretch.waits;
    }
    vertex_ = std::make_unique_for_overwrite<std::uint32_t[]>(joiner_.tasks() + joiner_.meetings().size());
    edges_ = std::make_unique_for_overwrite<Edge[]>(edges);
    costs_.resize(vertices);
    joined_.vertices.resize(vertices);
}

void GraphMaker::add_vertices(Stretch const& stretch) {
    auto next = stretch.first_vertex;
    for (auto const& item : stretch.items) {
        auto const add_delay = [&](Ticks delay, TraceEdge why) {
            costs_[next] = delay;
            auto const task = joiner_.is_meeting(item.thing) ? no_task : item.thing;
            joined_.vertices[next++] = {.task = task, .delay = true, .edge = why};
        };
        if (Ticks const late = joiner_.begins_late(item.thing); late > 0) { add_delay(late, TraceEdge::handover); }
        joiner_.each_before(item.thing, [&](std::uint32_t, Ticks delay, TraceEdge why) {
            if (delay > 0) { add_delay(delay, why); }
        });
        vertex_[item.thing] = static_cast<std::uint32_t>(next);
        costs_[next] = joiner_.cost_of(item.thing);
        joined_.vertices[next++] = joiner_.vertex_of(item.thing);
    }
}

void GraphMaker::add_edges(Stretch const& stretch) {
    auto next = static_cast<std::uint32_t>(stretch.first_vertex);
    auto edge = edges_.get() + stretch.first_edge;
    for (auto const& item : stretch.items) {
        auto const to = vertex_[item.thing];
        if (joiner_.begins_late(item.thing) > 0) { *edge++ = {next++, to}; }
        joiner_.each_before(item.thing, [&](std::uint32_t before, Ticks delay, TraceEdge) {
            if (delay > 0) {
                *edge++ = {vertex_[before], next};
                *edge++ = {next++, to};
            } else {
                *edge++ = {vertex_[before], to};
            }
        });
        next = to + 1;
    }
}

void GraphMaker::make(Executor const& run) {
    cut();
    auto const each_stretch = [&](auto const& task) {
        run_each(run, static_cast<int>(stretches_.size()), [&](int i) { task(static_cast<std::size_t>(i)); });
    };
    each_stretch([&](std::size_t i) { order(i); });
    number_stretches();
    each_stretch([&](std::size_t i) { add_vertices(stretches_[i]); });
    each_stretch([&](std::size_t i) { add_edges(stretches_[i]); });
    joined_.tasks = joiner_.tasks();
    auto const& last = stretches_.back();
    auto result = build_dag(std::move(costs_), {edges_.get(), last.first_edge + last.edges});
    joined_.dag = std::move(result.dag);
    if (result.fault) { joined_.vertices.clear(); }
}

} // namespace

void add_graph(Joiner const& joiner, JoinedSteps& joined, Executor const& run) { GraphMaker(joiner, joined).make(run); }

} // namespace headroom::trace::path
