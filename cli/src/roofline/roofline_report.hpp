#pragma once

#include "output.hpp"

#include "headroom/training/step_roofline_answer.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

// ---- words --------------------------------------------------------------------------------------------------------

/// "0.25 FLOP/B", "none" without traffic.
std::string intensity_words(FlopsPerByte intensity);
/// Fills in the words of an answer: verdict, comparison, notes and advice.
void add_words(training::RooflineAnswer& report);
Chart chart_of(training::RooflineAnswer const& report);
/// The roof of a peak and a bandwidth between two intensities, in equal steps of a logarithm, both ends and the corner
/// exactly.
Series roof_line(std::string name, Mark mark, FlopsPerSecond peak, BytesPerSecond bandwidth, double low, double high);
/// A letter for each of the first kernels: their names in the chart. Rows beyond have none.
std::string mark_of(std::size_t index);
/// Rows with the largest share of the time first, at most `most`.
std::vector<std::size_t> rows_by_time(training::RooflineAnswer const& report, std::size_t most);

Document document_of(training::RooflineAnswer const& report, io::Catalog const& catalog);

} // namespace headroom::cli
