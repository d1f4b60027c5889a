#include "with_launches.hpp"

#include "headroom/trace/rank_trace.hpp"
#include "headroom/trace/trace_collectives.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace headroom::trace {

using namespace headroom::network;

namespace {

inline constexpr std::uint32_t unannounced = std::numeric_limits<std::uint32_t>::max();

using namespace headroom::network;

bool announces(std::string_view name) {
    return name.starts_with("nccl:") || name.starts_with("rccl:") || name.starts_with("xccl:");
}

/// Indices into `spans` of those that nothing tells, by their correlation.
std::unordered_multimap<std::uint32_t, std::size_t> untold(RankTrace const& trace,
                                                           std::vector<std::uint32_t> const& spans) {
    std::vector<signed char> tells(trace.timeline.names.size(), -1);
    std::unordered_multimap<std::uint32_t, std::size_t> result;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        auto const name = trace.timeline.name[spans[i]];
        if (tells[name] < 0) {
            tells[name] = static_cast<signed char>(collective_of_kernel(trace.timeline.names[name]).has_value());
        }
        if (tells[name] > 0 || trace.correlation[spans[i]] == 0) { continue; }
        auto const stated = std::ranges::lower_bound(trace.collectives, spans[i], {}, &TracedCollective::span);
        bool const has = stated != trace.collectives.end() && stated->span == spans[i] &&
                         stated->what < trace.collective_names.size();
        auto const collective = has ? traced_collective(trace.collective_names[stated->what]) : std::nullopt;
        // Two ranks alone are identified by their numbers, which stand in the range of the host.
        if (collective && *collective != Collective::point_to_point) { continue; }
        result.emplace(trace.correlation[spans[i]], i);
    }
    return result;
}

struct Launch {
    std::uint32_t lane;
    Ticks at;
    std::size_t of; ///< into `spans`
};

/// For ranges of one thread by begin: the last that holds a moment. Ranges that nest are few and shallow.
std::uint32_t range_at(Timeline const& time, std::vector<std::uint32_t> const& ranges, Ticks at) {
    constexpr int look_back = 8;
    auto next = std::ranges::upper_bound(ranges, at, {}, [&](std::uint32_t span) { return time.begin[span]; });
    for (int i = 0; i < look_back && next != ranges.begin(); ++i) {
        --next;
        if (time.end[*next] >= at) { return time.name[*next]; }
    }
    return unannounced;
}

/// For each of these spans of a device, the name (into `timeline.names`) of the range of the host, "nccl:all_to_all",
/// inside of which it was launched; `unannounced` where there is none. Asked only of spans whose own name or whose
/// entry in `collectives` does not tell the collective. O(n) in spans, O(m log m) in ranges and launches.
std::vector<std::uint32_t> host_announcements(RankTrace const& trace, std::vector<std::uint32_t> const& spans) {
    std::vector<std::uint32_t> result(spans.size(), unannounced);
    auto const asked = untold(trace, spans);
    if (asked.empty()) { return result; }

    std::vector<char> is_range(trace.timeline.names.size());
    for (std::size_t n = 0; n < is_range.size(); ++n) {
        is_range[n] = static_cast<char>(announces(trace.timeline.names[n]));
    }
    std::vector<std::vector<std::uint32_t>> ranges(trace.lanes.size());
    std::vector<Launch> launches;
    auto const& time = trace.timeline;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        if (trace.lanes[time.lane[i]].device) { continue; }
        if (is_range[time.name[i]] != 0) { ranges[time.lane[i]].push_back(i); }
        if (trace.kind[i] != SpanKind::launch || trace.correlation[i] == 0) { continue; }
        auto const [from, to] = asked.equal_range(trace.correlation[i]);
        for (auto at = from; at != to; ++at) { launches.push_back({time.lane[i], time.begin[i], at->second}); }
    }
    for (auto& lane : ranges) {
        std::ranges::stable_sort(lane, {}, [&](std::uint32_t span) { return time.begin[span]; });
    }
    for (Launch const& launch : launches) {
        if (result[launch.of] == unannounced) { result[launch.of] = range_at(time, ranges[launch.lane], launch.at); }
    }
    return result;
}

/// Numbers of a damaged trace may be anything: products stop at what fits, negative ones count as not stated.
std::int64_t product(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (a <= 0 || b <= 0 || __builtin_mul_overflow(a, b, &result)) { return 0; }
    return result;
}

/// Total bytes of our convention from what goes in and comes out on one rank.
std::int64_t total_bytes(TracedCollective const& call, std::optional<Collective> collective) {
    std::int64_t const in = call.elements_in, out = call.elements_out;
    std::int64_t const group = std::max(call.group_size, 1);
    auto const whole = [&] {
        switch (collective.value_or(Collective::point_to_point)) {
        case Collective::all_gather: return out > in ? out : product(in, group);
        case Collective::reduce_scatter: return in > out ? in : product(out, group);
        case Collective::gather: return std::max(out, product(in, group));
        case Collective::scatter: return std::max(in, product(out, group));
        case Collective::all_reduce:
        case Collective::reduce:
        case Collective::broadcast:
        case Collective::all_to_all: return in > 0 ? in : out;
        case Collective::barrier: return std::int64_t{0};
        default: return std::max(in, out);
        }
    };
    return product(whole(), call.element_bytes);
}

/// Ranges of the host that are transfers of their own, not brackets around launches.
bool moves_on_the_host(std::string_view name) {
    return name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("ucc:");
}

std::string without_arguments(std::string_view name) {
    constexpr std::string_view nameless = "(anonymous namespace)";
    std::size_t from = name.starts_with("void ") ? 5 : 0;
    name.remove_prefix(from);
    from = name.find(nameless);
    from = from == std::string_view::npos ? 0 : from + nameless.size();
    return std::string(name.substr(0, name.find('(', from)));
}

