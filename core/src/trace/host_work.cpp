#include "trace/busy_intervals.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace headroom::trace {
namespace {

constexpr std::uint32_t no_operator = ~std::uint32_t{0}; ///< a thread is in none
constexpr std::uint32_t a_wait = no_operator - 1;        ///< it waits, whatever nests in that

/// Role of a host's interval by its name: whether its thread works.
enum class HostRole : std::uint8_t {
    works,  ///< an operator
    waits,  ///< asks for communication, or waits for it
    around, ///< a range around others: says nothing of what the thread does
};

bool asks_for_communication(std::string_view name) {
    constexpr std::array beginnings{"c10d::", "_c10d_functional::", "c10d_functional::", "record_param_comms"};
    return std::any_of(beginnings.begin(), beginnings.end(), [&](auto part) { return name.starts_with(part); }) ||
           name.ends_with("::wait") || name.ends_with("::wait_tensor") || name == "wait" || names_synchronization(name);
}

/// PyTorch's operators carry a namespace; those of the backward pass that do not end in "Backward" and a version.
bool names_operator(std::string_view name) {
    auto const without_version = name.substr(0, name.find_last_not_of("0123456789") + 1);
    return name.find("::") != std::string_view::npos || without_version.ends_with("Backward");
}

std::vector<HostRole> roles_of(std::vector<std::string> const& names) {
    std::vector<HostRole> roles(names.size(), HostRole::around);
    std::transform(names.begin(), names.end(), roles.begin(), [](std::string const& name) {
        if (asks_for_communication(name)) { return HostRole::waits; }
        return names_operator(name) ? HostRole::works : HostRole::around;
    });
    return roles;
}

/// Follows one thread: which outermost operator it is in, if any, or whether it waits.
class ThreadWalk {
public:
    explicit ThreadWalk(std::vector<BusyInterval>& work) : work_(work) {}

    void enter(Ticks begin, Ticks end, std::uint32_t op) {
        leave_until(begin);
        set(begin, op);
        open_.push_back({end, op});
    }
    /// The operator around what begins now.
    [[nodiscard]] std::uint32_t around(Ticks now) {
        leave_until(now);
        return operator_;
    }
    void finish() {
        while (!open_.empty()) { leave(); }
    }

private:
    struct Open {
        Ticks end = 0;
        std::uint32_t op = no_operator;
    };
    std::vector<BusyInterval>& work_;
    std::vector<Open> open_;
    std::uint32_t operator_ = no_operator;
    Ticks since_ = 0;

    void leave_until(Ticks now) {
        while (!open_.empty() && open_.back().end <= now) { leave(); }
    }
    void leave() {
        auto const end = open_.back().end;
        open_.pop_back();
        // what ended before the interval inside of it did is over as well
        while (!open_.empty() && open_.back().end <= end) { open_.pop_back(); }
        set(end, open_.empty() ? no_operator : open_.back().op);
    }
    void set(Ticks now, std::uint32_t op) {
        if (op == operator_) { return; }
        if (operator_ < a_wait) { work_.push_back({since_, now, operator_, SpanKind::compute}); }
        operator_ = op;
        since_ = now;
    }
};

/// Rules for reading the intervals of a trace without a device.
struct HostReading {
    RankTrace const& trace;
    std::vector<HostRole> roles;
    bool leaves_work = true; ///< no operator is named: what nothing nests in is work
};

HostRole role_of(HostReading const& reading, std::uint32_t span, bool leaf) {
    switch (reading.trace.kind[span]) {
    case SpanKind::host: break;
    case SpanKind::annotation:
    case SpanKind::launch: return HostRole::around;
    default: return HostRole::waits;
    }
    auto const role = reading.roles[reading.trace.timeline.name[span]];
    return reading.leaves_work && role == HostRole::around && leaf ? HostRole::works : role;
}

void walk_thread(HostReading const& reading, std::vector<std::uint32_t> const& spans, std::vector<BusyInterval>& work) {
    auto const& timeline = reading.trace.timeline;
    ThreadWalk walk{work};
    for (std::size_t at = 0; at < spans.size(); ++at) {
        auto const span = spans[at];
        auto const begin = timeline.begin[span], end = std::max(begin, timeline.end[span]);
        bool const leaf = at + 1 == spans.size() || timeline.begin[spans[at + 1]] >= end;
        auto const role = role_of(reading, span, leaf);
        auto const around = walk.around(begin);
        auto const inside = role == HostRole::works && around == no_operator ? span : around;
        walk.enter(begin, end, role == HostRole::waits ? a_wait : inside);
        if (reading.trace.kind[span] == SpanKind::communication) {
            work.push_back({begin, end, span, SpanKind::communication});
        }
    }
    walk.finish();
}

bool has_operators(RankTrace const& trace, std::vector<HostRole> const& roles) {
    for (std::size_t i = 0; i < trace.size(); ++i) {
        if (trace.kind[i] == SpanKind::host && roles[trace.timeline.name[i]] == HostRole::works) { return true; }
    }
    return false;
}

} // namespace

std::vector<BusyInterval> host_work(RankTrace const& trace) {
    HostReading reading{trace, roles_of(trace.timeline.names)};
    reading.leaves_work = !has_operators(trace, reading.roles);
    std::vector<BusyInterval> work;
    auto const lanes = spans_by_lane(trace);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        if (!trace.lanes[lane].device) { walk_thread(reading, lanes[lane], work); }
    }
    return work;
}

} // namespace headroom::trace
