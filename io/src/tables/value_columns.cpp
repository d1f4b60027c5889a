#include "tables/value_columns.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/head_brackets.hpp"
#include "tables/numbers.hpp"
#include "tables/quotient.hpp"
#include "tables/worker_heads.hpp"

#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headroom::io {
namespace {

constexpr std::array value_words{HeadWords{"avg average mean median", 0}, HeadWords{"total overall", -1},
                                 HeadWords{"min minimum best fastest", 30},
                                 HeadWords{"max maximum worst std stddev stdev", ColumnMatch::never}};

struct ValueRow {
    ScalingQuantity quantity;
    std::string_view word;
    ColumnRow columns;
    bool per_worker = false; ///< times the workers it is such a quantity
};
constexpr std::array<ValueRow, 6> value_rows{{
    {ScalingQuantity::seconds,
     "seconds",
     {.names =
          "seconds stepseconds time steptime step runtime duration walltime wall wallseconds wallclock wallclocktime "
          "elapsed elapsedtime elapsedraw executiontime exectime timeperstep secondsperstep iterationtime "
          "timeperiteration "
          "latency t timetaken timetosolution makespan real realtime looptime solvetime computetime simulationtime "
          "trainingtime",
      .measure = CellMeasure::time}},
    {ScalingQuantity::throughput,
     "throughput",
     {.names = "throughput x samplespersecond tokenspersecond imagespersecond sequencespersecond stepspersecond "
               "itemspersecond requestspersecond transactionspersecond operationspersecond rate examplespersecond "
               "wordspersecond qps rps tps ips tput fps iops flops mflops gflops tflops pflops mlups glups mteps gteps "
               "sypd sdpd fom",
      .remarks = "tokens samples images imgs img sequences steps items requests transactions operations flops mflops "
                 "gflops tflops pflops tps fps qps",
      .rates = true}},
    {ScalingQuantity::speedup,
     "speedup",
     {.names = "speedup relativespeedup", .remarks = "x \xC3\x97 times fold measured"}},
    {ScalingQuantity::sync,
     "sync",
     {.names = "syncseconds sync synctime synchronisation synchronization synchronisationseconds "
               "synchronizationseconds synchronisationtime synchronizationtime barrier barrierseconds barriertime",
      .measure = CellMeasure::time}},
    {ScalingQuantity::speedup,
     "speedup",
     {.names = "efficiency parallelefficiency scalingefficiency speedupefficiency strongscalingefficiency "
               "weakscalingefficiency parallelscalingefficiency paralleleff eff",
      .remarks = "% percent pct"},
     true},
    {ScalingQuantity::throughput,
     "throughput",
     {.names = "mfu hfu modelflopsutilization percentageofpeak percentofpeak", .remarks = "% percent pct megatron"},
     true},
}};

bool is_time(ValueRow const& row) { return row.columns.measure == CellMeasure::time; }

/// Whether a head divides by something that is neither a time nor a worker: "tokens/s/widget".
bool has_unknown_divisor(std::string_view head) {
    std::vector<std::string> const words = words_in(head);
    int times = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] != "per") { continue; }
        bool const time = i + 1 < words.size() && Quotient::is_time(words[i + 1]);
        times += time ? 1 : 0;
        if (!time || times > 1) { return true; }
    }
    return false;
}

ColumnMatch match_rate(std::string_view head, ValueRow const& row);

/// Match of times, speedups and efficiencies, and of rates of all workers.
ColumnMatch match_value(std::string_view head, ValueRow const& row) {
    if (row.quantity == ScalingQuantity::throughput) { return match_rate(head, row); }
    if (row.quantity == ScalingQuantity::speedup) {
        auto const base = speedup_base(head);
        return match_head(base && base->known ? std::string_view{base->stem} : head, row.columns, value_words);
    }
    ColumnMatch match = match_head(head, row.columns, value_words);
    QuotientKind const kind = kind_of_quotient(head);
    bool const other = is_rate_head(head) || kind == QuotientKind::rate || kind == QuotientKind::either;
    if (other || is_time_of_all(head) || !other_unit(head).empty()) { return {}; }
    auto const quotient = quotient_of(head);
    bool const time = quotient && kind == QuotientKind::time;
    if (time && row.quantity == ScalingQuantity::seconds && match.rank > ColumnMatch::unit_alone) {
        return {.rank = ColumnMatch::unit_alone,
                .unit = match_head(fmt::format("time ({})", quotient->above), row.columns).unit};
    }
    // what ends in a unit of time may be any time, but no time of synchronisation
    bool const unit_alone = match.rank >= ColumnMatch::unit_alone - 1;
    return row.quantity == ScalingQuantity::sync && unit_alone ? ColumnMatch{} : match;
}

