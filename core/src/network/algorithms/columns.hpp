#pragma once

#include "folding.hpp"
#include "terms.hpp"

#include "headroom/network/collective_algorithm.hpp"

#include <memory>

namespace headroom::network::algorithms {

/// A collective of one level that runs across the outermost one.
struct Across {
    CollectiveTime (*time)(CollectiveCall const&);
    std::unique_ptr<MessageSchedule> (*schedule)(CollectiveCall const&);
};

/// The ranks at one place inside of every domain are a column; every column has its part of the vector and runs the same
/// schedule on it.
///
///     rank of a column's member d = column + d stride
///
/// Of C chunks the column i of w has those that are i mod w, in order; its schedule must speak of ranges of chunks.
class Columns {
public:
    struct Place {
        int width;           ///< columns
        int stride;          ///< ranks between the members of one
        int level;           ///< whose link joins them
        std::uint32_t grain; ///< chunks of the column that are one of its schedule's
    };
    Columns(std::unique_ptr<MessageSchedule> schedule, Layout const& members, Place place)
        : schedule_{std::move(schedule)}, members_{members}, place_{place} {}

    [[nodiscard]] std::int64_t rounds() const { return schedule_->rounds(); }
    void write(std::int64_t index, Round& round) const {
        Round one{members_};
        schedule_->write(index, one);
        for (Message const& message : one.messages()) {
            for (int column = 0; column < place_.width; ++column) { send(message, column, round); }
        }
    }

private:
    void send(Message const& message, int column, Round& round) const {
        Chunks const of_column{.first = chunk(column) + chunk(place_.width) * place_.grain * message.chunks.first,
                               .length = 1,
                               .stride = chunk(place_.width),
                               .repeats = place_.grain * message.chunks.length};
        round.send_on(place_.level, column + static_cast<int>(message.from) * place_.stride,
                      column + static_cast<int>(message.to) * place_.stride, message.bytes, of_column, message.adds);
    }

    std::unique_ptr<MessageSchedule> schedule_;
    Layout members_;
    Place place_;
};

/// Ranks of all levels up to this one.
inline int ranks_up_to(Layout const& layout, int level) {
    int ranks = 1;
    for (int i = 0; i <= level; ++i) { ranks *= layout.level[static_cast<std::size_t>(i)].ranks; }
    return ranks;
}
/// Bytes of the vector that the ranks of one place inside hold: n over the ranks of all levels but the outermost.
inline double column_bytes(CollectiveCall const& call) {
    return call.size.size.base() / ranks_up_to(call.layout, call.layout.levels - 2);
}

/// Call of one column: the members of the outermost level, and `bytes`.
inline CollectiveCall column_call(CollectiveCall const& call, double bytes) {
    Level const& outermost = call.layout.level[static_cast<std::size_t>(call.layout.levels - 1)];
    return {.size = {Bytes{bytes}},
            .layout = Layout::uniform(Ranks{outermost.ranks}, outermost.link),
            .reduction = call.reduction};
}

} // namespace headroom::network::algorithms
