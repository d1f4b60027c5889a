#pragma once

#include "arguments.hpp"
#include "output.hpp"

#include "headroom/io/catalog.hpp"
#include "headroom/laws/laws_answers.hpp"
#include "headroom/quantity.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom::cli {

struct LawsCall {
    Output output;
    io::Catalog catalog;
};

/// Writes an answer; in CSV the rows that `rows_of` takes from it.
template <class Answer, class RowsOf>
int write_answer(LawsCall const& call, Answer answer, RowsOf rows_of, std::string title, std::vector<Block> blocks) {
    auto const kept = std::make_shared<Answer const>(std::move(answer));
    Document document{std::move(title), std::move(blocks), footer(call.catalog, "")};
    write_result(call.output,
                 kept_result_of(
                     head_of("laws", call.catalog, ""), kept, [document = std::move(document)] { return document; },
                     {{}, stats_of(call.output)}, [kept, rows_of] { return row_sheet(rows_of(*kept)); }));
    return Exit::done;
}

/// Rows of most answers.
inline constexpr auto rows_of = [](auto const& answer) -> auto const& { return answer.rows; };
inline constexpr auto rows_of_curve = [](auto const& answer) -> auto const& { return answer.curve.rows; };

// ---- the questions: one file each -------------------------------------------------------------------------------

int run_serial(Arguments const& arguments, LawsCall const& call);
int run_profile(Arguments const& arguments, LawsCall const& call);
int run_optimum(Arguments const& arguments, LawsCall const& call);
int run_usl(Arguments const& arguments, LawsCall const& call);
int run_karp_flatt(Arguments const& arguments, LawsCall const& call);
int run_isoefficiency(Arguments const& arguments, LawsCall const& call);
int run_data_parallel(Arguments const& arguments, LawsCall const& call);
int run_pipeline(Arguments const& arguments, LawsCall const& call);

// ---- reading ------------------------------------------------------------------------------------------------------

/// --workers, else `otherwise`.
std::vector<int> read_law_workers(Arguments const& arguments, std::vector<int> otherwise);
/// --share, 0.9 when not given.
double read_share(Arguments const& arguments);
/// An efficiency to hold, between 0 and 1.
double read_efficiency(std::string_view text);
/// --efficiency of a law; empty without it.
std::optional<double> read_efficiency(Arguments const& arguments);
/// The values between the commas.
std::vector<double> read_numbers(std::string_view text, double low, double high, std::string_view what,
                                 std::string_view where);
/// A time that is zero or of a size that a step may have.
Seconds read_time(std::string_view text, std::string_view where);
/// At most 16384 rows are answered at once.
void check_cells(std::size_t first, std::size_t second, std::string const& where);
/// --faster with --faster-price and --price; empty without it. Errors: InputError{usage} for prices without it.
std::optional<laws::ScaleUpQuestion> read_scale_up(Arguments const& arguments);

// ---- showing ------------------------------------------------------------------------------------------------------

/// A curve of a figure.
struct NamedCurve {
    std::string name;
    laws::SpeedupCurve curve;
};

/// Speedup over workers, with the ideal line, ceilings and at most one vertical rule: the peak, else the knee.
/// `reference` is the count whose speedup is 1.
Chart speedup_chart(std::string caption, std::vector<NamedCurve> const& curves, double reference,
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

/// "70 % holds to 26 workers (efficiency over 1 worker)"; without end where `most` is empty.
std::string held_words(double efficiency, std::optional<std::int64_t> most, int over = 1);
/// Shows a comparison with a faster machine, if there is one: its verdict before all other blocks, its table after them.
void add_scale_up(std::vector<Block>& blocks, std::optional<laws::ScaleUp> const& comparison);
/// A step in words: "300 ms", or relative to K0 where no times were given.
std::string step_words(laws::CurveAnswer const& answer, Seconds step);
/// Adds the figure of a curve; nothing for a list of one.
void add_curve_chart(std::vector<Block>& blocks, laws::CurveAnswer const& answer, std::string caption);

} // namespace headroom::cli
