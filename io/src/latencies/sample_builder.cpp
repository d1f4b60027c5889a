#include "latencies/sample_builder.hpp"

#include "records/record.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/percentile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace headroom::io {

using namespace headroom::serving;

namespace {

constexpr std::array<std::string_view, 19> issue_names{
    "negative value",
    "NaN",
    "infinite value",
    "value beyond 2^128",
    "empty value",
    "value that is no number",
    "failed request",
    "row without the column",
    "row of another length than the header",
    "quote that does not end its cell",
    "line that is no JSON",
    "histogram that cannot be decoded",
    "time that cannot be read",
    "file that is damaged from here on",
    "line not used",
    "line that stands twice",
    "key that stands twice",
    "row of another metric",
    "row of a total or a mean",
};

} // namespace

CellUnit asked_unit(std::string const& name, std::string_view where) {
    if (name == "1") { return {.name = "1"}; }
    if (auto unit = time_unit(name)) { return *unit; }
    headroom::refuse(where, "unknown unit " + headroom::quoted(name), {},
                     "one of s, ms, us, ns, min, h, and 1 for plain numbers");
}

SampleBuilder::SampleBuilder(std::string_view where, LatencyQuestion const& question)
    : where_{where}, question_{question} {
    static_assert(issue_names.size() == kinds);
    if (!question.unit.empty()) {
        unit_ = asked_unit(question.unit, where);
        found_.unit = unit_.name;
        found_.unit_from = "--unit";
    }
}

void SampleBuilder::set_unit(CellUnit unit, std::string_view from) {
    if (found_.unit_from == "--unit") { return; }
    unit_ = std::move(unit);
    found_.unit = unit_.name;
    found_.unit_from = from;
}

void SampleBuilder::refuse(double seconds, std::uint64_t line) {
    leave_out(std::isnan(seconds)   ? SampleIssue::not_a_number
              : seconds < 0.0       ? SampleIssue::negative
              : std::isinf(seconds) ? SampleIssue::infinite
                                    : SampleIssue::too_large,
              line);
}

void SampleBuilder::take(double seconds, std::int64_t sent, std::uint64_t line) {
    if (!(seconds >= 0.0 && seconds < beyond)) [[unlikely]] { return refuse(seconds, line); }
    constexpr double nano = 1e9;
    double after = std::numeric_limits<double>::quiet_NaN();
    if (sent != no_time_known) {
        if (!timed_) { // those held so far have no times
            flush();
            timed_ = true;
            first_sent_ = sent;
        }
        after = (static_cast<double>(sent) - static_cast<double>(first_sent_)) / nano;
        std::int64_t exact = 0;
        if (!__builtin_sub_overflow(sent, first_sent_, &exact)) { after = static_cast<double>(exact) / nano; }
    }
    sent_[held_] = after;
    values_[held_++] = seconds;
    if (held_ == values_.size()) { flush(); }
}

bool SampleBuilder::take_cell(CellValue const& read, std::optional<std::int64_t> sent, std::uint64_t line) {
    using Kind = CellValue::Kind;
    double seconds = read.value;
    switch (read.kind) {
    case Kind::empty: leave_out(SampleIssue::empty, line); return false;
    case Kind::not_a_number: leave_out(SampleIssue::not_a_number, line); return false;
    case Kind::infinite: leave_out(SampleIssue::infinite, line); return false;
    case Kind::text: leave_out(SampleIssue::text, line); return false;
    case Kind::with_unit:
        if (unit_line_ == 0) { see_unit(line); }
        break;
    case Kind::bare:
        if (seconds != 0.0) { bare_seen(line); }
        seconds = unit_.base(seconds);
        break;
    }
    bool const good = seconds >= 0.0 && seconds < beyond;
    sent ? take(seconds, *sent, line) : timed_ ? take(seconds, no_time_known, line) : take(seconds, line);
    return good;
}

void SampleBuilder::see_bare(std::uint64_t line) {
    if (unit_line_ != 0 && unit_is_open()) {
        unreadable_error(fmt::format("{}:{}", where_, line), "a number without a unit",
                         fmt::format("line {} has one", unit_line_), "say what bare numbers are in: --unit ms");
    }
    bare_line_ = line;
}

void SampleBuilder::see_unit(std::uint64_t line) {
    if (bare_line_ != 0 && unit_is_open()) {
        unreadable_error(fmt::format("{}:{}", where_, line), "a number with a unit",
                         fmt::format("line {} has none", bare_line_), "say what bare numbers are in: --unit ms");
    }
    if (unit_.name == "1") {
        unreadable_error(fmt::format("{}:{}", where_, line), "a number with a unit", "plain numbers were asked for",
                         "leave out --unit 1");
    }
    unit_line_ = line;
    if (bare_line_ == 0 && unit_is_open()) { set_unit({.name = "s"}, "cells"); }
}

