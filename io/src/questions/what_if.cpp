#include "headroom/io/what_if.hpp"

#include "headroom/error.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/io/words.hpp"
#include "headroom/training/legality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr std::string_view where = "--what-if";

struct Dial {
    char const* name;
    void (*turn)(Question&, double factor);
};

/// As many more of the same units, with the watts that they draw: else power would hold the faster part back.
void turn_compute(Question& question, double factor) {
    Accelerator& chip = question.cluster.accelerator;
    PeakRates& peak = chip.peak;
    for (FlopsPerSecond* rate : {&peak.fp32, &peak.tf32, &peak.fp16, &peak.bf16, &peak.fp8, &peak.fp4}) {
        *rate *= factor;
    }
    chip.measured_gemm *= factor;
    chip.tdp *= factor;
    chip.power_limit *= factor;
}

/// Properties of a machine that --what-if multiplies.
constexpr std::array dials{
    Dial{"bandwidth",
         [](Question& q, double f) {
             q.cluster.scale_up.bandwidth *= f;
             q.cluster.scale_out.bandwidth *= f;
         }},
    Dial{"scale-up", [](Question& q, double f) { q.cluster.scale_up.bandwidth *= f; }},
    Dial{"scale-out", [](Question& q, double f) { q.cluster.scale_out.bandwidth *= f; }},
    Dial{"latency",
         [](Question& q, double f) {
             q.cluster.scale_up.latency *= f;
             q.cluster.scale_out.latency *= f;
         }},
    Dial{"host", [](Question& q, double f) { q.cluster.host.bandwidth *= f; }},
    Dial{"compute", turn_compute},
    Dial{"memory", [](Question& q, double f) { q.cluster.accelerator.memory_bandwidth *= f; }},
    Dial{"capacity", [](Question& q, double f) { q.cluster.accelerator.memory *= f; }},
};

double parse_factor(std::string const& name, std::string const& text) {
    char* end = nullptr;
    double const factor = std::strtod(text.c_str(), &end);
    std::string const rest = words::trimmed(end);
    if (end == text.c_str() || !std::isfinite(factor) || factor < 1e-6 || factor > 1e6 ||
        (rest != "x" && !rest.empty())) {
        refuse(where, "cannot read " + headroom::quoted(name + "=" + text),
               name + " takes a factor from 0.000001 to 1000000", "write it like " + name + "=2x");
    }
    return factor;
}

/// Sets the fill of sequences or the spread over experts; false if `name` is neither.
bool set_workload(Question& question, std::string const& name, std::string const& value) {
    std::string const at = std::string{where} + " " + name;
    Workload& work = question.workload;
    if (normalised(name) == "documents") {
        work.documents = value == "0" ? 0 : parse_whole(value, at);
    } else if (normalised(name) == "fill") {
        work.fill = parse_between(value, 0.01, 1.0, "share of the sequence", at);
    } else if (normalised(name) == "expertskew") {
        double const most = std::max(1, question.model.moe.experts);
        work.expert_skew = parse_between(value, 1.0, most, "factor over the mean", at);
    } else {
        return false;
    }
    return true;
}

/// The micro-batch that so many accumulation steps leave of a replica's batch.
int split_batch(Question const& question, int steps) {
    int const replica = question.workload.global_batch / question.strategy.dp;
    if (steps > 0 && replica % steps == 0) { return replica / steps; }
    refuse(where, headroom::quoted("grad-accum=" + std::to_string(steps)) + " is not possible",
           "a replica's " + std::to_string(replica) + " sequences do not split into so many");
}

