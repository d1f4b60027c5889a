#include "traces/chakra_layout.hpp"

#include "traces/trace_text.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

namespace headroom::io {

using namespace headroom::trace;

namespace {

constexpr std::uint64_t most_micros = std::uint64_t{1} << 50; ///< 35 years
constexpr std::int64_t latest = std::int64_t{1} << 61;

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> beginnings) {
    return std::ranges::any_of(beginnings, [&](auto beginning) { return name.starts_with(beginning); });
}

bool moves_between_ranks(ChakraNode const& node) {
    return node.is(ChakraType::send) || node.is(ChakraType::receive) || node.is(ChakraType::collective);
}

/// Traces of simulators do not say where a node runs: computation and communication are the device's.
bool on_device(ChakraNode const& node) { return !node.on_cpu.value_or(node.is(ChakraType::metadata)); }

SpanKind kind_of(ChakraNode const& node) {
    if (node.is(ChakraType::metadata)) { return SpanKind::annotation; }
    if (!on_device(node)) {
        if (names_synchronization(node.name)) { return SpanKind::synchronization; }
        return starts_with_any(node.name, {"cuda", "hip", "cuLaunch"}) ? SpanKind::launch : SpanKind::host;
    }
    bool const moves = node.is(ChakraType::mem_load) || node.is(ChakraType::mem_store) ||
                       starts_with_any(node.name, {"Memcpy", "Memset", "memcpy", "memset"});
    if (moves) { return SpanKind::memory; }
    return moves_between_ranks(node) || names_communication(node.name) ? SpanKind::communication : SpanKind::compute;
}

std::int64_t number_of(std::optional<double> value) {
    return value && *value >= -0x1p53 && *value <= 0x1p53 ? static_cast<std::int64_t>(*value) : 0;
}

/// Streams where they are stated; else one for each kind of work, as simulators have it.
TraceLane lane_of(ChakraNode const& node) {
    if (!on_device(node)) { return {false, 0, number_of(node.thread)}; }
    auto const stream = node.stream ? node.stream : node.thread; // converters write a kernel's stream as its thread
    constexpr std::int64_t network = -1, copies = -2;
    if (stream) { return {true, 0, number_of(stream)}; }
    return {true, 0, moves_between_ranks(node) ? network : kind_of(node) == SpanKind::memory ? copies : 0};
}

class ChakraLayout {
public:
    ChakraLayout(ChakraNodes const& trace, TraceBuilder& builder, std::function<std::string(std::size_t)> const& place)
        : trace_{trace}, builder_{builder}, place_{place}, begin_(trace.nodes.size()) {}

    void lay_out() {
        for (ChakraNode const& node : trace_.nodes) {
            timed_ = timed_ || node.micros > 0;
            started_ = started_ || node.start > 0;
        }
        if (started_) {
            take_begins();
        } else if (timed_) {
            number_nodes();
            tie();
            walk();
            builder_.issue_at("no begins: laid out by what waits for what", place_(0));
        } else {
            builder_.trace().no_times = true;
            builder_.issue_at("no times: neither begins nor durations are stated", place_(0));
        }
        for (std::size_t i = 0; i < trace_.nodes.size(); ++i) { add(i); }
    }

private:
    std::int64_t duration(std::size_t i) {
        if (trace_.nodes[i].micros <= most_micros) { return static_cast<std::int64_t>(trace_.nodes[i].micros) * 1000; }
        builder_.issue_at("time out of range", place_(i));
        return 0;
    }

    void take_begins() {
        for (std::size_t i = 0; i < trace_.nodes.size(); ++i) {
            std::uint64_t const start = trace_.nodes[i].start;
            if (start > most_micros) { builder_.issue_at("time out of range", place_(i)); }
            begin_[i] = start > most_micros ? 0 : static_cast<std::int64_t>(start) * 1000;
        }
    }

    void number_nodes() {
        number_.reserve(trace_.nodes.size());
        for (std::size_t i = 0; i < trace_.nodes.size(); ++i) {
            if (!number_.emplace(trace_.nodes[i].id, i).second) {
                builder_.issue_at("id that an earlier node has", place_(i));
            }
        }
    }

