#include "queue/queue_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/serving/request_rate.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr double still = 0.05; ///< a change of less moves nothing that anybody notices

std::string share_words(double share) { return percent(share) + " %"; }

/// "wait_probability" as people write it.
std::string spaced(std::string name) {
    std::ranges::replace(name, '_', ' ');
    return name;
}

std::string change_words(Seconds from, Seconds to) {
    double const change = to / from - 1.0;
    if (std::abs(change) < 0.0005) { return "the same"; }
    return (change < 0.0 ? "-" : "+") + percent(std::abs(change), 2) + " %";
}

bool moves(Seconds from, Seconds to) { return std::abs(to / from - 1.0) >= still; }

int least_stable(QueueReport const& report) {
    QueueRow const& row = report.answer;
    return static_cast<int>(std::floor(row.arrivals_per_second / (row.capacity_per_second / row.replicas))) + 1;
}

Seconds floor_of(QueueReport const& report) {
    return report.doubling ? report.doubling->service_p99 : service_quantile(report.question, 0.99);
}

/// Remedies for a tail that is the service's own.
constexpr char const* levers = "shorten the service, let it vary less, or send second copies (--hedge)";

std::string objective_verdict(QueueReport const& report) {
    QueueQuestion const& question = report.question;
    if (!question.objective) { return {}; }
    std::string const wanted = objective_words(question);
    if (!report.fewest) {
        Seconds const alone = service_quantile(question, question.objective->q);
        std::string const why = alone > question.objective->latency
                                    ? "the service alone has a " + percentile_name(question.objective->q) + " of " +
                                          time_words(alone) + ", and more replicas shorten the wait only. "
                                : question.queue.shape.places ? std::string{"there are too few places. "}
                                                              : std::string{"a million are too few. "};
        return "No number of replicas keeps " + wanted + ": " + why;
    }
    std::string words = wanted + " takes " + replicas_words(*report.fewest) + " at least";
    if (*report.fewest != report.answer.replicas) {
        words += report.answer.replicas < *report.fewest ? ", more than the " : ", fewer than the ";
        words += std::to_string(report.answer.replicas) + " asked about";
    }
    return words + ". ";
}

std::string unstable_verdict(QueueReport const& report) {
    QueueRow const& row = report.answer;
    std::string const come = rate_words(row.arrivals_per_second), served = rate_words(row.capacity_per_second);
    return replicas_words(row.replicas) + " cannot keep up with " + come + ": " +
           (come == served ? "that is the most they serve" : "at most " + served + " are served") +
           " and the line grows without end. From " + replicas_words(least_stable(report)) + " on it settles.";
}

std::string turned_away_words(QueueRow const& row) {
    if (row.answer.blocked <= 0.0) { return {}; }
    return " " + share_words(row.answer.blocked) + " of requests find no place and are turned away.";
}

/// Sentence on the p99 of the other arrangement: two lines, or one for all.
std::string other_lines_words(QueueReport const& report) {
    QueueDoubling const& doubling = *report.doubling;
    int const now = doubling.now.replicas;
    std::string const p99 = time_words(doubling.other_lines().p99());
    if (report.question.queue.dispatch == Dispatch::shared_line) {
        return "As two lines of " + std::to_string(now) + ", requests sent to either by chance, p99 is " + p99 + ". ";
    }
    return "Behind one line for all " + std::to_string(2 * now) + " p99 would be " + p99 + ". ";
}

std::string own_tail_words(QueueDoubling const& doubling) {
    if (!moves(doubling.same.p99(), doubling.service_p99)) {
        return "The rest is the service's own tail (p99 " + time_words(doubling.service_p99) +
               "), which no number of replicas shortens: " + std::string{levers} + ". ";
    }
    return "The service alone would have " + time_words(doubling.service_p99) + ". ";
}

/// "up", "out", or nothing where they are as good.
std::string winner_of(Seconds up, Seconds out) {
    if (std::abs(up / out - 1.0) < 0.005) { return {}; }
    return up < out ? "up" : "out";
}

std::string against_words(Seconds up, Seconds out) {
    return time_words(std::min(up, out)) + " against " + time_words(std::max(up, out));
}

std::string winners_words(QueueReport const& report) {
    ScaleChoice const &up = report.scale[1], &out = report.scale[2];
    std::string const mean = winner_of(up.answer.latency, out.answer.latency), tail = winner_of(up.p99, out.p99);
    std::string const means = against_words(up.answer.latency, out.answer.latency),
                      tails = against_words(up.p99, out.p99);
    auto const who = [&](std::string const& winner) -> std::string {
        if (winner.empty()) { return "both give the same"; }
        if (winner == "out") { return "more behind one line give the better"; }
        return std::string{up.queue.shape.servers == 1 ? "the faster one gives" : "the faster ones give"} +
               " the better";
    };
    if (mean == tail) { return who(mean) + " mean (" + means + ") and p99 (" + tails + ")"; }
    return who(mean) + " mean (" + means + "), but " + who(tail) + " p99 (" + tails + ")";
}

} // namespace

