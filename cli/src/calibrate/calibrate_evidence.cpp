#include "calibrate/calibrate_evidence.hpp"

#include "document/text.hpp"

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/trace.hpp"
#include "headroom/kernel.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace headroom::cli {
namespace {

namespace fs = std::filesystem;

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
    answer.evidence.push_back({name, "benchmark log", counted(log.rows.size(), "row") + ", " + log.format});
    for (auto const& trouble : log.troubles) { answer.notes.push_back(name + ": " + trouble_words(trouble)); }
    for (auto const& text : log.notes) { answer.notes.push_back(name + ": " + text); }
    for (MeasuredCollective& row : log.rows) {
        row.file = name;
        answer.links.rows.push_back(std::move(row));
    }
}

/// Links of a later file go before those of an earlier one.
void join_network(MeasuredNetwork const& given, MeasuredNetwork& network) {
    if (!given.system.empty()) { network.system = given.system; }
    if (given.scale_up) { network.scale_up = given.scale_up; }
    if (given.scale_out) { network.scale_out = given.scale_out; }
    for (MeasuredCurve const& curve : given.curves) {
        std::erase_if(network.curves, [&](MeasuredCurve const& one) {
            return one.collective == curve.collective && one.ranks == curve.ranks && one.nodes == curve.nodes &&
                   one.algorithm == curve.algorithm;
        });
        network.curves.push_back(curve);
    }
}

bool same(CalibratedConstant const& one, CalibratedConstant const& other) {
    return one.value == other.value && one.low == other.low && one.high == other.high && one.source == other.source;
}

/// A calibration that states everything is a place to start from, not evidence: only what a partial one states is.
void take_calibration(std::string const& name, CalibrationSet const& below, CalibrateAnswer& answer) {
    std::string const text = io::read_file(name);
    auto const entries = io::read_measured_entries(text, name);
    CalibrationSet const set = io::read_calibration(text, name, below);
    std::size_t stated = 0;
    for (ConstantInfo const& info : constants()) {
        if (same(set[info.id], below[info.id])) { continue; }
        std::erase_if(answer.constants, [&](auto const& one) { return one.first == info.id; });
        answer.constants.emplace_back(info.id, set[info.id]);
        ++stated;
    }
    join_network(set.network, answer.network);
    answer.entries.insert(answer.entries.end(), entries.begin(), entries.end());
    answer.evidence.push_back({name, "calibration",
                               counted(stated, "constant") + ", " + counted(set.network.curves.size(), "curve") + ", " +
                                   counted(entries.size(), "measured step")});
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

void add_product_constant(fit::TraceFacts const& facts, CalibrateQuestion const& question, CalibrateAnswer& answer) {
    if (!facts.matrix_products || !question.accelerator) { return; }
    auto const& share = facts.matrix_products->share;
    Constant const id = gemm_constant(question.accelerator->generation);
    CalibratedConstant constant{
        .value = share.value,
        .low = share.low,
        .high = share.high,
        .independent = share.value,
        .spread = 0.0,
        .provenance = Provenance::measured,
        .source = "matrix products of traces: " + std::to_string(facts.matrix_products->kernels) + " kernels",
        .sources = 1};
    if (!(constant.value > 0.0) || constant.value > 1.0) {
        answer.notes.push_back("matrix products reach " + percent(constant.value) + " % of the peak of " +
                               question.accelerator->name + ": another accelerator was traced; left out");
        return;
    }
    std::erase_if(answer.constants, [&](auto const& one) { return one.first == id; });
    answer.constants.emplace_back(id, constant);
}

void take_traces(std::vector<std::string> const& names, CalibrateQuestion const& question, CalibrateAnswer& answer) {
    if (names.empty()) { return; }
    io::TraceFiles const files = io::trace_files(names);
    io::TraceSet set = io::read_trace_set(files, {.wants_path = false}, {});
    for (auto const& text : set.unread) { answer.notes.push_back(text); }
    TraceAnswer const traces = trace_answer(std::move(set.ranks));
    fit::TraceFitSettings const settings{.system = name_of_system(traces, question),
                                         .source = join(names, ", "),
                                         .nodes = question.log.nodes,
                                         .accelerator = question.accelerator};
    fit::TraceCollectives collectives = fit::measured_collectives(traces, settings);
    answer.evidence.push_back({join(names, ", "), "traces", words_of_traces(traces, collectives)});
    std::ranges::move(collectives.rows, std::back_inserter(answer.links.rows));
    collectives.rows.clear();
    note_collectives(traces, collectives, answer);
    answer.collectives = std::move(collectives);
    answer.facts = fit::trace_facts(traces, settings);
    add_product_constant(*answer.facts, question, answer);
}

/// Rows of a log that names no system belong to the one that the others name. A calibration is of one machine.
void join_systems(std::vector<MeasuredCollective>& rows) {
    std::string system;
    for (MeasuredCollective const& row : rows) {
        if (row.system.empty() || row.system == system) { continue; }
        if (!system.empty()) {
            refuse("EVIDENCE", "is of more than one system",
                   headroom::quoted(system) + " and " + headroom::quoted(row.system),
                   "give that of each on its own, or say --system NAME where both are one");
        }
        system = row.system;
    }
    for (MeasuredCollective& row : rows) { row.system = system; }
}

void fit_links(CalibrateAnswer& answer) {
    if (answer.links.rows.empty()) { return; }
    join_systems(answer.links.rows);
    answer.links.result = fit::fit_communication(answer.links.rows);
    for (fit::SkippedGroup const& one : answer.links.result.skipped) {
        answer.notes.push_back(std::string(name_of(one.collective)) + " on " + ranks_words(one.ranks, one.nodes) +
                               ": not fitted, " + one.reason);
    }
    if (!answer.links.result.fits.empty()) { join_network(measured_network(answer.links), answer.network); }
}

} // namespace

CalibrateAnswer read_evidence(CalibrateQuestion const& question, io::Catalog const& catalog) {
    CalibrateAnswer answer;
    std::vector<std::string> traces;
    CalibrationSet const below = catalog.calibration("training");
    for (std::string const& name : question.evidence) {
        if (is_calibration(name)) {
            take_calibration(name, below, answer);
        } else if (auto log = log_in(name, question.log)) {
            take_log(name, std::move(*log), answer);
        } else {
            traces.push_back(name);
        }
    }
    take_traces(traces, question, answer);
    fit_links(answer);
    return answer;
}

} // namespace headroom::cli