/// The strategy with the stated fields changed; dp follows from the workers unless it is stated too.
void change_strategy(Question& question, std::string const& name, std::string const& value) {
    PartialStrategy change;
    auto const& field = known_strategy_field(name, where);
    field.assign(change, value, std::string{where} + " " + name);
    if (change.optimizer || change.pure || change.frozen || change.compiled || change.attention) {
        refuse(where, headroom::quoted(name) + " is part of the question, not of the plan",
               "it changes what the framework keeps and runs",
               fmt::format("ask again with {} {}", field.option, value));
    }
    Strategy& s = question.strategy;
    int const workers = s.workers();
    field.apply(change, s);
    if (change.grad_accum) { s.micro_batch = split_batch(question, *change.grad_accum); }
    if (s.tp == 1 && !change.sequence_parallel) { s.sequence_parallel = false; }
    if ((change.ep || change.tp) && question.model.moe.experts > 0) { // as when nobody says it
        s.etp = s.ep == 1 ? s.tp : 1;
    }
    bool const chunks_fit = question.model.layers % (static_cast<std::int64_t>(s.pp) * s.virtual_pp) == 0;
    if (!change.virtual_pp && (s.pp == 1 || (change.pp && !chunks_fit))) { s.virtual_pp = 1; }
    if (change.pipeline) { set_schedule(s, *change.pipeline, question.model); }
    if (change.pp == 1) { s.pipeline = PipelineSchedule::one_f_one_b; } // one stage has nothing to schedule
    double const rest = static_cast<double>(s.tp) * s.pp * s.cp;
    s.dp = change.dp.value_or(std::max(1, static_cast<int>(workers / rest)));
    s.shard = shard_group_ranks(s.shard, s, question.cluster.accelerators_per_node);
    if (s.dp * rest != workers) {
        refuse(where, headroom::quoted(name + "=" + value) + " is not possible",
               "dp x tp x pp x cp would not make " + std::to_string(workers) + " workers",
               "change another degree, or ask with other --workers");
    }
}

void check(Question const& question, std::string const& lever) {
    std::string const reason = illegal_because(question.strategy, question.model, question.workload);
    if (!reason.empty()) { refuse(where, headroom::quoted(lever) + " is not possible", reason); }
}

void turn(Question& question, std::string const& name, std::string const& value) {
    bool const of_experts =
        normalised(name) == "capacity" && question.model.moe.experts > 0 && !words::trimmed(value).ends_with('x');
    for (Dial const& dial : dials) {
        if (normalised(dial.name) == normalised(name) && !of_experts) {
            return dial.turn(question, parse_factor(dial.name, value));
        }
    }
    if (set_workload(question, name, value)) { return; }
    if (strategy_field(name) != nullptr) { return change_strategy(question, name, value); }
    std::vector<std::string> names;
    names.reserve(dials.size() + strategy_fields().size() + 3);
    for (Dial const& dial : dials) { names.emplace_back(dial.name); }
    for (char const* of_data : {"documents", "fill", "expert-skew"}) { names.emplace_back(of_data); }
    for (StrategyField const& field : strategy_fields()) {
        if (field.name() != "capacity") { names.emplace_back(field.name()); } // it is there, as the memory's
    }
    std::string const near = nearest(name, names);
    refuse(where, "unknown lever " + headroom::quoted(name), {},
           near.empty() ? fmt::format("choose from {}", fmt::join(names, ", ")) : "did you mean '" + near + "'?");
}

std::string spelled(std::string const& name, std::string const& value) { return name + "=" + value; }

} // namespace

std::vector<Lever> levers(Question const& base, std::string_view text) {
    std::string usual = "compute=2x,memory=2x,bandwidth=2x,latency=0.5x,overlap=";
    usual += base.strategy.overlap == Overlap::on ? "off" : "on";
    if (base.strategy.offload != Offload::none) { usual += ",host=2x"; }
    if (base.workload.expert_skew > 1.0) { usual += ",expert-skew=1"; }
    auto const pairs = parse_pairs(text.empty() ? std::string_view{usual} : text, where, "bandwidth=2x,overlap=off");
    std::vector<Lever> result;
    Lever together{"all together", base};
    for (auto const& [name, value] : pairs) {
        Lever one{spelled(name, value), base};
        turn(one.question, name, value);
        check(one.question, one.name);
        result.push_back(std::move(one));
        turn(together.question, name, value);
    }
    if (!text.empty() && result.size() > 1) {
        check(together.question, together.name);
        result.push_back(std::move(together));
    }
    return result;
}

} // namespace headroom::io
