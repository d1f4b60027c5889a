#pragma once

#include "arguments.hpp"
#include "document/document.hpp"
#include "document/json.hpp"

#include "headroom/quantity.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headroom::cli {

/// What a question to `laws` gives, for machines and for people.
struct LawsAnswer {
    std::string title;
    std::vector<std::pair<std::string, Json>> members; ///< of the JSON result, after its head
    std::vector<Block> blocks;
    Sheet sheet;
};

// ---- the questions: one file each -------------------------------------------------------------------------------

LawsAnswer serial_answer(Arguments const& arguments);
LawsAnswer profile_answer(Arguments const& arguments);
LawsAnswer optimum_answer(Arguments const& arguments);
LawsAnswer usl_answer(Arguments const& arguments);
LawsAnswer karp_flatt_answer(Arguments const& arguments);
LawsAnswer isoefficiency_answer(Arguments const& arguments);
LawsAnswer data_parallel_answer(Arguments const& arguments);
LawsAnswer pipeline_answer(Arguments const& arguments);

// ---- what they read alike -----------------------------------------------------------------------------------------

/// --workers; without it every doubling from 1 to at least `last`, and `also`.
std::vector<int> read_law_workers(Arguments const& arguments, double last = 1024.0, int also = 1);
/// --share, 0.9 when not given.
double read_share(Arguments const& arguments);
/// The values between the commas.
std::vector<double> read_numbers(std::string_view text, double low, double high, std::string_view what,
                                 std::string_view where);
/// A time that is zero or of a size that a step may have.
Seconds read_time(std::string_view text, std::string_view where);
/// At most 16384 rows are answered at once.
void check_cells(std::size_t first, std::size_t second, std::string const& where);

// ---- what they show alike -----------------------------------------------------------------------------------------

/// One curve over ascending worker counts.
struct LawCurve {
    std::string name;
    std::vector<int> workers;
    std::vector<double> speedup;
    std::optional<double> ceiling = {};
};

/// What the last doubling before the knee gave at least.
inline constexpr double knee_gain = 1.6;

/// The gain of a doubling between each count and the one before; empty for the first.
std::vector<std::optional<double>> gains_of(LawCurve const& curve);
/// The largest count whose last doubling still gave at least 1.6x; empty for a list of one.
std::optional<int> knee_of(LawCurve const& curve);

/// Speedup over workers, with the ideal line, ceilings and at most one vertical rule: the peak, else the knee.
/// `reference` is the count whose speedup is 1.
Chart speedup_chart(std::string caption, std::vector<LawCurve> const& curves, double reference,
                    std::optional<double> peak);

/// A number of three digits without zeros at its end: "5", "6.4", "0.0303".
std::string plain(double value, int digits = 3);
std::string plain(std::optional<double> value, int digits = 3);
/// "6.4x"; "-" for nothing.
std::string times(std::optional<double> value);
std::string percent_of(std::optional<double> ratio);
std::string count_words(std::optional<std::int64_t> count);
/// "1 worker", "8 workers".
std::string workers_words(std::int64_t count);

/// Exact numbers of a sheet; an empty cell for nothing.
std::string cell(std::optional<double> value);

} // namespace headroom::cli
