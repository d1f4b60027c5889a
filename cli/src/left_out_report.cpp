#include "document/text.hpp"
#include "left_out.hpp"

#include "headroom/error.hpp"
#include "headroom/left_out.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace headroom::cli {
namespace {

/// A term, the options that switch it on, the formulas that open it, and other words for it.
struct Row {
    LeftOut term;
    char const* example;
    std::vector<std::string> formulas, words;
};

Row const& row_of(LeftOut term) {
    static std::array<Row, 5> const rows{
        Row{LeftOut::imbalance, "--imbalance 1.08", {"imbalance_seconds"}, {}},
        Row{LeftOut::stragglers, "--step-spread 2%", {"stragglers_seconds"}, {}},
        Row{LeftOut::congestion, "--congestion 5%", {"congestion_slowdown"}, {}},
        Row{LeftOut::failures,
            "--mtbf 50700h",
            {"cluster_mtbf_seconds", "checkpoint_seconds", "young_interval_seconds", "time_over_work", "goodput"},
            {"goodput", "checkpoints"}},
        Row{LeftOut::critical_batch,
            "--critical-batch 1024",
            {"sample_efficiency", "tokens_needed", "steps_needed"},
            {"statistics"}},
    };
    return *std::ranges::find(rows, term, &Row::term);
}

std::string key_of(LeftOut term) {
    std::string key{name_of(term)};
    std::ranges::replace(key, ' ', '_');
    return key;
}

Json rows_json(std::vector<LeftOutTerm> const& rows) {
    Json list = Json::array();
    for (LeftOutTerm const& row : rows) {
        list.push(Json::object()
                      .set("term", key_of(row.term))
                      .set("on", row.on)
                      .set("value", row.value)
                      .set("expected_maximum", row.expected_maximum)
                      .set("seconds", row.seconds.base())
                      .set("explanation", row.explanation)
                      .set("example", row_of(row.term).example));
    }
    return list;
}

std::optional<Seconds> time_to_target(Prediction const& p) { return p.statistics ? run_time(p) : std::nullopt; }

template <class Q> std::optional<double> base_of(std::optional<Q> const& quantity) {
    return quantity ? std::optional{quantity->base()} : std::nullopt;
}

std::optional<double> days_of(std::optional<Seconds> const& time) {
    return time ? std::optional{time->in(units::day)} : std::nullopt;
}

std::optional<double> goodput_of(Prediction const& p) {
    return p.goodput ? std::optional{p.goodput->shares.work} : std::nullopt;
}

// ---- for people ---------------------------------------------------------------------------------------------------

Table terms_table(std::vector<LeftOutTerm> const& rows, Seconds step) {
    bool const small = step < units::s;
    Seconds const unit = small ? units::ms : units::s;
    Table table{.title = "What the laws leave out",
                .columns = {{"term", Align::left}, {small ? "ms" : "s"}, {"% of step"}, {"how", Align::left, true}},
                .rows = {}};
    for (LeftOutTerm const& row : rows) {
        std::string const name{name_of(row.term)};
        if (row.on) {
            std::string const sign = std::isfinite(row.seconds.base()) ? "+" : "";
            table.rows.push_back(
                {name, sign + significant(row.seconds.in(unit)), percent(row.seconds / step), row.explanation});
        } else {
            std::string const example = row_of(row.term).example;
            table.rows.push_back({name, "off", "-", example + " switches it on"});
        }
    }
    return table;
}

/// A whole number in full.
std::string amount(double value) { return value == std::round(value) ? whole(value) : significant(value, 4); }

std::string checkpoint_words(Goodput const& goodput) {
    std::string const failures =
        "a failure every " + format(goodput.model.mtbf) + ", then " + format(goodput.model.restart) + " to restart";
    if (goodput.model.checkpoint == Seconds{}) { return "free, and written all the time; " + failures; }
    std::string text = format(goodput.model.checkpoint) + " after every " + format(goodput.interval) +
                       " of work (least time: " + format(goodput.exact) + "; Young " + format(goodput.young) +
                       ", Daly " + format(goodput.daly) + ")";
    if (goodput.state > Bytes{}) { text += ", " + format(goodput.state) + " each"; }
    return text + "; " + failures;
}

Table shares_table(Goodput const& goodput) {
    Table table{.title = "Where the time of the run goes",
                .columns = {{"part", Align::left}, {"%"}, {"what", Align::left}},
                .rows = {}};
    auto const row = [&table](char const* name, double share, char const* what) {
        table.rows.push_back({name, percent(share, 4), what});
    };
    row("work", goodput.shares.work, "the goodput: done once and kept");
    row("checkpoints", goodput.shares.checkpoint, "written and kept");
    row("redone", goodput.shares.redone, "work and checkpoints that a failure cut off");
    row("restarts", goodput.shares.restart, "from failures to the next step");
    return table;
}

std::string target_words(Prediction const& p) {
    Statistics const& statistics = *p.statistics;
    std::string text = "a batch of " + amount(statistics.batch) + " sequences, critical " +
                       amount(statistics.critical_batch) + ": a sample is worth " + percent(statistics.efficiency) +
                       " % of one of a small batch";
    if (!statistics.tokens) { return text + "; --tokens gives the time to the target"; }
    text += "; " + scaled(*statistics.tokens) + " tokens in " + scaled(*statistics.steps) + " steps instead of " +
            scaled(*p.question.tokens);
    if (auto const time = time_to_target(p)) { text += ", " + significant(time->in(units::day)) + " days"; }
    return text;
}

std::string run_words(Prediction const& p) {
    auto const all = run_time(p), work = productive_time(p);
    return significant(all->in(units::day)) + " days, of which " + significant(work->in(units::day)) +
           " would do if nothing failed";
}

} // namespace

