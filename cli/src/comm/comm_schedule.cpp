#include "comm/comm_candidates.hpp"
#include "document/json.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr double most_messages = 1e6;
constexpr double picosecond = 1e-12;

Ticks ticks_of(Seconds time) { return static_cast<Ticks>(std::nearbyint(time.base() / picosecond)); }

/// Microseconds with all their digits and no exponent.
std::string microseconds(Ticks ticks) {
    std::string fraction = std::to_string(ticks % 1'000'000);
    return std::to_string(ticks / 1'000'000) + "." + std::string(6 - fraction.size(), '0') + fraction;
}

std::string name_of_participant(int participant, int ranks) {
    return participant < ranks ? "rank " + std::to_string(participant)
                               : "switch " + std::to_string(participant - ranks);
}

/// The messages of a schedule when nothing contends, one event each on the lane of its sender.
class MessageTrace {
public:
    MessageTrace(MessageSchedule const& schedule, CollectiveCall const& call)
        : schedule_{schedule},
          call_{call},
          ready_(static_cast<std::size_t>(schedule.participants())),
          next_{ready_},
          round_{call_.layout} {}

    std::string text(std::string const& title) {
        text_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
        for (int one = 0; one < schedule_.participants(); ++one) { add_lane(one); }
        for (std::int64_t index = 0; index < schedule_.rounds(); ++index) { add_round(index); }
        text_ += R"({"ph":"M","name":"process_name","pid":0,"args":{"name":)";
        append_json_string(text_, title);
        return text_ + "}}\n]}\n";
    }
    [[nodiscard]] Ticks end() const { return std::ranges::max(ready_); }

private:
    void add_lane(int participant) {
        text_ += R"({"ph":"M","name":"thread_name","pid":0,"tid":)" + std::to_string(participant) +
                 R"(,"args":{"name":")" + name_of_participant(participant, call_.layout.ranks) + "\"}},\n";
    }

    void add_round(std::int64_t index) {
        round_.clear();
        schedule_.write(index, round_);
        for (Message const& message : round_.messages()) { add(index, message); }
        for (Message const& message : round_.messages()) {
            ready_[message.from] = next_[message.from];
            ready_[message.to] = next_[message.to];
        }
    }

    /// It begins when both ends are through with their rounds before it; who adds is busy for longer.
    void add(std::int64_t index, Message const& message) {
        Link const& link = call_.layout.level.at(message.level).link;
        Ticks const begin = std::max(ready_[message.from], ready_[message.to]);
        Ticks const lasts = ticks_of(link.latency + Bytes{message.bytes} / link.bandwidth);
        bool const adds = message.adds && message.to < static_cast<std::uint32_t>(call_.layout.ranks);
        Ticks const adding = adds ? ticks_of(Bytes{message.bytes} * call_.reduction) : 0;
        next_[message.from] = std::max(next_[message.from], begin + lasts);
        next_[message.to] = std::max(next_[message.to], begin + lasts + adding);
        text_ += R"({"ph":"X","name":"to )" + std::to_string(message.to) + R"(","cat":")" +
                 (message.adds ? "add" : "copy") + R"(","pid":0,"tid":)" + std::to_string(message.from) + R"(,"ts":)" +
                 microseconds(begin) + R"(,"dur":)" + microseconds(lasts) + R"(,"args":{"round":)" +
                 std::to_string(index) + R"(,"from":)" + std::to_string(message.from) + R"(,"to":)" +
                 std::to_string(message.to) + R"(,"bytes":)" + exact(message.bytes) + R"(,"level":)" +
                 std::to_string(message.level) + "}},\n";
    }

    MessageSchedule const& schedule_;
    CollectiveCall call_;
    std::vector<Ticks> ready_, next_;
    Round round_;
    std::string text_;
};

/// The fastest row that has messages.
CommRow const& scheduled_row(CommReport const& report, CollectiveAlgorithm const*& algorithm) {
    std::vector<CommRow const*> order;
    for (CommRow const& row : report.rows) { order.push_back(&row); }
    std::ranges::sort(order, {}, &CommRow::place);
    for (CommRow const* row : order) {
        if (row->priced_by == PricedBy::channels) { continue; }
        for (CollectiveAlgorithm const& one : collective_algorithms()) {
            if (row->collective == name_of(one.collective) && row->algorithm == one.name) {
                algorithm = &one;
                return *row;
            }
        }
    }
    refuse("--schedule", "no row here has messages of its own", "libraries' algorithms are formulas only",
           "name another --algorithm");
}

} // namespace

std::string schedule_of(CommReport const& report) {
    CollectiveAlgorithm const* algorithm = nullptr;
    CommRow const& row = scheduled_row(report, algorithm);
    CollectiveCall const call = call_of(report.question, row.ranks, row.size);
    auto const messages = messages_of(*algorithm, call);
    if (!messages) {
        refuse("--schedule", "the messages of " + row.algorithm + " last too long to write, or are too many",
               "picoseconds count 46 days", "ask for less data or fewer ranks");
    }
    if (*messages > most_messages) {
        refuse("--schedule", "the messages of " + row.algorithm + " are too many to write",
               "a file has up to a million", "ask for fewer ranks");
    }
    auto const schedule = algorithm->schedule(call);
    MessageTrace trace{*schedule, call};
    std::string text = trace.text(row.algorithm + " " + row.collective + " of " + size_words(row.size.size) + " over " +
                                  std::to_string(row.ranks) + " ranks");
    if (trace.end() != simulate(*schedule, call.layout, call.reduction).picoseconds) {
        throw ContractError{"the messages that are written end at another time than the simulation"};
    }
    return text;
}

} // namespace headroom::cli
