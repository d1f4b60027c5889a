#include "tail/tail_report.hpp"
#include "trace/trace_reading.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/interrupt.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/store.hpp"
#include "headroom/trace/trace_answer.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>

namespace headroom::cli {
namespace {

constexpr std::string_view store_prefix = "store:";

// ---- the store ------------------------------------------------------------------------------------------------------

std::int64_t campaign_number(io::Store const& store, std::string const& text) {
    std::int64_t number = 0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && stop == text.data() + text.size()) { return number; }
    auto const heads = store.list();
    if (text != "last") { refuse("store:" + text, "no ID", "", "an ID is a number of headroom history list, or last"); }
    if (heads.empty()) {
        too_little("store:last", "nothing was measured yet", "", "begin with headroom measure --help");
    }
    return heads.back().id;
}

std::uint32_t point_of(Campaign const& campaign, std::string const& column, std::string const& where) {
    std::vector<std::string> labels;
    for (MeasuredPoint const& point : campaign.points) { labels.push_back(point.label); }
    auto const found = std::ranges::find(labels, column);
    if (found != labels.end()) { return static_cast<std::uint32_t>(found - labels.begin()); }
    if (labels.size() == 1 && column.empty()) { return 0; }
    if (labels.empty()) { too_little(where, "it has no points", "", "see headroom history list"); }
    std::string const near = nearest(column, labels);
    refuse(where, column.empty() ? "which of its points?" : "it has no point " + headroom::quoted(column),
           std::to_string(labels.size()) + " were measured",
           "name one with --column " + headroom::quoted(near.empty() ? labels.front() : near));
}

TailPart read_stored(std::string const& name, TailRequest const& request) {
    if (request.store.empty()) { refuse("--store", "'none' keeps nothing to look at", "", "give a file"); }
    if (!io::is_there(request.store)) {
        too_little(name, "nothing was measured yet", "there is no " + request.store.string(),
                   "begin with headroom measure --help");
    }
    io::Store const store{request.store, io::Store::Access::read};
    Campaign const campaign = store.load(campaign_number(store, name.substr(store_prefix.size())));
    std::uint32_t const point = point_of(campaign, request.reading.column, name);
    MeasuredPoint const& measured = campaign.points[point];
    TailPart part{.name = name, .samples = {}};
    bool const times = measured.unit == "seconds";
    part.samples.format = "store";
    part.samples.column = measured.label;
    part.samples.unit = times ? "s" : "1";
    part.samples.unit_from = "format";
    if (!times) { part.samples.notes.push_back(measured.label + " is in " + measured.unit + ", not a time"); }
    std::int64_t began = 0;
    for (Sample const& sample : campaign.samples) {
        if (sample.point != point || sample.outcome != SampleOutcome::measured) { continue; }
        if (began == 0) { began = sample.began_ns; }
        part.samples.digest.add(sample.value, 1e-9 * static_cast<double>(sample.began_ns - began));
        ++part.samples.rows;
    }
    if (part.samples.rows == 0) { too_little(name, "it has no sample that counts", "", "see headroom history show"); }
    return part;
}

// ---- traces ---------------------------------------------------------------------------------------------------------

bool is_stored(std::string const& path) { return path.starts_with(store_prefix); }

/// Whether a file begins like a trace: of a compressed one the name has to tell.
bool begins_like_trace(std::filesystem::path const& path) {
    std::ifstream file{path, std::ios::binary};
    std::string head(1U << 16U, '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    std::string const name = path.filename().string();
    bool const compressed = head.starts_with("\x1f\x8b") || head.starts_with("\x28\xb5\x2f\xfd");
    if (compressed) { return name.find(".trace.json") != std::string::npos || name.find(".pt.") != std::string::npos; }
    return head.starts_with("SQLite format 3") || head.find("\"traceEvents\"") != std::string::npos ||
           head.starts_with("[{\"ph\"") || head.find("\"schemaVersion\"") != std::string::npos;
}

bool is_trace(std::string const& path, TailRequest const& request) {
    if (request.traces) { return true; }
    if (path == "-" || is_stored(path) || !request.reading.format.empty()) { return false; }
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) { return true; }
    return std::filesystem::is_regular_file(path, error) && begins_like_trace(path);
}

TailPart read_steps(std::vector<std::string> const& paths, TailRequest const& request, bool quiet) {
    TraceQuestion traces{.paths = paths, .digest = {}, .reading = {}, .shard = {}};
    traces.digest.wants_path = false;
    traces.digest.step_name = request.step_name;
    Watch watch{"reading", quiet};
    ReadFiles read = read_files(traces, watch);
    if (!read.complete) { too_little(paths.front(), "interrupted", "", "an answer needs all of the ranks"); }
    TailPart part = steps_of(trace_answer(std::move(read.set.ranks)));
    part.name = paths.size() == 1 ? paths.front() : paths.front() + " and " + counted(paths.size() - 1, "more path");
    for (std::string const& one : read.set.unread) { part.samples.notes.push_back(one); }
    return part;
}

/// Files of samples and stored measurements. Ctrl-C ends with what was read.
std::vector<TailPart> read_files(std::vector<std::string> const& paths, TailRequest const& request, bool quiet) {
    Watch const watch{"tail", quiet};
    io::LatencyQuestion question = request.reading;
    question.stop = watch.token();
    std::vector<TailPart> parts;
    for (std::string const& path : paths) {
        try {
            keep_on(watch.token());
            parts.push_back(is_stored(path)
                                ? read_stored(path, request)
                                : TailPart{.name = path, .samples = io::read_latency_samples(path, question)});
        } catch (InputError const&) { // of the file that was being read when Ctrl-C came, there may be too little
            if (!watch.interrupted()) { throw; }
        } catch (Interrupted const&) {}
        if (!watch.interrupted()) { continue; }
        if (parts.empty()) { throw Interrupted{}; }
        parts.back().samples.complete = false;
        break;
    }
    return parts;
}

/// Times and plain numbers do not add up.
void refuse_mixture(std::vector<TailPart> const& parts) {
    for (TailPart const& part : parts) {
        bool const plain = !part.times(), first = !parts.front().times();
        if (plain == first) { continue; }
        refuse(part.name, plain ? "holds plain numbers" : "holds times",
               parts.front().name + (first ? " holds plain numbers" : " holds times"),
               "say what they count: --unit ms");
    }
}

} // namespace

