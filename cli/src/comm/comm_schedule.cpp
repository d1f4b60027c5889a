#include "comm/comm_report.hpp"

#include "headroom/document/json.hpp"

namespace headroom::cli {

using namespace headroom::network;

namespace {

/// Microseconds with all their digits and no exponent.
std::string microseconds(Ticks ticks) {
    std::string fraction = std::to_string(ticks % 1'000'000);
    return std::to_string(ticks / 1'000'000) + "." + std::string(6 - fraction.size(), '0') + fraction;
}

std::string name_of_participant(int participant, int ranks) {
    return participant < ranks ? "rank " + std::to_string(participant)
                               : "switch " + std::to_string(participant - ranks);
}

std::string event_of(std::int64_t round, Message const& message, Ticks begin, Ticks duration) {
    return R"({"ph":"X","name":"to )" + std::to_string(message.to) + R"(","cat":")" + (message.adds ? "add" : "copy") +
           R"(","pid":0,"tid":)" + std::to_string(message.from) + R"(,"ts":)" + microseconds(begin) + R"(,"dur":)" +
           microseconds(duration) + R"(,"args":{"round":)" + std::to_string(round) + R"(,"from":)" +
           std::to_string(message.from) + R"(,"to":)" + std::to_string(message.to) + R"(,"bytes":)" +
           exact(message.bytes) + R"(,"level":)" + std::to_string(message.level) + "}},\n";
}

} // namespace

std::string schedule_of(CommAnswer const& answer) {
    CommSchedule const schedule = comm_schedule(answer);
    CommRow const& row = *schedule.row;
    std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
    for (int one = 0; one < schedule.messages->participants(); ++one) { // the lane of each sender
        text += R"({"ph":"M","name":"thread_name","pid":0,"tid":)" + std::to_string(one) + R"(,"args":{"name":")" +
                name_of_participant(one, row.ranks) + "\"}},\n";
    }
    simulate(*schedule.messages, schedule.call.layout, schedule.call.reduction,
             [&](std::int64_t round, Message const& message, Ticks begin, Ticks duration) {
                 text += event_of(round, message, begin, duration);
             });
    text += R"({"ph":"M","name":"process_name","pid":0,"args":{"name":)";
    append_json_string(text, row.algorithm + " " + row.collective + " of " + size_words(row.size.size) + " over " +
                                 std::to_string(row.ranks) + " ranks");
    return text + "}}\n]}\n";
}

} // namespace headroom::cli
