#pragma once

#include "latencies/line_feed.hpp"
#include "latencies/sample_builder.hpp"
#include "traces/head_source.hpp"

#include <span>
#include <string_view>

namespace headroom::io {

/// One row a format: whether a text begins as one, and how it is read.
struct LatencyFormat {
    std::string_view name;
    bool (*sniff)(std::string_view head);
    void (*read)(HeadSource& source, SampleBuilder& samples);
};

/// What is looked at to tell a format.
inline constexpr std::size_t sniffed_sample_bytes = std::size_t{64} << 10;

/// All of a report, which is short.
/// Errors: InputError{unreadable} beyond 16 MiB.
std::string whole_report(HeadSource& source, SampleBuilder& samples);
/// Of the beginning of a text, what ends with a line.
std::string_view whole_lines(std::string_view head);
/// Counts the bytes that were read, and damage of the source as dirt behind the last line.
void tell_source(HeadSource const& source, LineFeed const& lines, SampleBuilder& samples);

bool looks_like_csv(std::string_view head);
/// A table of any delimiter, with a header or none: a column of values, and perhaps one of times. Tables of k6, JMeter,
/// hey, ApacheBench and vegeta are known by their columns. A quoted cell ends in its line.
void read_csv_samples(HeadSource& source, SampleBuilder& samples);

bool looks_like_json_lines(std::string_view head);
/// A number or an object a line. Objects of vegeta and k6 are known by their fields.
void read_json_lines(HeadSource& source, SampleBuilder& samples);

} // namespace headroom::io