/// Match of rates: of all workers, or of one of them where the row is.
ColumnMatch match_rate(std::string_view head, ValueRow const& row) {
    auto const rates = std::ranges::find(value_rows, ScalingQuantity::throughput, &ValueRow::quantity);
    if (is_share_of_peak(head)) { return row.per_worker ? ColumnMatch{.rank = 0} : ColumnMatch{}; }
    auto const of_one = of_worker(head);
    if (of_one && !row.per_worker) { return {}; }
    if (of_one) { return match_rate(of_one->of_all, *rates); }
    if (has_unknown_divisor(head)) { return {}; }
    ColumnMatch const match = match_head(head, row.columns, value_words);
    QuotientKind const kind = kind_of_quotient(head);
    if (kind == QuotientKind::either) { return {}; }
    bool const rate = !row.per_worker && !is_time_label(head) && (is_rate_head(head) || kind == QuotientKind::rate);
    return rate && match.rank > ColumnMatch::unit_alone ? ColumnMatch{.rank = ColumnMatch::unit_alone} : match;
}

/// "time (s)" of "time 2 (s)", "time_run2 (s)"; empty where no number ends it.
std::string without_run(std::string_view head) {
    head = trimmed_line(head);
    bool const bracket = head.ends_with(')') || head.ends_with(']');
    std::size_t const open = bracket ? std::min(head.find_last_of("(["), head.size()) : head.size();
    std::string_view stem = trimmed_line(head.substr(0, open));
    auto const cut = [&](std::string_view marks) {
        auto const last = stem.find_last_not_of(marks);
        stem = stem.substr(0, last == std::string_view::npos ? 0 : last + 1);
    };
    if (stem.empty() || !is_decimal_digit(stem.back())) { return {}; }
    cut("0123456789");
    cut(" _-#.");
    for (std::string_view const word : {"run", "trial", "repeat", "rep"}) {
        bool const ends = stem.size() > word.size() && same_caseless(stem.substr(stem.size() - word.size()), word);
        if (ends) { stem.remove_suffix(word.size()); }
    }
    cut(" _-#.");
    return stem.empty() ? std::string{} : std::string{stem} + std::string{head.substr(open)};
}

/// Number that ends a head before its brackets; -1 without one, or beyond a count of runs.
int run_number(std::string_view head) {
    head = trimmed_line(head);
    if (head.ends_with(')') || head.ends_with(']')) { head = trimmed_line(head.substr(0, head.find_last_of("(["))); }
    auto const last = head.find_last_not_of("0123456789");
    std::string_view const digits = head.substr(last == std::string_view::npos ? 0 : last + 1);
    constexpr std::size_t longest = 4;
    return digits.empty() || digits.size() > longest ? -1 : static_cast<int>(cell_number(digits).value);
}

/// The heads with the numbers of runs taken off where several columns are runs of one quantity: numbered from 0 or 1 on.
/// "time_1024" and "time_2048" are of two sizes.
std::vector<std::string> heads_of_runs(std::vector<std::string> const& header) {
    std::vector<std::string> heads = header;
    for (std::string& head : heads) {
        std::string const stem = without_run(head);
        std::vector<int> numbers;
        for (std::string const& other : header) {
            if (!stem.empty() && without_run(other) == stem) { numbers.push_back(run_number(other)); }
        }
        std::ranges::sort(numbers);
        bool const counted = numbers.size() > 1 && (numbers[0] == 0 || numbers[0] == 1) &&
                             numbers.back() - numbers.front() + 1 == static_cast<int>(numbers.size());
        if (counted) { head = stem; }
    }
    return heads;
}

/// Whether a head names values that nobody measured.
bool is_unmeasured(std::string_view head) {
    constexpr std::string_view words =
        " ideal predicted expected linear theoretical perfect projected modelled modeled ";
    return std::ranges::any_of(words_in(head), [&](std::string const& word) {
        return words.find(fmt::format(" {} ", word)) != std::string_view::npos;
    });
}

