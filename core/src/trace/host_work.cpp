#include "trace/busy_intervals.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

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

// ---- operators that wait ------------------------------------------------------------------------------------------

constexpr Ticks long_wait = 100'000, wake_time = 1'000'000; ///< nanoseconds, of an operator and after a transfer

/// Transfers of the host's own threads by end, each with its thread.
struct Transfers {
    struct One {
        Ticks begin = 0, end = 0;
        std::uint32_t lane = 0;
    };
    std::vector<One> all;

    explicit Transfers(RankTrace const& trace) {
        auto const& timeline = trace.timeline;
        for (std::size_t i = 0; i < trace.size(); ++i) {
            if (trace.kind[i] != SpanKind::communication || trace.lanes[timeline.lane[i]].device) { continue; }
            all.push_back({timeline.begin[i], timeline.end[i], timeline.lane[i]});
        }
        std::sort(all.begin(), all.end(), [](One const& a, One const& b) { return a.end < b.end; });
    }
    /// End of the transfer of another thread for which a thread waited that did nothing in a time; `begin`: none.
    [[nodiscard]] Ticks waited_until(Ticks begin, Ticks end, std::uint32_t lane) const {
        auto next =
            std::upper_bound(all.begin(), all.end(), end, [](Ticks at, One const& one) { return at < one.end; });
        for (; next != all.begin(); --next) {
            One const& one = *(next - 1);
            if (end - one.end > wake_time || 4 * (end - one.end) > end - begin) { break; }
            if (one.lane != lane && one.begin >= begin) { return one.end; }
        }
        return begin;
    }
};

/// Times in which a thread waits inside of an operator: all of the operator's own time between two calls, from before a
/// transfer of another thread begins until it has ended. Operators of ATen never wait.
class WaitFinder {
public:
    WaitFinder(HostReading const& reading, Transfers const& transfers) : reading_(reading), transfers_(transfers) {}

    std::vector<std::pair<Ticks, Ticks>> find(std::vector<std::uint32_t> const& spans) {
        auto const& timeline = reading_.trace.timeline;
        for (auto const span : spans) {
            close_until(timeline.begin[span]);
            look(timeline.begin[span]);
            open_.push_back(span);
        }
        close_until(std::numeric_limits<Ticks>::max());
        return std::move(waits_);
    }

private:
    void close_until(Ticks now) {
        auto const& timeline = reading_.trace.timeline;
        while (!open_.empty() && timeline.end[open_.back()] <= now) {
            look(timeline.end[open_.back()]);
            open_.pop_back();
        }
    }
    /// The innermost open operator alone, since the last call began or ended.
    void look(Ticks now) {
        Ticks const begin = std::exchange(last_, std::max(last_, now));
        if (open_.empty() || now - begin < long_wait) { return; }
        auto const span = open_.back();
        std::string_view const name = reading_.trace.timeline.names[reading_.trace.timeline.name[span]];
        bool const works = reading_.trace.kind[span] == SpanKind::host && names_operator(name);
        if (!works || name.starts_with("aten::")) { return; }
        Ticks const until = transfers_.waited_until(begin, now, reading_.trace.timeline.lane[span]);
        if (until > begin) { waits_.emplace_back(begin, until); }
    }

    HostReading const& reading_;
    Transfers const& transfers_;
    std::vector<std::uint32_t> open_;
    std::vector<std::pair<Ticks, Ticks>> waits_;
    Ticks last_ = std::numeric_limits<Ticks>::min() / 2;
};

/// Takes waits, which are in order, out of the computation from number `first` on.
void take_out(std::vector<BusyInterval>& work, std::size_t first, std::vector<std::pair<Ticks, Ticks>> const& waits) {
    if (waits.empty()) { return; }
    std::vector<BusyInterval> kept;
    for (std::size_t i = first; i < work.size(); ++i) {
        BusyInterval piece = work[i];
        auto wait = std::lower_bound(waits.begin(), waits.end(), piece.begin,
                                     [](auto const& one, Ticks at) { return one.second <= at; });
        for (; piece.kind == SpanKind::compute && wait != waits.end() && wait->first < piece.end; ++wait) {
            if (wait->first > piece.begin) { kept.push_back({piece.begin, wait->first, piece.span, piece.kind}); }
            piece.begin = std::min(piece.end, wait->second);
        }
        if (piece.begin < piece.end || work[i].begin == work[i].end) { kept.push_back(piece); }
    }
    work.resize(first);
    work.insert(work.end(), kept.begin(), kept.end());
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
    Transfers const transfers{trace};
    auto const lanes = spans_by_lane(trace);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        if (trace.lanes[lane].device) { continue; }
        std::size_t const first = work.size();
        walk_thread(reading, lanes[lane], work);
        if (!transfers.all.empty()) { take_out(work, first, WaitFinder{reading, transfers}.find(lanes[lane])); }
    }
    return work;
}

} // namespace headroom::trace
