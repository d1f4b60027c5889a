#include "calibrate/calibrate_evidence.hpp"

#include "document/text.hpp"

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/trace.hpp"
#include "headroom/kernel.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

namespace headroom::cli {
namespace {

namespace fs = std::filesystem;

std::chrono::sys_days days_of(std::string const& day) { // as `day_of` wrote it
    auto const number = [&](std::size_t at, std::size_t count) { return std::stoi(day.substr(at, count)); };
    return std::chrono::sys_days{std::chrono::year{number(0, 4)} /
                                 std::chrono::month{static_cast<unsigned>(number(5, 2))} /
                                 std::chrono::day{static_cast<unsigned>(number(8, 2))}};
}

/// How much older than the newest each piece is: what the clock of today says would change from day to day.
void say_ages(CalibrateAnswer& answer) {
    constexpr int old = 90;
    std::string newest;
    for (auto const& one : answer.evidence) { newest = std::max(newest, one.to); }
    if (newest.empty()) { return; }
    for (auto& one : answer.evidence) {
        if (one.to.empty()) { continue; }
        one.days_old = static_cast<int>((days_of(newest) - days_of(one.to)).count());
        if (*one.days_old <= old) { continue; }
        answer.notes.push_back(one.name + " is " + std::to_string(*one.days_old) + " days older than the newest (" +
                               one.to + " and " + newest + "): drivers, libraries and machines change");
    }
}

bool is_calibration(std::string const& name) { return name.ends_with(".toml"); }

/// Compressed files, databases and JSON of events: not worth reading as a log first.
bool begins_like_a_trace(std::string const& name) {
    constexpr std::size_t enough = 64U << 10;
    std::string head(enough, '\0');
    std::ifstream in(name, std::ios::binary);
    in.read(head.data(), static_cast<std::streamsize>(enough));
    head.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
    bool const packed = head.starts_with("\x1f\x8b") || head.starts_with("\x28\xb5\x2f\xfd");
    return packed || head.starts_with("SQLite format 3") || head.find("\"traceEvents\"") != std::string::npos ||
           head.find("\"ph\"") != std::string::npos;
}

/// Text that a benchmark printed, or nothing: what is no log may be a trace.
std::optional<io::BenchmarkLog> log_in(std::string const& name, io::LogQuestion const& question) {
    constexpr std::uintmax_t longest = io::benchmark_log_limit;
    std::error_code error;
    if (fs::is_directory(name, error) || fs::file_size(name, error) > longest || error || begins_like_a_trace(name)) {
        return {};
    }
    try {
        return io::read_benchmark_log(io::read_file(name), name, question);
    } catch (InputError const& fault) {
        if (fault.fault() == Fault::unreadable) { return {}; }
        throw;
    }
}

void take_log(std::string const& name, io::BenchmarkLog log, CalibrateAnswer& answer) {
    answer.evidence.push_back(
        {name, "benchmark log", counted(log.rows.size(), "row") + ", " + log.format, log.rows.size()});
    for (MeasuredCollective const& row : log.rows) {
        if (answer.evidence.back().machine.empty()) { answer.evidence.back().machine = row.system; }
    }
    for (auto const& trouble : log.troubles) { answer.notes.push_back(name + ": " + fit::words_of(trouble)); }
    for (auto const& text : log.notes) { answer.notes.push_back(name + ": " + text); }
    for (MeasuredCollective& row : log.rows) {
        row.file = name;
        answer.links.rows.push_back(std::move(row));
    }
}

std::string name_of_system(TraceAnswer const& traces, CalibrateQuestion const& question) {
    if (!question.log.system.empty()) { return question.log.system; }
    for (RankDigest const& rank : traces.ranks) {
        if (!rank.device.name.empty()) { return rank.device.name; }
    }
    return "the traced machine";
}

std::string words_of_traces(TraceAnswer const& traces, fit::TraceCollectives const& collectives) {
    return counted(traces.ranks.size(), "rank") + ", " + counted(collectives.used, "collective");
}

/// Why traces gave no links, or not all that they might have.
void note_collectives(TraceAnswer const& traces, fit::TraceCollectives const& collectives, CalibrateAnswer& answer) {
    if (collectives.incomplete > 0) {
        answer.notes.push_back(counted(collectives.incomplete, "collective") +
                               " left out: not all ranks of the group were traced, and the last may be missing");
    }
    if (collectives.without_size > 0) {
        answer.notes.push_back(counted(collectives.without_size, "collective") +
                               " left out: the traces do not state their size or kind");
    }
    if (traces.collectives.unmatched > 0) {
        answer.notes.push_back(counted(static_cast<std::size_t>(traces.collectives.unmatched), "run") +
                               " of collectives without a partner on another rank: their times hold waiting");
    }
    for (auto const& text : traces.collectives.notes) { answer.notes.push_back(text); }
}

/// "a100" of "a100-sxm-80gb".
std::string chip_of(std::string_view accelerator) { return std::string{accelerator.substr(0, accelerator.find('-'))}; }

/// Whether words such as "NVIDIA A100-SXM4-80GB" name an accelerator of the catalog, and another one than this.
bool names_another(std::string_view words, Accelerator const& accelerator, io::Catalog const& catalog) {
    std::set<std::string> found;
    std::string word;
    for (char const byte : std::string{words} + ' ') {
        bool const inside = std::isalnum(static_cast<unsigned char>(byte)) != 0;
        if (inside) { word += static_cast<char>(std::tolower(static_cast<unsigned char>(byte))); }
        if (!inside) { found.insert(std::exchange(word, {})); }
    }
    if (found.contains(chip_of(accelerator.name))) { return false; }
    return std::ranges::any_of(catalog.names(io::RecordKind::accelerator),
                               [&](std::string const& name) { return found.contains(chip_of(name)); });
}

/// A share of the accelerator's peak from the matrix products of traces.
void add_product_constant(fit::TraceFacts const& facts, CalibrateQuestion const& question, CalibrateAnswer& answer) {
    if (!facts.matrix_products || !question.accelerator) { return; }
    auto const& share = facts.matrix_products->share;
    if (!(share.value > 0.0) || share.value > 1.0) {
        answer.notes.push_back("matrix products reach " + percent(share.value) + " % of the peak of " +
                               question.accelerator->name + ": another accelerator was traced; left out");
        return;
    }
    auto const kernels = static_cast<std::size_t>(facts.matrix_products->kernels);
    answer.constant_sources.push_back(
        {.id = gemm_constant(question.accelerator->generation),
         .constant = {.value = share.value,
                      .low = share.low,
                      .high = std::min(share.high, 1.0),
                      .independent = share.value,
                      .spread = 0.0,
                      .provenance = Provenance::measured,
                      .source = "matrix products of traces: " + std::to_string(kernels) + " kernels",
                      .sources = 1},
         .evidence = answer.evidence.size() - 1,
         .samples = kernels});
}

/// First and last day of traces whose clocks say it.
void add_days(TraceAnswer const& traces, CalibrateEvidence& evidence) {
    for (RankDigest const& rank : traces.ranks) {
        if (!rank.clock_is_absolute || rank.epoch_ns <= 0) { continue; }
        std::string const day = day_of(rank.epoch_ns);
        if (evidence.from.empty() || day < evidence.from) { evidence.from = day; }
        if (evidence.to.empty() || day > evidence.to) { evidence.to = day; }
    }
}

void take_traces(std::vector<std::string> const& names, CalibrateQuestion const& question, io::Catalog const& catalog,
                 CalibrateAnswer& answer) {
    if (names.empty()) { return; }
    io::TraceFiles const files = io::trace_files(names);
    io::TraceSet set = io::read_trace_set(files, {.step = {}, .wants_path = false, .wants_slowdown = true}, {});
    for (auto const& text : set.unread) { answer.notes.push_back(text); }
    TraceAnswer const traces = trace_answer(std::move(set.ranks));
    fit::TraceFitSettings settings{.system = name_of_system(traces, question),
                                   .source = join(names, ", "),
                                   .nodes = question.log.nodes,
                                   .accelerator = question.accelerator};
    if (settings.accelerator && names_another(settings.system, *settings.accelerator, catalog)) {
        answer.traced_elsewhere = "the traces are of " + settings.system + ", and not of " +
                                  settings.accelerator->name + " (--system " + settings.accelerator->name +
                                  " where both are one)";
        answer.notes.push_back("matrix products left out: " + answer.traced_elsewhere);
        settings.accelerator = {};
    }
    fit::TraceCollectives collectives = fit::measured_collectives(traces, settings);
    answer.evidence.push_back({join(names, ", "), "traces", words_of_traces(traces, collectives), collectives.used});
    answer.evidence.back().machine = settings.system;
    add_days(traces, answer.evidence.back());
    std::ranges::move(collectives.rows, std::back_inserter(answer.links.rows));
    collectives.rows.clear();
    note_collectives(traces, collectives, answer);
    answer.collectives = std::move(collectives);
    answer.facts = fit::trace_facts(traces, settings);
    add_product_constant(*answer.facts, question, answer);
}

} // namespace

std::string day_of(std::int64_t since_1970_ns) {
    if (since_1970_ns <= 0) { return {}; }
    auto const time = std::chrono::sys_time<std::chrono::nanoseconds>{std::chrono::nanoseconds{since_1970_ns}};
    std::chrono::year_month_day const date{std::chrono::floor<std::chrono::days>(time)};
    auto const two = [](unsigned number) { return (number < 10 ? "0" : "") + std::to_string(number); };
    return std::to_string(static_cast<int>(date.year())) + '-' + two(static_cast<unsigned>(date.month())) + '-' +
           two(static_cast<unsigned>(date.day()));
}

CalibrateAnswer read_evidence(CalibrateQuestion const& question, io::Catalog const& catalog) {
    CalibrateAnswer answer;
    std::vector<std::string> traces;
    for (std::string const& name : question.evidence) {
        if (is_calibration(name)) {
            take_calibration(name, question, answer);
        } else if (auto log = log_in(name, question.log)) {
            take_log(name, std::move(*log), answer);
        } else {
            traces.push_back(name);
        }
    }
    take_traces(traces, question, catalog, answer);
    take_campaigns(chosen_campaigns(question), question, catalog, answer);
    say_ages(answer);
    fit_and_join_links(question, answer);
    return answer;
}

} // namespace headroom::cli
