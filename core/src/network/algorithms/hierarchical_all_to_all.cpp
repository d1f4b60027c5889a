#include "folding.hpp"
#include "hierarchical.hpp"
#include "skew.hpp"
#include "terms.hpp"

namespace headroom::network::algorithms {
namespace {

/// One level of a layout: its members, the ranks of the levels inside it and those that one of its groups has in all.
struct Span {
    int members, inner, outer;
};
Span span_of(Layout const& layout, int level) {
    Span span{.members = layout.level[static_cast<std::size_t>(level)].ranks, .inner = 1, .outer = 1};
    for (int i = 0; i < level; ++i) { span.inner *= layout.level[static_cast<std::size_t>(i)].ranks; }
    span.outer = span.inner * span.members;
    return span;
}

/// Bytes that a rank gets from another on this level: for itself and for the ranks at its place in each group outside,
/// from all ranks inside of the sender. One of them is rank 0 where this rank has place 0 on all levels so far.
double message_bytes(Shares const& shares, int ranks, Span span, int to) {
    int const groups = ranks / span.outer;
    double const more = to % span.outer == 0 ? shares.busiest - shares.other : 0.0;
    return span.inner * (groups * shares.other + more);
}

/// Pairs along each level from the inside out. A block stays in its slot j: it is for the rank j places on, and its place on
/// a level moves by as much as j says there and the levels inside carry over.
class AllToAll final : public MessageSchedule {
public:
    explicit AllToAll(CollectiveCall const& call) : layout_{call.layout}, shares_{call} {
        for (int i = 0; i < layout_.levels; ++i) { rounds_ += span_of(layout_, i).members - 1; }
    }
    [[nodiscard]] int participants() const override { return layout_.ranks; }
    [[nodiscard]] std::int64_t rounds() const override { return rounds_; }
    [[nodiscard]] std::uint32_t chunks() const override { return chunk(layout_.ranks); }
    void write(std::int64_t index, Round& round) const override {
        int level = 0;
        Span span = span_of(layout_, level);
        while (index >= span.members - 1) {
            index -= span.members - 1;
            span = span_of(layout_, ++level);
        }
        for (int rank = 0; rank < layout_.ranks; ++rank) {
            send(level, span, rank, static_cast<int>(index) + 1, round);
        }
    }

private:
    /// The slots that are to move so many places: a run as long as the levels inside, which begins after the slots that
    /// carry one less over, and again for each group outside.
    void send(int level, Span span, int rank, int places, Round& round) const {
        int const place = rank / span.inner % span.members;
        int const to = rank + (place + places < span.members ? places : places - span.members) * span.inner;
        round.send_on(level, rank, to, message_bytes(shares_, layout_.ranks, span, to),
                      {.first = chunk(span.inner * (places - 1) + rank % span.inner + 1),
                       .length = chunk(span.inner),
                       .stride = chunk(span.outer),
                       .repeats = chunk(layout_.ranks / span.outer)});
    }

    Layout layout_;
    Shares shares_;
    int rounds_ = 0;
};

} // namespace

CollectiveTime hierarchical_all_to_all_time(CollectiveCall const& call) {
    Shares const shares{call};
    CollectiveTime time;
    for (int i = 0; i < call.layout.levels; ++i) {
        Span const span = span_of(call.layout, i);
        double const messages = span.members - 1;
        time = time + terms(messages, messages * message_bytes(shares, call.layout.ranks, span, 0), 0.0,
                            call.layout.level[static_cast<std::size_t>(i)].link, call.reduction);
    }
    return time;
}
std::unique_ptr<MessageSchedule> hierarchical_all_to_all_schedule(CollectiveCall const& call) {
    return std::make_unique<AllToAll>(call);
}

} // namespace headroom::network::algorithms
