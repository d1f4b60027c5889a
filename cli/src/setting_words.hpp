#pragma once

#include "output.hpp"

#include "headroom/document/document.hpp"
#include "headroom/training/assume.hpp"
#include "headroom/training/calibration.hpp"
#include "headroom/training/model.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// Whether a document has at most the lines of a screen.
bool fits_screen(Document const& document, ScreenSize screen);

/// Leaves `most` rows of a table, those next to the marked one; the marked row, the first and the last stay.
void leave_out_rows(Table& table, std::size_t most);

/// Removes rows from the block `table` until the document has at most the lines of `screen` or the table `least_rows`, and returns whether it has; the
/// marked row, the first and the last stay.
bool fit_to_screen(Document& document, std::size_t table, std::size_t least_rows, ScreenSize screen);

/// "framework megatron-core, sequence_length 8192, ...": what nobody stated, in one paragraph.
/// `rest`: where the others are; `most`: how many are named.
Paragraph assumed_in_short(std::vector<training::Assumption> const& assumptions,
                           std::string const& rest = "--full has all, with reasons", std::size_t most = 4);

/// A command over lines of a screen, as a shell takes it.
Verbatim command_block(std::string const& command, ScreenSize screen);

// Common output of several verbs on the setting that was read.

Table assumptions_table(std::vector<training::Assumption> const& assumptions);
/// Unit of a model's work: "tokens", or "samples" where a sample is no sequence of them.
std::string_view unit_of_work(training::Model const& model);
/// "1024 sequences of 8192 tokens", "2048 samples".
std::string batch_words(training::Workload const& workload, training::Model const& model);
/// "The architecture is not understood: parameters may be off by -23 to +0.3 %. "; empty for a model that is.
std::string unknown_model_words(training::Model const& model);
/// "12 fitted, 30 cited, 9 guessed (host-eager, ...)".
std::string provenance_summary(training::CalibrationSet const& calibration);

} // namespace headroom::cli
