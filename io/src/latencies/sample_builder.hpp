#pragma once

#include "tables/columns.hpp"
#include "tables/numbers.hpp"

#include "headroom/io/latency_samples.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headroom::io {

/// Faults of a row; each has its words in the table of `sample_builder.cpp`.
enum class SampleIssue {
    negative,
    not_a_number,
    infinite,
    too_large,
    empty,
    text,
    failed,
    no_column,
    other_length,
    open_quote,
    broken_json,
    broken_histogram,
    no_time,
    damaged_file,
    unused_line,
    repeated_line,
    repeated_key,
    other_metric,
    sum,
};

/// Unit that a question names, "1" (plain numbers) among them.
/// Errors: InputError{usage}.
CellUnit asked_unit(std::string const& name, std::string_view where);

/// Collects what a reader finds: samples in seconds, and what was wrong with other rows.
class SampleBuilder {
public:
    SampleBuilder(std::string_view where, LatencyQuestion const& question);

    [[nodiscard]] LatencyQuestion const& question() const {
        consulted_ = true;
        return question_;
    }
    /// Parts of the question that every reader heeds.
    [[nodiscard]] std::stop_token stop() const { return question_.stop; }
    [[nodiscard]] bool keeps_failed() const { return question_.keep_failed; }
    /// Whether a reader looked at what is asked: reports without rows and columns do not.
    [[nodiscard]] bool was_consulted() const { return consulted_; }
    [[nodiscard]] std::string const& where() const { return where_; }
    [[nodiscard]] serving::LatencySamples& found() { return found_; }

    /// Bare numbers are in this unit. The question's own unit goes first; assumed ones are noted by the caller.
    void set_unit(CellUnit unit, std::string_view from);
    [[nodiscard]] CellUnit const& unit() const { return unit_; }
    /// Meaning of commas and points in the cells of values.
    void set_marks(NumberMarks marks) { marks_ = marks; }
    [[nodiscard]] NumberMarks const& marks() const { return marks_; }
    /// Whether the unit of bare numbers is unknown: then they may not stand among cells with units.
    [[nodiscard]] bool unit_is_open() const { return found_.unit_from == "assumed" || found_.unit_from == "cells"; }

    /// A sample in seconds; what is none is counted as dirt.
    void take(double seconds, std::uint64_t line) {
        if (!(seconds >= 0.0 && seconds < beyond)) [[unlikely]] { return refuse(seconds, line); }
        values_[held_++] = seconds;
        if (held_ == values_.size()) { flush(); }
    }
    /// A sample with a time in nanoseconds after anything; unknown where it is `no_time_known`.
    void take(double seconds, std::int64_t sent, std::uint64_t line);
    /// A cell of the column of values, with what is wrong with it. False where it is no sample.
    bool take_cell(CellValue const& read, std::optional<std::int64_t> sent, std::uint64_t line);
    void take(serving::LatencyHistogram const& values);

    void leave_out(SampleIssue why, std::uint64_t line, std::uint64_t count = 1, std::string_view text = {});
    /// Columns of a table, or keys of objects, that were not used.
    void leave_out(std::vector<std::string> const& unused, bool keys) { report_unused(found_.issues, unused, keys); }
    /// Notes a text once, however often it is called.
    void note(std::string text);
    /// A cell without a unit stands in a line of its own: reported with the first that has one.
    void bare_seen(std::uint64_t line) {
        if (bare_line_ == 0) { see_bare(line); }
    }

    static constexpr std::int64_t no_time_known = INT64_MIN;

    /// Errors: InputError{insufficient} where nothing was found; InputError{unreadable} where no row held a number.
    serving::LatencySamples finish(std::string_view format);

private:
    static constexpr double beyond = 3.402823669209384634633746074317e38; ///< 2^128
    static constexpr std::size_t buffered = 4096, most_kept = 5'000'000;
    static constexpr std::size_t kinds = static_cast<std::size_t>(SampleIssue::sum) + 1;

    void refuse(double seconds, std::uint64_t line);
    void see_bare(std::uint64_t line);
    void see_unit(std::uint64_t line);
    void flush();
    void check_any(std::string_view format);
    void check_order() const;

    std::string where_;
    LatencyQuestion const& question_;
    serving::LatencySamples found_;
    CellUnit unit_;
    NumberMarks marks_;
    std::array<double, buffered> values_{}, sent_{};
    std::size_t held_ = 0;
    bool timed_ = false;
    mutable bool consulted_ = false;
    std::int64_t first_sent_ = no_time_known;
    std::uint64_t bare_line_ = 0, unit_line_ = 0;
    std::array<Issue, kinds> issues_{};
};

} // namespace headroom::io