void SampleBuilder::take(LatencyHistogram const& values) { found_.digest.add(values); }

void SampleBuilder::flush() {
    std::span<double const> const values{values_.data(), held_};
    if (timed_) {
        found_.digest.add(values, {sent_.data(), held_});
        for (std::size_t i = 0; question_.keep_requests && i < held_ && found_.requests.size() < most_kept; ++i) {
            if (std::isfinite(sent_.at(i))) { found_.requests.push_back({sent_.at(i), values_.at(i)}); }
        }
    } else {
        found_.digest.add(values);
    }
    held_ = 0;
}

void SampleBuilder::leave_out(SampleIssue why, std::uint64_t line, std::uint64_t count, std::string_view text) {
    auto const kind = static_cast<std::size_t>(why);
    Issue& issue = issues_.at(kind);
    if (issue.count == 0) {
        issue.kind = issue_names.at(kind);
        issue.line = line;
        issue.text = shortened(text);
        issue.kept = why == SampleIssue::no_time;
    }
    issue.count += count;
}

void SampleBuilder::note(std::string text) {
    if (std::ranges::find(found_.notes, text) == found_.notes.end()) { found_.notes.push_back(std::move(text)); }
}

void SampleBuilder::check_any(std::string_view format) {
    if (!found_.digest.values().empty() || !found_.stated.empty()) { return; }
    std::uint64_t left_out = 0, no_numbers = 0;
    std::string words;
    for (std::size_t i = 0; i < kinds; ++i) {
        Issue const& dirt = issues_.at(i);
        auto const kind = static_cast<SampleIssue>(i);
        if (dirt.count == 0 || dirt.kept) { continue; }
        left_out += dirt.count;
        bool const numbers = kind == SampleIssue::negative || kind == SampleIssue::failed ||
                             kind == SampleIssue::empty || kind == SampleIssue::not_a_number ||
                             kind == SampleIssue::infinite;
        if (!numbers) { no_numbers += dirt.count; }
        words += fmt::format("{}{} x {} from line {}", words.empty() ? "" : ", ", dirt.count, dirt.kind, dirt.line);
    }
    if (left_out == 0 && !question_.where.empty()) {
        std::string asked;
        for (auto const& [name, cell] : question_.where) {
            asked += (asked.empty() ? "" : " and ") + name + "=" + cell;
        }
        too_little(where_, "no sample with " + asked, {}, "see its cells, or leave out --where");
    }
    if (left_out == 0) { too_little(where_, "no sample", {}, "give at least one"); }
    if (no_numbers == left_out) {
        unreadable_error(where_, fmt::format("no number in it, read as {}", format), words,
                         "name the column of values: --column NAME");
    }
    too_little(where_, "no sample that can be used", words);
}

/// Percentiles that fall are of exchanged columns, or of several runs.
void SampleBuilder::check_order() const {
    constexpr double rounding = 1.02; // writers round the extremes differently
    for (std::size_t i = 1; i < found_.stated.size(); ++i) {
        StatedQuantile const &lower = found_.stated[i - 1], &upper = found_.stated[i];
        if (upper.value * rounding >= lower.value) { continue; }
        unreadable_error(where_, fmt::format("{} is less than {}", percentile_name(upper.q), percentile_name(lower.q)),
                         "percentiles do not fall", "see whether its columns or lines are exchanged");
    }
}

LatencySamples SampleBuilder::finish(std::string_view format) {
    flush();
    found_.format = format;
    check_any(format);
    check_order();
    if (Issue const& failed = issues_.at(static_cast<std::size_t>(SampleIssue::failed)); failed.count > 0) {
        note(fmt::format("failed requests are left out ({}): the time to an error is no latency of an answer",
                         failed.count));
    }
    std::uint64_t missing = found_.digest.values().count() - found_.requests.size();
    for (Issue& issue : issues_) {
        if (issue.count > 0 && !issue.kept) { missing += issue.count; }
        if (issue.count > 0) { found_.issues.push_back(std::move(issue)); }
    }
    constexpr std::uint64_t one_in = 1000; // may be missing: those that nobody hears of are as many
    if (missing > found_.requests.size() / one_in || !question_.where.empty()) { found_.requests.clear(); }
    return std::move(found_);
}

} // namespace headroom::io
