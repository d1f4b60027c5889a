#include "hierarchical.hpp"

#include "columns.hpp"
#include "folding.hpp"
#include "one_level.hpp"
#include "terms.hpp"

#include "headroom/network/collective_algorithm.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace headroom::network::algorithms {
namespace {

/// k domains of g ranks, the last of s < g.
struct Domains {
    explicit Domains(Layout const& layout)
        : p{layout.ranks}, g{layout.level[0].ranks}, k{layout.level[1].ranks}, s{p - (k - 1) * g} {}
    int p, g, k, s;
    [[nodiscard]] int size(int domain) const { return domain + 1 < k ? g : s; }
    [[nodiscard]] int handing() const { return std::max(s, g - s); } ///< rounds
};

/// The ring of domains on a column: each has as many units of the column's p as it has ranks.
class UnequalRing final : public MessageSchedule {
public:
    UnequalRing(Domains domains, double unit, bool adds) : domains_{domains}, unit_{unit}, adds_{adds} {}
    [[nodiscard]] int participants() const override { return domains_.k; }
    [[nodiscard]] std::int64_t rounds() const override { return domains_.k - 1; }
    [[nodiscard]] std::uint32_t chunks() const override { return chunk(domains_.p); }
    void write(std::int64_t index, Round& round) const override {
        int const k = domains_.k, behind = static_cast<int>(index) + (adds_ ? 1 : 0);
        for (int domain = 0; domain < k; ++domain) {
            int const block = domain >= behind ? domain - behind : domain - behind + k;
            int const units = domains_.size(block);
            round.send(domain, domain + 1 < k ? domain + 1 : 0, units * unit_,
                       {.first = chunk(block * domains_.g), .length = chunk(units)}, adds_);
        }
    }

private:
    Domains domains_;
    double unit_; ///< bytes
    bool adds_;
};

/// Column i of s has the chunks that are i mod s, X of them. An owner's shard of the n/g is the first X s/g of its column;
/// that of another rank j is X/g of every column, from the X j/g th on.
class Uneven final : public MessageSchedule {
public:
    enum class Phase { ring_in, hand_over, deal, across, collect, hand_back, ring_out };

    Uneven(CollectiveCall const& call, std::vector<Phase> phases, std::unique_ptr<MessageSchedule> across)
        : domains_{call.layout},
          bytes_{call.size.size.base()},
          phases_{std::move(phases)},
          column_{std::lcm(chunk(domains_.g), across->chunks())},
          grain_{column_ / across->chunks()},
          across_{std::move(across),
                  column_call(call, 0.0).layout,
                  {.width = domains_.s, .stride = domains_.g, .level = 1, .grain = grain_}} {}

    [[nodiscard]] int participants() const override { return domains_.p; }
    [[nodiscard]] std::uint32_t chunks() const override { return chunk(domains_.s) * column_; }
    [[nodiscard]] std::int64_t rounds() const override {
        std::int64_t sum = 0;
        for (Phase const phase : phases_) { sum += rounds_of(phase); }
        return sum;
    }
    void write(std::int64_t index, Round& round) const override {
        auto phase = phases_.begin();
        for (; index >= rounds_of(*phase); ++phase) { index -= rounds_of(*phase); }
        if (*phase == Phase::across) { return across_.write(index, round); }
        for (int domain = 0; domain < domains_.k; ++domain) {
            write_domain(*phase, static_cast<int>(index), domain, round);
        }
    }

private:
    [[nodiscard]] std::int64_t rounds_of(Phase phase) const {
        switch (phase) {
        case Phase::across: return across_.rounds();
        case Phase::hand_over:
        case Phase::hand_back: return domains_.handing();
        case Phase::ring_in:
        case Phase::ring_out:
        case Phase::deal:
        case Phase::collect: return domains_.g - 1;
        }
        return 0;
    }
    /// The last domain is through with its rings, and with dealing, some rounds before the others.
    void write_domain(Phase phase, int index, int domain, Round& round) const {
        bool const hands = phase == Phase::hand_over || phase == Phase::hand_back;
        if (hands ? domain + 1 == domains_.k : index >= domains_.size(domain) - 1) { return; }
        switch (phase) {
        case Phase::ring_in: return write_ring(index, domain, true, round);
        case Phase::ring_out: return write_ring(index, domain, false, round);
        case Phase::hand_over: return write_handing(index, domain, true, round);
        case Phase::hand_back: return write_handing(domains_.handing() - 1 - index, domain, false, round);
        case Phase::collect: return write_shards(index + 1, domain, true, round);
        case Phase::deal: return write_shards(index + 1, domain, false, round);
        case Phase::across: return;
        }
    }

