#include "inference/inference_report.hpp"
#include "setting_words.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

std::string time_words(LatencyHistogram const& histogram, double q) {
    auto const value = quantile_of(histogram, q);
    return value ? format(Seconds{*value}) : "-";
}

std::string dollars(std::optional<double> value) {
    return value ? significant(*value) + " $ a million output tokens" : "of unknown cost (no price is known: --price)";
}

std::string rate_words(double per_second) { return short_number(per_second) + "/s"; }

std::string fleet(ServingChoice const& choice) {
    std::string const before =
        choice.prefill_replicas > 0 ? std::to_string(choice.prefill_replicas) + " prefill and " : "";
    return before + counted(static_cast<std::size_t>(choice.replicas), "replica") + " of " + plan_words(choice.plan) +
           " (" + counted(static_cast<std::size_t>(choice.accelerators), "accelerator") + ")";
}

/// "p99 of TTFT 656 ms, of TPOT 63.4 ms", without those that no request has: one of a single token has no TPOT.
std::string times_of(ServingChoice const& choice, bool with_whole = false) {
    std::string text;
    auto const add = [&](char const* of, LatencyHistogram const& times) {
        auto const value = quantile_of(times, 0.99);
        if (value) { text += (text.empty() ? "p99 of " : ", of ") + std::string{of} + " " + format(Seconds{*value}); }
    };
    add("TTFT", choice.result.first_token);
    add("TPOT", choice.result.per_token);
    if (with_whole) { add("whole answers", choice.result.whole); }
    return text.empty() ? "no request answered" : text;
}

/// Why the best there is does not do.
std::string failing(InferenceAnswer const& report) {
    ServingChoice const& best = *report.choice();
    std::string const shown = fleet(best) + ": " + times_of(best) + ", " + percent(best.result.met) + " % in time";
    std::string const reason = best.result.refused > 0 ? "; " + scaled(static_cast<double>(best.result.refused)) +
                                                             " requests are longer than the cache of a replica"
                               : !best.result.stable ? "; lines grow without end"
                                                     : "";
    std::string const asked =
        objectives_words(report.question.experiment.objectives) + " " + traffic_words(report.question);
    if (!report.question.replicas.empty()) {
        return "None of these keeps " + asked + ". The nearest is " + shown + reason + ".";
    }
    return "No number of replicas keeps " + asked + ". Shown is " + shown + reason + ".";
}

/// Requests that memory does not hold wait, as engines have it; empty where it holds what may be in a batch.
std::string queue_words(InferenceAnswer const& report) {
    PlanRow const& row = *report.row();
    InferenceQuestion const& question = report.question;
    double const held = static_cast<double>(row.largest_batch) * row.plan.pp;
    double const replicas = report.choice() ? report.choice()->replicas : 1;
    double asked = row.plan.most_sequences;
    if (question.is_burst()) { asked = static_cast<double>(question.requests.size()) / replicas; }
    if (question.is_closed()) { asked = question.experiment.concurrency / replicas; }
    if (question.is_open() || held < 1.0 || asked <= held) { return {}; }
    bool const memory = row.largest_batch < row.plan.lane_sequences();
    return std::string{memory ? " Memory" : " A batch"} + " holds " + scaled(held) + " requests of a replica at once" +
           (memory && !question.simulates() ? ", not the " + scaled(asked) + " of a batch" : "") + ": others queue.";
}

/// Warning where more replicas hardly help, and the number is therefore chance.
std::string plateau_words(InferenceAnswer const& report) {
    if (!report.plateau) { return {}; }
    ServingChoice const& twice = *report.plateau;
    return " Careful: twice as many replicas keep it for " + percent(twice.result.met, 3) + " % of requests (" +
           times_of(twice) +
           "). The limit is nearly what a request takes alone, and so near it the number of replicas "
           "is chance: allow more time, or shorten the prompts.";
}