/// The heads, empty where they name values that nobody measured and others are there.
std::vector<std::string> measured_heads(std::vector<std::string> heads, int workers) {
    auto const is_value = [&](std::string const& head) {
        bool const other = &head - heads.data() != workers;
        return other && !is_unmeasured(head) && is_value_head(head);
    };
    if (std::ranges::none_of(heads, is_value)) { return heads; }
    for (std::string& head : heads) {
        if (is_unmeasured(head)) { head.clear(); }
    }
    return heads;
}

/// Refuses columns alike, none of which is named as the whole: parts of a step, or series.
[[noreturn]] void refuse_alike(CsvTable const& table, std::string_view where, std::vector<int> const& alike,
                               std::string_view quantity) {
    constexpr std::size_t most = 4;
    std::vector<std::string> names;
    for (int const column : alike) {
        if (names.size() < most) { names.push_back(name_at(table, column)); }
    }
    std::string list = names.front();
    for (std::size_t i = 1; i < names.size(); ++i) {
        list += (i + 1 == names.size() && alike.size() <= most ? " and " : ", ") + names[i];
    }
    if (alike.size() > most) { list += ", ..."; }
    refuse(
        head_place(table, where), "columns " + list, "they may be parts of a step, or series of their own",
        fmt::format("say which: --value-column {} --quantity {}, or give the sum of parts", names.front(), quantity));
}

/// Refuses a head that may be of one quantity or another, where its cells do not show it either.
void check_meaning(CsvTable const& table, std::string_view where, ScalingColumns& columns) {
    auto const at = static_cast<std::size_t>(columns.values.front());
    std::string const& head = table.header[at];
    bool const time = columns.quantity == ScalingQuantity::seconds || columns.quantity == ScalingQuantity::sync;
    bool const bare = std::ranges::any_of(table.records, [&](auto const& record) {
        return cell_value(record.cells[at], CellMeasure::time).kind == CellValue::Kind::bare;
    });
    bool const bracket = head.ends_with(')') || head.ends_with(']');
    if (time && bare && bracket && table.named) { refuse_other_unit(head, head_place(table, where)); }
    if (!time || !bare || !says_minutes_or_minimum(head)) { return; }
    if (!is_minimum(table.header, head)) { refuse_minutes_or_minimum(head, head_place(table, where)); }
    if (same_caseless(columns.unit.name, "min")) { columns.unit = {}; }
}

/// Whether two heads are one but for their remarks: "tokens/s (fp32)" and "tokens/s (bf16)".
bool differ_in_remark(std::string_view a, std::string_view b) {
    ColumnRow const times{.names = "", .measure = CellMeasure::time};
    auto const one = bracket_of(a, times), other = bracket_of(b, times);
    if (!one || !other || one->unit || other->unit || is_rate_head(a.substr(one->stem.size()))) { return false; }
    bool const statistic = std::ranges::all_of(words_in(a.substr(one->stem.size())), [](std::string const& word) {
        return rank_of_word(value_words, word).has_value();
    });
    if (statistic) { return false; } // "time (mean)" next to "time (median)"
    return same_caseless(trimmed_line(one->stem), trimmed_line(other->stem)) && !same_caseless(a, b);
}

/// Speedups over more than one worker are a throughput in units of theirs.
void take_base(CsvTable const& table, std::string_view head, ColumnMatch const& best, ScalingColumns& columns) {
    auto const base = columns.quantity == ScalingQuantity::speedup ? speedup_base(head) : std::nullopt;
    if (!base || base->workers == 1.0) { return; }
    columns.quantity = ScalingQuantity::throughput;
    columns.notes.push_back(fmt::format("{} is over {} workers: it is taken for a throughput in units of theirs",
                                        name_at(table, best.column), base->workers));
}

