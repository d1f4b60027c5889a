#include "latencies/hdr_counts.hpp"
#include "latencies/latency_formats.hpp"
#include "records/record.hpp"
#include "tables/cell_text.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace headroom::io {

using namespace headroom::serving;

namespace {

/// A line of the log: "Tag=A,0.127,1.007,2.769,HISTFAAAA...", the tag and the three numbers being optional.
struct LogLine {
    std::string_view tag, histogram;
};

LogLine log_line(std::string_view line, CellRow& row) {
    LogLine found;
    if (row.split(line, CsvDialect{}) > RowFault::stray_quote) { return found; }
    auto const& cells = row.cells();
    bool const tagged = cells.front().starts_with("Tag=");
    if (tagged) { found.tag = cells.front().substr(4); }
    for (std::size_t i = tagged ? 1 : 0; i + 1 < cells.size(); ++i) {
        if (!decimal_number(cells[i])) { return found; }
    }
    found.histogram = cells.back();
    return found;
}

class HdrLogReader {
public:
    explicit HdrLogReader(SampleBuilder& samples) : samples_{samples} {
        for (auto const& [name, wanted] : samples.question().where) {
            if (name != "Tag" && name != "tag") {
                refuse(samples.where(), "no column " + headroom::quoted(name), "a histogram log has tags alone",
                       "--where Tag=NAME");
            }
            only_ = wanted;
        }
    }

    void line(std::string_view text, std::uint64_t number);
    void finish();

private:
    void take(LogLine const& line, std::uint64_t number);
    void choose_unit();

    SampleBuilder& samples_;
    CellRow row_;
    std::optional<std::string> only_;
    std::set<std::string, std::less<>> tags_;
    bool unit_chosen_ = false;
    std::uint64_t intervals_ = 0;
};

void HdrLogReader::line(std::string_view text, std::uint64_t number) {
    text = trimmed_line(text);
    bool const legend = text.starts_with('"') || text.starts_with("StartTimestamp");
    if (text.empty() || text.starts_with('#') || legend) { return; }
    LogLine const line = log_line(text, row_);
    constexpr std::size_t most_tags = 1000;
    if (tags_.size() < most_tags) { tags_.emplace(line.tag); }
    if (only_ && line.tag != *only_) { return; }
    take(line, number);
}

void HdrLogReader::take(LogLine const& line, std::uint64_t number) {
    std::string bytes;
    HdrFacts facts;
    std::vector<std::pair<double, std::uint64_t>> cells;
    bool const read =
        from_base64(line.histogram, bytes) &&
        read_hdr_counts(bytes, facts, [&](double value, std::uint64_t count) { cells.emplace_back(value, count); });
    if (!read) { return samples_.leave_out(SampleIssue::broken_histogram, number); }
    ++intervals_;
    if (facts.count == 0) { return; }
    choose_unit();
    LatencyHistogram values;
    for (auto const& [value, count] : cells) {
        double const seconds = samples_.unit().base(value);
        constexpr double most = 1e38;
        if (!(seconds >= 0.0 && seconds <= most)) {
            samples_.leave_out(SampleIssue::too_large, number, count);
            continue;
        }
        values.record(seconds, count);
    }
    samples_.take(values);
    LatencySamples& found = samples_.found();
    found.histogram_error = std::max(found.histogram_error, facts.relative_error);
}

void HdrLogReader::choose_unit() {
    if (unit_chosen_) { return; }
    unit_chosen_ = true;
    samples_.set_unit(*time_unit("ns"), "assumed");
    if (samples_.found().unit_from != "assumed") { return; }
    samples_.note("values are taken for nanoseconds, as histogram logs have them by custom (--unit us)");
}

void HdrLogReader::finish() {
    samples_.note(fmt::format("{} intervals of a histogram log: their samples have no order", intervals_));
    if (only_ || tags_.size() < 2) { return; }
    std::string names;
    for (std::string const& tag : tags_) { names += (names.empty() ? "" : ", ") + (tag.empty() ? "none" : tag); }
    samples_.note("several tags are taken together: " + names + " (--where Tag=NAME)");
}

/// A line whose last cell is a histogram in base64: the upper bytes of every cookie give the same letters.
bool is_log_line(std::string_view line) {
    line = trimmed_line(line);
    std::size_t const cell = line.rfind(',') == std::string_view::npos ? 0 : line.rfind(',') + 1;
    std::string_view const last = trimmed_line(line.substr(cell));
    return last.starts_with("HIST") || last.starts_with("DHIST");
}

} // namespace

bool looks_like_hdr_log(std::string_view head) {
    head = whole_lines(head);
    if (head.starts_with("#[Histogram log format version")) { return true; }
    constexpr int looked_at = 20;
    for (int i = 0; i < looked_at && !head.empty(); ++i) {
        std::size_t const end = std::min(head.find('\n'), head.size());
        std::string_view const line = head.substr(0, end);
        if (!line.starts_with('#') && is_log_line(line)) { return true; }
        head.remove_prefix(std::min(end + 1, head.size()));
    }
    return false;
}

void read_hdr_log(HeadSource& source, SampleBuilder& samples) {
    HdrLogReader reader{samples};
    LineFeed lines{source, samples.where(), samples.question().stop};
    for (std::string_view line; lines.next(line);) { reader.line(line, lines.number()); }
    reader.finish();
    samples.found().rows = lines.number();
    samples.found().column = "Interval_Compressed_Histogram";
    tell_source(source, lines, samples);
}

} // namespace headroom::io