/// Requests that come together: until when all are answered.
std::string burst_verdict(InferenceAnswer const& report) {
    ServingChoice const& best = *report.choice();
    std::string text = fleet(best) + (best.replicas == 1 ? " answers " : " answer ") +
                       counted(report.question.requests.size(), "request") + " at once in " + format(best.result.span);
    if (auto const& range = report.finish_interval) {
        text += " (" + format(range->low) + " to " + format(range->high) + ")";
    }
    text += ": " + scaled(best.result.output_tokens_per_second) +
            " output tokens/s, the first token of the median one after " + time_words(best.result.first_token, 0.5) +
            "; " + dollars(best.dollars_per_million_output_tokens);
    if (best.price) { text += ", " + significant(best.price->base() * best.result.span.base()) + " $ in all"; }
    return text + "." + queue_words(report);
}

std::string static_verdict(InferenceAnswer const& report) {
    PlanRow const& row = *report.row();
    InferenceQuestion const& question = report.question;
    std::string const what = plan_words(row.plan);
    if (!row.why_not.empty()) {
        return "Nothing keeps " + objectives_words(question.experiment.objectives) + ": with " + what + " " +
               row.why_not + ".";
    }
    std::string const from = report.plans.size() > 1 ? "Most for the money, " : "";
    auto const& limit = question.experiment.objectives.per_token;
    std::string const within = limit ? " within TPOT <= " + format(*limit) : std::string{};
    return from + what + " gives at most " + rate_words(row.steady->requests_per_second) + " a replica" + within +
           " (" + scaled(row.steady->requests_per_second * question.traffic.output_tokens) + " output tokens/s), " +
           dollars(row.dollars_per_million_output_tokens) + ", a token every " +
           format(row.steady->iteration / row.plan.speculation.tokens()) + "; a prompt alone takes " +
           format(row.prompt_alone) + "." + queue_words(report) +
           " Chance is left out: give --arrivals for waiting and tails.";
}

/// The place of the shortest p99 among those that keep up.
std::optional<std::size_t> shortest(std::vector<ServingChoice> const& choices, ServingMeasure measure) {
    return best_choice(choices, measure, 0.99);
}

} // namespace

std::string plan_words(ServingPlan const& plan) {
    return "tp " + std::to_string(plan.tp) + (plan.pp > 1 ? " pp " + std::to_string(plan.pp) : "");
}

std::string traffic_words(InferenceQuestion const& question) {
    if (question.is_burst()) { return "of " + counted(question.requests.size(), "request") + " at once"; }
    if (question.is_closed()) {
        return "with " + counted(static_cast<std::size_t>(question.experiment.concurrency), "user");
    }
    return "at " + rate_words(question.arrivals());
}

std::string short_number(double value) {
    std::string text = significant(value, 4);
    if (text.find('.') == std::string::npos || text.find_first_of("eE") != std::string::npos) { return text; }
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) { text.pop_back(); }
    return text;
}

static std::string verdict_of(InferenceAnswer const& report) {
    InferenceQuestion const& question = report.question;
    if (!report.chosen_plan) {
        std::string const why = report.plans.empty() ? "no degree is possible" : report.plans.back().why_not;
        return question.model.name + " cannot be served by " + question.cluster.name + " so: " + why + ".";
    }
    if (!question.simulates()) { return static_verdict(report); }
    if (!report.choice()) { return "Nothing can serve this: " + report.choices.back().why_not + "."; }
    ServingChoice const& best = *report.choice();
    if (!best.meets) { return failing(report); }
    if (question.is_burst()) { return burst_verdict(report); }
    bool const keep = best.replicas != 1 || best.prefill_replicas > 0;
    std::string const rate =
        question.is_closed() ? ", " + scaled(best.result.output_tokens_per_second) + " output tokens/s" : "";
    return fleet(best) + (keep ? " keep " : " keeps ") + objectives_words(question.experiment.objectives) + " " +
           traffic_words(question) + ": " + times_of(best) + rate + "; " +
           dollars(best.dollars_per_million_output_tokens) + "." + plateau_words(report) + queue_words(report);
}

/// The verdict after what is served and where: "llama-3-70b on dgx-h100: 3 replicas of tp 4 ...".
static std::string named_verdict(InferenceAnswer const& report) {
    InferenceQuestion const& question = report.question;
    std::string text = verdict_of(report);
    if (!report.chosen_plan) { return text; } // names both
    bool const capital = text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z';
    if (capital) { text[0] = static_cast<char>(text[0] - 'A' + 'a'); }
    return printable(question.model.name) + " on " + printable(question.cluster.name) + ": " + text;
}

