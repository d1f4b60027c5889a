#pragma once

#include "headroom/trace/rank_trace.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace headroom::trace {

/// No interval.
inline constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

/// Host calls that start work of a device or wait for it.
constexpr bool calls_device(SpanKind kind) { return kind == SpanKind::launch || kind == SpanKind::synchronization; }

/// The host call behind each correlation number: of several the one that began first, of those the first in the trace.
class Launches {
public:
    explicit Launches(RankTrace const& trace);
    /// The span of the call; `none` for number 0, and where the call is not in the file.
    [[nodiscard]] std::uint32_t operator[](std::uint32_t correlation) const;
    [[nodiscard]] bool empty() const { return calls_.empty() && table_.empty(); }
    /// Visits the span of every call.
    template <class Visit> void each(Visit const& visit) const {
        for (auto const span : table_) {
            if (span != none) { visit(span); }
        }
        for (auto const& call : calls_) { visit(call.span); }
    }

    /// Looks up numbers that nearly rise: each from the place of the one before it.
    class Walk {
    public:
        explicit Walk(Launches const& launches) : launches_(launches) {}
        [[nodiscard]] std::uint32_t operator[](std::uint32_t correlation);

    private:
        Launches const& launches_;
        std::size_t at_ = 0;
    };

private:
    struct Call {
        std::uint32_t correlation = 0, span = 0;
    };
    using Place = std::vector<Call>::const_iterator;

    void make_table(std::vector<Ticks> const& begin, std::size_t most);
    void sort_calls(std::vector<Ticks> const& begin);
    [[nodiscard]] std::uint32_t from_table(std::uint32_t correlation) const;
    [[nodiscard]] Place find(Place from, Place to, std::uint32_t correlation) const;

    std::vector<std::uint32_t> table_; ///< by correlation: where numbers are dense
    std::vector<Call> calls_;          ///< by correlation, each once: where they are not
};

} // namespace headroom::trace
