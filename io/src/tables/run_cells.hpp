#pragma once

#include "headroom/io/catalog.hpp"
#include "headroom/io/csv.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Thrown where rows are read, and caught there: one that cannot be asked, with the reason.
struct Skip {
    std::string reason;
};

/// One row of a published-runs table, read by column name. Empty cells are absent values.
class RunCells {
public:
    RunCells(CsvTable const& table, CsvTable::Record const& record, std::string_view where)
        : table_{table}, record_{record}, where_{where} {}

    [[nodiscard]] std::string_view text(std::string_view column) const;
    [[nodiscard]] bool has(std::string_view column) const { return table_.column(column) >= 0; }
    /// Errors: InputError{unreadable} when the cell holds something that is no number.
    [[nodiscard]] std::optional<double> number(std::string_view column) const;
    /// A whole number above zero.
    [[nodiscard]] std::optional<int> integer(std::string_view column) const;
    /// The first year in the source's name, of a date or on its own, if there is one.
    [[nodiscard]] std::optional<int> year() const;
    /// Whether the model name or the notes name a word, spelled just so.
    [[nodiscard]] bool mentions(std::string_view word) const;

private:
    CsvTable const& table_;
    CsvTable::Record const& record_;
    std::string_view where_;
};

/// The table of a row: each has a line of its own, which is left out.
std::string place_of(RunCells const& row);

/// Batch of one accelerator from the notes, where a table prints a value for each precision: 'batch column "Batch size
/// / GPU (TF32 and FP16)"="128 and 256"; accumulation "64 and 32"'. Where neither the header nor the values name the
/// precisions, the wider one has the smaller batch.
struct NotedBatch {
    std::optional<int> micro_batch, accumulation;
    bool tf32 = false; ///< the header names TF32 and no FP32: 32-bit products of that table are TF32
};
NotedBatch noted_batch(std::string_view notes, std::string_view precision);
/// Sequence length from the notes, where the table leaves it out: "sequence length 128 ... is not printed".
std::optional<int> noted_length(std::string_view notes);
/// Virtual stages that the notes fix where a table has no column of them: "1f1b" has one chunk a stage, and so has a blank
/// cell where the notes say that a script was read for "virtual stage".
std::optional<int> noted_chunks(std::string_view notes);
/// The size that a table's heading names, '("Large model", ...)': "Large"; empty when it names none.
std::string_view heading_size(std::string_view table);
/// Whether the table is of training that adapts a trained model to a task.
bool fine_tunes(std::string_view table);

/// Framework of a source, by the words that framework records are recognised by.
struct FrameworkRecogniser {
    std::string framework;
    int year = 0;
    std::vector<std::string> words;
    std::vector<std::string> vendors = {}; ///< of accelerators that it runs on; none: any
};
std::vector<FrameworkRecogniser> recognisers(Catalog const& catalog);
/// Framework that a source is recognised as; no name where none is.
struct RecognisedFramework {
    std::string name;
    /// Not by the owner of many kinds of repositories alone ("huggingface/nanotron" as Hugging Face), and software that runs on the
    /// vendor's accelerators.
    bool sure = false;
};
/// The record with the longest matching words ("here & there": in the source's name, and in its table or the model's), then the latest that is not younger than the year.
RecognisedFramework recognised(std::vector<FrameworkRecogniser> const& table, RunCells const& row,
                               std::string_view vendor = {});

/// Framework of a row: that of its own column; else of its source; where the source does not name it for sure, the one that the cell of
/// sharding, the folders of the table or clauses of the notes name, which hold nothing else ("HF Trainer", "Composer 0.19").
/// Empty where none is named.
std::string framework_of(Catalog const& catalog, std::vector<FrameworkRecogniser> const& table, RunCells const& row,
                         std::string_view vendor = {});

} // namespace headroom::io
