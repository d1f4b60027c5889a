#include "dispatch.hpp"
#include "inference/inference_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/request_trace.hpp"
#include "headroom/serving/request_rate.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {

using namespace headroom::serving;
using namespace headroom::training;

namespace {

constexpr double usual_requests = 20'000.0, shortest = 120.0, longest = 86'400.0, most_requests = 10e6;
constexpr double warm_up_share = 0.2, usual_patience = 10.0;
constexpr char const* usual_engine = "vllm";
constexpr char const* usual_objectives = "ttft_p99<=2s,tpot_p99<=100ms";
constexpr int most_degree = 1024, most_sequences = 65'536, longest_prompt = 10'000'000;

class Reader {
public:
    Reader(Arguments const& arguments, InferenceRequest& request)
        : given_{arguments}, setting_{request.setting}, question_{request.question} {}

    void read() {
        read_plan();
        read_degrees();
        read_lengths();
        read_experiment();
        if (auto const counts = given_.text("--replicas")) { question_.replicas = parse_counts(*counts, "--replicas"); }
        read_requests();
        check_enough(question_, question_.trace ? question_.trace->file : "--duration");
        read_against();
        check_positions(question_, question_.trace ? question_.trace->file : "--prompt-tokens");
    }

private:
    void assume(std::string field, std::string value, std::string reason) {
        question_.assumptions.push_back({std::move(field), std::move(value), std::move(reason), false});
    }

    /// A count, or its default as an assumption.
    int count(std::string const& option, int usual, int most, std::string field, std::string reason) {
        auto const value = given_.count(option);
        if (value && *value > most) {
            refuse(option, std::to_string(*value) + " is too many", "counts end at " + std::to_string(most));
        }
        if (!value) { assume(std::move(field), std::to_string(usual), std::move(reason)); }
        return value.value_or(usual);
    }

    Precision precision(std::string const& option, std::string const& text) {
        auto const found = precision_from(text);
        if (!found) { refuse(option, "unknown format " + headroom::quoted(text), "", "for example bf16, fp16 or fp8"); }
        return *found;
    }

    /// Without a name the engine is assumed, and the intervals are those of engines that are not known.
    void read_engine() {
        auto const name = given_.text("--engine");
        ServingCalibration const set = setting_.catalog.serving_calibration();
        Engine& engine = question_.engine = setting_.catalog.engine(name.value_or(usual_engine));
        question_.plan.law = set.law(engine.name);
        question_.engine_measured = set.knows(engine.name);
        question_.bands = name ? set.bands(engine.name) : set.guessed;
        if (!name) { assume("engine", engine.name, "default; name yours with --engine, which narrows the intervals"); }
    }

    void read_plan() {
        ServingPlan& plan = question_.plan;
        read_engine();
        bool const half = setting_.cluster.accelerator.peak.bf16.base() <= 0.0;
        Precision const sixteen = half ? Precision::fp16 : Precision::bf16;
        std::string const usual{name_of(sixteen)};
        plan.weights = setting_.given.precision.value_or(sixteen);
        if (!given_.has("--precision")) { assume("precision", usual, "default; of weights and products"); }
        auto const cache = given_.text("--cache-precision");
        plan.cache = cache ? precision("--cache-precision", *cache) : sixteen;
        if (!cache) { assume("cache_precision", usual, "default; of keys and values"); }
        plan.most_sequences = count("--max-batch", plan.most_sequences, most_sequences, "max_batch",
                                    "default; sequences in one iteration");
        plan.prefill_chunk = count("--prefill-chunk", plan.prefill_chunk, longest_prefill_chunk, "prefill_chunk",
                                   "default; tokens of prompts in one iteration");
        if (auto const share = given_.text("--memory-share")) {
            plan.memory_share = io::parse_between(*share, 0.01, 1.0, "share of the memory", "--memory-share");
        } else {
            plan.memory_share = question_.engine.memory_share;
            assume("memory_share", percent(plan.memory_share) + " %",
                   "default of the engine; the rest is left to the runtime");
        }
    }

