#pragma once

#include "latencies/sample_builder.hpp"
#include "tables/failed_rows.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Sign by which a row marks its request as failed.
struct FailureMark {
    enum class Kind {
        status,   ///< no number from 200 to 399
        error,    ///< a text
        is_false, ///< "false"
    };
    int column = -1;
    Kind kind = Kind::status;
    [[nodiscard]] bool failed(std::string_view cell) const;
};

/// Positions and units of the columns of a table.
struct CsvLayout {
    CsvDialect dialect;
    bool header = false;       ///< the columns have names
    bool known_writer = false; ///< whose tables are known by their columns
    std::size_t skipped = 0;   ///< lines before the first row
    std::vector<std::string> names;
    int value = 0, time = -1;
    std::string unit;      ///< of bare numbers; empty: nobody says
    std::string unit_from; ///< "header" or "format"
    int unit_column = -1;  ///< states the unit in every row: that of the first
    std::string time_unit;
    bool time_is_end = false; ///< times are of answers: the request was sent a value before
    std::vector<std::pair<int, std::string>> where = {};
    bool metric_chosen = false; ///< `where` holds the metric of a known writer
    std::vector<FailureMark> failures;
    std::vector<OutcomeColumn> outcomes; ///< of writers that are not known
    std::string note;
};

/// From the beginning of a text, up to a whole line, and what was asked.
/// Errors: InputError{usage} where a column that was asked for is not there, or none can be chosen.
CsvLayout csv_layout(std::string_view head, SampleBuilder& samples);

/// Whole numbers of at least 100,000 in the middle are taken for nanoseconds, all else for seconds; a note says so.
/// Errors: InputError{usage} where the head of the values names another unit: "latency (cycles)", and where the middle of
/// the values would be more than an hour.
void assume_unit(std::vector<double> numbers, SampleBuilder& samples, std::string_view head = {});

} // namespace headroom::io
