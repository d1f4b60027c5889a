#pragma once

#include "headroom/issue.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// One measurement of a scaling table.
struct ScalingRow {
    double workers = 1.0;
    double value = 0.0;  ///< seconds, where they are times
    double weight = 1.0; ///< inverse variance up to a common factor
    std::size_t line = 0;
};

/// Quantity of the values of a table.
enum class ScalingQuantity { seconds, throughput, speedup, sync, value };

/// Columns and rows to read from a file; empty texts leave the choice to the reader.
struct ScalingTableQuestion {
    std::string quantity = {};       ///< seconds, throughput, speedup, sync
    std::string workers_column = {}; ///< by its name in the header
    std::string value_column = {};
    std::string where = {};               ///< "framework=OneFlow;precision=FP32": only rows with these cells
    std::string region = {}, metric = {}; ///< of an Extra-P text
};

/// Rows of one worker count that differ in a column, and in their values by more than a fifth.
struct ScalingSeries {
    std::string column = {}, condition = {}; ///< condition: "size=100000000", the series with the most worker counts
    std::size_t series = 0;
};

/// Whether the work of a step grows with the workers, by a column of batches or rates: in proportion, or otherwise.
enum class WorkGrowth { unsaid, with_workers, otherwise };
struct ScalingWork {
    WorkGrowth growth = WorkGrowth::unsaid;
    std::string column = {}; ///< that shows it
};

struct ScalingTable {
    std::vector<ScalingRow> rows = {}; ///< as they stand in the file
    ScalingQuantity quantity = ScalingQuantity::seconds;
    std::string workers_column = {}, value_column = {},
                weight_column = {};                      ///< as the file names them; the last may be empty
    std::string unit = {};                               ///< of throughputs, as the cells have it
    std::string format = "csv";                          ///< or "extra-p"
    std::vector<std::string> ignored = {};               ///< columns that were not used
    std::vector<ScalingSeries> series = {};              ///< several problems in one table
    ScalingWork work = {};                               ///< of a step, where the values are times
    std::vector<Issue> issues = {};                      ///< content of cells that was not used
    std::vector<std::string> notes = {};                 ///< choices that somebody could have made otherwise
    std::string region = {}, metric = {};                ///< that was taken out of an Extra-P text
    std::vector<std::string> regions = {}, metrics = {}; ///< all that it has
};

/// Limits of a table: what is beyond them is refused.
inline constexpr std::size_t most_scaling_rows = 100'000, most_scaling_counts = 1000;

/// Reads measurements over worker counts: a CSV with a column of workers (or processors, gpus, ranks, ...) and one of
/// seconds, throughput or speedup (under one of their names), or a text of Extra-P with one parameter. Cells may carry
/// units ("180ms", "1.2k img/s"), headers too ("time_ms"). Columns `weight` and `sigma` (or `stderr`) are weights.
/// Errors: InputError{unreadable} with line and column on cells that are no numbers, on counts below one, values not
/// above zero, mixed units; InputError{usage} when a column, region or metric is not there.
ScalingTable read_scaling_table(std::string_view text, std::string_view where, ScalingTableQuestion const& question);

} // namespace headroom::io
