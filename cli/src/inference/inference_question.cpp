#include "arguments.hpp"
#include "inference/inference_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/request_trace.hpp"
#include "headroom/serving/request_rate.hpp"

#include <algorithm>
#include <array>
#include <memory>

namespace headroom::cli {
namespace {

constexpr std::array options{
    Option{"--cluster", "NAME|FILE", "a node of the catalog (dgx-h100), an accelerator, or a .toml file", "Question"},
    Option{"--objective", "LIMITS", "ttft_p99<=500ms,tpot_p99<=50ms,latency_p99<=10s: what users must get", "Question"},
    Option{"--against", "NAME|FILE", "another machine for the same money an hour: which gives the better p99",
           "Question"},
    Option{"--price", "DOLLARS/h", "price of one accelerator (default: median on-demand price)", "Question"},
    Option{"--layers", "N", "only the first N layers of the model", "Question"},
    Option{"--arrivals", "RATE", "requests at the whole fleet: 20/s; with --requests its times are scaled to it",
           "What arrives"},
    Option{"--burst", "N", "so many requests at once, as an offline batch: how long until all are answered",
           "What arrives"},
    Option{"--concurrency", "N", "users, each of whom sends the next request when the one before is answered",
           "What arrives"},
    Option{"--burstiness", "X", "squared coefficient of variation of gaps (default: 1, Poisson)", "What arrives"},
    Option{"--prompt-tokens", "N", "of a request, on average (default: 1024)", "What arrives"},
    Option{"--output-tokens", "N", "of a request, on average (default: 256)", "What arrives"},
    Option{"--prompt-variation", "X", "squared coefficient of variation of prompts (default: 0, all alike)",
           "What arrives"},
    Option{"--output-variation", "X", "the same of outputs", "What arrives"},
    Option{"--prefix-hits", "SHARE", "of a prompt that a cache of prefixes holds: 60% (default: 0)", "What arrives"},
    Option{"--requests", "FILE", "recorded ones: CSV or JSON lines with arrival, prompt and output tokens",
           "What arrives"},
    Option{"--time-column", "NAME", "of --requests, where its name is unusual", "What arrives"},
    Option{"--prompt-column", "NAME", "the same for tokens of prompts", "What arrives"},
    Option{"--output-column", "NAME", "the same for tokens that came out", "What arrives"},
    Option{"--time-unit", "UNIT", "of times in --requests that are bare numbers: ms", "What arrives"},
    Option{"--duration", "TIME", "that is simulated; of --requests so much is taken (default: 20 000 requests)",
           "What arrives"},
    Option{"--seed", "N", "of what is drawn (default: 1)", "What arrives"},
    Option{"--tp", "DEGREES", "accelerators of a replica: 1,2,4,8 (default: every one that fits a node)", "Engine"},
    Option{"--pp", "N", "stages of layers of a replica, each with a batch in flight (default: 1)", "Engine"},
    Option{"--draft-tokens", "N", "speculative decoding: tokens drafted in an iteration (default: 0)", "Engine"},
    Option{"--acceptance", "SHARE", "probability that a drafted token is accepted, 70%: needed with --draft-tokens",
           "Engine"},
    Option{"--draft-model", "MODEL", "model that drafts (default: drafts cost nothing, as of n-grams)", "Engine"},
    Option{"--prefill-replicas", "N", "further replicas that compute prompts alone and send their caches (default: 0)",
           "Engine"},
    Option{"--replicas", "COUNTS", "answer these (default: the fewest that keep the objectives)", "Engine"},
    Option{"--precision", "NAME", "of weights and products: bf16, fp16, fp8, ...", "Engine"},
    Option{"--weights", "NAME", "kept in few bits, with products in 16: int8, int4 (AWQ, GPTQ), mxfp4, q8_0, q4_k",
           "Engine"},
    Option{"--cache-precision", "NAME", "of keys and values (default: 16 bits)", "Engine"},
    Option{"--max-batch", "N", "sequences in one iteration (default: the engine's)", "Engine"},
    Option{"--prefill-chunk", "TOKENS", "of prompts in one iteration at most (default: the engine's)", "Engine"},
    Option{"--memory-share", "SHARE", "of the accelerator's memory that the engine takes (default: 90%)", "Engine"},
    Option{"--dispatch", "NAME",
           "which replica gets a request: shortest-line (default), two-choices, round-robin, random", "Engine"},
    Option{"--engine", "NAME", "vllm, sglang, tensorrt-llm, lmdeploy, tgi, ... (default: vllm)", "Engine"},
    Option{"--framework", "NAME", "training framework whose fused kernels the engine is taken to have", "Engine"},
    Option{"--calibration", "FILE", "constants of your own (TOML)", "Data"},
    Option{"--catalog", "DIR", "records that replace or extend the built-in ones", "Data"},
    Option{"--require", "CONDITIONS", "exit 99 unless they hold: 'ttft_p99<=1s,cost<=2'", "Output"},
};

} // namespace

std::span<Option const> inference_options() { return options; }

namespace {

constexpr double usual_requests = 20'000.0, shortest = 120.0, longest = 86'400.0, most_requests = 10e6;
constexpr double requests_of_user = 20.0, least_requests = 2000.0;
constexpr double warm_up_share = 0.2, usual_patience = 10.0;
constexpr char const* usual_engine = "vllm";
constexpr char const* usual_objectives = "ttft_p99<=2s,tpot_p99<=100ms";
constexpr int most_degree = 1024, most_sequences = 65'536, longest_prompt = 10'000'000;

class Reader {
public:
    Reader(Arguments const& arguments, InferenceRequest& request)
        : given_{arguments}, request_{request}, setting_{request.setting}, question_{request.question} {}