    [[nodiscard]] Chunks of_column(int column, std::uint32_t first, std::uint32_t count) const {
        std::uint32_t const s = chunk(domains_.s);
        return {.first = chunk(column) + s * first, .stride = s, .repeats = count};
    }
    /// The shard of a place in the ring of a domain of this size.
    [[nodiscard]] Chunks shard(int place, int size) const {
        std::uint32_t const s = chunk(domains_.s), part = column_ / chunk(domains_.g);
        if (size == domains_.s) { return of_column(place, 0, column_); }
        if (place < domains_.s) { return of_column(place, 0, part * s); }
        return {.first = s * part * chunk(place), .length = s * part};
    }

    void write_ring(int step, int domain, bool adds, Round& round) const {
        int const size = domains_.size(domain), first = domain * domains_.g, behind = adds ? step + 1 : step;
        for (int place = 0; place < size; ++place) {
            int const block = place >= behind ? place - behind : place - behind + size;
            round.send_on(0, first + place, first + (place + 1 < size ? place + 1 : 0), bytes_ / size,
                          shard(block, size), adds);
        }
    }
    /// Every other rank has a turn with every owner.
    void write_handing(int turn, int domain, bool over, Round& round) const {
        auto const [p, g, k, s] = domains_;
        std::uint32_t const part = column_ / chunk(g);
        for (int other = s; other < g; ++other) {
            int const owner = (other - s + turn) % domains_.handing();
            if (owner >= s) { continue; }
            int const from = domain * g + (over ? other : owner), to = domain * g + (over ? owner : other);
            round.send_on(0, from, to, bytes_ / g / s, of_column(owner, part * chunk(other), part));
        }
    }
    /// Every rank's own shard of n/p, a piece of it with every owner of its domain.
    void write_shards(int turn, int domain, bool collect, Round& round) const {
        auto const [p, g, k, s] = domains_;
        int const size = domains_.size(domain);
        for (int place = 0; place < size; ++place) {
            int const owner = (place + turn) % size;
            if (owner >= s) { continue; }
            int const rank = domain * g + place, with = domain * g + owner;
            round.send_on(0, collect ? rank : with, collect ? with : rank, bytes_ / p / s,
                          of_column(owner, grain_ * chunk(rank), grain_));
        }
    }

    Domains domains_;
    double bytes_; ///< n
    std::vector<Phase> phases_;
    std::uint32_t column_; ///< X
    std::uint32_t grain_;  ///< of which so many are a chunk of the schedule across
    Columns across_;
};
using Phase = Uneven::Phase;

/// The terms of a full domain.
struct Terms {
    explicit Terms(CollectiveCall const& of) : call{of}, domains{of.layout} {}
    CollectiveCall const& call;
    Domains domains;

