#include "latencies/latency_formats.hpp"
#include "latencies/percentile_table.hpp"
#include "latencies/report_lines.hpp"
#include "tables/cell_text.hpp"

#include <fmt/format.h>

namespace headroom::io {
namespace {

class WrkReader {
public:
    WrkReader(std::string_view text, SampleBuilder& samples) : lines_{text}, samples_{samples} {}

    void read() {
        std::string_view line;
        while (lines_.next(line)) {
            if (is_percentile_header(line)) {
                read_spectrum();
            } else {
                read_line(line);
            }
        }
        if (kept_failed_ > 0) {
            samples_.note(fmt::format("answers that were no 2xx or 3xx are among the times: {}", kept_failed_));
        }
    }

private:
    /// wrk2 prints one of what was recorded, and on demand another of times since the sending alone.
    void read_spectrum() {
        if (spectra_++ > 0) { return; }
        read_percentile_rows(lines_, samples_);
    }

    void read_line(std::string_view line);
    void read_summary(std::string_view rest);

    TextLines lines_;
    SampleBuilder& samples_;
    int spectra_ = 0;
    bool in_percentiles_ = false, summary_seen_ = false;
    std::uint64_t kept_failed_ = 0;
};

/// "635.91us 0.89ms 12.92ms 93.69%": the mean, the standard deviation, the greatest.
void WrkReader::read_summary(std::string_view rest) {
    auto const mean = printed_duration(next_word(rest));
    next_word(rest);
    summary_seen_ = true;
    if (mean && *mean >= 0.0) { samples_.found().stated_mean = *mean; }
    state_quantile(samples_, 1.0, printed_duration(next_word(rest)), lines_.number());
}

void WrkReader::read_line(std::string_view line) {
    auto const summary = behind(line, "Latency");
    if (line.starts_with("Latency Distribution")) {
        in_percentiles_ = spectra_ == 0;
    } else if (summary && !summary_seen_) {
        read_summary(*summary);
    } else if (auto const errors = behind(line, "Socket errors:")) {
        std::uint64_t failed = 0;
        std::string_view rest = *errors;
        while (!rest.empty()) { failed += leading_count(next_word(rest)).value_or(0); }
        if (failed > 0) { samples_.leave_out(RowDirt::failed, lines_.number(), failed); }
    } else if (auto const others = behind(line, "Non-2xx or 3xx responses:")) {
        kept_failed_ = leading_count(*others).value_or(0);
    } else if (std::size_t const at = line.find(" requests in "); at != std::string_view::npos) {
        if (auto const count = leading_count(line)) { samples_.found().stated_count = *count; }
    } else if (in_percentiles_) {
        std::string_view rest = line;
        std::string_view const word = next_word(rest);
        auto const share = word.ends_with('%') ? share_of(word) : std::nullopt;
        if (share) {
            state_quantile(samples_, *share, printed_duration(rest), lines_.number());
        } else if (!line.empty()) {
            in_percentiles_ = false;
        }
    }
}

} // namespace

bool looks_like_wrk(std::string_view head) {
    return head.find("Thread Stats") != std::string_view::npos && head.find("+/- Stdev") != std::string_view::npos;
}

void read_wrk(HeadSource& source, SampleBuilder& samples) {
    std::string const text = whole_report(source, samples);
    samples.set_unit(*time_unit("ms"), "format"); // of the spectrum; all else has its unit beside it
    samples.found().column = "Latency";
    WrkReader{text, samples}.read();
}

} // namespace headroom::io