// ---- figures ------------------------------------------------------------------------------------------------------

std::string brief(double value) { return format_base(value, {}, 3); }

std::string times_words(double value, int digits) {
    return value > 0.0 && value < 1e-3 ? "below 0.001" : significant(value, digits);
}

std::string rate_words(double per_second) {
    std::string text = format(PerSecond{per_second}); // "1.5 k/s"
    std::erase(text, ' ');
    return text;
}

std::string mean_words(ComparedMean const& mean, double value) {
    constexpr double nothing = 1e-10; // shares and counts, as times are
    return mean.unit == "seconds" ? time_words(Seconds{value}) : format_base(value < nothing ? 0.0 : value, {}, 4);
}

std::string time_words(Seconds time) {
    if (!std::isfinite(time.base())) { return "no end"; }
    return format(time < Seconds{1e-10} ? Seconds{} : time);
}

std::string replicas_words(std::int64_t count) {
    return std::to_string(count) + (count == 1 ? " replica" : " replicas");
}

std::string objective_words(QueueQuestion const& question) {
    LatencyObjective const& objective = *question.objective;
    std::string words = percentile_name(objective.q) + " <= " + format(objective.latency);
    if (question.queue.shape.places) { words += " and at most " + percent(objective.blocked) + " % turned away"; }
    return words;
}

// ---- sentences ----------------------------------------------------------------------------------------------------

static std::string queue_verdict(QueueReport const& report) {
    QueueRow const& row = report.answer;
    std::string const first = objective_verdict(report);
    if (!row.answer.stable) { return first + unstable_verdict(report); }
    bool const waits = moves(floor_of(report), row.p99());
    std::string words = first + replicas_words(row.replicas) + (row.replicas == 1 ? " serves " : " serve ") +
                        rate_words(row.answer.throughput_per_second) + ", busy " + share_words(row.answer.utilization) +
                        " of the time; p99 is " + time_words(row.p99()) +
                        (waits ? " (" + time_words(floor_of(report)) + " for the service alone)" : "") + "." +
                        turned_away_words(row);
    if (!report.doubling) { return words; }
    std::string const moved = turned_away_words(row).empty() ? "it" : "p99"; // whichever was named last
    QueueDoubling const& doubling = *report.doubling;
    int const twice = doubling.same.replicas;
    if (!waits && !moves(row.p99(), doubling.same.p99())) {
        return words + " Twice as many would not move " + moved + ": it is the service's own (" +
               time_words(floor_of(report)) + ").";
    }
    return words + " " + std::to_string(twice) + " would bring " + moved + " to " + time_words(doubling.same.p99()) +
           " (" + change_words(row.p99(), doubling.same.p99()) + ").";
}

static std::string doubling_words(QueueReport const& report) {
    QueueDoubling const& doubling = *report.doubling;
    QueueRow const &now = doubling.now, &same = doubling.same, &twice = doubling.twice_traffic;
    std::string words;
    if (!now.answer.stable) {
        words = "Throughput rises from " + rate_words(now.capacity_per_second) + " to " +
                rate_words(same.answer.throughput_per_second) + ". ";
    } else {
        double const before = now.answer.throughput_per_second, after = same.answer.throughput_per_second;
        words = after > before * 1.005
                    ? "Throughput rises from " + rate_words(before) + " to " + rate_words(after) + ", since " +
                          share_words(same.answer.blocked) + " are turned away, not " +
                          share_words(now.answer.blocked) + ". "
                    : "Throughput stays at " + rate_words(after) + ": no more arrives; what could be served rises to " +
                          rate_words(same.capacity_per_second) + ". ";
        words += "The mean goes from " + time_words(now.answer.latency) + " to " + time_words(same.answer.latency) +
                 ", p99 from " + time_words(now.p99()) + " to " + time_words(same.p99()) + " (" +
                 change_words(now.p99(), same.p99()) + "). ";
    }
    if (!same.answer.stable) { return words + "That is still too few."; }
    words += own_tail_words(doubling) + other_lines_words(report);
    if (now.answer.stable && twice.answer.stable) {
        words += "With twice the traffic as well p99 is " + time_words(twice.p99()) + ".";
    }
    return words;
}

std::string knee_words(QueueReport const& report) {
    QueueRow const &row = *report.knee, &now = report.answer;
    std::string words =
        "The knee is at " + rate_words(row.arrivals_per_second) + " (busy " + share_words(row.answer.utilization) +
        "): throughput over latency is greatest there, and beyond " + "it latency grows faster than throughput. ";
    if (!now.answer.stable) { return words + "The load is beyond what can be served."; }
    bool const beyond = now.arrivals_per_second > row.arrivals_per_second * 1.02;
    bool const before = now.arrivals_per_second < row.arrivals_per_second * 0.98;
    return words + (beyond   ? "The load of now is beyond it."
                    : before ? "The load of now is below it: more traffic costs little latency."
                             : "The load of now is at it.");
}