    /// Reads the degrees of tensor parallelism; by default powers of two up to the accelerators on one scale-up link.
    /// Degrees that do not divide the heads or do not hold the model are found when they are priced.
    void read_degrees() {
        int const domain = setting_.cluster.domain;
        if (auto const text = given_.text("--tp")) {
            question_.degrees = parse_counts(*text, "--tp");
            question_.degrees_given = true;
            if (question_.degrees.back() > std::max(1, domain)) {
                refuse("--tp", std::to_string(question_.degrees.back()) + " is more than share a scale-up link",
                       setting_.cluster.name + " has " + std::to_string(domain),
                       "every layer is exchanged in every iteration: stay inside");
            }
            return;
        }
        for (int degree = 1; degree <= std::min(std::max(1, domain), most_degree); degree *= 2) {
            question_.degrees.push_back(degree);
        }
    }

    double variation(std::string const& option) {
        auto const text = given_.text(option);
        return text ? io::parse_between(*text, 0.0, 1000.0, "squared coefficient of variation", option) : 0.0;
    }

    void read_lengths() {
        ServingTraffic& traffic = question_.traffic;
        if (given_.has("--requests")) {
            for (char const* option :
                 {"--burstiness", "--prompt-tokens", "--output-tokens", "--prompt-variation", "--output-variation"}) {
                if (given_.has(option)) {
                    refuse(option, "given with --requests", "the file says it", "leave one out");
                }
            }
            return;
        }
        for (char const* option : {"--time-column", "--prompt-column", "--output-column", "--time-unit"}) {
            if (given_.has(option)) { refuse(option, "belongs to --requests", "it would be ignored", "leave it out"); }
        }
        traffic.prompt_tokens =
            count("--prompt-tokens", 1024, longest_prompt, "prompt_tokens", "default; of a request");
        traffic.output_tokens = count("--output-tokens", 256, longest_prompt, "output_tokens", "default; of a request");
        traffic.prompt_variation = variation("--prompt-variation");
        traffic.output_variation = variation("--output-variation");
        if (!given_.has("--arrivals")) { return; }
        if (!given_.has("--prompt-variation") && !given_.has("--output-variation")) {
            assume("lengths", "all alike", "default; real ones vary, which lengthens the tail: --output-variation 1");
        }
        if (auto const text = given_.text("--burstiness")) {
            traffic.burstiness =
                io::parse_between(*text, 0.0, 1000.0, "squared coefficient of variation", "--burstiness");
        } else {
            assume("burstiness", "1", "default; Poisson arrivals, as of many independent users");
        }
    }

    void read_experiment() {
        auto const text = given_.text("--objective");
        question_.experiment.objectives = parse_objectives(text.value_or(usual_objectives), "--objective");
        if (!text) { assume("objective", usual_objectives, "default; say what your users need with --objective"); }
        if (auto const seed = given_.text("--seed")) {
            question_.traffic.seed = question_.experiment.seed =
                static_cast<std::uint64_t>(parse_count(*seed, "--seed"));
        }
        std::array const known{Dispatch::shortest_line, Dispatch::two_choices, Dispatch::round_robin, Dispatch::random};
        auto& dispatch = question_.experiment.dispatch;
        dispatch = read_dispatch(given_, known).value_or(dispatch);
    }

    void read_requests() {
        auto const rate = given_.quantity<PerSecond>("--arrivals");
        if (rate && rate->base() <= 0.0) { refuse("--arrivals", "nothing arrives", "the rate is not above zero", ""); }
        auto const duration = given_.quantity<Seconds>("--duration");
        if (duration && duration->base() <= 0.0) { refuse("--duration", "is not above zero", "", "for example 10min"); }
        if (given_.has("--requests")) {
            read_trace(rate, duration);
        } else if (rate) {
            draw(*rate, duration);
        } else {
            for (char const* option : {"--burstiness", "--duration", "--dispatch", "--replicas", "--prompt-variation",
                                       "--output-variation"}) {
                if (given_.has(option)) {
                    refuse(option, "belongs to --arrivals or --requests", "it would be ignored",
                           "say what arrives: --arrivals 20/s");
                }
            }
        }
    }

    void draw(PerSecond rate, std::optional<Seconds> duration) {
        ServingTraffic& traffic = question_.traffic;
        traffic.requests_per_second = rate.base();
        traffic.duration =
            duration.value_or(std::max(Seconds{std::clamp(usual_requests / rate.base(), shortest, longest)},
                                       usual_patience * longest_objective(question_.experiment.objectives)));
        if (rate.base() * traffic.duration.base() > most_requests) {
            refuse(duration ? "--duration" : "--arrivals", "more than 10 million requests",
                   scaled(rate.base() * traffic.duration.base()) + " would be simulated, many times",
                   "take a shorter --duration");
        }
        if (!duration) { assume("duration", format(traffic.duration), "default; so long is simulated"); }
        question_.requests = draw_requests(traffic);
        if (question_.requests.empty()) {
            refuse("--duration", "nothing arrives in " + format(traffic.duration), "", "simulate longer");
        }
        warm_up(traffic.duration);
    }

