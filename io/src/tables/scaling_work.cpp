#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/columns.hpp"
#include "tables/numbers.hpp"
#include "tables/quotient.hpp"
#include "tables/rows.hpp"
#include "tables/scaling_parts.hpp"
#include "tables/value_columns.hpp"

#include <algorithm>
#include <map>

namespace headroom::io {
namespace {

constexpr ColumnRow batch_row{.names =
                                  "globalbatchsize globalbatch gbs bs totalbatchsize totalbatch effectivebatchsize "
                                  "effectivebatch trainbatchsize batchsize batch samplesperstep tokensperstep "
                                  "sequencesperstep imagesperstep globalbatchsequences globalbatchtokens "
                                  "batchsizetokens batchtokens",
                              .remarks = "tokens samples sequences images"};
constexpr ColumnRow own_batch_row{.names = "batchpergpu batchsizepergpu perdevicebatchsize perdevicetrainbatchsize "
                                           "batchperdevice batchsizeperdevice batchperworker batchsizeperworker "
                                           "batchperrank batchsizeperrank localbatchsize localbatch pergpubatchsize "
                                           "pergpubatch samplespergpu tokenspergpu",
                                  .remarks = "tokens samples sequences images"};

/// Relation of the number of a column to the work of a step.
enum class Means { nothing, work, work_of_one, rate, rate_of_one };

Means meaning_of(std::string_view head) {
    ColumnMatch const batch = match_head(head, batch_row), own_batch = match_head(head, own_batch_row);
    if (batch.unread || own_batch.unread) { return Means::nothing; }
    if (batch.rank < ColumnMatch::never) { return Means::work; }
    if (own_batch.rank < ColumnMatch::never) { return Means::work_of_one; }
    switch (rate_in_head(head)) {
    case RateInHead::of_all: return Means::rate;
    case RateInHead::of_one: return Means::rate_of_one;
    default: return Means::nothing;
    }
}

/// Work by the count of workers; empty where a cell is no number or rows of one count differ.
std::map<double, double> work_by_count(CsvTable const& table, std::size_t column, Means means,
                                       std::span<ScalingRow const> rows) {
    constexpr double alike = 1.1;
    NumberMarks const marks = number_marks(table)[column];
    std::size_t const repeats = rows.size() / table.records.size();
    std::map<double, double> works;
    for (std::size_t i = 0; i < table.records.size(); ++i) {
        CellNumber const number = cell_number(table.records[i].cells[column], marks);
        if (number.fault != CellNumber::Fault::none || !(number.value > 0.0)) { return {}; }
        ScalingRow const& row = rows[i * repeats];
        bool const rate = means == Means::rate || means == Means::rate_of_one;
        bool const of_one = means == Means::work_of_one || means == Means::rate_of_one;
        double const work = number.value * (rate ? row.value : 1.0) * (of_one ? row.workers : 1.0);
        double const first = works.try_emplace(row.workers, work).first->second;
        if (work > alike * first || first > alike * work) { return {}; }
    }
    return works;
}

WorkGrowth growth_of(std::map<double, double> const& works) {
    constexpr double alike = 1.25; // rates are rounded, and of other steps than the times
    if (works.size() < 2) { return WorkGrowth::unsaid; }
    auto const spread = [&](auto const& value_of) {
        auto const [least, most] = std::ranges::minmax_element(works, {}, value_of);
        return value_of(*most) / value_of(*least);
    };
    bool const fixed = spread([](auto const& one) { return one.second; }) < alike;
    bool const grows = spread([](auto const& one) { return one.second / one.first; }) < alike;
    return fixed ? WorkGrowth::unsaid : grows ? WorkGrowth::with_workers : WorkGrowth::otherwise;
}

/// Whether a head is of steps in a time: "it/s", "steps_per_second", "throughput (iterations/s)".
bool counts_steps(std::string_view head) {
    constexpr std::string_view steps = " it its iter iters iteration iterations step steps batch batches ";
    std::string const key = normalised(head);
    for (std::string_view const word : {"stepspers", "iterationspers", "itspers", "iterspers"}) {
        if (key.find(word) != std::string::npos) { return true; }
    }
    auto const quotient = quotient_of(head);
    return is_rate_head(head) && quotient && steps.find(" " + quotient->above + " ") != std::string_view::npos;
}

} // namespace

std::string rates_of_work(CsvTable const& table, std::span<int const> used, std::string_view values,
                          std::vector<ScalingRow>& rows, bool weight_is_error) {
    if (rows.empty() || !table.named || !counts_steps(values)) { return {}; }
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        Means const means = meaning_of(table.header[i]);
        bool const is_used = std::ranges::find(used, static_cast<int>(i)) != used.end();
        if (is_used || (means != Means::work && means != Means::work_of_one)) { continue; }
        auto const works = work_by_count(table, i, means, rows);
        if (growth_of(works) == WorkGrowth::unsaid) { continue; }
        for (ScalingRow& row : rows) {
            double const work = works.at(row.workers);
            row.value *= work;
            if (weight_is_error) { row.weight /= work * work; }
        }
        return table.header[i];
    }
    return {};
}

ScalingWork work_of_steps(CsvTable const& table, std::span<int const> used, std::string_view times,
                          std::span<ScalingRow const> rows) {
    if (rows.empty() || !table.named) { return {}; }
    bool const of_steps = find_caseless(times, "step") != std::string_view::npos ||
                          find_caseless(times, "iter") != std::string_view::npos;
    ScalingWork of_rate;
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        Means const means = meaning_of(table.header[i]);
        bool const rate = means == Means::rate || means == Means::rate_of_one;
        bool const is_used = std::ranges::find(used, static_cast<int>(i)) != used.end();
        if (is_used || means == Means::nothing || (!rate && !of_steps)) { continue; }
        ScalingWork const one{growth_of(work_by_count(table, i, means, rows)), table.header[i]};
        if (!rate && one.growth != WorkGrowth::unsaid) { return one; }
        // a rate that is no work over this time may leave out a part of it
        if (rate && one.growth == WorkGrowth::with_workers) { of_rate = one; }
    }
    return of_rate;
}

} // namespace headroom::io