bool names_stored(std::vector<std::string> const& paths) { return std::ranges::any_of(paths, is_stored); }

void check_time_unit(TailRequest const& request, std::vector<TailPart> const& parts,
                     std::vector<TailPart> const& baseline) {
    auto const timed = [](TailPart const& part) { return !part.samples.time_column.empty(); };
    if (request.reading.time_unit.empty() || std::ranges::any_of(parts, timed)) { return; }
    if (std::ranges::any_of(baseline, timed)) { return; }
    refuse("--time-unit", "has no effect", parts.front().name + " has no column of times",
           "leave it out, or name the column: --time-column NAME; of the values it is --unit");
}

std::vector<TailPart> read_parts(std::vector<std::string> const& paths, TailRequest const& request, bool quiet) {
    std::vector<TailPart> parts;
    std::vector<std::string> traces, files;
    for (std::string const& path : paths) { (is_trace(path, request) ? traces : files).push_back(path); }
    std::set<std::filesystem::path> seen;
    for (std::string const& file : files) {
        std::error_code error;
        if (!seen.insert(std::filesystem::weakly_canonical(file, error)).second) {
            refuse(file, "named twice", "its samples would count twice", "name it once");
        }
    }
    if (traces.empty() && !request.step_name.empty()) {
        refuse("--step-name", "belongs to traces", "it would be ignored", "leave it out, or name a trace");
    }
    if (!files.empty()) { parts = read_files(files, request, quiet); }
    if (!traces.empty()) { parts.push_back(read_steps(traces, request, quiet)); }
    refuse_mixture(parts);
    return parts;
}

} // namespace headroom::cli