    void read_trace(std::optional<PerSecond> rate, std::optional<Seconds> duration) {
        std::string const file = *given_.text("--requests");
        auto const text = [&](char const* option) { return given_.text(option).value_or(""); };
        io::RequestTrace trace = io::read_request_trace(file, {.time_column = text("--time-column"),
                                                               .prompt_column = text("--prompt-column"),
                                                               .output_column = text("--output-column"),
                                                               .time_unit = text("--time-unit")});
        std::vector<ServingRequest>& requests = question_.requests = std::move(trace.requests);
        question_.trace = std::move(trace);
        question_.trace->file = file;
        if (duration) {
            std::erase_if(requests, [&](ServingRequest const& one) { return one.arrives > duration->base(); });
        }
        if (requests.back().arrives <= 0.0) {
            throw InputError{Fault::insufficient,
                             {.where = file,
                              .problem = counted(requests.size(), "request") + " at one time",
                              .why = "a rate needs two times at least"}};
        }
        double prompts = 0.0, outputs = 0.0;
        double const stretch = rate ? question_.arrivals() / rate->base() : 1.0;
        for (ServingRequest& one : requests) {
            one.arrives *= stretch;
            prompts += one.prompt;
            outputs += one.output;
        }
        auto const all = static_cast<double>(requests.size());
        question_.traffic.prompt_tokens = prompts / all;
        question_.traffic.output_tokens = outputs / all;
        question_.traffic.duration = Seconds{requests.back().arrives};
        question_.traffic.requests_per_second = question_.arrivals();
        warm_up(question_.traffic.duration);
    }

    void warm_up(Seconds duration) {
        question_.experiment.warm_up = warm_up_share * duration;
        assume("warm_up", format(question_.experiment.warm_up),
               "default; requests of the first fifth are served, not counted");
    }

    void read_against() {
        auto const name = given_.text("--against");
        if (!name) { return; }
        if (!question_.simulates()) {
            refuse("--against", "belongs to --arrivals or --requests", "tails are compared",
                   "say what arrives: --arrivals 20/s");
        }
        refuse_other_machine(setting_.calibration, "--against");
        Cluster const other = io::load_cluster(setting_.catalog, *name);
        for (Cluster const* one : {&setting_.cluster, &other}) {
            if (!one->price || one->price->base() <= 0.0) {
                refuse("--against", "no price is known for " + one->name, "money is what both have in common");
            }
        }
        if (peak_rate(other.accelerator, question_.plan.weights).base() <= 0.0) {
            refuse("--against",
                   other.accelerator.name + " has no " + std::string{name_of(question_.plan.weights)} + " arithmetic",
                   "", "choose another --precision");
        }
        question_.against = other;
        question_.assumptions.push_back(
            {"price_against", format(*other.price), other.price_origin, false, Provenance::cited});
    }

    Arguments const& given_;
    Setting const& setting_;
    InferenceQuestion& question_;
};

} // namespace

InferenceRequest read_inference(Arguments const& arguments) {
    Setting read = read_setting(arguments.without("--tp"));
    InferenceQuestion asked{
        .model = read.model, .cluster = read.cluster, .framework = read.framework, .calibration = read.calibration};
    InferenceRequest request{std::move(read), std::move(asked)};
    Setting const& setting = request.setting;
    InferenceQuestion& question = request.question;
    for (Assumption const& one : setting.assumptions) {
        bool const of_training = one.field == "global_batch" || one.field == "sequence_length";
        if (of_training) { continue; }
        question.assumptions.push_back(one);
        if (one.field == "framework") { question.assumptions.back().reason = "default; whose fused kernels are taken"; }
    }
    if (setting.model.works_on_samples() || !setting.model.operators.empty() || setting.model.encoder_layers > 0 ||
        !setting.model.causal) {
        refuse("MODEL", setting.model.name + " generates no text token by token", "",
               "name a language model: llama-3-8b");
    }
    Reader{arguments, request}.read();
    return request;
}

} // namespace headroom::cli
