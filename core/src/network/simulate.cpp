#include "ticks.hpp"

#include "headroom/network/message_schedule.hpp"

#include <algorithm>
#include <array>

namespace headroom::network {
namespace {

/// Alpha and beta of a level, in seconds.
struct Rate {
    double latency = 0.0, per_byte = 0.0;
};

/// Times of a message and of adding it. Messages of a round mostly equal the one before.
class Prices {
public:
    Prices(Layout const& layout, SecondsPerByte reduction)
        : gamma_{reduction.base()}, ranks_{static_cast<std::uint32_t>(layout.ranks)} {
        for (std::size_t i = 0; i < rates_.size(); ++i) {
            Link const& link = layout.level[i].link;
            rates_[i] = {link.latency.base(), link.bandwidth.base() > 0.0 ? 1.0 / link.bandwidth.base() : 0.0};
        }
    }

    void price(Message const& message) {
        if (message.bytes == bytes_ && message.level == level_) { return; }
        bytes_ = message.bytes;
        level_ = message.level;
        Rate const rate = rates_[level_];
        bandwidth_ = bytes_ * rate.per_byte;
        latency_ = rate.latency;
        transfer_ = ticks_of(latency_ + bandwidth_);
        adding_ = ticks_of(bytes_ * gamma_);
        longest_ = std::max(longest_, checked_sum(transfer_ + adding_));
    }
    /// The longest that any message so far, and the adding of it, keeps its ends busy.
    [[nodiscard]] Ticks longest() const { return longest_; }
    /// Whether the receiver is busy adding: switches, numbered after the ranks, add as fast as data comes.
    [[nodiscard]] bool adds(Message const& message) const { return message.adds && message.to < ranks_; }
    [[nodiscard]] Ticks transfer() const { return transfer_; }
    [[nodiscard]] Ticks adding() const { return adding_; }
    [[nodiscard]] CollectiveTime parts(bool added) const {
        return {Seconds{latency_}, Seconds{bandwidth_}, Seconds{added ? bytes_ * gamma_ : 0.0}};
    }

private:
    std::array<Rate, Layout::most_levels> rates_{};
    double gamma_;
    std::uint32_t ranks_;
    double bytes_ = -1.0, latency_ = 0.0, bandwidth_ = 0.0;
    std::uint8_t level_ = 0;
    Ticks transfer_ = 0, adding_ = 0, longest_ = 0;
};

/// When a participant is through with a round, and what its critical path is made of so far.
struct Progress {
    Ticks time = 0;
    std::int64_t messages = 0;
    CollectiveTime parts;
};

Progress after(Progress const& before, Ticks duration, CollectiveTime const& cost) {
    return {before.time + duration,
            before.messages + 1,
            {before.parts.latency + cost.latency, before.parts.bandwidth + cost.bandwidth,
             before.parts.reduction + cost.reduction}};
}

void take_later(Progress& held, Progress const& other) {
    if (other.time > held.time || (other.time == held.time && other.messages > held.messages)) { held = other; }
}

struct NumberedRound {
    std::int64_t index = 0;
    std::span<Message const> messages;
};

/// `visit` may be empty.
void run_round(NumberedRound const& round, std::vector<Progress> const& ready, std::vector<Progress>& next,
               Prices& prices, MessageVisitor const& visit) {
    for (Message const& message : round.messages) {
        prices.price(message);
        Progress const& sender = ready[message.from];
        Progress const& receiver = ready[message.to];
        Progress const& start = receiver.time > sender.time ? receiver : sender;
        if (visit) { visit(round.index, message, start.time, prices.transfer()); }
        take_later(next[message.from], after(start, prices.transfer(), prices.parts(false)));
        bool const adds = prices.adds(message);
        Ticks const duration = prices.transfer() + (adds ? prices.adding() : 0);
        take_later(next[message.to], after(start, duration, prices.parts(adds)));
    }
}

/// Upper bound of the participants' times: no round takes longer than its longest message, so the times are inspected
/// only when that bound no longer fits.
class Horizon {
public:
    void after_round(Ticks longest, std::vector<Progress> const& ready) {
        reach_ += longest;
        if (reach_ <= most_ticks) { return; }
        reach_ = 0;
        for (Progress const& one : ready) { reach_ = std::max(reach_, checked_sum(one.time)); }
    }

private:
    Ticks reach_ = 0;
};

/// Every rank, message by message.
SimulatedCollective simulate_all(MessageSchedule const& schedule, Layout const& layout, Prices& prices,
                                 MessageVisitor const& visit = {}) {
    Round round{layout};
    std::vector<Progress> ready(static_cast<std::size_t>(schedule.participants())), next = ready;
    Horizon horizon;
    SimulatedCollective result;
    for (std::int64_t index = 0; index < schedule.rounds(); ++index) {
        round.clear();
        schedule.write(index, round);
        run_round({index, round.messages()}, ready, next, prices, visit);
        for (Message const& message : round.messages()) {
            ready[message.from] = next[message.from];
            ready[message.to] = next[message.to];
        }
        horizon.after_round(prices.longest(), ready);
        result.messages += static_cast<std::int64_t>(round.messages().size());
    }
    Progress last;
    for (Progress const& one : ready) { take_later(last, one); }
    result.picoseconds = last.time;
    result.parts = last.parts;
    result.critical_messages = last.messages;
    return result;
}

/// One rank for all: it is ready when its partners are.
SimulatedCollective simulate_first(MessageSchedule const& schedule, Layout const& layout, Prices& prices) {
    Round round{layout};
    Progress progress;
    SimulatedCollective result;
    for (std::int64_t index = 0; index < schedule.rounds(); ++index) {
        round.clear();
        schedule.write_first(index, round);
        for (Message const& message : round.messages()) {
            prices.price(message);
            Ticks const adding = message.adds ? prices.adding() : 0;
            progress = after(progress, prices.transfer() + adding, prices.parts(message.adds));
            checked_sum(progress.time);
        }
        result.messages += static_cast<std::int64_t>(round.messages().size()) * schedule.participants();
    }
    result.picoseconds = progress.time;
    result.parts = progress.parts;
    result.critical_messages = progress.messages;
    return result;
}

} // namespace

void MessageSchedule::write_first(std::int64_t index, Round& round) const { write(index, round); }

SimulatedCollective simulate(MessageSchedule const& schedule, Layout const& layout, SecondsPerByte reduction,
                             Symmetry symmetry) {
    Prices prices{layout, reduction};
    bool const one_for_all = symmetry == Symmetry::used && schedule.rotates() && layout.levels == 1;
    return one_for_all ? simulate_first(schedule, layout, prices) : simulate_all(schedule, layout, prices);
}

SimulatedCollective simulate(MessageSchedule const& schedule, Layout const& layout, SecondsPerByte reduction,
                             MessageVisitor const& visit) {
    Prices prices{layout, reduction};
    return simulate_all(schedule, layout, prices, visit);
}

} // namespace headroom::network
