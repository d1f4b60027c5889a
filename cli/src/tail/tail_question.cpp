#include "arguments.hpp"
#include "measure/measure.hpp"
#include "tail/tail_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/quantity.hpp"
#include "headroom/serving/percentile.hpp"
#include "headroom/share.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr char const* reading_group = "Samples";
constexpr char const* question_group = "Question";
constexpr char const* replica_group = "Replicas";

constexpr std::array options{
    Option{"--column", "NAME|N", "of the values, by name or number (default: the one that looks like it)",
           reading_group},
    Option{"--time-column", "NAME|N|none", "of the times at which requests were sent", reading_group},
    Option{"--unit", "UNIT", "of values that state none: s, ms, us, ns; 1 for plain numbers", reading_group},
    Option{"--time-unit", "UNIT", "of times that state none", reading_group},
    Option{"--where", "COLUMN=VALUE", "only rows with this cell (again for more)", reading_group, Takes::values},
    Option{"--keep-failed", "", "count requests that failed as others (default: left out and reported)", reading_group,
           Takes::nothing},
    Option{"--format-of", "FORMAT", "csv, jsonl, hgrm, wrk, vegeta, k6, ... or trace, where the file does not show it",
           reading_group},
    Option{"--step-name", "TEXT", "of traces: ranges with this name are the steps", reading_group},
    Option{"--store", "FILE", "where store:ID looks (default: as headroom history)", reading_group},
    Option{"--each", "", "every file apart too, not only all together", question_group, Takes::nothing},
    Option{"--baseline", "SAMPLES", "another run to compare with (again for more files)", question_group,
           Takes::values},
    Option{"--interval", "TIME", "between requests as was meant: puts back what a waiting load generator left out",
           question_group},
    Option{"--slow", "TIME|P", "what counts as slow: 200ms or p99 (default: p99)", question_group},
    Option{"--fan-out", "COUNTS", "workers that one request, or step, waits for (default: 1,8,64,512)", question_group},
    Option{"--fit", "", "fit distributions, and ask them what lies beyond the samples", question_group, Takes::nothing},
    Option{"--hedge", "TIME|P", "delay of a second copy: 50ms or p95 (default: several)", question_group},
    Option{"--backups", "COUNTS", "workers that nobody waits for, of each fan-out (default: 1,2,4,8)", question_group,
           Takes::perhaps_value},
    Option{"--coverage", "SHARE", "of intervals (default: 95%)", question_group},
    Option{"--require", "CONDITIONS", "exit 99 unless they hold: 'p99<=200ms,p99-change<=5%'", question_group},
    Option{"--objective", "CONDITION", "how many replicas keep it: 'p99<=200ms'", replica_group},
    Option{"--arrivals", "RATE", "requests of all replicas together: 500/s (default: from the samples' times)",
           replica_group},
    Option{"--replicas", "N", "that served these samples", replica_group},
    Option{"--service", "", "the samples are times of service alone, without waiting", replica_group, Takes::nothing},
    Option{"--dispatch", "HOW", "shared-line (default), random, round-robin, two-choices or shortest-line",
           replica_group},
    Option{"--seed", "N", "of the simulated queue (default: 1)", replica_group},
};

std::optional<double> number_in(std::string_view text) {
    double value = 0.0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool const whole = error == std::errc{} && stop == text.data() + text.size() && std::isfinite(value);
    return whole ? std::optional{value} : std::nullopt;
}

/// "95%", "0.95"
double read_coverage(std::string const& text) {
    auto const share = share_in(text);
    if (!share || *share < 0.5 || *share >= 1.0) {
        refuse("--coverage", "cannot take " + headroom::quoted(text), "it is a share from 50% to below 100%",
               "write it like 95%");
    }
    return *share;
}

/// A time with its unit, or a plain number of 0 or more: which of them the samples are is known once they are read.
TailPoint read_value(std::string const& text, std::string_view where) {
    TailPoint point{.text = text};
    if (auto const number = number_in(text)) {
        if (*number >= 0.0) { point.number = number; }
    } else {
        point.seconds = parse_base(text, {.seconds = 1}, where);
    }
    return point;
}

std::optional<TailPoint> read_point(Arguments const& arguments, std::string const& name) {
    auto const text = arguments.text(name);
    if (!text) { return std::nullopt; }
    if (auto const q = percentile_in(*text)) { return TailPoint{.text = *text, .q = q}; }
    return read_value(*text, name);
}

