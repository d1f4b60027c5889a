#pragma once

#include "traces/chrome_event.hpp"
#include "traces/chrome_names.hpp"
#include "traces/chrome_text.hpp"

#include "headroom/trace/rank_trace.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace headroom::io {

/// Category of events.
enum class ChromeCategory : std::uint8_t {
    kernel,
    copy,
    device_wait,
    device_annotation,
    call, ///< of the driver or the runtime
    operation,
    annotation,
    communication, ///< of traces that are written by hand
    left_out,      ///< flows, counters, Python's call stacks, what profilers say of themselves
    none,          ///< that is known
};
ChromeCategory chrome_category(std::string_view category);

/// Events of a stretch of text, in tables of its own. `append` joins them in the order of the text, so that numbers
/// come out as if it had been read in one go.
class ChromePart {
public:
    /// A process or thread: a number, or a word of `words` as `word_base` and its number.
    using Place = std::int64_t;
    static constexpr Place word_base = std::numeric_limits<std::int64_t>::min();
    static bool is_word(Place place) { return place < word_base + (Place{1} << 32); }

    struct Lane {
        bool device = false;
        Place process = 0, thread = 0;
        auto operator<=>(Lane const&) const = default;
    };
    /// A range that begins here (`span`), or one that ends; by threads as events name them, or, of asynchronous ranges
    /// ("b", "e"), by their identifiers.
    struct Edge {
        std::uint32_t span = 0; ///< `no_span` for an end
        std::uint32_t thread = 0;
        std::int64_t time = 0;
        std::uint64_t at = 0;
    };
    struct Tie {
        std::int64_t external = 0;
        trace::TracedCollective call;
    };
    struct RankRow {
        std::uint32_t span = 0;
        std::int64_t rank = 0;
    };
    /// Wait stated by a row of waiting: the stream, and the call that recorded the event there (see `TracedWait`).
    struct Await {
        std::uint32_t span = 0;
        Lane stream;
        std::uint32_t record = 0;
    };
    struct LaneName {
        Place process = 0, thread = 0;
        std::uint32_t text = 0;
    };
    static constexpr std::uint32_t no_span = ~0U;
    static constexpr std::int64_t every_rank = std::numeric_limits<std::int64_t>::min();

    /// Takes what an event says; what is odd about it is counted in `faults`.
    void keep(ChromeEvent& event, ChromeScanner const& scanner);
    /// Joins what came after this in the text.
    void append(ChromePart&& next);
    /// Makes room for so many intervals.
    void reserve(std::size_t spans);
    [[nodiscard]] std::size_t size() const { return begin.size(); }

    std::vector<std::int64_t> begin, end;
    std::vector<std::uint32_t> lane, name, correlation;
    std::vector<trace::SpanKind> kind;

    ChromeNames names, words, collective_names, shape_texts, group_texts;
    std::vector<Lane> lanes;
    std::vector<trace::TracedCollective> collectives;
    std::vector<Tie> calls; ///< collectives of the host
    std::vector<Tie> bare;  ///< communication on the device that says nothing of itself
    std::vector<trace::RecordedShape> shapes;
    std::vector<trace::CopyBytes> copies;
    std::vector<Await> awaits;
    std::vector<Edge> edges;
    std::vector<Lane> threads; ///< of edges; `device` marks those that are identifiers
    std::vector<RankRow> ranks;
    std::vector<std::int64_t> lane_ranks; ///< of a whole trace whose devices are ranks; `every_rank` for what all share
    std::vector<trace::NumberedRange> step_ranges;   ///< ranges that state the number of their step
    std::vector<LaneName> lane_names, process_names; ///< the latter without a thread
    ChromeFaults faults;
    std::uint64_t events = 0;
    bool is_kineto = false;

private:
    ChromeCategory category_of(ChromeEvent const& event);
    Place place_of(ChromeEvent const& event, ChromeKey key);
    std::uint32_t lane_of(ChromeEvent const& event, bool device);
    std::uint32_t lane_number(Lane lane);
    std::uint32_t thread_number(Lane lane);
    std::uint32_t thread_of_edge(ChromeEvent const& event);
    void count_oddities(ChromeEvent const& event);
    bool measured(ChromeEvent const& event, bool with_duration);
    void add_span(ChromeEvent& event, ChromeScanner const& scanner, bool complete);
    trace::SpanKind kind_of(ChromeEvent const& event, ChromeCategory category, std::uint32_t name);
    void add_sides(ChromeEvent const& event, ChromeCategory category, std::uint32_t span, trace::SpanKind what);
    trace::TracedCollective collective_of(ChromeEvent const& event, std::uint32_t span);
    void add_shape(ChromeEvent const& event, std::uint32_t span);
    void add_lane_name(ChromeEvent const& event);
    void join_sides(ChromePart& next, std::uint32_t spans);
    Place joined(ChromePart const& next, Place place);
    Lane joined(ChromePart const& next, Lane const& lane);
    trace::TracedCollective joined(ChromePart const& next, trace::TracedCollective call, std::uint32_t spans);

    struct NameTraits {
        bool communicates, synchronizes, loads_data, parameters;
    };
    NameTraits traits_of(std::uint32_t name);
    std::vector<NameTraits> traits_; ///< by name, as far as was asked
    std::map<Lane, std::uint32_t> lane_numbers_, thread_numbers_;
    struct CachedLane {
        Lane lane;
        std::uint32_t number = 0;
        bool set = false;
    };
    std::array<CachedLane, 64> lane_cache_;
    struct CachedCategory {
        std::uint64_t first = 0, last = 0;
        std::size_t size = 0;
        ChromeCategory category = ChromeCategory::none;
    };
    std::array<CachedCategory, 64> category_cache_;
    std::string scratch_;
};

/// A process group as `ChromePart::group_texts` has it: name, description and ranks, apart by a zero byte.
trace::TraceGroup chrome_group(std::string_view text);

} // namespace headroom::io