/// Spans that are runs of collectives, by begin.
std::vector<std::uint32_t> spans_of_collectives(RankTrace const& trace) {
    bool const has_device = std::ranges::any_of(trace.lanes, &TraceLane::device);
    std::vector<char> on_host(trace.timeline.names.size());
    for (std::size_t n = 0; n < on_host.size(); ++n) {
        on_host[n] = static_cast<char>(!has_device || moves_on_the_host(trace.timeline.names[n]));
    }
    std::vector<std::uint32_t> spans;
    for (std::size_t i = 0; i < trace.size(); ++i) {
        if (trace.kind[i] != SpanKind::communication) { continue; }
        if (trace.lanes[trace.timeline.lane[i]].device || on_host[trace.timeline.name[i]] != 0) {
            spans.push_back(static_cast<std::uint32_t>(i));
        }
    }
    auto const& time = trace.timeline;
    std::ranges::stable_sort(spans, [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(time.begin[a], -time.end[a]) < std::tuple(time.begin[b], -time.end[b]);
    });
    return spans;
}

/// On a thread of the host a range inside of another is the same transfer, recorded twice.
void drop_nested(RankTrace const& trace, std::vector<std::uint32_t>& spans) {
    std::vector<Ticks> busy_until(trace.lanes.size(), std::numeric_limits<Ticks>::min());
    std::erase_if(spans, [&](std::uint32_t span) {
        auto const lane = trace.timeline.lane[span];
        if (trace.lanes[lane].device) { return false; }
        if (trace.timeline.end[span] <= busy_until[lane] && trace.timeline.begin[span] < busy_until[lane]) {
            return true;
        }
        busy_until[lane] = std::max(busy_until[lane], trace.timeline.end[span]);
        return false;
    });
}

/// Labels, each once, by what makes them.
class Labels {
public:
    explicit Labels(RankTrace const& trace, CollectiveRuns& runs) : trace_(trace), runs_(runs) {}

    std::uint32_t operator()(std::uint32_t name, TracedCollective const* call, std::string_view announced) {
        std::int64_t const group = call != nullptr ? call->group : -1;
        std::int64_t const what = call != nullptr ? call->what : -1;
        auto const [at, isnew] =
            known_.try_emplace(Key{name, group, what, call != nullptr ? call->group_size : 0, std::string(announced)},
                               static_cast<std::uint32_t>(runs_.labels.size()));
        if (isnew) { runs_.labels.push_back(make(name, call, announced)); }
        return at->second;
    }

private:
    using Key = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::int32_t, std::string>;

    [[nodiscard]] CollectiveLabel make(std::uint32_t name, TracedCollective const* call,
                                       std::string_view announced) const {
        std::string const& kernel = trace_.timeline.names[name];
        CollectiveLabel label;
        label.name = without_arguments(kernel);
        if (call != nullptr) {
            if (call->what < trace_.collective_names.size()) { label.what = trace_.collective_names[call->what]; }
            if (call->group < trace_.groups.size()) {
                label.group = trace_.groups[call->group].name;
                label.group_ranks = trace_.groups[call->group].ranks;
            }
            label.group_size = std::max(call->group_size, 0);
        }
        label.collective = traced_collective(label.what);
        if (!label.collective) { label.collective = collective_of_kernel(kernel); }
        if (!label.collective) { label.collective = traced_collective(announced); }
        // A host's range, "gloo:all_reduce", is itself the word.
        if (!label.collective) { label.collective = traced_collective(kernel); }
        if (label.what.empty() || announced.find("->") != std::string_view::npos ||
            announced.find("<-") != std::string_view::npos) {
            label.what = announced.empty() ? label.what : std::string(announced);
        }
        if (label.what.empty() && label.collective) { label.what = name_of(*label.collective); }
        return label;
    }

    RankTrace const& trace_;
    CollectiveRuns& runs_;
    std::map<Key, std::uint32_t> known_;
};

} // namespace

void number_steps(RankTrace const& trace, Launches const& launches, CollectiveRuns& runs) {
    if (trace.steps.empty()) { return; }
    Launches::Walk call_of(launches);
    for (auto& run : runs.runs) {
        auto const call = call_of[trace.correlation[run.span]];
        Ticks const at = call == none ? run.begin : trace.timeline.begin[call];
        auto const next = std::ranges::upper_bound(trace.steps, at, {}, &TraceStep::begin);
        if (next != trace.steps.begin() && at < (next - 1)->end) { run.step = (next - 1)->number; }
    }
}

CollectiveRuns collective_runs(RankTrace const& trace) {
    auto spans = spans_of_collectives(trace);
    drop_nested(trace, spans);
    auto const announced = host_announcements(trace, spans);

    CollectiveRuns result;
    Labels label(trace, result);
    result.runs.reserve(spans.size());
    for (std::size_t i = 0; i < spans.size(); ++i) {
        auto const span = spans[i];
        auto const stated = std::ranges::lower_bound(trace.collectives, span, {}, &TracedCollective::span);
        bool const has = stated != trace.collectives.end() && stated->span == span;
        std::string_view const said =
            announced[i] == unannounced ? std::string_view{} : trace.timeline.names[announced[i]];
        CollectiveRun run{.label = label(trace.timeline.name[span], has ? &*stated : nullptr, said),
                          .lane = trace.timeline.lane[span],
                          .span = span,
                          .begin = trace.timeline.begin[span],
                          .end = trace.timeline.end[span]};
        if (has) {
            run.bytes = total_bytes(*stated, result.labels[run.label].collective);
            run.sequence = stated->sequence;
        }
        result.runs.push_back(run);
    }
    return result;
}

} // namespace headroom::trace
