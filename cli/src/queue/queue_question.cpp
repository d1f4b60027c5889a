#include "queue/queue_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/latency_samples.hpp"
#include "headroom/io/words.hpp"
#include "headroom/serving/request_rate.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr double most_variation = 1e6, most_growth = 1e6;
constexpr double most_replicas = 1e6, least_arrivals = 1e-9, most_arrivals = 1e15;
constexpr int most_places = 1'000'000'000;
constexpr Seconds shortest{1e-12}, longest{1e12};

// ---- figures ------------------------------------------------------------------------------------------------------

double read_arrivals(Arguments const& arguments) {
    if (!arguments.has("--service-samples")) {
        arguments.require_all({{"--arrivals", "500/s"}, {"--service", "12ms"}});
    }
    std::string const text = arguments.required("--arrivals", "requests a second: --arrivals 500/s");
    double const rate = parse<PerSecond>(text, "--arrivals").base();
    if (rate < least_arrivals || rate > most_arrivals) {
        refuse("--arrivals", headroom::quoted(text) + " is out of range", "rates lie between 1e-9/s and 1e15/s",
               "for example 500/s");
    }
    return rate;
}

std::optional<double> read_variation(Arguments const& arguments, std::string const& option) {
    auto const text = arguments.text(option);
    if (!text) { return std::nullopt; }
    return io::parse_between(*text, 0.0, most_variation, "squared coefficient of variation", option);
}

// ---- the service --------------------------------------------------------------------------------------------------

void read_samples(Arguments const& arguments, QueueQuestion& question) {
    for (char const* option : {"--service", "--service-variation"}) {
        if (arguments.has(option)) {
            refuse(option, "given with --service-samples", "the samples have a mean and a variation of their own",
                   "keep one");
        }
    }
    std::string const file = *arguments.text("--service-samples");
    io::LatencySamples const samples = io::read_latency_samples(
        file, {.column = arguments.text("--column").value_or(""), .unit = arguments.text("--unit").value_or("")});
    LatencyHistogram const& values = samples.digest.values();
    if (values.empty()) {
        too_little(file, "no samples", samples.stated.empty() ? "" : "the report states percentiles alone",
                   "give the times themselves");
    }
    double const mean = values.mean();
    if (!(mean >= shortest.base() && mean <= longest.base())) {
        too_little(file, "the mean is " + exact(mean) + " s", "a service takes some time",
                   "name the unit of the samples: --unit ms");
    }
    question.samples = std::make_shared<ServiceSamples const>(
        ServiceSamples{file, samples.unit, samples.format, values, samples.issues});
    question.queue.load.service = Seconds{mean};
    question.queue.load.service_variation = values.variance() / (mean * mean);
}

void read_service(Arguments const& arguments, QueueQuestion& question) {
    if (arguments.has("--service-samples")) {
        read_samples(arguments, question);
        return;
    }
    for (char const* option : {"--column", "--unit"}) {
        if (arguments.has(option)) {
            refuse(option, "belongs to --service-samples", "it would be ignored", "leave it out");
        }
    }
    question.queue.load.service = read_queue_time(
        arguments.required("--service", "what serving one request takes: --service 12ms, or --service-samples FILE"),
        "--service");
    auto const variation = read_variation(arguments, "--service-variation");
    question.queue.load.service_variation = variation.value_or(1.0);
    if (!variation) {
        question.assumptions.push_back({"service_variation", "1",
                                        "exponential times; give --service-variation (0: always the same) or "
                                        "--service-samples"});
    }
}

// ---- the shape ----------------------------------------------------------------------------------------------------

void read_batches(Arguments const& arguments, QueueShape& shape) {
    shape.batch = arguments.count("--batch").value_or(1);
    auto const growth = arguments.text("--batch-growth");
    if (!growth) { return; }
    if (!arguments.has("--batch")) {
        refuse("--batch-growth", "belongs to --batch", "it would be ignored", "say how many: --batch 8");
    }
    shape.batch_growth =
        io::parse_between(*growth, 0.0, most_growth, "growth of a batch for each further request", "--batch-growth");
}

/// From the least that keep up with the load to twice as many, about a dozen.
std::vector<int> counts_around(QueueLoad const& load, QueueShape const& shape) {
    double const least = std::floor(load.arrivals_per_second / capacity_of_server(load, shape)) + 1.0;
    if (least > most_replicas) {
        refuse("--arrivals", "needs more than 1000000 replicas", scaled(least) + " of them are busy all the time",
               "check the units of --arrivals and --service");
    }
    std::vector<int> counts;
    for (int step = 0; step <= 10; ++step) {
        counts.push_back(static_cast<int>(std::lround(least * std::pow(2.0, step / 10.0))));
    }
    for (int more = 1; more <= 4; ++more) { counts.push_back(static_cast<int>(least) + more); }
    std::erase_if(counts, [](int count) { return count > most_replicas; });
    std::ranges::sort(counts);
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
}

