#include "chip_use.hpp"

#include <algorithm>
#include <bit>

namespace headroom::training::simulation {

using namespace headroom::laws;

namespace {

/// A set of kinds.
using Kinds = std::uint32_t;
constexpr Kinds just(WorkKind kind) { return Kinds{1} << static_cast<unsigned>(kind); }
constexpr Kinds communication() {
    Kinds kinds = 0;
    for (std::size_t k = 0; k < work_kind_count; ++k) {
        auto const kind = static_cast<WorkKind>(k);
        kinds |= communicates(kind) ? just(kind) : 0;
    }
    return kinds;
}

/// State of a stream as time passes: busy with one kind of work, or idle.
class Cursor {
public:
    Cursor(StreamProgram const& program, StreamOrder const& order, StreamRun const& run, StreamId stream)
        : program_{program},
          order_{order},
          run_{run},
          computes_{program.streams[stream].computes},
          task_{order.head[stream]} {
        skip_empty();
    }

    /// Next time at which the stream becomes busy or idle.
    [[nodiscard]] Ticks next() const {
        if (task_ == no_task) { return never; }
        return is_busy_ ? run_.end[task_] : run_.begin[task_];
    }
    /// Moves on to the state after that time.
    void pass() {
        Ticks const now = next();
        if (is_busy_) {
            task_ = order_.next[task_];
            skip_empty();
        }
        is_busy_ = task_ != no_task && run_.begin[task_] == now;
    }
    [[nodiscard]] Kinds kinds() const { return is_busy_ ? just(program_.kind[task_]) : 0; }
    [[nodiscard]] bool computes() const { return is_busy_ && computes_ && !communicates(program_.kind[task_]); }

private:
    void skip_empty() {
        while (task_ != no_task && run_.begin[task_] == run_.end[task_]) { task_ = order_.next[task_]; }
    }

    StreamProgram const& program_;
    StreamOrder const& order_;
    StreamRun const& run_;
    bool computes_;
    bool is_busy_ = false;
    TaskId task_;
};

/// Kind of work that a moment without computation is attributed to.
std::size_t first_of(Kinds kinds) {
    Kinds const communicating = kinds & communication();
    return static_cast<std::size_t>(std::countr_zero(communicating != 0 ? communicating : kinds));
}

ChipUse use_of(std::vector<Cursor>& streams, Ticks makespan) {
    ChipUse use;
    for (Ticks now = 0; now < makespan;) {
        Ticks next = makespan;
        Kinds kinds = 0;
        bool computes = false;
        for (Cursor& stream : streams) {
            if (stream.next() == now) { stream.pass(); }
            kinds |= stream.kinds();
            computes |= stream.computes();
            next = std::min(next, stream.next());
        }
        Ticks const span = next - now;
        for (Kinds left = kinds; left != 0; left &= left - 1) {
            use.busy[static_cast<std::size_t>(std::countr_zero(left))] += span;
        }
        (computes ? use.computing : kinds != 0 ? use.exposed[first_of(kinds)] : use.idle) += span;
        now = next;
    }
    return use;
}

} // namespace

std::vector<ChipUse> use_of_chips(StreamProgram const& program, StreamOrder const& order, StreamRun const& run) {
    std::vector<std::vector<Cursor>> chips;
    for (std::size_t s = 0; s < program.streams.size(); ++s) {
        std::size_t const chip = program.streams[s].chip;
        if (chip >= chips.size()) { chips.resize(chip + 1); }
        chips[chip].emplace_back(program, order, run, static_cast<StreamId>(s));
    }
    std::vector<ChipUse> uses;
    uses.reserve(chips.size());
    for (auto& streams : chips) { uses.push_back(use_of(streams, run.makespan)); }
    return uses;
}

} // namespace headroom::training::simulation
