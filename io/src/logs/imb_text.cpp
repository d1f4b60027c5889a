#include "logs/log_formats.hpp"
#include "logs/log_hints.hpp"

#include "headroom/network/link_class.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace headroom::io {

using namespace headroom::network;

namespace {

/// Collective that a benchmark measures, and whether its size is one rank's share.
struct Operation {
    std::string_view name;
    Collective collective;
    bool per_rank; ///< the size is one rank's share
};
constexpr std::array operations{
    Operation{"PingPong", Collective::point_to_point, false},
    Operation{"PingPongSpecificSource", Collective::point_to_point, false},
    Operation{"Sendrecv", Collective::point_to_point, false},
    Operation{"Allreduce", Collective::all_reduce, false},
    Operation{"Reduce", Collective::reduce, false},
    Operation{"Bcast", Collective::broadcast, false},
    Operation{"Reduce_scatter", Collective::reduce_scatter, false},
    Operation{"Reduce_scatter_block", Collective::reduce_scatter, true},
    Operation{"Allgather", Collective::all_gather, true},
    Operation{"Gather", Collective::gather, true},
    Operation{"Scatter", Collective::scatter, true},
    Operation{"Alltoall", Collective::all_to_all, true},
    Operation{"Barrier", Collective::barrier, false},
};
constexpr std::array<std::string_view, 2> streams{"Uniband", "Biband"};

/// Where the columns of a block stand; -1 where there is none.
struct Columns {
    int size = -1, time = -1, rate = -1, defects = -1, count = 0;
    double unit = 0.0; ///< seconds
    bool groups = false;
};

/// "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec": false when the line is another.
bool read_columns(std::string_view line, Columns& columns) {
    if (line.find("#repetitions") == std::string_view::npos) { return false; }
    columns = {};
    for (; !line.empty(); ++columns.count) {
        std::string_view const word = next_word(line);
        auto const bracket = word.find('[');
        std::string_view const name = word.substr(0, bracket);
        if (name == "#bytes") { columns.size = columns.count; }
        if (name == "Mbytes/sec") { columns.rate = columns.count; }
        if (name == "defects") { columns.defects = columns.count; }
        columns.groups = columns.groups || name == "Group" || name == "#Group";
        if (name != "t" && name != "t_avg") { continue; }
        columns.time = columns.count;
        std::string_view const unit = bracket == std::string_view::npos ? "" : word.substr(bracket + 1);
        auto const known = time_unit(unit.substr(0, unit.find(']')));
        columns.unit = known ? known->base(1.0) : 0.0;
    }
    return true;
}

class Reader {
public:
    Reader(std::string_view text, LogBuilder& log) : lines_{text}, log_{log} {}

    std::size_t read() {
        for (std::string_view line; lines_.next(line);) {
            if (line.empty()) { continue; }
            if (read_columns(line, columns_)) {
                in_block_ = true;
                shape_ = run_shape({processes_ > 0 ? processes_ : 0, 0}, log_);
            } else if (line.starts_with('#')) {
                comment(line);
            } else if (in_block_) {
                results(line);
            }
        }
        return lines_.number();
    }

private:
    void comment(std::string_view line) {
        std::string_view rest = line.substr(1);
        std::string_view const first = next_word(rest);
        if (first == "Benchmarking") {
            name_ = next_word(rest);
            processes_ = 0;
            groups_ = in_block_ = false;
        } else if (first.starts_with("#processes")) {
            if (first == "#processes" && rest.starts_with('=')) { rest.remove_prefix(1); }
            processes_ = printed_count(next_word(rest)).value_or(0);
        } else if (line.find("running simultaneous") != std::string_view::npos) {
            groups_ = true;
        }
    }