static std::string scale_up_or_out(InferenceAnswer const& report) {
    auto const& same = report.same;
    auto const serving = std::ranges::count_if(same, [](ServingChoice const& one) { return one.serves(); });
    if (serving < 2) { return {}; }
    auto const first = shortest(same, ServingMeasure::first_token), token = shortest(same, ServingMeasure::per_token);
    auto const whole_one = shortest(same, ServingMeasure::whole);
    if (!first || !token || !whole_one) { return {}; }
    std::string const count = counted(static_cast<std::size_t>(same.front().accelerators), "accelerator");
    auto const name = [&](std::size_t i) {
        return std::to_string(same[i].replicas) + " x " + plan_words(same[i].plan);
    };
    std::string text = "For the price of " + count + ", " + name(*first) +
                       " has the shortest p99 to the first token (" +
                       time_words(same[*first].result.first_token, 0.99) + ")";
    if (auto const per_token = quantile_of(same[*token].result.per_token, 0.99)) {
        text += *token == *first ? " and per token (" : ", " + name(*token) + " per token (";
        text += format(Seconds{*per_token}) + ")";
    }
    if (*whole_one != *first && *whole_one != *token) { text += ", " + name(*whole_one) + " for the whole answer"; }
    auto const most = std::ranges::max_element(
        same, {}, [](ServingChoice const& one) { return one.serves() ? one.result.met : -1.0; });
    text += ". Most requests in time: " + name(static_cast<std::size_t>(most - same.begin())) + " (" +
            percent(most->result.met, 4) + " %)";
    bool const widest = *first + 1 == same.size();
    text += widest ? ". Scaling up wins" : *first == 0 ? ". Scaling out wins" : ". Neither end wins";
    for (ServingChoice const& one : same) {
        int const idle = one.accelerators - (one.replicas + one.prefill_replicas) * one.plan.accelerators();
        if (idle > 0) {
            text += "; with tp " + std::to_string(one.plan.tp) + ", " + std::to_string(idle) +
                    (idle == 1 ? " stands idle" : " stand idle");
        }
    }
    return text + ".";
}

static std::string against_words(InferenceAnswer const& report) {
    AgainstRow const& against = *report.against;
    std::string const name = printable(against.cluster.name), here = printable(report.question.cluster.name);
    ServingChoice const& mine = *report.choice();
    std::string const money = format(*mine.price);
    if (against.accelerators < 1) { return money + " rent no accelerator of " + name + "."; }
    std::string const text =
        money + " rent " + counted(static_cast<std::size_t>(against.accelerators), "accelerator") + " of " + name;
    if (!against.best) { return text + ", which cannot serve this."; }
    ServingChoice const& other = against.choices[*against.best];
    auto const shown = [&](ServingChoice const& choice) {
        return std::to_string(choice.replicas) + " x " + plan_words(choice.plan) + " has " + times_of(choice, true) +
               (choice.result.stable ? "" : " and does not keep up");
    };
    double const there = quantile_of(other.result.whole, 0.99).value_or(0.0),
                 at_home = quantile_of(mine.result.whole, 0.99).value_or(0.0);
    bool const better = other.result.stable != mine.result.stable ? other.result.stable : there < at_home;
    return text + ": " + shown(other) + "; on " + here + " " + shown(mine) +
           ". Shorter tails for the money: " + (better ? name : here) + ".";
}

static std::string uncertainty_words(InferenceAnswer const& report) {
    InferenceQuestion const& question = report.question;
    std::string text =
        question.engine_measured
            ? "checked against published runs (validate --serving), those of " + question.engine.title + " among them"
            : "not checked against " + question.engine.title +
                  ": no run of it is published here, the mean of other engines is taken";
    if (report.decode_interval && report.prefill_interval && report.rate_interval) {
        auto const range = [](TimeInterval const& one) { return format(one.low) + " and " + format(one.high); };
        text +=
            ". By 90 % intervals of published runs, each predicted without its family, a token at the largest batch "
            "takes between " +
            range(*report.decode_interval) + ", a prompt alone between " + range(*report.prefill_interval) +
            ", and a replica gives at most between " + scaled(report.rate_interval->low) + " and " +
            scaled(report.rate_interval->high) + " output tokens/s";
    }
    BatchEvidence const& evidence = question.evidence;
    bool const further = report.decode_interval && evidence.beyond(report.decode.back().batch) > 0.0;
    if (further) {
        text += ". Its published runs end at a batch of " + scaled(evidence.largest_batch) +
                ": beyond it a sequence is taken to cost what it costs any engine, " + format(evidence.least) + " to " +
                format(evidence.most);
    }
    for (MarginRow const& row : report.margins) {
        bool const more = !row.replicas || *row.replicas > report.choice()->replicas;
        if (!more) { continue; }
        text += ". Were everything " + short_number(100.0 * (row.slower - 1.0)) + " % slower, ";
        text += row.replicas ? counted(static_cast<std::size_t>(*row.replicas), "replica") + " would be needed"
                             : "no number of replicas would do";
        break;
    }
    return text + ". Measure one replica before you buy many.";
}

