#include "calibration_evidence.hpp"

#include "headroom/text.hpp"
#include "headroom/training/kernel.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <set>
#include <utility>

namespace headroom::fit {

using namespace headroom::network;
using namespace headroom::trace;
using namespace headroom::training;

namespace {

using text::counted;
using text::join;
using text::percent;

std::chrono::sys_days days_of(std::string const& day) { // as `day_of` wrote it
    auto const number = [&](std::size_t at, std::size_t count) { return std::stoi(day.substr(at, count)); };
    return std::chrono::sys_days{std::chrono::year{number(0, 4)} /
                                 std::chrono::month{static_cast<unsigned>(number(5, 2))} /
                                 std::chrono::day{static_cast<unsigned>(number(8, 2))}};
}

/// Days by which each item is older than the newest. The clock of today would change the answer from day to day.
void say_ages(CalibrationAnswer& answer) {
    constexpr int old = 90;
    std::string newest;
    for (auto const& one : answer.evidence) { newest = std::max(newest, one.to); }
    if (newest.empty()) { return; }
    for (auto& one : answer.evidence) {
        if (one.to.empty()) { continue; }
        one.days_old = static_cast<int>((days_of(newest) - days_of(one.to)).count());
        if (*one.days_old <= old) { continue; }
        answer.notes.push_back({.remark = CalibrationRemark::old,
                                .names = {one.name, one.to, newest},
                                .count = static_cast<std::size_t>(*one.days_old)});
    }
}

void take_training_log(LogAnswer log, CalibrationAnswer& answer) {
    StepCounts const& counts = log.steady.counts;
    answer.evidence.push_back({log.file, EvidenceKind::training_log,
                               "a step of " + format(log.steady.step) + ", " + counted(counts.steady, "steady line") +
                                   " of " + std::to_string(counts.read) + ", " + log.format,
                               counts.steady});
    add_issues(answer.issues, log.issues, log.file);
    for (std::string const& note : log.notes) {
        answer.notes.push_back({.remark = CalibrationRemark::of_reader, .names = {log.file + ": " + note}});
    }
    for (Issue const& issue : log.issues) {
        answer.notes.push_back({.remark = CalibrationRemark::of_reader, .names = {log.file + ": " + words_of(issue)}});
    }
    answer.logs.push_back(std::move(log));
}

void take_log(LogEvidence log, CalibrationAnswer& answer) {
    std::string const& name = log.file.name;
    if (!log.file.refusal.empty()) {
        answer.notes.push_back({.remark = CalibrationRemark::not_used, .names = {log.file.refusal}});
        answer.issues.push_back({.kind = "file not used", .count = 1, .file = name, .text = log.file.refusal});
        return;
    }
    answer.evidence.push_back(
        {name, EvidenceKind::benchmark_log, counted(log.rows.size(), "row") + ", " + log.file.format, log.rows.size()});
    for (MeasuredCollective const& row : log.rows) {
        if (answer.evidence.back().machine.empty()) { answer.evidence.back().machine = row.system; }
    }
    add_issues(answer.issues, log.file.issues, name);
    for (Issue const& issue : log.file.issues) {
        answer.notes.push_back({.remark = CalibrationRemark::of_reader, .names = {name + ": " + words_of(issue)}});
    }
    for (auto const& one : log.file.notes) {
        answer.notes.push_back({.remark = CalibrationRemark::of_reader, .names = {name + ": " + one}});
    }
    for (MeasuredCollective& row : log.rows) {
        row.file = name;
        answer.links.rows.push_back(std::move(row));
    }
}

std::string name_of_system(TraceAnswer const& traces, CalibrationQuestion const& question) {
    if (!question.system.empty()) { return question.system; }
    for (RankDigest const& rank : traces.ranks) {
        if (!rank.device.name.empty()) { return rank.device.name; }
    }
    return {};
}

std::string words_of_traces(TraceAnswer const& traces, TraceCollectives const& collectives) {
    return counted(traces.ranks.size(), "rank") + ", " + counted(collectives.used, "collective");
}

/// Reasons why traces gave fewer links than they might have.
void note_collectives(TraceAnswer const& traces, TraceCollectives const& collectives, CalibrationAnswer& answer) {
    if (collectives.incomplete > 0) {
        answer.notes.push_back({.remark = CalibrationRemark::incomplete, .count = collectives.incomplete});
    }
    if (collectives.without_size > 0) {
        answer.notes.push_back({.remark = CalibrationRemark::unsized, .count = collectives.without_size});
    }
    if (traces.collectives.unmatched > 0) {
        answer.notes.push_back(
            {.remark = CalibrationRemark::unmatched, .count = static_cast<std::size_t>(traces.collectives.unmatched)});
    }
    for (auto const& one : traces.collectives.notes) {
        answer.notes.push_back({.remark = CalibrationRemark::of_reader, .names = {one}});
    }
}

/// "a100" of "a100-sxm-80gb".
std::string chip_of(std::string_view accelerator) { return std::string{accelerator.substr(0, accelerator.find('-'))}; }

/// Whether words such as "NVIDIA A100-SXM4-80GB" name an accelerator of the catalog, or a variant of one ("RTX 4090 D"),
/// and another one than this.
bool names_another(std::string_view words, CalibrationQuestion const& question) {
    std::set<std::string> found;
    std::string word;
    for (char const byte : std::string{words} + ' ') {
        bool const inside = std::isalnum(static_cast<unsigned char>(byte)) != 0;
        if (inside) { word += static_cast<char>(std::tolower(static_cast<unsigned char>(byte))); }
        if (!inside) { found.insert(std::exchange(word, {})); }
    }
    std::string const& ours = question.accelerator->name;
    auto const in_catalog = [&](std::string const& name) {
        return question.catalog_name ? question.catalog_name(name) : std::string{};
    };
    std::string const known = in_catalog(std::string{words});
    if (!known.empty() && !in_catalog(ours).empty()) { return known != ours; } // "H100 PCIe" is not "h100-sxm-80gb"
    constexpr std::array variants{"d", "laptop", "nvl", "pcie", "super", "ti"};
    bool const varies = std::ranges::any_of(variants, [&](std::string const& variant) {
        return found.contains(variant) && ("-" + ours + "-").find("-" + variant + "-") == std::string::npos;
    });
    if (found.contains(chip_of(ours))) { return varies; }
    return std::ranges::any_of(question.accelerators,
                               [&](std::string const& name) { return found.contains(chip_of(name)); });
}

/// A share of the accelerator's peak from the matrix products of traces.
void add_product_constant(TraceFacts const& facts, CalibrationQuestion const& question, CalibrationAnswer& answer) {
    if (!facts.matrix_products || !question.accelerator) { return; }
    auto const& share = facts.matrix_products->share;
    if (!(share.value > 0.0) || share.value > 1.0) {
        answer.notes.push_back(
            {.remark = CalibrationRemark::products_above, .names = {question.accelerator->name}, .value = share.value});
        return;
    }
    auto const kernels = static_cast<std::size_t>(facts.matrix_products->kernels);
    answer.constant_sources.push_back(
        {.id = gemm_constant(*question.accelerator),
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
void add_days(TraceAnswer const& traces, Evidence& evidence) {
    for (RankDigest const& rank : traces.ranks) {
        if (!rank.clock_is_absolute || rank.epoch_ns <= 0) { continue; }
        std::string const day = day_of(rank.epoch_ns);
        if (evidence.from.empty() || day < evidence.from) { evidence.from = day; }
        if (evidence.to.empty() || day > evidence.to) { evidence.to = day; }
    }
}

/// Two steps have no median: where one of them warms up, what lies between is neither.
void note_two_steps(TraceFacts const& facts, CalibrationAnswer& answer) {
    if (!facts.two_unlike_steps) { return; }
    answer.notes.push_back({.remark = CalibrationRemark::of_reader,
                            .names = {"the traces have two steps, which differ: the measured step is their mean. "
                                      "profile three or more"}});
}

void take_traces(TraceEvidence const& given, CalibrationQuestion const& question, CalibrationAnswer& answer) {
    TraceAnswer const& traces = given.traces;
    std::string const names = join(given.names, ", ");
    for (TraceIssue const& issue : traces.issues) {
        count_issue(answer.issues, issue);
        answer.notes.push_back({.remark = CalibrationRemark::of_reader, .names = {words_of(issue)}});
    }
    for (auto const& one : given.unread) {
        answer.issues.push_back({.kind = "file not used", .count = 1, .text = one});
        answer.notes.push_back({.remark = CalibrationRemark::of_reader, .names = {one}});
    }
    TraceFitSettings settings{.system = name_of_system(traces, question),
                              .source = names,
                              .nodes = question.nodes,
                              .node_size = question.cluster ? question.cluster->accelerators_per_node : 0,
                              .accelerator = question.accelerator};
    if (settings.accelerator && names_another(settings.system, question)) {
        answer.traced_elsewhere = "the traces are of " + settings.system + ", and not of " +
                                  settings.accelerator->name + " (--system " + settings.accelerator->name +
                                  " where both are one)";
        answer.notes.push_back({.remark = CalibrationRemark::products_elsewhere, .names = {answer.traced_elsewhere}});
        settings.accelerator = {};
    }
    TraceCollectives collectives = measured_collectives(traces, settings);
    answer.evidence.push_back({names, EvidenceKind::traces, words_of_traces(traces, collectives), collectives.used});
    answer.evidence.back().machine = settings.system;
    add_days(traces, answer.evidence.back());
    std::ranges::move(collectives.rows, std::back_inserter(answer.links.rows));
    collectives.rows.clear();
    note_collectives(traces, collectives, answer);
    answer.collectives = std::move(collectives);
    answer.facts = trace_facts(traces, settings);
    note_two_steps(*answer.facts, answer);
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

std::string_view name_of(EvidenceKind kind) {
    switch (kind) {
    case EvidenceKind::traces: return "traces";
    case EvidenceKind::benchmark_log: return "benchmark log";
    case EvidenceKind::training_log: return "training log";
    case EvidenceKind::calibration: return "calibration";
    case EvidenceKind::campaign: return "campaign";
    }
    return "";
}

CalibrationAnswer calibrate(CalibrationQuestion const& question, CalibrationEvidence evidence) {
    CalibrationAnswer answer;
    for (auto& one : evidence.files) {
        if (auto* log = std::get_if<LogEvidence>(&one)) {
            take_log(std::move(*log), answer);
        } else if (auto* training = std::get_if<LogAnswer>(&one)) {
            take_training_log(std::move(*training), answer);
        } else {
            take_file(std::move(std::get<FileEvidence>(one)), question, answer);
        }
    }
    if (evidence.traces) { take_traces(*evidence.traces, question, answer); }
    take_campaigns(evidence.campaigns, question, answer);
    say_ages(answer);
    fit_and_join_links(question, answer);
    return answer;
}

} // namespace headroom::fit