std::vector<Term> explain_left_out(Prediction const& prediction, std::vector<Term> const& terms,
                                   std::string const& wanted) {
    for (LeftOut const term : every_left_out) {
        Row const& row = row_of(term);
        bool const other_word = std::ranges::any_of(
            row.words, [&](std::string const& word) { return normalised(word) == normalised(wanted); });
        if (normalised(name_of(term)) != normalised(wanted) && !other_word) { continue; }
        std::vector<Term> found;
        std::ranges::copy_if(terms, std::back_inserter(found),
                             [&](Term const& one) { return std::ranges::count(row.formulas, one.name) > 0; });
        if (!found.empty()) { return found; }
        if (!prediction.progresses()) {
            throw InputError{Fault::usage,
                             {.where = "--explain",
                              .problem = headroom::quoted(wanted) + " has no finite formula",
                              .why = prediction.goodput->why_not,
                              .hint = "give other times"}};
        }
        throw InputError{Fault::usage,
                         {.where = "--explain",
                          .problem = headroom::quoted(wanted) + " is off",
                          .why = "it adds nothing here",
                          .hint = std::string{"switch it on: "} + row.example}};
    }
    return {};
}

Json goodput_json(Prediction const& p) {
    if (!p.goodput) { return {}; }
    Goodput const& goodput = *p.goodput;
    return Json::object()
        .set("cluster_mtbf_seconds", goodput.model.mtbf.base())
        .set("checkpoint_seconds", goodput.model.checkpoint.base())
        .set("state_bytes", goodput.state > Bytes{} ? Json{goodput.state.base()} : Json{})
        .set("restart_seconds", goodput.model.restart.base())
        .set("interval_seconds", goodput.interval.base())
        .set("young_interval_seconds", goodput.young.base())
        .set("daly_interval_seconds", goodput.daly.base())
        .set("exact_interval_seconds", goodput.exact.base())
        .set("time_over_work", goodput.time_over_work)
        .set("goodput", goodput.shares.work)
        .set("shares", Json::object()
                           .set("work", goodput.shares.work)
                           .set("checkpoint", goodput.shares.checkpoint)
                           .set("redone", goodput.shares.redone)
                           .set("restart", goodput.shares.restart))
        .set("progresses", goodput.progresses())
        .set("why_not", goodput.progresses() ? Json{} : Json{goodput.why_not});
}

