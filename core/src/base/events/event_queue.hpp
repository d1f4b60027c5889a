#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace headroom::events {

/// Order of events that have the same time.
enum class Ties {
    by_birth, ///< in the order in which they were put in
    any,      ///< where nothing depends on it: an event takes eight bytes less
};

/// Queue of future events, the next first: a heap with four children a node. The four lie side by side in memory, and a
/// queue of a thousand events is five levels deep.
template <class Time, class Event, Ties ties = Ties::by_birth> class EventQueue {
public:
    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] std::size_t size() const { return heap_.size(); }
    void reserve(std::size_t count) { heap_.reserve(count); }

    /// Time of the next event, and the event. Not to be asked of an empty queue.
    [[nodiscard]] Time next() const { return heap_.front().time; }
    [[nodiscard]] Event const& first() const { return heap_.front().event; }

    void put(Time time, Event const& event) {
        heap_.emplace_back();
        rise(heap_.size() - 1, make(time, event));
    }

    /// Takes the next event off.
    Event take() {
        Event const event = heap_.front().event;
        Entry const last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) { rise(sink_hole(), last); }
        return event;
    }

    /// Takes the next event off and puts another in, in one way through the heap.
    void replace_first(Time time, Event const& event) { rise(sink_hole(), make(time, event)); }

    /// Drops all but those for which keep(time, event) says so, which keep their order.
    template <class Keep> void keep_only(Keep keep) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < heap_.size(); ++i) {
            Entry const entry = heap_[i];
            if (keep(entry.time, entry.event)) { rise(kept++, entry); }
        }
        heap_.resize(kept);
    }

private:
    static constexpr std::size_t width = 4;
    struct Timed {
        Time time;
        Event event;
    };
    struct Born {
        Time time;
        std::uint64_t birth;
        Event event;
    };
    using Entry = std::conditional_t<ties == Ties::by_birth, Born, Timed>;

    Entry make(Time time, Event const& event) {
        if constexpr (ties == Ties::by_birth) {
            return {time, births_++, event};
        } else {
            return {time, event};
        }
    }

    /// Without branches: which of two comes first is what no processor guesses.
    static bool before(Entry const& a, Entry const& b) {
        if constexpr (ties == Ties::by_birth) {
            return (a.time < b.time) | ((a.time == b.time) & (a.birth < b.birth));
        } else {
            return a.time < b.time;
        }
    }

    /// Fills the place of the first with its successors all the way down; which place is free then.
    std::size_t sink_hole() {
        std::size_t hole = 0;
        std::size_t const size = heap_.size();
        for (std::size_t child = 1; child < size; child = width * hole + 1) {
            std::size_t best = child;
            if (child + width <= size) {
                std::size_t const left = child + (before(heap_[child + 1], heap_[child]) ? 1 : 0);
                std::size_t const right = child + 2 + (before(heap_[child + 3], heap_[child + 2]) ? 1 : 0);
                best = before(heap_[right], heap_[left]) ? right : left;
            } else {
                for (std::size_t other = child + 1; other < size; ++other) {
                    if (before(heap_[other], heap_[best])) { best = other; }
                }
            }
            heap_[hole] = heap_[best];
            hole = best;
        }
        return hole;
    }

    /// Puts an entry at a free place, or above it.
    void rise(std::size_t hole, Entry const& entry) {
        while (hole > 0) {
            std::size_t const parent = (hole - 1) / width;
            if (!before(entry, heap_[parent])) { break; }
            heap_[hole] = heap_[parent];
            hole = parent;
        }
        heap_[hole] = entry;
    }

    std::vector<Entry> heap_;
    std::uint64_t births_ = 0;
};

} // namespace headroom::events
