#pragma once

#include "output.hpp"

#include "headroom/fit/scaling_fit.hpp"
#include "headroom/io/scaling_table.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// A table of measurements, what was asked of it, and what came out.
struct FitAnswer {
    std::string file;
    io::ScalingTable table;
    fit::ScalingData data;
    fit::FitQuestion question;
    fit::ScalingReport report;
    std::optional<double> wall_seconds = {};

    [[nodiscard]] fit::LawFit const& best() const { return report.fits.at(report.best); }
    /// Whether the values are of steps, so that a speedup has a meaning.
    [[nodiscard]] bool of_steps() const;
    [[nodiscard]] double largest_measured() const;
};

/// A measured or fitted value with its unit.
std::string value_words(FitAnswer const& answer, double value);
/// "90 %", "97.5 %".
std::string share_words(double share);
/// How rows relate to what was fitted, in words.
std::string conversion_words(FitAnswer const& answer);
/// What the two bands of a prediction are.
std::string band_words(FitAnswer const& answer);

/// The knee of the best law: the last count, doubling from the smallest measured one, that was still worth its doubling.
/// Empty where more workers have more to do, and where the values are not of steps.
std::optional<double> knee_of(FitAnswer const& answer);

Chart fit_chart(FitAnswer const& answer);
/// What the best law says, in a sentence or two.
std::string fit_verdict(FitAnswer const& answer);
/// The fit for people, from why this law was chosen to what is assumed; `data` says what was fitted.
std::vector<Block> fit_blocks(FitAnswer const& answer, std::string const& data);
/// The fit for machines: members from `fitted_quantity` to `findings`.
void add_fit_members(Json& json, FitAnswer const& answer);
Document document_of(FitAnswer const& answer, io::Catalog const& catalog);
Json json_of(FitAnswer const& answer, io::Catalog const& catalog);
Sheet sheet_of(FitAnswer const& answer);

} // namespace headroom::cli
