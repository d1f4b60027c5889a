#include "headroom/io/latency_samples.hpp"

#include "latencies/latency_formats.hpp"
#include "latencies/stated_report.hpp"
#include "records/record.hpp"
#include "unread_bytes.hpp"

#include "headroom/error.hpp"
#include "headroom/interrupt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace headroom::io {

using namespace headroom::serving;

namespace {

template <StatedTool tool> constexpr LatencyFormat stated(std::string_view name) {
    return {name, [](std::string_view head) { return looks_like_stated(stated_report(tool), head); },
            [](HeadSource& source, SampleBuilder& samples) { read_stated(stated_report(tool), source, samples); }};
}

/// Reports first: parts of them could be taken for tables.
constexpr std::array formats{
    LatencyFormat{"wrk", looks_like_wrk, read_wrk},
    LatencyFormat{"bombardier", looks_like_bombardier, read_bombardier},
    LatencyFormat{"oha", looks_like_oha, read_oha},
    LatencyFormat{"ghz", looks_like_ghz, read_ghz},
    LatencyFormat{"hey", looks_like_hey, read_hey},
    LatencyFormat{"ab", looks_like_ab, read_ab},
    LatencyFormat{"siege", looks_like_siege, read_siege},
    LatencyFormat{"drill", looks_like_drill, read_drill},
    LatencyFormat{"h2load", looks_like_h2load, read_h2load},
    stated<StatedTool::fortio>("fortio"),
    stated<StatedTool::autocannon>("autocannon"),
    stated<StatedTool::artillery>("artillery"),
    stated<StatedTool::gatling>("gatling-report"),
    stated<StatedTool::sysbench>("sysbench"),
    stated<StatedTool::redis>("redis-benchmark"),
    stated<StatedTool::memtier>("memtier"),
    stated<StatedTool::sockperf>("sockperf"),
    stated<StatedTool::hyperfine>("hyperfine"),
    stated<StatedTool::pytest>("pytest-benchmark"),
    stated<StatedTool::llmperf>("llmperf"),
    stated<StatedTool::guidellm>("guidellm"),
    stated<StatedTool::vllm_latency>("vllm-latency"),
    stated<StatedTool::trtllm_bench>("trtllm-bench"),
    stated<StatedTool::gptmanager>("gptmanager"),
    stated<StatedTool::mlperf>("mlperf"),
    stated<StatedTool::trtexec>("trtexec"),
    stated<StatedTool::perf_analyzer>("perf-analyzer"),
    stated<StatedTool::tgi>("tgi"),
    stated<StatedTool::ycsb>("ycsb"),
    stated<StatedTool::fio>("fio-text"),
    LatencyFormat{"jmeter", looks_like_jmeter_statistics, read_jmeter_statistics},
    LatencyFormat{"vegeta", looks_like_vegeta_report, read_vegeta_report},
    LatencyFormat{"k6", looks_like_k6_report, read_k6_report},
    LatencyFormat{"benchmark", looks_like_google_benchmark, read_google_benchmark},
    LatencyFormat{"fio", looks_like_fio, read_fio},
    LatencyFormat{"vllm", looks_like_vllm, read_vllm},
    LatencyFormat{"genai-perf", looks_like_genai_perf, read_genai_perf},
    LatencyFormat{"hdrlog", looks_like_hdr_log, read_hdr_log},
    LatencyFormat{"hgrm", looks_like_percentiles, read_percentiles},
    LatencyFormat{"gatling", looks_like_gatling_log, read_gatling_log},
    LatencyFormat{"ping", looks_like_ping, read_ping},
    LatencyFormat{"nginx", looks_like_nginx, read_nginx},
    LatencyFormat{"prometheus", looks_like_prometheus, read_prometheus},
    LatencyFormat{"jsonl", looks_like_json_lines, read_json_lines},
    LatencyFormat{"json", looks_like_json_array, read_json_array},
    LatencyFormat{"locust", looks_like_percentile_columns, read_percentile_columns},
    LatencyFormat{"distribution", looks_like_distribution, read_distribution},
    LatencyFormat{"percentiles", looks_like_percentile_list, read_percentile_list},
    LatencyFormat{"csv", looks_like_csv, read_csv_samples},
};

/// Load generators whose results come in other formats, too.
struct OtherFormat {
    std::string_view asked, name;
};
constexpr std::array other_formats{
    OtherFormat{"vegeta", "hgrm"},
    OtherFormat{"vegeta", "jsonl"},
    OtherFormat{"vegeta", "csv"},
    OtherFormat{"k6", "jsonl"},
    OtherFormat{"k6", "csv"},
    OtherFormat{"hey", "csv"},
    OtherFormat{"hgrm", "hdrlog"},
    OtherFormat{"ab", "csv"},
    OtherFormat{"jmeter", "csv"},
    OtherFormat{"jmeter", "locust"},
    OtherFormat{"gatling", "gatling-report"},
    OtherFormat{"fio", "fio-text"},
};

LatencyFormat const& asked_format(LatencyFormat const& asked, std::string_view head) {
    if (asked.sniff(head)) { return asked; }
    for (OtherFormat const& other : other_formats) {
        auto const row = std::ranges::find(formats, other.name, &LatencyFormat::name);
        if (other.asked == asked.name && row->sniff(head)) { return *row; }
    }
    return asked;
}

LatencyFormat const& format_of(std::string_view head, std::string const& where, LatencyQuestion const& question) {
    if (!question.format.empty()) {
        auto const asked = std::ranges::find(formats, question.format, &LatencyFormat::name);
        if (asked != formats.end()) { return asked_format(*asked, head); }
        std::vector<std::string> const names = latency_formats();
        std::string hint = did_you_mean(question.format, names);
        refuse(where, "unknown format " + headroom::quoted(question.format), {}, hint.empty() ? one_of(names) : hint);
    }
    refuse_unread(head, where, "it is not read as samples",
                  {.zip = "unpack it first: unzip",
                   .database = "export the samples as CSV",
                   .markup = "write the results as CSV (JMeter: jmeter.save.saveservice.output_format=csv)"});
    auto const known = std::ranges::find_if(formats, [&](LatencyFormat const& one) { return one.sniff(head); });
    if (known != formats.end()) { return *known; }
    unreadable_error(
        where, "no samples of a known format",
        "neither a table, JSON lines, a log or table of HdrHistogram, nor a report of a load generator that is known",
        "a number a line will do");
}

/// Refuses options that choose among rows and columns: a report of this format has none.
void refuse_choices(LatencyQuestion const& question, std::string const& where, std::string_view format) {
    bool const times = !question.time_column.empty() && question.time_column != "none";
    if (question.column.empty() && question.where.empty() && !times) { return; }
    std::string const option = !question.column.empty() ? "--column" : times ? "--time-column" : "--where";
    refuse(where, option + " chooses nothing", fmt::format("a report of {} has neither rows nor columns", format),
           "leave it out");
}

LatencySamples read_from(std::unique_ptr<ByteSource> bytes, std::string const& where, LatencyQuestion const& question) {
    HeadSource source{std::move(bytes), table_head_bytes};
    std::string_view head = source.head();
    if (head.empty() && !source.damage().empty()) {
        unreadable_error(where, "cannot be read", "nothing could be decompressed: " + std::string{source.damage()});
    }
    if (head.starts_with(byte_order_mark)) { head.remove_prefix(byte_order_mark.size()); }
    if (head.find_first_not_of(" \t\r\n") == std::string_view::npos && head.size() < table_head_bytes / 2) {
        too_little(where, "an empty file", "no sample", "give at least one");
    }
    refuse_repeated_byte(head, where);
    LatencyFormat const& format = format_of(head, where, question);
    SampleBuilder samples{where, question};
    format.read(source, samples);
    if (!samples.was_consulted()) { refuse_choices(question, where, format.name); }
    LatencySamples found = samples.finish(format.name);
    found.bytes = source.bytes_read();
    return found;
}

/// Waits for whoever writes into standard input, as long as it takes.
void wait_for_input(std::stop_token const& stop) {
    constexpr int milliseconds = 100;
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    for (int ready = 0; ready == 0 || (ready < 0 && errno == EINTR); ready = ::poll(&input, 1, milliseconds)) {
        keep_on(stop);
    }
}

} // namespace

