#include "tables/run_rates.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/run_derived.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace headroom::io {
namespace {

/// Column that holds a figure; rates of steps become times of one, those of an accelerator's samples rates of all.
std::string_view column_of(StepFigure figure) {
    switch (figure) {
    case StepFigure::tokens_per_second: return "measured_tokens_per_s_total";
    case StepFigure::tokens_per_second_per_accelerator: return "measured_tokens_per_s_per_gpu";
    case StepFigure::samples_per_second:
    case StepFigure::samples_per_second_per_accelerator: return "samples_per_s";
    default: return "measured_step_seconds";
    }
}

/// A head without brackets that state a mean: "ms/step (mean of 100)".
std::string_view without_mean(std::string_view head) {
    auto const open = head.ends_with(')') ? head.rfind('(') : head.npos;
    if (open == head.npos) { return head; }
    auto const words = words_in(head.substr(open));
    bool const mean = std::ranges::all_of(words, [](std::string const& word) {
        return is_word_of("mean avg average median of over last steps iterations iters runs n", word) ||
               std::ranges::all_of(word, is_decimal_digit);
    });
    return mean && !words.empty() ? trimmed_line(head.substr(0, open)) : head;
}

} // namespace

std::optional<StepRate> rate_of(CsvTable const& table, std::size_t column) {
    if (auto const rate = step_rate(without_mean(table.header[column]))) { return rate; }
    std::string const head = normalised(table.header[column]);
    bool const of_one = is_word_of("throughputgpu throughputpergpu perfgpu throughputperdevice", head);
    if (!of_one && !is_word_of("throughput speed performance", head)) { return std::nullopt; }
    std::optional<std::string> label;
    for (auto const& record : table.records) {
        if (says_nothing(record.cells[column])) { continue; }
        std::string const rest{cell_number(record.cells[column]).rest};
        if (label.value_or(rest) != rest) { return std::nullopt; }
        label = rest;
    }
    auto const rate = label ? step_rate(*label) : std::nullopt;
    bool const scoped = rate && rate->scope_stated;
    return rate && of_one && !scoped ? step_rate(*label + "/gpu") : rate;
}

int find_rate(CsvTable const& table, std::string_view column, std::vector<int> const& used) {
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        bool const is_used = std::ranges::find(used, static_cast<int>(i)) != used.end();
        auto const rate = is_used ? std::nullopt : rate_of(table, i);
        if (rate && column_of(rate->figure) == column) { return static_cast<int>(i); }
    }
    return -1;
}

void write_rates(CsvTable& table, std::size_t column, NumberMarks const& marks) {
    StepRate const rate = *rate_of(table, column);
    bool const in_head = step_rate(without_mean(table.header[column])).has_value();
    int const total = table.column("accelerators_total");
    for (auto& record : table.records) {
        std::string& cell = record.cells[column];
        std::size_t const label = in_head ? 0 : cell_number(cell, marks).rest.size();
        auto const number = scaled_number(cell.substr(0, cell.size() - label), marks);
        if (!number || !(*number > 0.0)) { continue; }
        double value = *number * rate.scale;
        if (rate.figure == StepFigure::steps_per_second) { value = 1.0 / value; }
        bool const of_one = rate.figure == StepFigure::samples_per_second_per_accelerator;
        auto const workers =
            of_one && total >= 0 ? decimal_number(record.cells[static_cast<std::size_t>(total)]) : std::nullopt;
        cell = of_one && !workers ? "no accelerator count" : fmt::format("{}", value * workers.value_or(1.0));
    }
}

} // namespace headroom::io