void take_value(CsvTable const& table, std::string_view where, std::vector<std::string> const& heads,
                ValueRow const& row, ColumnMatch const& best, ScalingColumns& columns) {
    columns.quantity = row.quantity;
    columns.per_worker = row.per_worker;
    columns.unit = best.unit.value_or(CellUnit{});
    columns.values = {best.column};
    std::string const& chosen = heads[static_cast<std::size_t>(best.column)];
    if (best.unread) { refuse_unread(chosen, row.columns, head_place(table, where)); }
    take_base(table, chosen, best, columns);
    std::vector<int> alike{best.column};
    for (std::size_t i = 0; i < heads.size(); ++i) {
        auto const column = static_cast<int>(i);
        bool const other = column == best.column || column == columns.workers || states_error(heads[i]);
        if (other || match_value(heads[i], row).rank != best.rank) { continue; }
        if (heads[i] == heads[static_cast<std::size_t>(best.column)]) { // a run of the same
            columns.values.push_back(column);
        } else if (best.rank >= ColumnMatch::unit_alone - 1 || row.quantity == ScalingQuantity::throughput) {
            alike.push_back(column);
        }
        bool const series = differ_in_remark(heads[i], heads[static_cast<std::size_t>(best.column)]);
        if (series) { refuse_alike(table, where, {best.column, column}, row.word); }
    }
    bool const times = row.quantity == ScalingQuantity::seconds || row.quantity == ScalingQuantity::sync;
    if (alike.size() > 1 && times) { refuse_alike(table, where, alike, row.word); } // perhaps parts of a step
    for (std::size_t i = 1; i < alike.size(); ++i) {                                // rates have no parts
        columns.notes.push_back(fmt::format("the value is column {}, not {}: say --value-column to change that",
                                            name_at(table, best.column), name_at(table, alike[i])));
    }
    if (is_token_rate_or_time(heads[static_cast<std::size_t>(best.column)])) {
        refuse(head_place(table, where), name_at(table, best.column) + " may be a time or tokens per second",
               "nothing shows which", "write 'time (s)' or 'tokens/s'");
    }
}

/// Quantity that a head names together with one other word, before it or after it: "time_small", "large throughput".
ValueRow const* quantity_beside(std::string_view head) {
    constexpr std::string_view between = " _-.";
    auto const first = head.find_first_of(between), last = head.find_last_of(between);
    if (first == std::string_view::npos) { return nullptr; }
    for (ValueRow const& row : value_rows) {
        for (std::string_view const part : {head.substr(0, last), head.substr(first + 1)}) {
            if (match_value(part, row).rank < ColumnMatch::unit_alone - 1) { return &row; }
        }
    }
    return nullptr;
}

/// Refuses a head that names times in something that is none of their units. Columns of other quantities pass.
void refuse_other_value(std::string_view head, std::string_view place) {
    auto const times = std::ranges::find(value_rows, ScalingQuantity::seconds, &ValueRow::quantity);
    bool const named = match_head(head, times->columns, value_words).rank < ColumnMatch::never;
    bool const bracket = head.find_first_of("([") != std::string_view::npos;
    if (named || !bracket) { refuse_other_unit(head, place); }
}

/// Refuses series that stand side by side.
void refuse_series(CsvTable const& table, std::string_view where, int workers) {
    std::vector<std::string> names;
    ValueRow const* first = nullptr;
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        ValueRow const* const row = static_cast<int>(i) == workers ? nullptr : quantity_beside(table.header[i]);
        if (row == nullptr) { continue; }
        if (first == nullptr) { first = row; }
        names.push_back(headroom::quoted(table.header[i]));
    }
    if (names.empty()) { return; }
    std::string const problem =
        names.size() > 1 ? fmt::format("columns {} and {}", names[0], names[1]) : fmt::format("column {}", names[0]);
    refuse(head_place(table, where), problem,
           names.size() > 1 ? "each may be a series of its own" : "its name does not say enough",
           fmt::format("say which: --value-column {} --quantity {}", names[0], first->word));
}

} // namespace

bool is_value_head(std::string_view head) {
    return std::ranges::any_of(value_rows,
                               [&](ValueRow const& row) { return match_value(head, row).rank < ColumnMatch::never; });
}

RateInHead rate_in_head(std::string_view head) {
    constexpr std::size_t shortest = 3; // "x" may be anything
    if (head.size() < shortest) { return RateInHead::none; }
    for (ValueRow const& row : value_rows) {
        bool const rate = row.quantity == ScalingQuantity::throughput;
        if (!rate || match_value(head, row).rank >= ColumnMatch::never) { continue; }
        return row.per_worker ? RateInHead::of_one : RateInHead::of_all;
    }
    return RateInHead::none;
}