std::vector<std::string> latency_formats() {
    std::vector<std::string> names;
    for (LatencyFormat const& format : formats) { names.emplace_back(format.name); }
    return names;
}

std::string whole_report(HeadSource& source, SampleBuilder& samples) {
    constexpr std::size_t part = std::size_t{64} << 10;
    std::string text;
    for (std::size_t size = part; text.size() + part == size; size += part) {
        std::size_t const before = text.size();
        text.resize(size);
        text.resize(before + source.read(text.data() + before, part));
        if (text.size() > LineFeed::longest_line) {
            unreadable_error(samples.where(), "more than 16 MiB", "a report is shorter");
        }
    }
    if (std::string_view{text}.starts_with(byte_order_mark)) { text.erase(0, byte_order_mark.size()); }
    samples.found().rows = static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
    if (!source.damage().empty()) { samples.leave_out(SampleIssue::damaged_file, samples.found().rows + 1); }
    return text;
}

void tell_source(HeadSource const& source, LineFeed const& lines, SampleBuilder& samples) {
    samples.found().complete = !lines.interrupted();
    std::string_view const damage = source.damage();
    if (damage.empty()) { return; }
    samples.leave_out(SampleIssue::damaged_file, lines.number());
    samples.note(fmt::format("the file is {} from line {} on: what stands before is read", damage, lines.number()));
}

LatencySamples read_latency_samples(std::string const& path, LatencyQuestion const& question) {
    SourceLimits const no_limits; // text is read as it comes, and none of it kept
    if (path != "-") { return read_from(open_source(path, no_limits, question.stop), path, question); }
    wait_for_input(question.stop);
    return read_from(open_source(std::filesystem::path{"/dev/stdin"}, no_limits, question.stop), "standard input",
                     question);
}

LatencySamples read_latency_text(std::string_view text, std::string_view where, LatencyQuestion const& question) {
    std::string const name{where};
    return read_from(open_source(text, name, {}), name, question);
}

} // namespace headroom::io