    /// Callers are no order: in traces of PyTorch only data dependencies are, and what a kernel's launch is.
    void tie() {
        after_.resize(trace_.nodes.size());
        waits_for_.resize(trace_.nodes.size());
        for (std::size_t i = 0; i < trace_.nodes.size(); ++i) {
            auto before = trace_.data_of(i);
            if (!trace_.from_pytorch || on_device(trace_.nodes[i])) {
                auto const control = trace_.control_of(i);
                before.insert(before.end(), control.begin(), control.end());
            }
            std::ranges::sort(before);
            before.erase(std::unique(before.begin(), before.end()), before.end());
            for (std::uint64_t const id : before) {
                auto const at = number_.find(id);
                if (at == number_.end()) {
                    builder_.issue_at("waits for a node that is not there", place_(i));
                } else if (at->second != i) {
                    after_[at->second].push_back(i);
                    ++waits_for_[i];
                }
            }
        }
    }

    void walk() {
        std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
        std::vector<std::int64_t> earliest(trace_.nodes.size());
        std::unordered_map<std::uint32_t, std::int64_t> free;
        std::vector<bool> done(trace_.nodes.size());
        auto const put = [&](std::size_t i) {
            std::int64_t& lane = free[builder_.lane(lane_of(trace_.nodes[i]))];
            begin_[i] = std::max(earliest[i], lane);
            lane = std::min(begin_[i] + duration(i), latest);
            done[i] = true;
            return lane;
        };
        for (std::size_t i = 0; i < trace_.nodes.size(); ++i) {
            if (waits_for_[i] == 0) { ready.push(i); }
        }
        while (!ready.empty()) {
            std::size_t const i = ready.top();
            ready.pop();
            std::int64_t const end = put(i);
            for (std::size_t const next : after_[i]) {
                earliest[next] = std::max(earliest[next], end);
                if (--waits_for_[next] == 0) { ready.push(next); }
            }
        }
        for (std::size_t i = 0; i < trace_.nodes.size(); ++i) {
            if (done[i]) { continue; }
            builder_.issue_at("waits in a circle", place_(i));
            put(i);
        }
    }

    void add(std::size_t i) {
        ChakraNode const& node = trace_.nodes[i];
        std::string const name = node.name.empty() ? std::string{node.collective()} : plain_name(node.name);
        SpanKind const kind = kind_of(node);
        std::int64_t const time = timed_ ? duration(i) : 0;
        auto const span = builder_.span(kind, builder_.name(name.empty() ? "node" : name), builder_.lane(lane_of(node)),
                                        begin_[i], begin_[i] + time);
        if (kind == SpanKind::memory && node.bytes >= 1.0 && node.bytes < 0x1p62) {
            builder_.copy(span, static_cast<std::int64_t>(node.bytes));
        }
        if (kind != SpanKind::communication || !node.is(ChakraType::collective)) { return; }
        TracedCollective call{.span = span};
        call.what = builder_.collective_name(node.collective());
        call.group = builder_.group({plain_name(node.group), {}, {}});
        call.group_size = node.group_size;
        if (node.bytes >= 1.0 && node.bytes < 0x1p62) {
            call.elements_in = call.elements_out = static_cast<std::int64_t>(node.bytes);
            call.element_bytes = 1;
        }
        builder_.collective(call);
    }

    ChakraNodes const& trace_;
    TraceBuilder& builder_;
    std::function<std::string(std::size_t)> const& place_;
    std::vector<std::int64_t> begin_;
    bool timed_ = false, started_ = false;
    std::unordered_map<std::uint64_t, std::size_t> number_;
    std::vector<std::vector<std::size_t>> after_;
    std::vector<std::uint32_t> waits_for_;
};

} // namespace

void lay_out_chakra(ChakraNodes const& trace, TraceBuilder& builder,
                    std::function<std::string(std::size_t)> const& place) {
    ChakraLayout{trace, builder, place}.lay_out();
}

} // namespace headroom::io