    [[nodiscard]] CollectiveTime inside(double messages, double parts, bool adds = false) const {
        double const bytes = messages * (call.size.size.base() / parts);
        return terms(messages, bytes, adds ? bytes : 0.0, call.layout.level[0].link, call.reduction);
    }
    [[nodiscard]] CollectiveTime ring(bool adds) const { return inside(domains.g - 1, domains.g, adds); }
    [[nodiscard]] CollectiveTime handing() const {
        return inside(domains.handing(), static_cast<double>(domains.g) * domains.s);
    }
    [[nodiscard]] CollectiveTime half(bool adds) const {
        auto const [p, g, k, s] = domains;
        double const shares = static_cast<double>(p) * s;
        double const crossing = (k - 1) * (g / shares * call.size.size.base());
        return ring(adds) + handing() + inside(g - 1, shares) +
               terms(k - 1, crossing, adds ? crossing : 0.0, call.layout.level[1].link, call.reduction);
    }
};

std::unique_ptr<MessageSchedule> unequal_ring(CollectiveCall const& call, bool adds) {
    Domains const domains{call.layout};
    return std::make_unique<UnequalRing>(domains, call.size.size.base() / domains.p / domains.s, adds);
}

CollectiveTime uneven_all_reduce_time(CollectiveCall const& call, Across across) {
    Terms const of{call};
    CollectiveTime const column = across.time(column_call(call, call.size.size.base() / of.domains.s));
    return of.ring(true) + of.handing() + column + of.handing() + of.ring(false);
}
std::unique_ptr<MessageSchedule> uneven_all_reduce_schedule(CollectiveCall const& call, Across across) {
    CollectiveCall const column = column_call(call, call.size.size.base() / Domains{call.layout}.s);
    return std::make_unique<Uneven>(
        call, std::vector{Phase::ring_in, Phase::hand_over, Phase::across, Phase::hand_back, Phase::ring_out},
        across.schedule(column));
}

CollectiveTime uneven_all_gather_time(CollectiveCall const& call) { return Terms{call}.half(false); }
std::unique_ptr<MessageSchedule> uneven_all_gather_schedule(CollectiveCall const& call) {
    return std::make_unique<Uneven>(call, std::vector{Phase::collect, Phase::across, Phase::hand_back, Phase::ring_out},
                                    unequal_ring(call, false));
}

CollectiveTime uneven_reduce_scatter_time(CollectiveCall const& call) { return Terms{call}.half(true); }
std::unique_ptr<MessageSchedule> uneven_reduce_scatter_schedule(CollectiveCall const& call) {
    return std::make_unique<Uneven>(call, std::vector{Phase::ring_in, Phase::hand_over, Phase::across, Phase::deal},
                                    unequal_ring(call, true));
}

/// A ring along each level but the outermost, once or there and back; adding is done once.
CollectiveTime rings_inside(CollectiveCall const& call, bool reduces, bool gathers) {
    double const turns = (reduces ? 1.0 : 0.0) + (gathers ? 1.0 : 0.0);
    CollectiveTime time;
    int ranks = 1;
    for (int i = 0; i + 1 < call.layout.levels; ++i) {
        Level const& level = call.layout.level[static_cast<std::size_t>(i)];
        ranks *= level.ranks;
        double const hops = level.ranks - 1;
        double const moved = hops * (call.size.size.base() / ranks);
        time = time + terms(turns * hops, turns * moved, reduces ? moved : 0.0, level.link, call.reduction);
    }
    return time;
}

CollectiveTime nested_time(CollectiveCall const& call, bool reduces, bool gathers, Across across) {
    return rings_inside(call, reduces, gathers) + across.time(column_call(call, column_bytes(call)));
}

/// Even levels. The shards of level l are the chunks that are the same modulo S_l, so that in the end rank r has chunk r.
class Nested final : public MessageSchedule {
public:
    Nested(CollectiveCall const& call, bool reduces, bool gathers, std::unique_ptr<MessageSchedule> across)
        : layout_{call.layout},
          bytes_{call.size.size.base()},
          outermost_{layout_.levels - 1},
          inside_{ranks_up_to(layout_, outermost_ - 1)},
          chunks_{chunk(inside_) * across->chunks()},
          across_{std::move(across),
                  column_call(call, 0.0).layout,
                  {.width = inside_, .stride = inside_, .level = outermost_, .grain = 1}} {
        for (int i = 0; i < outermost_; ++i) { steps_ += side(i) - 1; }
        reducing_ = reduces ? steps_ : 0;
        gathering_ = gathers ? steps_ : 0;
    }

    [[nodiscard]] int participants() const override { return layout_.ranks; }
    [[nodiscard]] std::int64_t rounds() const override { return reducing_ + across_.rounds() + gathering_; }
    [[nodiscard]] std::uint32_t chunks() const override { return chunks_; }
    void write(std::int64_t index, Round& round) const override {
        if (index < reducing_) {
            int level = 0;
            for (; index >= side(level) - 1; ++level) { index -= side(level) - 1; }
            write_ring(level, static_cast<int>(index), true, round);
        } else if (index -= reducing_; index < across_.rounds()) {
            across_.write(index, round);
        } else {
            index -= across_.rounds();
            int level = outermost_ - 1;
            for (; index >= side(level) - 1; --level) { index -= side(level) - 1; }
            write_ring(level, static_cast<int>(index), false, round);
        }
    }

private:
    [[nodiscard]] int side(int level) const { return layout_.level[static_cast<std::size_t>(level)].ranks; }

    /// A step of the rings along one level, as in `Ring`.
    void write_ring(int level, int step, bool adds, Round& round) const {
        int const inner = ranks_up_to(layout_, level - 1), members = side(level), outer = inner * members;
        int const behind = adds ? step + 1 : step;
        for (int rank = 0; rank < layout_.ranks; ++rank) {
            int const place = rank / inner % members;
            int const next = place + 1 < members ? rank + inner : rank - (members - 1) * inner;
            int const shard = place >= behind ? place - behind : place - behind + members;
            round.send_on(level, rank, next, bytes_ / outer,
                          {.first = chunk(rank % inner + inner * shard),
                           .stride = chunk(outer),
                           .repeats = chunks_ / chunk(outer)},
                          adds);
        }
    }