static std::string without_room(ServingMemory const& memory, int tp) {
    std::string const held = memory.weights_alone_exceed()
                                 ? "weights take " + format(memory.weights)
                                 : "weights and activations leave no room for a token, they take " +
                                       format(memory.weights + memory.activations);
    return held + " of an accelerator at tp " + std::to_string(tp) + ", the engine may take " + format(memory.usable);
}

static void add_obstacle_words(std::vector<ServingChoice>& choices) {
    for (ServingChoice& one : choices) {
        if (one.obstacle == ChoiceObstacle::memory) { one.why_not = without_room(one.memory, one.plan.tp); }
    }
}

static std::string obstacle_words(PlanRow const& row, InferenceQuestion const& question) {
    if (!row.obstacle) { return {}; }
    switch (*row.obstacle) {
    case ServingObstacle::memory: return without_room(row.memory, row.plan.tp);
    case ServingObstacle::cache:
        return "the cache holds " + scaled(row.memory.cache_tokens) + " tokens, a request has " +
               scaled(question.tokens_at_end());
    case ServingObstacle::token:
        return "no batch gives a token in " + format(*question.experiment.objectives.per_token);
    case ServingObstacle::prompt: return "a prompt alone takes " + format(row.prompt_alone);
    }
    return {};
}

void add_words(InferenceAnswer& report) {
    for (PlanRow& row : report.plans) {
        row.why_not = obstacle_words(row, report.question);
        row.memory.why_not = row.memory.fits ? std::string{} : without_room(row.memory, row.plan.tp);
    }
    add_obstacle_words(report.choices);
    add_obstacle_words(report.same);
    if (report.against) { add_obstacle_words(report.against->choices); }
    if (report.idle) {
        IdleAccelerators const& idle = *report.idle;
        report.question.assumptions.push_back({"idle_accelerators",
                                               std::to_string(idle.idle) + " of " + std::to_string(idle.all) + ", in " +
                                                   counted(static_cast<std::size_t>(idle.nodes), "node"),
                                               "not paid for here; where nodes are rented whole, they are", false});
    }
    report.verdict = unknown_model_words(report.question.model) + named_verdict(report);
    report.scale_verdict = scale_up_or_out(report);
    if (report.against) { report.against->verdict = against_words(report); }
    report.uncertainty = uncertainty_words(report);
}

std::vector<std::string> trace_notes(InferenceAnswer const& report) {
    std::vector<std::string> notes;
    auto const& trace = report.question.trace;
    if (!trace) { return notes; }
    notes.push_back(scaled(static_cast<double>(report.question.requests.size())) + " of " +
                    scaled(static_cast<double>(trace->rows)) + " rows of " + printable(trace->file) + ", " +
                    rate_words(report.question.arrivals()) + " on average; columns " + printable(trace->time_column) +
                    ", " + printable(trace->prompt_column) + ", " + printable(trace->output_column) +
                    "; times: " + printable(trace->time_unit) + " (by " + trace->unit_from + ")");
    for (Issue const& one : trace->issues) { notes.push_back(printable(words_of(one))); }
    if (trace->out_of_order > 0) {
        notes.push_back(scaled(static_cast<double>(trace->out_of_order)) +
                        " rows earlier than the one before (first in line " +
                        std::to_string(trace->first_out_of_order) + "); they were sorted");
    }
    notes.insert(notes.end(), trace->notes.begin(), trace->notes.end());
    return notes;
}

} // namespace headroom::cli
