#include "logs/log_columns.hpp"

#include "tables/cell_text.hpp"

#include <algorithm>
#include <map>

namespace headroom::io {
namespace {

/// In the order of `LogColumn`.
constexpr std::array<ColumnRow, log_columns> log_rows{{
    {.names = "id tableid"},
    {.names = "system cluster machine hardware platform"},
    {.names = "interconnect network fabric"},
    {.names = "ranks nranks rankcount worldsize world gpus ngpus gpucount processes procs nprocs np p workers devices "
              "accelerators tasks ntasks"},
    {.names = "nodes nnodes nodecount hosts servers machines"},
    {.names = "collective coll collectivename operation primitive benchmark test function op name"},
    {.names = "size nbytes message messagesize msgsize msg buffersize buffer datasize payload",
     .measure = CellMeasure::size},
    {.names = "time latency duration elapsed runtime t", .measure = CellMeasure::time},
    {.names = "algbw algobw algbandwidth algorithmbandwidth", .measure = CellMeasure::rate},
    {.names = "busbw busbandwidth", .measure = CellMeasure::rate},
    {.names = "dtype datatype type"},
    {.names = "algorithm algo alg"},
    {.names = "protocol proto pricedby"},
    {.names = "source"},
    {.names = "consistency"},
    {.names = "inplace"},
    {.names = "wrong nwrong errors"},
    {.names = "gpuspernode rankspernode processespernode procspernode taskspernode ntaskspernode devicespernode ppn"},
    {.names = "iters iterations niters niter repeats repetitions calls"},
}};

constexpr std::array head_words{HeadWords{"avg average mean", -100}, HeadWords{"median", -50},
                                HeadWords{"min best", 100}, HeadWords{"max worst std stddev", ColumnMatch::never},
                                HeadWords{"num number of total out in place oop ip inplace outofplace", 0}};

bool has_word(std::string_view head, std::string_view word) {
    constexpr std::string_view between = " _-.()[]#";
    while (!head.empty()) {
        auto const end = std::min(head.find_first_of(between), head.size());
        if (same_caseless(head.substr(0, end), word)) { return true; }
        head.remove_prefix(std::min(end + 1, head.size()));
    }
    return false;
}

/// Columns in place go before the others where they are asked for, else behind them.
int place_rank(std::string_view head, bool in_place) {
    bool const out = has_word(head, "oop") || has_word(head, "out") || has_word(head, "outofplace");
    bool const in = !out && (has_word(head, "ip") || has_word(head, "inplace") ||
                             (has_word(head, "in") && has_word(head, "place")));
    constexpr int before_units = 2 * ColumnMatch::unit_alone;
    return in ? (in_place ? -before_units : before_units) : 0;
}

/// Prefers "seconds" to "latency_seconds" where one header has both: the former is the whole time, the latter a part of
/// it.
void prefer_whole_time(std::vector<std::string> const& names, ColumnMatch& time) {
    if (!time.found() || !has_word(names[static_cast<std::size_t>(time.column)], "latency")) { return; }
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (!same_caseless(names[i], "seconds")) { continue; }
        time.column = static_cast<int>(i);
        time.unit = CellUnit{.factor = 1.0};
    }
}

/// Whether a head is by its name one of the columns: then it is no other by its unit alone.
bool is_named(std::string_view head) {
    return std::ranges::any_of(log_rows, [&](ColumnRow const& row) {
        return match_head(head, row, head_words).rank < ColumnMatch::unit_alone / 2;
    });
}

/// A head that names a collective, and its other words: "ms" of "all_gather_ms", "time (us)" of "time all-reduce (us)".
struct CollectiveHead {
    network::Collective collective;
    std::string rest;
};

/// The longest run of words of a head that is a collective: "reduce_scatter" goes before "reduce".
std::optional<CollectiveHead> head_of_collective(std::string_view head) {
    constexpr std::string_view between = " _-.()[]/";
    std::optional<CollectiveHead> found;
    std::size_t longest = 0;
    for (std::size_t from = 0; from < head.size(); ++from) {
        bool const starts = from == 0 || between.find(head[from - 1]) != std::string_view::npos;
        for (std::size_t end = head.size(); starts && end > from + longest; --end) {
            bool const ends = end == head.size() || between.find(head[end]) != std::string_view::npos;
            auto const collective = ends ? collective_in(head.substr(from, end - from)) : std::nullopt;
            if (!collective) { continue; }
            longest = end - from;
            std::string_view const before = head.substr(0, from), after = head.substr(end);
            auto const word = after.find_first_not_of(" _-.");
            std::string rest{before};
            if (word != std::string_view::npos) { rest += after.substr(word); }
            while (!rest.empty() && std::string_view{" _-."}.find(rest.back()) != std::string_view::npos) {
                rest.pop_back();
            }
            found = {*collective, rest};
        }
    }
    return found;
}

LogHeader match_log_header(std::vector<std::string> const& names, bool in_place) {
    LogHeader matched;
    for (std::size_t what = 0; what < log_columns; ++what) {
        ColumnMatch& best = matched.matches.at(what);
        for (std::size_t i = 0; i < names.size(); ++i) {
            ColumnMatch match = match_head(names[i], log_rows.at(what), head_words);
            match.column = static_cast<int>(i);
            if (match.rank >= ColumnMatch::never / 2) { continue; }
            if (match.rank >= ColumnMatch::unit_alone / 2 && is_named(names[i])) { continue; }
            match.rank += place_rank(names[i], in_place);
            if (match.rank < best.rank) { best = match; }
        }
    }
    prefer_whole_time(names, matched.matches.at(static_cast<std::size_t>(LogColumn::time)));
    auto& algorithm = matched.matches.at(static_cast<std::size_t>(LogColumn::algorithm_bandwidth));
    auto& bus = matched.matches.at(static_cast<std::size_t>(LogColumn::bus_bandwidth));
    if (algorithm.column == bus.column) { algorithm = bus = {}; } // "bandwidth (GB/s)" states neither
    return matched;
}

} // namespace