    Layout layout_;
    double bytes_; ///< n
    int outermost_, inside_;
    std::uint32_t chunks_;
    Columns across_;
    int steps_ = 0, reducing_ = 0, gathering_ = 0;
};

std::unique_ptr<MessageSchedule> nested_schedule(CollectiveCall const& call, bool reduces, bool gathers,
                                                 Across across) {
    if (call.layout.levels == 1) { return across.schedule(call); }
    return std::make_unique<Nested>(call, reduces, gathers, across.schedule(column_call(call, column_bytes(call))));
}

CollectiveTime all_reduce_time(CollectiveCall const& call, Across across) {
    return call.layout.even() ? nested_time(call, true, true, across) : uneven_all_reduce_time(call, across);
}
std::unique_ptr<MessageSchedule> all_reduce_schedule(CollectiveCall const& call, Across across) {
    if (!call.layout.even()) { return uneven_all_reduce_schedule(call, across); }
    return nested_schedule(call, true, true, across);
}

constexpr Across ring_both{ring_all_reduce_time, ring_all_reduce_schedule};
constexpr Across doubling{recursive_doubling_all_reduce_time, recursive_doubling_all_reduce_schedule};
constexpr Across rabenseifner{rabenseifner_all_reduce_time, rabenseifner_all_reduce_schedule};
constexpr Across ring_gather{ring_all_gather_time, ring_all_gather_schedule};
constexpr Across bruck{bruck_all_gather_time, bruck_all_gather_schedule};
constexpr Across ring_scatter{ring_reduce_scatter_time, ring_reduce_scatter_schedule};
constexpr Across halving{recursive_halving_reduce_scatter_time, recursive_halving_reduce_scatter_schedule};

} // namespace

bool is_even(Layout const& layout) { return layout.even(); }
bool is_even_or_two_levels(Layout const& layout) { return layout.levels == 2 || layout.even(); }

CollectiveTime hierarchical_ring_all_reduce_time(CollectiveCall const& call) {
    return all_reduce_time(call, ring_both);
}
std::unique_ptr<MessageSchedule> hierarchical_ring_all_reduce_schedule(CollectiveCall const& call) {
    return all_reduce_schedule(call, ring_both);
}

CollectiveTime hierarchical_doubling_all_reduce_time(CollectiveCall const& call) {
    return all_reduce_time(call, doubling);
}
std::unique_ptr<MessageSchedule> hierarchical_doubling_all_reduce_schedule(CollectiveCall const& call) {
    return all_reduce_schedule(call, doubling);
}

CollectiveTime hierarchical_rabenseifner_all_reduce_time(CollectiveCall const& call) {
    return all_reduce_time(call, rabenseifner);
}
std::unique_ptr<MessageSchedule> hierarchical_rabenseifner_all_reduce_schedule(CollectiveCall const& call) {
    return all_reduce_schedule(call, rabenseifner);
}

CollectiveTime hierarchical_ring_all_gather_time(CollectiveCall const& call) {
    return call.layout.even() ? nested_time(call, false, true, ring_gather) : uneven_all_gather_time(call);
}
std::unique_ptr<MessageSchedule> hierarchical_ring_all_gather_schedule(CollectiveCall const& call) {
    if (!call.layout.even()) { return uneven_all_gather_schedule(call); }
    return nested_schedule(call, false, true, ring_gather);
}

CollectiveTime hierarchical_bruck_all_gather_time(CollectiveCall const& call) {
    return nested_time(call, false, true, bruck);
}
std::unique_ptr<MessageSchedule> hierarchical_bruck_all_gather_schedule(CollectiveCall const& call) {
    return nested_schedule(call, false, true, bruck);
}

CollectiveTime hierarchical_ring_reduce_scatter_time(CollectiveCall const& call) {
    return call.layout.even() ? nested_time(call, true, false, ring_scatter) : uneven_reduce_scatter_time(call);
}
std::unique_ptr<MessageSchedule> hierarchical_ring_reduce_scatter_schedule(CollectiveCall const& call) {
    if (!call.layout.even()) { return uneven_reduce_scatter_schedule(call); }
    return nested_schedule(call, true, false, ring_scatter);
}

CollectiveTime hierarchical_halving_reduce_scatter_time(CollectiveCall const& call) {
    return nested_time(call, true, false, halving);
}
std::unique_ptr<MessageSchedule> hierarchical_halving_reduce_scatter_schedule(CollectiveCall const& call) {
    return nested_schedule(call, true, false, halving);
}

} // namespace headroom::network::algorithms
