#pragma once

#include "queue_run.hpp"

namespace headroom::serving::queueing {

/// Requests of which a second copy goes to another line when no answer has come after a delay. The first answer counts. A
/// copy that waits when the other is answered (if tied: when the other's service begins) is withdrawn; one that is served
/// is served to its end.
class HedgedRun {
public:
    explicit HedgedRun(QueueExperiment const& experiment);
    void pass(double until);
    void arrive(double now);
    QueueMeter& meter() { return meter_; }

private:
    enum class Stage : std::uint8_t { unsent, waits, served, over };
    struct Copy {
        std::uint32_t line = 0;
        Stage stage = Stage::unsent;
    };
    struct Request {
        double arrival = 0.0, begun = 0.0;
        std::array<Copy, 2> copies;
        bool is_begun = false, is_answered = false;
        int holds = 0; ///< events and entries of lines that name it: it is forgotten with the last
    };
    struct Entry {
        std::uint32_t request, copy;
    };
    struct Event {
        enum Kind : std::uint32_t { served, second } kind;
        std::uint32_t of; ///< line, or request
    };
    struct Line {
        WaitingLine<Entry> waiting; ///< with those that were withdrawn
        std::vector<Entry> served;
        CounterRandom services{0};
    };

    std::uint32_t enter(double now);
    void send(double now, Entry entry, std::uint32_t line);
    void begin(double now, std::uint32_t line);
    void join(double now, Line& line, Entry entry);
    void end(double now, std::uint32_t line);
    void answer(double now, Entry entry);
    void withdraw(Entry entry);
    void second(double now, std::uint32_t request);
    void let_go(std::uint32_t request);

    double delay_, growth_;
    bool tied_;
    std::size_t batch_;
    std::uint64_t places_, present_ = 0;
    TimeSource service_;
    std::vector<Line> lines_;
    LineChoice choice_;
    std::vector<Request> requests_;
    std::vector<std::uint32_t> unused_;
    events::EventQueue<double, Event> events_;
    QueueMeter meter_;
};

} // namespace headroom::serving::queueing