    void read() {
        read_plan();
        read_degrees();
        read_lengths();
        read_experiment();
        if (auto const counts = given_.text("--replicas")) { question_.replicas = parse_counts(*counts, "--replicas"); }
        read_requests();
        check_enough(question_, question_.trace ? question_.trace->file : "--duration");
        read_against();
        check_positions(question_, request_.setting.notes);
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
        question_.evidence = set.evidence(engine.name);
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
        read_weights(plan);
        auto const cache = given_.text("--cache-precision");
        plan.cache = cache ? precision("--cache-precision", *cache) : sixteen;
        if (!cache) { assume("cache_precision", usual, "default; of keys and values"); }
        EngineLimits const& engine = question_.engine.limits_on(setting_.cluster.accelerator);
        plan.most_sequences = count("--max-batch", engine.most_sequences, most_sequences, "max_batch",
                                    "default of the engine; sequences in one iteration");
        plan.prefill_chunk = count("--prefill-chunk", engine.prefill_chunk, longest_prefill_chunk, "prefill_chunk",
                                   "default of the engine; tokens of prompts in one iteration");
        plan.pp = given_.count("--pp").value_or(1);
        read_drafts(plan.speculation);
        if (auto const share = given_.text("--memory-share")) {
            plan.memory_share = io::parse_between(*share, 0.01, 1.0, "share of the memory", "--memory-share");
        } else {
            plan.memory_share = question_.engine.memory_share;
            assume("memory_share", percent(plan.memory_share) + " %",
                   "default of the engine; the rest is left to the runtime");
        }
    }

    void read_weights(ServingPlan& plan) {
        auto const text = given_.text("--weights");
        if (!text) { return; }
        std::vector<std::string> names;
        for (WeightFormat const& one : weight_formats()) { names.emplace_back(one.name); }
        std::string const name = io::parse_choice(*text, names, "--weights");
        plan.kept = &weight_formats()[static_cast<std::size_t>(std::ranges::find(names, name) - names.begin())];
        bool const wide = plan.weights == Precision::bf16 || plan.weights == Precision::fp16;
        if (!wide) {
            refuse("--weights", name + " with products in " + std::string{name_of(plan.weights)},
                   "they are widened to 16 bits", "leave --precision out");
        }
    }

