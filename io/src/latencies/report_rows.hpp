#pragma once

#include "latencies/report_lines.hpp"
#include "latencies/sample_builder.hpp"
#include "tables/cell_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Numbers that a shape takes out of a line, in its order: seconds, shares from 0 to 1, counts, bare numbers.
struct Captures {
    std::array<double, 12> number{};
    std::array<std::string_view, 12> text{}; ///< as they stand
    std::size_t count = 0;
};
/// Whether a line has a shape from its first to its last character. A blank of the shape is any number of blanks, and
/// %n a number ("5.07k"), %c a count, %t a duration with its unit, %p a percentage, %s a size ("3.34MB"), %w a word, %a one of letters,
/// %* all that follows, %_ blanks or none, %% the sign of percent.
std::optional<Captures> fits_shape(std::string_view line, std::string_view shape);

class ReportReader;
using UseLine = void (*)(ReportReader& report, Captures const& line);

/// A line that a load generator prints.
struct ReportRow {
    std::string_view shape;
    UseLine use = nullptr; ///< null: the line is known, and holds nothing of latencies
    int part = 0;          ///< part of the report in which it stands; 0: in any
    int opens = -1;        ///< part that begins with it; -1: none does
    bool many = false;     ///< there may be several
    bool alike = false;    ///< and equal ones among them
};

/// Reads a report line by line by the rows of its writer. A line that no row fits, and one that stands twice, is counted.
/// Errors: InputError{unreadable} where a line that stands once in a report is there again with other figures: the file
/// holds a second report.
class ReportReader {
public:
    ReportReader(std::string_view text, std::span<ReportRow const> rows, SampleBuilder& samples)
        : lines_{text}, rows_{rows}, samples_{samples}, seen_(rows.size()) {}

    void read();

    [[nodiscard]] SampleBuilder& samples() { return samples_; }
    [[nodiscard]] TextLines& lines() { return lines_; }
    [[nodiscard]] std::uint64_t number() const { return lines_.number(); } ///< of the line
    [[nodiscard]] std::string_view line() const { return line_; }
    /// The next line to read, after those that the use of a line has taken from `lines`.
    void put_back(std::string_view line) { pending_ = line; }

    void quantile(double q, double seconds) { state_quantile(samples_, q, seconds, number()); }
    void mean(double seconds) { samples_.found().stated_mean = seconds; }
    void requests(double count) { samples_.found().stated_count += static_cast<std::uint64_t>(count); }
    void failed(double count);
    /// Requests that failed and whose times are among the others.
    void failed_among(double count);
    /// Counts of a histogram that the report draws: their sum is that of all requests.
    void drawn(double count) { drawn_ += count; }

    /// "p99" for a later line of this report, in place of the maximum.
    double third_quantile = 1.0;

private:
    struct Seen {
        std::uint64_t line = 0;
        std::vector<std::string_view> texts; ///< sorted
    };

    void read_line(std::string_view line);
    bool is_new(std::size_t row);

    TextLines lines_;
    std::span<ReportRow const> rows_;
    SampleBuilder& samples_;
    std::vector<Seen> seen_;
    std::string_view line_, pending_;
    int part_ = 0;
    double drawn_ = 0.0;
};

} // namespace headroom::io
