#pragma once

#include "latencies/sample_builder.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Statistic that a label names, and what it is of: "p99" and "ttft" of "p99_ttft_ms", with its unit.
struct FigureName {
    std::string metric; ///< in lower case, words between blanks
    std::optional<double> share;
    std::optional<CellUnit> unit;
    bool is_mean = false, is_count = false;
    bool is_other = false; ///< a deviation, a sum, several statistics
    bool is_rate = false;  ///< a rate or an amount, no time
    [[nodiscard]] bool is_known() const { return !is_other && !is_rate && (share || is_mean || is_count); }
};
FigureName figure_name(std::string_view label);

/// One quantity of a report that states several.
struct ReportMetric {
    struct Figure {
        double share = 0.0, value = 0.0;
        std::uint64_t line = 0;
        bool in_seconds = false;
    };
    std::string name;
    std::optional<CellUnit> unit; ///< of values that are not in seconds
    std::vector<Figure> figures;
    std::optional<Figure> mean;
    std::uint64_t count = 0;
    std::vector<double> samples; ///< in `unit`
    std::size_t lists = 0;       ///< lists of samples
    [[nodiscard]] bool is_distribution() const;
};

/// Quantities that a report states, of which one is read: the only one, or the one that `column` names.
class MetricReport {
public:
    ReportMetric& metric(std::string_view name);
    void add(ReportMetric& metric, FigureName const& name, ReportMetric::Figure figure);
    /// Unit of the quantities for which none is stated.
    void assume(CellUnit const& unit);
    [[nodiscard]] std::size_t distributions() const;
    /// States the figures of one. Errors: InputError{usage} where there are several.
    void finish(SampleBuilder& samples);

private:
    [[nodiscard]] ReportMetric& chosen(SampleBuilder& samples);

    std::deque<ReportMetric> metrics_; // references to them last
    std::map<std::string, ReportMetric*, std::less<>> by_name_;
    std::uint64_t count_ = 0; ///< of requests, where it is of no metric
};

} // namespace headroom::io