void refuse_unread_heads(std::vector<std::string> const& names, LogHeader const& header, std::string_view place) {
    constexpr std::array counts{LogColumn::ranks, LogColumn::nodes, LogColumn::per_node};
    for (std::size_t what = 0; what < log_columns; ++what) {
        ColumnMatch const& match = header.matches.at(what);
        bool const number = log_rows.at(what).measure != CellMeasure::nothing ||
                            std::ranges::find(counts, static_cast<LogColumn>(what)) != counts.end();
        if (!match.found() || !match.unread || !number) { continue; }
        refuse_unread(names[static_cast<std::size_t>(match.column)], log_rows.at(what), place);
    }
}

CellMeasure measure_of(LogColumn what) { return log_rows.at(static_cast<std::size_t>(what)).measure; }

std::optional<network::Collective> collective_in(std::string_view name) {
    if (name.ends_with("_perf")) { name.remove_suffix(5); }
    return network::collective_from(name);
}

bool is_size_of_rank(std::string_view head) {
    return has_word(head, "per") || has_word(head, "send") || has_word(head, "recv") || has_word(head, "local") ||
           has_word(head, "shard") || has_word(head, "chunk");
}

std::vector<LogHeader> match_log_headers(std::vector<std::string> const& names, bool in_place,
                                         bool latency_is_message) {
    LogHeader const plain = match_log_header(names, in_place);
    if (plain.has(LogColumn::collective)) { return {plain}; }
    constexpr std::array values{LogColumn::time, LogColumn::algorithm_bandwidth, LogColumn::bus_bandwidth};
    std::map<network::Collective, std::vector<std::string>> named; // the heads of each without its name
    std::vector<network::Collective> order;
    std::vector<std::string> others = names;
    for (std::size_t i = 0; i < names.size(); ++i) {
        auto const of_one = head_of_collective(names[i]);
        bool const message = of_one && of_one->collective == network::Collective::point_to_point;
        if (!of_one || (message && !latency_is_message && has_word(names[i], "latency"))) { continue; }
        LogHeader const alone = match_log_header({of_one->rest}, in_place);
        if (std::ranges::none_of(values, [&](LogColumn what) { return alone.has(what); })) { continue; }
        auto const [heads, first] = named.try_emplace(of_one->collective, names.size());
        if (first) { order.push_back(of_one->collective); }
        heads->second[i] = of_one->rest;
        others[i].clear();
    }
    if (named.empty()) { return {plain}; }
    LogHeader const shared = match_log_header(others, in_place);
    std::vector<LogHeader> headers;
    for (network::Collective const one : order) {
        LogHeader const own = match_log_header(named.at(one), in_place);
        LogHeader& header = headers.emplace_back(shared);
        header.collective = one;
        for (LogColumn const what : values) {
            auto const at = static_cast<std::size_t>(what);
            header.matches.at(at) = own.matches.at(at);
        }
    }
    return headers;
}

} // namespace headroom::io