ScalingQuantity scaling_quantity(std::string_view word, std::string_view where) {
    std::string const known = parse_choice(word, {"seconds", "throughput", "speedup", "sync"}, where);
    return std::ranges::find(value_rows, std::string_view{known}, &ValueRow::word)->quantity;
}

void find_value(CsvTable const& table, std::string_view where, ScalingTableQuestion const& question,
                ScalingColumns& columns) {
    std::vector<std::string> const heads = measured_heads(heads_of_runs(table.header), columns.workers);
    // A name that is known goes before any that only has a unit, values of all workers before those of one.
    struct Pass {
        bool unit_alone, per_worker;
    };
    for (auto const [unit_alone, per_worker] : {Pass{false, false}, {true, false}, {false, true}, {true, true}}) {
        for (ValueRow const& row : value_rows) {
            if (row.per_worker != per_worker || (per_worker && !columns.values.empty())) { continue; }
            ColumnMatch best;
            for (std::size_t i = 0; i < heads.size(); ++i) {
                ColumnMatch match = match_value(heads[i], row);
                match.column = static_cast<int>(i);
                bool const sure = match.rank < ColumnMatch::unit_alone - 1;
                if (match.column != columns.workers && sure != unit_alone && match.rank < best.rank) { best = match; }
            }
            // of times somebody may say that they are times of synchronisation
            bool const asked = question.quantity.empty() || question.quantity == row.word ||
                               (question.quantity == "sync" && is_time(row));
            if (!best.found() || !asked) { continue; }
            bool const found = !columns.values.empty();
            bool const taken = found && std::ranges::find(columns.values, best.column) != columns.values.end();
            if (found && !taken && !unit_alone && question.quantity.empty()) {
                columns.notes.push_back(fmt::format("column {} is not used: say --quantity {} for it",
                                                    name_at(table, best.column), row.word));
            }
            if (found && (unit_alone || question.quantity != row.word)) { continue; }
            take_value(table, where, heads, row, best, columns);
            if (question.quantity == "sync") { columns.quantity = ScalingQuantity::sync; }
        }
    }
    if (columns.values.empty()) {
        for (std::string const& head : table.header) {
            if (kind_of_quotient(head) == QuotientKind::either) {
                refuse(head_place(table, where), headroom::quoted(head) + " may be a time or a rate",
                       "nothing shows which", "write 'time (s)', or the rate as 'ns/day'");
            }
            refuse_other_value(head, head_place(table, where));
            if (!is_time_of_all(head)) { continue; }
            refuse(head_place(table, where), headroom::quoted(head) + " is time of all workers together",
                   "it is the elapsed time times their number", "give the elapsed time");
        }
        refuse_series(table, where, columns.workers);
    }
    if (!columns.values.empty()) { return check_meaning(table, where, columns); }
    refuse_missing_column(table.header, head_place(table, where),
                          question.quantity.empty() ? "seconds, throughput or speedup" : question.quantity,
                          "rename one, or say --value-column NAME and --quantity seconds, throughput or speedup");
}

void find_named_value(CsvTable const& table, std::string_view where, ScalingTableQuestion const& question,
                      ScalingColumns& columns) {
    ColumnMatch const asked =
        asked_column(table.header, table.named, question.value_column, CellMeasure::time, "--value-column");
    columns.values = {asked.column};
    columns.unit = asked.unit.value_or(CellUnit{});
    std::string const& head = table.header[static_cast<std::size_t>(asked.column)];
    if (!question.quantity.empty()) {
        columns.quantity = scaling_quantity(question.quantity, "--quantity");
        return check_meaning(table, where, columns);
    }
    auto const row = std::ranges::find_if(
        value_rows, [&](ValueRow const& one) { return match_value(head, one).rank < ColumnMatch::never; });
    if (row == value_rows.end()) { refuse_other_value(head, head_place(table, where)); }
    if (row == value_rows.end()) {
        refuse("--value-column", fmt::format("{} may be times, throughputs or speedups", name_at(table, asked.column)),
               "its name does not say", "say --quantity seconds, throughput or speedup");
    }
    columns.quantity = row->quantity;
    columns.per_worker = row->per_worker;
    ColumnMatch const match = match_value(head, *row);
    if (match.unread) { refuse_unread(head, row->columns, head_place(table, where)); }
    take_base(table, head, asked, columns);
    check_meaning(table, where, columns);
}

} // namespace headroom::io
