#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/training_options.hpp"
#include "headroom/io/work.hpp"
#include "headroom/order_statistics.hpp"
#include "headroom/share.hpp"
#include "headroom/text.hpp"
#include "headroom/training/critical_batch.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr char const* group = "Effects that the speedup laws leave out ('off' switches one off)";

constexpr std::array options{
    Option{"--imbalance", "FACTOR|lengths:CV:N|FILE",
           "work of the most loaded rank over the mean: 1.08, from N sequences that vary by CV, or from FILE.csv",
           group},
    Option{
        "--step-spread", "PERCENT",
        "standard deviation of a rank's step time over its mean: 2%; all wait for the slowest (default: 0; fitted for "
        "frameworks with their own kernels)",
        group},
    Option{"--congestion", "PERCENT", "scale-out rate lost per doubling of domains: 5%", group},
    Option{"--mtbf", "TIME", "mean time between failures of one accelerator (default with any of these: 50700h)",
           group},
    Option{"--cluster-mtbf", "TIME", "mean time between failures of the whole job: 3.1h", group},
    Option{"--checkpoint", "TIME", "time that training waits for a checkpoint: 60s", group},
    Option{"--checkpoint-rate", "RATE", "rate at which a node writes it, to compute that time (default: 5 GB/s)",
           group},
    Option{"--checkpoint-blocking", "PERCENT", "share of that time in which training waits (default: 100%)", group},
    Option{"--checkpoint-interval", "TIME|NAME", "work between two checkpoints: 20min, or exact (default), young, daly",
           group},
    Option{"--restart", "TIME", "time from a failure to the next step (default: 300s)", group},
    Option{
        "--critical-batch", "SIZE",
        "batch above which samples are wasted: 1024 sequences or 4Mtokens; --tokens is then the need of a small batch",
        group},
    Option{"--gradient-norms", "B1:N1,B2:N2",
           "critical batch from squared gradient norms at two batch sizes in sequences", group},
};

constexpr std::array weak_options{
    Option{"--batch-per-worker", "SEQUENCES", "the global batch grows with the accelerators", "Question"},
};

constexpr double largest_factor = 1e6;
constexpr double largest_sequences = 1e9;

/// The whole text as one finite number.
std::optional<double> number_in(std::string_view text) {
    std::string const given = words::trimmed(text);
    double value = 0.0;
    auto const [stop, error] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (error != std::errc{} || stop != given.data() + given.size() || !std::isfinite(value)) { return std::nullopt; }
    return value;
}

/// "2%" as 0.02.
double parse_percent(std::string_view text, std::string_view where, std::string const& example) {
    auto const share = share_in(text);
    if (!share) {
        refuse(where, "cannot read " + headroom::quoted(text), "it is no percentage", "write it like " + example);
    }
    if (!words::trimmed(text).ends_with('%')) {
        refuse(where, headroom::quoted(text) + " has no unit", "it is a percentage", "write it like " + example);
    }
    if (*share < 0.0) { refuse(where, headroom::quoted(text) + " is negative", "", "write it like " + example); }
    if (*share > 1.0) { refuse(where, headroom::quoted(text) + " is above 100 %", "", "write it like " + example); }
    return *share;
}

bool is_off(std::optional<std::string> const& text) { return text && normalised(*text) == "off"; }

// ---- inside the step ----------------------------------------------------------------------------------------------

constexpr char const* imbalance_forms = "write 1.08, lengths:0.5:16 (variation, sequences a replica) or FILE.csv";

UnevenSequences parse_lengths(std::string const& text, std::string_view where) {
    auto const parts = words::split(text, ':');
    if (parts.size() != 3) {
        refuse(where, "cannot read " + headroom::quoted(text), "it takes two numbers", imbalance_forms);
    }
    bool const in_percent = parts[1].ends_with('%');
    auto const spread = in_percent ? parse_percent(parts[1], where, "50%") : number_in(parts[1]);
    auto const sequences = number_in(parts[2]);
    if (!spread || *spread < 0.0 || *spread > largest_factor) {
        refuse(where, "no coefficient of variation " + headroom::quoted(parts[1]),
               "it is the standard deviation over the mean", imbalance_forms);
    }
    if (!sequences || *sequences < 1.0 || *sequences > largest_sequences) {
        refuse(where, "no number of sequences " + headroom::quoted(parts[2]), "a replica sums one or more",
               imbalance_forms);
    }
    return {.spread = *spread, .per_replica = *sequences};
}

void read_imbalance(std::string const& text, Disturbance& disturbance, TrainingSetting& setting) {
    constexpr char const* where = "--imbalance";
    if (is_off(text)) { return; }
    if (text.starts_with("lengths")) {
        disturbance.uneven = parse_lengths(text, where);
        return;
    }
    if (auto const factor = number_in(text)) {
        if (*factor < 1.0 || *factor > largest_factor) {
            refuse(where, headroom::quoted(text) + " is not from 1 to 1000000", "the largest is never below the mean",
                   imbalance_forms);
        }
        disturbance.imbalance = *factor;
        return;
    }
    if (!text.ends_with(".csv") && !is_there(text)) {
        refuse(where, "cannot read " + headroom::quoted(text), "it is neither a factor nor a file", imbalance_forms);
    }
    auto const work = read_work(read_file(text), text);
    disturbance.imbalance = std::max(1.0, largest_over_mean(work));
    setting.assumptions.push_back({"imbalance", text::significant(disturbance.imbalance, 4),
                                   "largest over mean of the " + std::to_string(work.size()) + " ranks of " + text,
                                   false});
}