Json statistics_json(Prediction const& p) {
    if (!p.statistics) { return {}; }
    return Json::object()
        .set("critical_batch", p.statistics->critical_batch)
        .set("sample_efficiency", p.statistics->efficiency)
        .set("steps_needed", p.statistics->steps)
        .set("tokens_needed", p.statistics->tokens)
        .set("time_to_target_seconds", base_of(time_to_target(p)));
}

void add_left_out(Json& json, Prediction const& p, CalibrationSet const& calibration) {
    json.set("productive_days", days_of(productive_time(p)))
        .set("goodput", goodput_json(p))
        .set("statistics", statistics_json(p))
        .set("left_out", rows_json(left_out(p, calibration)));
}

void add_left_out(std::vector<Block>& blocks, Prediction const& p, CalibrationSet const& calibration) {
    blocks.emplace_back(terms_table(left_out(p, calibration), p.step()));
    if (p.goodput) {
        blocks.emplace_back(shares_table(*p.goodput));
        blocks.emplace_back(Paragraph{checkpoint_words(*p.goodput), "checkpoints"});
        if (!p.progresses()) { blocks.emplace_back(Paragraph{p.goodput->why_not, "run", true}); }
        if (run_time(p)) { blocks.emplace_back(Paragraph{run_words(p), "run"}); }
    }
    if (p.statistics) { blocks.emplace_back(Paragraph{target_words(p), "target"}); }
}

void add_left_out(Sheet& sheet, Prediction const& p, CalibrationSet const& calibration) {
    auto const row = [&sheet](std::string name, std::optional<double> value) {
        sheet.rows.push_back({std::move(name), value ? exact(*value) : ""});
    };
    row("productive_days", days_of(productive_time(p)));
    row("goodput", goodput_of(p));
    row("sample_efficiency", p.statistics ? std::optional{p.statistics->efficiency} : std::nullopt);
    row("time_to_target_seconds", base_of(time_to_target(p)));
    for (LeftOutTerm const& one : left_out(p, calibration)) {
        row("left_out_" + key_of(one.term) + "_seconds", one.on ? std::optional{one.seconds.base()} : std::nullopt);
    }
}

void add_left_out(Json& row, CurvePoint const& point) {
    auto const of = [&](auto&& make) { return point.prediction ? Json{make(*point.prediction)} : Json{}; };
    row.set("global_batch", point.global_batch)
        .set("productive_days", days_of(point.productive))
        .set("time_to_target_seconds", of([](Prediction const& p) { return base_of(time_to_target(p)); }))
        .set("goodput", of(goodput_json))
        .set("statistics", of(statistics_json));
}

std::vector<std::string> left_out_columns() {
    return {"global_batch", "productive_days", "goodput", "time_to_target_seconds"};
}

std::vector<std::string> left_out_cells(CurvePoint const& point) {
    auto const cell = [](std::optional<double> value) { return value ? exact(*value) : std::string{}; };
    std::vector<std::string> cells{std::to_string(point.global_batch), cell(days_of(point.productive)), "", ""};
    if (point.prediction) {
        cells[2] = cell(goodput_of(*point.prediction));
        cells[3] = cell(base_of(time_to_target(*point.prediction)));
    }
    return cells;
}

std::vector<Metric> left_out_metrics(Prediction const& p) {
    return {{"goodput", goodput_of(p)},
            {"sample_efficiency", p.statistics ? std::optional{p.statistics->efficiency} : std::nullopt},
            {"time_to_target", base_of(time_to_target(p)), {.seconds = 1}}};
}

} // namespace headroom::cli