    void results(std::string_view line) {
        std::vector<std::string_view> words;
        constexpr std::size_t most_words = 32;
        for (std::string_view rest = line; !rest.empty() && words.size() < most_words;) {
            words.push_back(next_word(rest));
        }
        if (!printed_number(words.front())) { return leave_out(Unused::other_text, line); }
        auto const failed = [&](std::string_view part) { return line.find(part) != std::string_view::npos; };
        if (failed("out-of-mem") || failed("overflow") || failed("time-out")) {
            return leave_out(Unused::not_available, line);
        }
        if (std::ranges::find(streams, std::string_view{name_}) != streams.end()) {
            return leave_out(Unused::not_a_latency, line);
        }
        auto const operation = std::ranges::find(operations, std::string_view{name_}, &Operation::name);
        if (operation == operations.end()) { return leave_out(Unused::other_collective, line); }
        if (groups_ || columns_.groups) { return leave_out(Unused::several_at_once, line); }
        take(*operation, words, line);
    }

    void take(Operation const& operation, std::vector<std::string_view> const& words, std::string_view line) {
        auto const wanted = static_cast<std::size_t>(columns_.count);
        bool const last_is_cut = lines_.unfinished() && words.size() == wanted;
        if (words.size() < wanted || last_is_cut) { return leave_out(Unused::truncated, line); }
        bool const barrier = operation.collective == Collective::barrier;
        bool const whole = columns_.time >= 0 && (barrier || columns_.size >= 0);
        auto const is_broken = [](std::string_view word) {
            return is_decimal_digit(word.front()) && !printed_number(word);
        };
        if (words.size() > wanted || !whole || std::ranges::any_of(words, is_broken)) { // also in unused columns
            return leave_out(Unused::unreadable, line);
        }
        if (!(columns_.unit > 0.0)) { return leave_out(Unused::unitless_time, line); }
        auto const at = [&](int column) {
            return column < 0 ? std::nullopt : printed_number(words[static_cast<std::size_t>(column)]);
        };
        auto const time = at(columns_.time), size = at(columns_.size), rate = at(columns_.rate);
        if (!time || (!size && !barrier)) { return leave_out(Unused::unreadable, line); }
        constexpr double tolerated_defect = 1e-5; // what the benchmarks themselves let pass for sums of floats
        auto const defect = at(columns_.defects);
        if (defect && defect->value > tolerated_defect) { return leave_out(Unused::wrong_results, line); }
        PrintedBandwidths printed;
        // Sendrecv counts the bytes of both directions
        if (rate && operation.name != "Sendrecv") { printed.algorithm = {rate->value / 1e3, rate->half_unit / 1e3}; }
        add(operation, barrier ? 0.0 : size->value, time->value, printed, line);
    }

    void add(Operation const& operation, double size, double time, PrintedBandwidths const& printed,
             std::string_view line) {
        if (shape_.ranks == 0) { return leave_out(Unused::no_ranks, line); }
        bool const ping = operation.name.starts_with("PingPong");
        MeasuredCollective one;
        one.collective = operation.collective;
        one.ranks = ping ? 2 : shape_.ranks;
        one.nodes = ping ? std::min(2, shape_.nodes) : shape_.nodes;
        one.size = TotalBytes{Bytes{size * (operation.per_rank ? one.ranks : 1)}};
        one.time = Seconds{time * columns_.unit};
        if (one.nodes == 1) { one.interconnect = host_memory_words; }
        one.line = lines_.number();
        log_.add(std::move(one), printed, line);
    }

    void leave_out(Unused why, std::string_view line) { log_.leave_out(why, lines_.number(), line); }

    LogLines lines_;
    LogBuilder& log_;
    std::string name_;
    Columns columns_;
    RunShape shape_;
    int processes_ = 0;
    bool in_block_ = false, groups_ = false;
};

} // namespace

bool looks_like_imb(std::string_view text) {
    LogLines lines{text};
    bool title = false;
    for (std::string_view line; lines.next(line);) {
        title = title || (line.starts_with('#') && line.find("Benchmarking ") != std::string_view::npos);
        Columns columns;
        if (title && read_columns(line, columns)) { return true; }
    }
    return false;
}

ReadLog read_imb(std::string_view text, LogBuilder& log) { return {"imb", Reader{text, log}.read()}; }

} // namespace headroom::io