    /// The acceptance belongs to a model and to what it is asked: there is no default that would be right.
    void read_drafts(Speculation& drafts) {
        auto const tokens = given_.count("--draft-tokens");
        auto const acceptance = given_.text("--acceptance"), model = given_.text("--draft-model");
        if (!tokens) {
            for (char const* option : {"--acceptance", "--draft-model"}) {
                if (given_.has(option)) {
                    refuse(option, "belongs to --draft-tokens", "it would be ignored", "for example --draft-tokens 4");
                }
            }
            return;
        }
        if (*tokens > most_draft_tokens) {
            refuse("--draft-tokens", std::to_string(*tokens) + " is too many",
                   "counts end at " + std::to_string(most_draft_tokens));
        }
        if (!acceptance) {
            refuse("--draft-tokens", "needs --acceptance", "tokens that are not accepted gain nothing",
                   "give the share that your engine reports, --acceptance 70%");
        }
        drafts.draft_tokens = *tokens;
        drafts.acceptance = io::parse_between(*acceptance, 0.0, 1.0, "share of drafted tokens", "--acceptance");
        if (!model) {
            return assume("draft_model", "none", "default; drafts cost no time, as of n-grams or heads of the model");
        }
        drafts.draft = std::make_shared<Model const>(io::load_model(setting_.catalog, *model, &request_.setting.notes));
        if (drafts.draft->vocab != setting_.model.vocab) {
            refuse("--draft-model",
                   drafts.draft->name + " has " + std::to_string(drafts.draft->vocab) + " tokens, " +
                       setting_.model.name + " " + std::to_string(setting_.model.vocab),
                   "a draft is verified token by token", "both need one vocabulary");
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
        if (auto const hits = given_.text("--prefix-hits")) {
            traffic.prefix_hits = io::parse_between(*hits, 0.0, 1.0, "share of a prompt", "--prefix-hits");
        }
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
        bool const come = given_.has("--arrivals") || given_.has("--burst") || given_.has("--concurrency");
        if (!come) { return; }
        if (!given_.has("--prompt-variation") && !given_.has("--output-variation")) {
            assume("lengths", "all alike", "default; real ones vary, which lengthens the tail: --output-variation 1");
        }
        if (!given_.has("--arrivals")) { return; }
        if (auto const text = given_.text("--burstiness")) {
            traffic.burstiness =
                io::parse_between(*text, 0.0, 1000.0, "squared coefficient of variation", "--burstiness");
        } else {
            assume("burstiness", "1", "default; Poisson arrivals, as of many independent users");
        }
    }

    void read_experiment() {
        auto const text = given_.text("--objective");
        bool const offline = given_.has("--burst"); // nobody waits for the first token
        if (text || !offline) {
            question_.experiment.objectives = parse_objectives(text.value_or(usual_objectives), "--objective");
        }
        if (!text && !offline) {
            assume("objective", usual_objectives, "default; say what your users need with --objective");
        }
        if (auto const seed = given_.text("--seed")) {
            question_.traffic.seed = question_.experiment.seed =
                static_cast<std::uint64_t>(parse_count(*seed, "--seed"));
        }
        question_.experiment.prefill_replicas = given_.count("--prefill-replicas").value_or(0);
        std::array const known{Dispatch::shortest_line, Dispatch::two_choices, Dispatch::round_robin, Dispatch::random};
        auto& dispatch = question_.experiment.dispatch;
        dispatch = given_.one_of("--dispatch", known).value_or(dispatch);
    }

    /// One of the ways in which requests come; the options of the others contradict it.
    void refuse_other_ways() {
        std::string chosen;
        for (char const* way : {"--burst", "--concurrency", "--arrivals", "--requests"}) {
            bool const both = chosen == "--arrivals"; // recorded times are scaled to a rate
            if (!given_.has(way)) { continue; }
            if (!chosen.empty() && !both) {
                refuse(way, "given with " + chosen, "requests come in one way", "leave one out");
            }
            chosen = way;
        }
        if (chosen != "--burst" && chosen != "--concurrency") { return; }
        bool const waits = chosen == "--concurrency" && given_.has("--prefill-replicas");
        if (waits) {
            refuse("--prefill-replicas", "given with --concurrency", "not simulated together",
                   "let requests arrive: --arrivals 20/s");
        }
        for (char const* option : {"--burstiness", "--duration"}) {
            if (given_.has(option)) {
                refuse(option, "given with " + chosen, "requests come when answers do, or at once", "leave one out");
            }
        }
    }

    /// So many requests at once, or of so many users.
    void draw_without_rate() {
        auto const burst = given_.count("--burst"), users = given_.count("--concurrency");
        std::uint64_t requests = static_cast<std::uint64_t>(burst.value_or(0));
        char const* const option = burst ? "--burst" : "--concurrency";
        double const most = burst ? most_requests : most_requests / requests_of_user;
        if (burst.value_or(users.value_or(0)) > most) { refuse(option, "too many", "counts end at " + scaled(most)); }
        if (users) {
            question_.experiment.concurrency = *users;
            double const drawn = std::max(requests_of_user * *users, least_requests);
            requests = static_cast<std::uint64_t>(drawn);
            assume("requests", scaled(drawn), "default; so many are simulated, the first fifth is not counted");
        }
        question_.requests = draw_burst(question_.traffic, requests);
        question_.traffic.duration = {};
    }

    void read_requests() {
        refuse_other_ways();
        auto const rate = given_.quantity<PerSecond>("--arrivals");
        if (rate && rate->base() <= 0.0) { refuse("--arrivals", "nothing arrives", "the rate is not above zero", ""); }
        auto const duration = given_.quantity<Seconds>("--duration");
        if (duration && duration->base() <= 0.0) { refuse("--duration", "is not above zero", "", "for example 10min"); }
        if (given_.has("--requests")) {
            read_trace(rate, duration);
        } else if (given_.has("--burst") || given_.has("--concurrency")) {
            draw_without_rate();
        } else if (rate) {
            draw(*rate, duration);
        } else {
            for (char const* option : {"--burstiness", "--duration", "--dispatch", "--replicas", "--prefill-replicas",
                                       "--prompt-variation", "--output-variation", "--seed"}) {
                if (given_.has(option)) {
                    refuse(option, "belongs to --arrivals or another way to come", "it would be ignored",
                           "say what arrives: --arrivals 20/s, --burst 1000 or --concurrency 64");
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
            too_little(file, counted(requests.size(), "request") + " at one time", "a rate needs two times at least");
        }
        double prompts = 0.0, outputs = 0.0;
        double const stretch = rate ? question_.arrivals() / rate->base() : 1.0;
        for (ServingRequest& one : requests) {
            one.arrives *= stretch;
            one.cached = cached_tokens(one.prompt, question_.traffic.prefix_hits);
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
            refuse("--against", "belongs to --arrivals or another way to come", "tails are compared",
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
    InferenceRequest& request_;
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
    std::vector<Assumption> kernels; // last: of a training framework, which serves nothing
    for (Assumption one : setting.assumptions) {
        bool const of_training = one.field == "global_batch" || one.field == "sequence_length";
        if (of_training) { continue; }
        if (one.field == "framework") {
            one.reason = "default; operations that it fuses into one kernel are taken to be fused by the engine, too";
            kernels.push_back(std::move(one));
        } else {
            question.assumptions.push_back(std::move(one));
        }
    }
    if (setting.model.works_on_samples() || !setting.model.operators.empty() || setting.model.encoder_layers > 0 ||
        !setting.model.causal) {
        refuse("MODEL", setting.model.name + " generates no text token by token", "",
               "name a language model: llama-3-8b");
    }
    Reader{arguments, request}.read();
    std::ranges::move(kernels, std::back_inserter(question.assumptions));
    return request;
}

} // namespace headroom::cli