std::string pooling_words(QueueReport const& report) {
    QueueRow const &one = report.pooling.front(), &many = report.pooling.back();
    return "Busy " + share_words(report.answer.answer.utilization) + " is a wait of " +
           times_words(one.answer.wait / report.question.queue.load.service, 2) +
           " services before one replica and of " +
           times_words(many.answer.wait / report.question.queue.load.service, 2) + " before " +
           std::to_string(many.replicas) + " that share a line: a large pool may run fuller than a small one.";
}

static std::string simulation_words(SimulationReport const& simulation, QueueRow const& closed_form) {
    std::string const what = scaled(static_cast<double>(simulation.run.requests)) + " requests in " +
                             time_words(simulation.duration) + " of simulated time";
    Seconds const p99 = simulation.quantiles[2];
    if (simulation.compared.empty()) { return what + ": p99 " + time_words(p99) + "."; }
    std::string tail = "p99 is " + time_words(p99) + " simulated, " + time_words(closed_form.p99()) + " by formula (" +
                       change_words(p99, closed_form.p99()) + ").";
    for (ComparedMean const& mean : simulation.compared) {
        if (mean.quantity != "blocked") { continue; }
        tail = "turned away are " + share_words(mean.simulated.value) + " simulated, " + share_words(mean.closed_form) +
               " by formula; " + tail;
    }
    if (*simulation.agrees) { return what + " agree with the formulas: " + tail; }
    ComparedMean const& off = *std::ranges::find(simulation.compared, false, &ComparedMean::agrees);
    return what + " do not agree with the formulas (" + spaced(off.quantity) + " " + mean_words(off, off.closed_form) +
           " by formula, " + mean_words(off, off.simulated.value) + " simulated): believe the simulation. " + tail;
}

static std::string scale_words(QueueReport const& report) {
    auto const& scale = report.scale;
    std::string words = "At the same price ";
    if (!scale[1].answer.stable) {
        words += "neither keeps up with the load.";
    } else {
        words += winners_words(report) + ".";
    }
    if (report.more_win_above) {
        double const now = report.question.queue.load.service_variation;
        words += " By the mean more machines win where the service varies more than c_s^2 = " +
                 brief(*report.more_win_above) + " (here " + brief(now) +
                 "): then one long request holds up all of the fast machine, but only a part of several.";
    }
    ScaleChoice const& own = scale[3];
    if (own.answer.stable && own.p99 > scale[2].p99 * (1.0 + still)) {
        words += " Lines of their own cost " + change_words(scale[2].p99, own.p99) + " in p99 against one line.";
    }
    return words;
}

static std::string hedging_words(HedgingReport const& hedging) {
    Seconds const with = hedging.with.quantiles[2], without = hedging.without.quantiles[2];
    std::string words = "A second copy after " + time_words(hedging.delay) + " is sent for " +
                        share_words(hedging.copies) + " of requests: busy goes from " +
                        share_words(hedging.without.run.utilization.value) + " to " +
                        share_words(hedging.with.run.utilization.value) + ", and p99 from " + time_words(without) +
                        " to " + time_words(with) + " (" + change_words(without, with) + "). ";
    if (!moves(without, with)) { return words + "It is not worth its load."; }
    return words + (with < without ? "It helps where copies meet another line, or another luck of the service."
                                   : "The load of the copies outweighs what they save.");
}

static void add_assumptions(QueueReport& report) {
    QueueQuestion const& question = report.question;
    QueueShape const& shape = question.queue.shape;
    if (shape.batch > 1 && shape.batch_growth == 0.0) {
        report.assumptions.push_back({"batch_growth", "0", "a batch takes as long as one; give --batch-growth"});
    }
    if (question.objective && shape.places && question.objective->blocked > 0.0) {
        report.assumptions.push_back({"blocked", percent(question.objective->blocked) + " %",
                                      "of requests may be turned away by the objective"});
    }
    report.assumptions.push_back({"replicas", "alike", "first come, first served; none fails, and none starts cold"});
    if (report.answer.answer.method == QueueMethod::allen_cunneen) {
        report.assumptions.push_back({"wait", "approximated",
                                      "Allen and Cunneen's formula for times that are not exponential; simulated "
                                      "for comparison"});
    }
}

void add_words(QueueReport& report) {
    add_assumptions(report);
    report.verdict = queue_verdict(report);
    if (report.doubling) { report.doubling->verdict = doubling_words(report); }
    if (!report.scale.empty()) { report.scale_verdict = scale_words(report); }
    if (report.hedging) { report.hedging->verdict = hedging_words(*report.hedging); }
    auto const add_notes = [](SimulationReport& simulation) {
        if (!simulation.memory) { return; }
        simulation.notes.push_back("the queue remembers how full it was for about " + time_words(*simulation.memory) +
                                   ": intervals of so short a run are too narrow; simulate longer");
    };
    if (report.simulation) {
        report.simulation->verdict = simulation_words(*report.simulation, report.answer);
        add_notes(*report.simulation);
    }
    if (report.hedging) {
        add_notes(report.hedging->with);
        add_notes(report.hedging->without);
    }
}

} // namespace headroom::cli