Disturbance read_disturbance(Arguments const& arguments, TrainingSetting& setting) {
    Disturbance disturbance;
    if (auto const text = arguments.text("--imbalance")) {
        read_imbalance(words::trimmed(*text), disturbance, setting);
    }
    if (auto const text = arguments.text("--step-spread")) {
        disturbance.spread = is_off(text) ? 0.0 : parse_percent(*text, "--step-spread", "2%");
    }
    if (auto const text = arguments.text("--congestion"); text && !is_off(text)) {
        disturbance.congestion = parse_percent(*text, "--congestion", "5%");
    }
    return disturbance;
}

// ---- failures -----------------------------------------------------------------------------------------------------

constexpr std::array failure_options{
    "--mtbf",   "--cluster-mtbf", "--checkpoint", "--checkpoint-rate", "--checkpoint-blocking", "--checkpoint-interval",
    "--restart"};

void refuse_both(Arguments const& arguments, char const* one, char const* other, char const* why) {
    if (!arguments.has(one) || !arguments.has(other)) { return; }
    refuse(one, std::string{"given with "} + other, why, "keep one of the two");
}

/// Thirty thousand years: no run waits longer, and sums of such times stay numbers that can be read.
constexpr Seconds longest_time = 1e12 * units::s;

Seconds bounded(Seconds time, std::string_view text, std::string_view where) {
    if (time > longest_time) {
        refuse(where, headroom::quoted(text) + " is too long", "times end at 1e12 s, 30 thousand years", "");
    }
    return time;
}

std::optional<Seconds> time_of(Arguments const& arguments, char const* option) {
    auto const time = arguments.quantity<Seconds>(option);
    return time ? std::optional{bounded(*time, *arguments.text(option), option)} : std::nullopt;
}

/// A time that must not be zero: a cluster that fails at once has no mean time between failures.
std::optional<Seconds> time_above_zero(Arguments const& arguments, char const* option, char const* example) {
    auto const time = time_of(arguments, option);
    if (time && time->base() <= 0.0) {
        refuse(option, headroom::quoted(*arguments.text(option)) + " is not above zero", "",
               std::string{"write it like "} + option + " " + example);
    }
    return time;
}

void read_interval(std::string const& text, Failures& failures) {
    bool const is_name = !text.empty() && text.find_first_of("0123456789") == std::string::npos;
    if (!is_name) {
        failures.rule = IntervalRule::given;
        failures.interval = bounded(parse<Seconds>(text, "--checkpoint-interval"), text, "--checkpoint-interval");
        return;
    }
    std::string const name = parse_choice(text, {"exact", "young", "daly"}, "--checkpoint-interval");
    failures.rule = name == "young" ? IntervalRule::young : name == "daly" ? IntervalRule::daly : IntervalRule::exact;
}

/// Adds the assumptions on failures that the user did not give.
void assume_failures(Arguments const& arguments, TrainingSetting& setting) {
    auto const add = [&setting](char const* field, std::string value, char const* why,
                                Provenance provenance = Provenance::guessed) {
        setting.assumptions.push_back({field, std::move(value), why, false, provenance});
    };
    if (!arguments.has("--mtbf") && !arguments.has("--cluster-mtbf")) {
        add("mtbf", text::significant(default_device_mtbf.in(units::hour)) + " h",
            "of one accelerator: Llama 3 405B was interrupted 419 times in 54 days on 16384", Provenance::cited);
    }
    if (!arguments.has("--checkpoint") && !arguments.has("--checkpoint-rate")) {
        add("checkpoint_rate", format(default_checkpoint_rate), "of one node; default");
    }
    if (!arguments.has("--checkpoint") && !arguments.has("--checkpoint-blocking")) {
        add("checkpoint_blocking", "100 %", "default; less where the write is hidden");
    }
    if (!arguments.has("--restart")) { add("restart", format(default_restart), "default"); }
    if (!arguments.has("--checkpoint-interval")) { add("checkpoint_interval", "exact", "default; the least time"); }
}