std::optional<TailObjective> read_objective(Arguments const& arguments) {
    auto const text = arguments.text("--objective");
    if (!text) { return std::nullopt; }
    auto const at = text->find('<');
    std::size_t const length = at != std::string::npos && at + 1 < text->size() && (*text)[at + 1] == '=' ? 2 : 1;
    auto const q = at == std::string::npos ? std::nullopt : percentile_in(trimmed(text->substr(0, at)));
    if (!q) {
        refuse("--objective", "cannot read " + headroom::quoted(*text), "it is no percentile with a limit",
               "write it like 'p99<=200ms'");
    }
    return TailObjective{*text, *q, read_value(trimmed(text->substr(at + length)), "--objective")};
}

void read_pairs(Arguments const& arguments, io::LatencyQuestion& reading) {
    for (std::string const& one : arguments.all("--where")) {
        auto const at = one.find('=');
        if (at == std::string::npos || at == 0) {
            refuse("--where", "cannot read " + headroom::quoted(one), "", "write it like --where status=200");
        }
        reading.where.emplace_back(trimmed(one.substr(0, at)), trimmed(one.substr(at + 1)));
    }
}

void read_reading(Arguments const& arguments, TailRequest& request) {
    auto const text = [&](char const* name) { return arguments.text(name).value_or(""); };
    request.reading.column = text("--column");
    request.reading.time_column = text("--time-column");
    request.reading.unit = text("--unit");
    request.reading.time_unit = text("--time-unit");
    std::vector<std::string> formats{"trace"};
    for (auto const& name : io::latency_formats()) { formats.emplace_back(name); }
    auto const format = arguments.choice("--format-of", formats).value_or("");
    request.traces = format == "trace";
    if (!request.traces) { request.reading.format = format; }
    request.reading.keep_failed = arguments.has("--keep-failed");
    request.step_name = text("--step-name");
    request.store = store_path(arguments);
    read_pairs(arguments, request.reading);
}

void read_replicas(Arguments const& arguments, TailQuestion& question) {
    question.objective = read_objective(arguments);
    if (auto const rate = arguments.quantity<Quantity<0, 0, -1, 0, 0>>("--arrivals")) {
        question.arrivals_per_second = rate->base();
        if (!(rate->base() > 0.0)) { refuse("--arrivals", "must be above zero", "", "as in --arrivals 500/s"); }
    }
    question.replicas = arguments.count("--replicas");
    question.service = arguments.has("--service");
    question.dispatch = arguments.one_of("--dispatch", dispatches).value_or(question.dispatch);
    if (auto const seed = arguments.text("--seed")) {
        question.seed = *seed == "0" ? 0U : static_cast<std::uint64_t>(parse_whole(*seed, "--seed"));
    }
    bool const lone = !question.objective;
    for (char const* name : {"--arrivals", "--replicas", "--service", "--dispatch", "--seed"}) {
        if (lone && arguments.has(name)) {
            refuse(name, "has no effect without --objective", "", "add one, like --objective 'p99<=200ms'");
        }
    }
}

} // namespace

std::span<Option const> tail_options() { return options; }

TailRequest read_tail_request(Arguments const& arguments) {
    TailRequest request;
    TailQuestion& question = request.question;
    request.paths = arguments.all("SAMPLES");
    if (request.paths.empty()) {
        refuse("SAMPLES", "missing", "", "name a file of samples, - for standard input, a trace or store:ID");
    }
    request.baseline = arguments.all("--baseline");
    read_reading(arguments, request);
    question.each = arguments.has("--each");
    question.fit = arguments.has("--fit");
    if (auto const text = arguments.text("--coverage")) { question.coverage = read_coverage(*text); }
    if (auto const text = arguments.text("--interval")) {
        question.interval = parse_base(*text, {.seconds = 1}, "--interval");
        if (!(*question.interval > 0.0)) { refuse("--interval", "must be above zero", "", "as in --interval 10ms"); }
    }
    if (auto const counts = arguments.text("--fan-out")) { question.fan_out = parse_counts(*counts, "--fan-out"); }
    question.slow = read_point(arguments, "--slow");
    question.hedge = read_point(arguments, "--hedge");
    question.wants_backups = arguments.has("--backups");
    if (auto const counts = arguments.text("--backups"); counts && !counts->empty()) {
        question.backups = parse_counts(*counts, "--backups");
    }
    read_replicas(arguments, question);
    if (arguments.states("--store") && !names_stored(request.paths) && !names_stored(request.baseline)) {
        refuse("--store", "has no effect without store:ID", "no measurement is named", "name one, as store:last");
    }
    request.reading.keep_requests = question.rebuilds_service();
    for (char const* name : {"--baseline", "--interval", "--slow", "--fan-out", "--fit", "--hedge", "--backups",
                             "--objective", "--each"}) {
        if (arguments.has(name)) { request.needs_samples.emplace_back(name); }
    }
    return request;
}

} // namespace headroom::cli
