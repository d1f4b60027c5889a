#pragma once

#include "headroom/document/document.hpp"
#include "headroom/document/json.hpp"
#include "measure/roofline_points.hpp"

#include "headroom/measure/measured_roofline.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

using namespace headroom::document;

/// What `headroom measure roofline` found, for every face.
struct MeasuredRooflineReport {
    measure::Campaign campaign;
    measure::MeasuredRoofline roofline;
    std::vector<std::string> warnings; ///< why not to believe it, or not all of it
    std::vector<std::string> absent;   ///< what was not measured, and why
    bool complete = true;
    std::size_t resumed = 0; ///< samples that were there before
    std::string gpu;         ///< the graphics processor; empty: none was measured
    std::string gpu_why;     ///< then why; else what of it was not
    std::string store;       ///< empty: kept nowhere
    std::optional<double> wall_seconds = {};

    explicit MeasuredRooflineReport(measure::Campaign taken) : campaign{std::move(taken)}, roofline{campaign} {}
    /// The most cores that were measured: what "the machine" means.
    [[nodiscard]] int cores() const { return roofline.threads.back(); }
};

/// Warnings of the environment and the figures, the gravest first.
std::vector<std::string> warnings_of(MeasuredRooflineReport const& report);
/// Why a kernel is where it is, in a few words.
std::string reason_of(measure::MeasuredKernel const& kernel);
/// The fastest of Headroom's own products over the fastest of any library, in one precision on so many cores; nothing
/// where one of the two is missing.
struct OwnAgainstLibrary {
    measure::MeasuredFigure const *own = nullptr, *other = nullptr; ///< its own product, and the best of a library
    [[nodiscard]] double ratio() const { return own->summary.median / other->summary.median; }
};
std::optional<OwnAgainstLibrary> own_against_library(measure::MeasuredRoofline const& roofline, int threads);

/// A figure in its unit, "117 GFLOP/s"; whole operations for int8 too.
std::string rate_words(measure::MeasuredFigure const& figure);
/// The interval as parts of the median below and above it: "-1.2 +0.8", in percent.
std::string interval_words(measure::MeasuredFigure const& figure);
std::string processor_name(measure::Campaign const& campaign);

Chart measured_chart(MeasuredRooflineReport const& report, int threads);
Document document_of(MeasuredRooflineReport const& report, bool page);
Json json_of(MeasuredRooflineReport const& report);
Sheet sheet_of(MeasuredRooflineReport const& report);

/// A machine file (docs/guide/roofline.md) with these ceilings, for `headroom roofline --machine FILE`.
/// Errors:     InputError{insufficient} where no bandwidth of main memory or no peak was measured.
std::string machine_file(MeasuredRooflineReport const& report);

} // namespace headroom::cli
