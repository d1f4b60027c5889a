#include "headroom/io/benchmark_log.hpp"

#include "logs/log_builder.hpp"
#include "logs/log_formats.hpp"
#include "records/record.hpp"
#include "unread_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headroom::io {
namespace {

struct FormatRow {
    bool (*looks_like)(std::string_view);
    ReadLog (*read)(std::string_view, LogBuilder&);
};

/// Tables come last: their header could be part of another's output.
constexpr std::array formats{
    FormatRow{looks_like_nccl_json, read_nccl_json},
    FormatRow{looks_like_nccl_text, read_nccl_text},
    FormatRow{looks_like_osu, read_osu},
    FormatRow{looks_like_imb, read_imb},
    FormatRow{looks_like_tool_table, read_tool_table},
    FormatRow{looks_like_csv_log, read_csv_log},
};

void refuse_known(std::string_view text, std::string_view where) {
    refuse_unread(text, where, "it is not read as a log",
                  {.zip = "unpack it first: unzip", .database = "give what the benchmark printed"});
    if (text.size() > benchmark_log_limit) {
        unreadable_error(where, fmt::format("{} bytes are too many", text.size()),
                         fmt::format("at most {} are read", benchmark_log_limit));
    }
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) { unreadable_error(where, "an empty file"); }
}

/// A text without the lines that hold zero bytes, which a crash of a file system leaves; the others keep their numbers.
std::string without_zero_bytes(std::string_view text, LogBuilder& log) {
    std::string clean;
    clean.reserve(text.size());
    for (std::size_t line = 1; !text.empty(); ++line) {
        std::size_t const end = std::min(text.find('\n'), text.size());
        std::string_view const one = text.substr(0, end);
        if (one.find('\0') == std::string_view::npos) {
            clean += one;
        } else {
            log.leave_out(Unused::zero_bytes, line, one);
        }
        if (end < text.size()) { clean += '\n'; }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return clean;
}

/// A text without the colours of a terminal: "ESC [ 32 m".
std::string without_colours(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        bool const colour = text[at] == '\x1b' && at + 1 < text.size() && text[at + 1] == '[';
        std::size_t end = colour ? text.find_first_not_of("0123456789;?", at + 2) : at;
        if (!colour) { clean += text[at]; }
        end = std::min(end, text.size());
        at = end + (end < text.size() && (!colour || text[end] != '\n') ? 1 : 0);
    }
    return clean;
}

} // namespace

BenchmarkLog read_benchmark_log(std::string_view text, std::string_view where, LogQuestion const& question) {
    if (text.starts_with(byte_order_mark)) { text.remove_prefix(byte_order_mark.size()); }
    refuse_known(text, where);
    LogBuilder log{where, question};
    std::string clean;
    if (text.find('\0') != std::string_view::npos) {
        clean = without_zero_bytes(text, log);
        text = clean;
    }
    std::string plain;
    if (text.find("\x1b[") != std::string_view::npos) {
        plain = without_colours(text);
        text = plain;
    }
    auto const row = std::ranges::find_if(formats, [&](FormatRow const& format) { return format.looks_like(text); });
    if (row == formats.end()) {
        unreadable_error(
            where, "no known output of a benchmark",
            "neither nccl-tests or rccl-tests, OSU or Intel MPI benchmarks, perftest, ds_bench or PARAM, nor a "
            "table of measurements",
            "a table needs columns for the size and the time: collective,ranks,bytes,time_us");
    }
    ReadLog const read = row->read(text, log);
    return log.finish(read.format, read.lines);
}

} // namespace headroom::io