std::optional<Failures> read_failures(Arguments const& arguments, TrainingSetting& setting) {
    bool const asked = std::ranges::any_of(failure_options, [&](char const* one) { return arguments.has(one); });
    if (!asked) { return std::nullopt; }
    if (is_off(arguments.text("--mtbf"))) {
        for (char const* option : failure_options) {
            if (option != std::string_view{"--mtbf"} && arguments.has(option)) {
                refuse(option, "given with --mtbf off", "nothing fails, nothing is written", "keep one of the two");
            }
        }
        return std::nullopt;
    }
    refuse_both(arguments, "--mtbf", "--cluster-mtbf", "one follows from the other");
    refuse_both(arguments, "--checkpoint-rate", "--checkpoint", "the rate would give that time");
    refuse_both(arguments, "--checkpoint-blocking", "--checkpoint", "that is already the time training waits");
    Failures failures;
    if (auto const time = time_above_zero(arguments, "--mtbf", "50700h")) { failures.device_mtbf = *time; }
    failures.cluster_mtbf = time_above_zero(arguments, "--cluster-mtbf", "3.1h");
    failures.checkpoint = time_of(arguments, "--checkpoint");
    if (auto const rate = arguments.quantity<BytesPerSecond>("--checkpoint-rate")) {
        if (rate->base() <= 0.0) {
            refuse("--checkpoint-rate", "not above zero", "", "write it like --checkpoint-rate '5 GB/s'");
        }
        failures.checkpoint_rate = *rate;
    }
    if (auto const text = arguments.text("--checkpoint-blocking")) {
        failures.blocking_share = parse_percent(*text, "--checkpoint-blocking", "10%");
    }
    if (auto const text = arguments.text("--checkpoint-interval")) { read_interval(words::trimmed(*text), failures); }
    failures.restart = time_of(arguments, "--restart").value_or(default_restart);
    assume_failures(arguments, setting);
    return failures;
}

// ---- the batch ----------------------------------------------------------------------------------------------------

/// "1024", "1024 sequences" or "4M tokens", in sequences.
double parse_batch(std::string const& text, double tokens_a_sequence) {
    constexpr char const* where = "--critical-batch";
    auto const without = [&text](std::string_view word) -> std::optional<std::string> {
        if (!text.ends_with(word)) { return std::nullopt; }
        return words::trimmed(std::string_view{text}.substr(0, text.size() - word.size()));
    };
    for (char const* word : {"tokens", "token"}) {
        if (auto const count = without(word)) { return parse_count(*count, where) / tokens_a_sequence; }
    }
    for (char const* word : {"sequences", "sequence"}) {
        if (auto const count = without(word)) { return parse_count(*count, where); }
    }
    return parse_count(text, where);
}

GradientNorm parse_norm(std::string const& text) {
    constexpr char const* where = "--gradient-norms";
    auto const parts = words::split(text, ':');
    if (parts.size() != 2) {
        refuse(where, "cannot read " + headroom::quoted(text), "it is not BATCH:NORM", "write 64:3.1,1024:1.2");
    }
    auto const norm = number_in(parts[1]);
    if (!norm || *norm < 0.0) {
        refuse(where, "no squared norm " + headroom::quoted(parts[1]), "it is a number, not negative",
               "write 64:3.1,1024:1.2");
    }
    return {.batch = parse_count(parts[0], where), .squared_norm = *norm};
}

double critical_batch_of(std::string const& text, TrainingSetting& setting) {
    auto const parts = words::split(text, ',');
    if (parts.size() != 2) {
        refuse("--gradient-norms", std::to_string(parts.size()) + " batch sizes", "noise shows between two",
               "write 64:3.1,1024:1.2");
    }
    GradientNoise const noise = gradient_noise(parse_norm(parts[0]), parse_norm(parts[1]));
    if (!(noise.scale() > 0.0) || !std::isfinite(noise.scale())) {
        too_little("--gradient-norms", "no noise scale",
                   "both norms are the same: gradient and noise cannot be separated", "average them over more steps");
    }
    setting.assumptions.push_back({"critical_batch", text::significant(noise.scale(), 4) + " sequences",
                                   "the noise scale of the gradient norms stands in for it", false});
    return noise.scale();
}

std::optional<double> read_critical_batch(Arguments const& arguments, TrainingSetting& setting) {
    refuse_both(arguments, "--gradient-norms", "--critical-batch", "one follows from the other");
    if (auto const text = arguments.text("--gradient-norms")) { return critical_batch_of(*text, setting); }
    auto const text = arguments.text("--critical-batch");
    if (!text || is_off(text)) { return std::nullopt; }
    return parse_batch(words::trimmed(*text), setting.workload.tokens());
}

/// A batch that grows with the workers is none that was assumed.
std::optional<int> read_batch_per_worker(Arguments const& arguments, TrainingSetting& setting) {
    refuse_both(arguments, "--batch-per-worker", "--global-batch", "one grows with the workers, the other does not");
    refuse_both(arguments, "--steps", "--batch-per-worker", "the tokens of a step grow with the workers");
    auto const batch = arguments.count("--batch-per-worker");
    if (batch) {
        std::erase_if(setting.assumptions, [](Assumption const& one) { return one.field == "global_batch"; });
    }
    return batch;
}

} // namespace

std::span<Option const> left_out_options() { return options; }
std::span<Option const> weak_scaling_options() { return weak_options; }

LeftOutRequest read_left_out(Arguments const& arguments, TrainingSetting& setting) {
    return {.disturbance = read_disturbance(arguments, setting),
            .failures = read_failures(arguments, setting),
            .critical_batch = read_critical_batch(arguments, setting),
            .batch_per_worker = read_batch_per_worker(arguments, setting)};
}

} // namespace headroom::io