std::vector<int> read_replicas(Arguments const& arguments, QueueQuestion const& question) {
    auto const text = arguments.text("--replicas");
    if (!text) {
        auto counts = counts_around(question.queue.load, question.queue.shape);
        if (auto const& places = question.queue.shape.places) {
            std::erase_if(counts, [&](int count) { return count > *places; });
            if (counts.empty()) { counts = {*places}; }
        }
        return counts;
    }
    auto counts = parse_counts(*text, "--replicas");
    if (counts.back() > most_replicas) {
        refuse("--replicas", std::to_string(counts.back()) + " are too many", "counts end at 1000000", "");
    }
    auto const& places = question.queue.shape.places;
    if (places && *places < counts.back()) {
        refuse("--places", std::to_string(*places) + " are fewer than " + replicas_words(counts.back()),
               "who is served has a place too", "give at least as many places as replicas");
    }
    return counts;
}

// ---- options that need each other ---------------------------------------------------------------------------------

void check_lines(QueueQuestion const& question) {
    bool const shared = question.queue.dispatch == Dispatch::shared_line;
    if (!shared && question.queue.shape.places) {
        refuse("--places", "given with --dispatch", "room is counted for one line before all replicas",
               "leave one out");
    }
    if (!shared && question.queue.shape.batch > 1) {
        refuse("--batch", "given with --dispatch", "batches are taken from one line before all replicas",
               "leave one out");
    }
    if (question.hedge && shared) {
        refuse("--hedge", "needs lines of their own", "a second copy goes to another replica's line",
               "add --dispatch random, round-robin, two-choices or shortest-line");
    }
    bool const one_count = question.stated_replicas && question.replicas.size() == 1;
    if (question.hedge && one_count && question.replicas.front() == 1) {
        refuse("--hedge", "needs a second replica", "a second copy goes to another", "give --replicas 2 or more");
    }
}

std::optional<double> read_factor(Arguments const& arguments) {
    auto const text = arguments.text("--scale-up");
    if (!text) { return std::nullopt; }
    bool const with_x = text->ends_with('x');
    double const factor = io::parse_between(with_x ? text->substr(0, text->size() - 1) : *text, 1.0, 1000.0,
                                            "factor of speed (2x)", "--scale-up");
    if (factor == 1.0) { refuse("--scale-up", "1x is no faster", "", "for example 2x"); }
    return factor;
}

void read_simulation(Arguments const& arguments, QueueQuestion& question) {
    auto const duration = arguments.text("--simulate");
    question.simulate = duration.has_value();
    if (duration && !duration->empty()) { question.duration = read_queue_time(*duration, "--simulate"); }
    if (auto const delay = arguments.text("--hedge")) { question.hedge = read_queue_time(*delay, "--hedge"); }
    if (auto const seed = arguments.text("--seed")) {
        question.seed = static_cast<std::uint64_t>(io::parse_whole(*seed, "--seed"));
    }
}

} // namespace

QueueQuestion read_queue_question(Arguments const& arguments) {
    QueueQuestion question;
    QueueLoad& load = question.queue.load;
    load.arrivals_per_second = read_arrivals(arguments);
    read_service(arguments, question);
    auto const variation = read_variation(arguments, "--arrival-variation");
    load.arrival_variation = variation.value_or(1.0);
    if (!variation) {
        question.assumptions.push_back(
            {"arrival_variation", "1", "Poisson arrivals: requests know nothing of each other"});
    }
    question.queue.shape.places = arguments.count("--places");
    if (question.queue.shape.places.value_or(0) > most_places) {
        refuse("--places", headroom::quoted(*arguments.text("--places")) + " are too many", "places end at 10^9",
               "leave it out: then there is room for all");
    }
    read_batches(arguments, question.queue.shape);
    question.queue.dispatch = arguments.one_of("--dispatch", dispatches).value_or(Dispatch::shared_line);
    question.objective = read_queue_objective(arguments, question.queue.shape.places.has_value());
    question.stated_replicas = arguments.has("--replicas");
    question.replicas = read_replicas(arguments, question);
    question.queue.shape.servers = question.replicas.front();
    if (auto const price = arguments.text("--price")) {
        question.price = parse_price(*price, "--price");
        if (question.price->base() > 1e12) { refuse("--price", headroom::quoted(*price) + " is out of range"); }
    }
    read_simulation(arguments, question);
    question.factor = read_factor(arguments);
    check_lines(question);
    return question;
}

} // namespace headroom::cli
