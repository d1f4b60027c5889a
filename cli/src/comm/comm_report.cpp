#include "comm/comm_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/network/comparison.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

using Rows = std::vector<CommRow const*>;

constexpr std::size_t most_series = 5;

struct TimeUnit {
    Seconds unit;
    char const* name;
};

/// The unit that the slowest of them reads well in.
TimeUnit unit_of(Rows const& rows) {
    Seconds longest;
    for (CommRow const* row : rows) { longest = std::max(longest, row->time.total()); }
    if (longest < 0.1 * units::s) { return {units::us, "us"}; }
    return longest < 100.0 * units::s ? TimeUnit{units::ms, "ms"} : TimeUnit{units::s, "s"};
}

/// Axes of a figure.
struct View {
    bool over_ranks = false;
    bool rates = false; ///< bus bandwidth, which is comparable with a link's; else time
    TimeUnit unit;
    [[nodiscard]] double x(int ranks, TotalBytes size) const {
        return over_ranks ? static_cast<double>(ranks) : size.size.base();
    }
    [[nodiscard]] double y(Seconds time, std::optional<BytesPerSecond> rate) const {
        return rates ? rate->in(units::GB / units::s) : time.in(unit.unit);
    }
};

/// Algorithms that win most often, then those that come closest, as many as can be distinguished; in the order of the
/// rows.
std::vector<std::string> drawn(Rows const& rows) {
    std::vector<std::pair<std::string, double>> merit;
    for (CommRow const* row : rows) {
        auto found = std::ranges::find(merit, row->label(), &std::pair<std::string, double>::first);
        if (found == merit.end()) { found = merit.insert(merit.end(), {row->label(), 0.0}); }
        found->second += row->fastest ? 1e3 : 1.0 / (1.0 + row->place);
    }
    std::vector<std::string> names;
    auto order = merit;
    std::ranges::stable_sort(order, std::greater<>{}, &std::pair<std::string, double>::second);
    if (order.size() > most_series) { order.resize(most_series); }
    for (auto const& [name, value] : merit) {
        if (std::ranges::find(order, name, &std::pair<std::string, double>::first) != order.end()) {
            names.push_back(name);
        }
    }
    return names;
}

/// One line an algorithm.
std::vector<Series> series_of(Rows const& rows, View const& view) {
    std::vector<Series> all;
    for (std::string const& name : drawn(rows)) {
        Series series{.name = name, .mark = Mark::line};
        for (CommRow const* row : rows) {
            if (row->label() != name) { continue; }
            series.x.push_back(view.x(row->ranks, row->size));
            series.y.push_back(view.y(row->time.total(), row->bus_bandwidth));
        }
        all.push_back(std::move(series));
    }
    return all;
}

/// Measured times at these ranks, as dots.
void add_measured(Chart& chart, CommAnswer const& answer, View const& view, int ranks) {
    Series dots{.name = "measured", .mark = Mark::points};
    for (CommMeasured const& one : answer.measured) {
        MeasuredCollective const& row = one.measured;
        if (row.ranks != ranks || row.size.size <= Bytes{}) { continue; }
        BytesPerSecond const rate = bus_bandwidth_factor(row.collective, Ranks{ranks}) * row.size.size / row.time;
        dots.x.push_back(view.x(row.ranks, row.size));
        dots.y.push_back(view.y(row.time, rate));
    }
    if (!dots.x.empty()) { chart.series.push_back(std::move(dots)); }
}

/// The fastest formula at the sizes that were measured.
Series predicted_series(CommAnswer const& answer, View const& view, int ranks) {
    Series line{.name = "fastest formula", .mark = Mark::line};
    for (CommMeasured const& one : answer.measured) {
        MeasuredCollective const& row = one.measured;
        if (row.ranks != ranks || row.size.size <= Bytes{}) { continue; }
        Seconds const time = one.predicted.time.total();
        line.x.push_back(view.x(row.ranks, row.size));
        line.y.push_back(view.y(time, bus_bandwidth_factor(row.collective, Ranks{ranks}) * row.size.size / time));
    }
    return line;
}

/// Adds the times of NCCL's choice by its own model.
void add_nccl(Chart& chart, CommAnswer const& answer, View const& view, int ranks) {
    Series line{.name = "NCCL's model", .mark = Mark::dashed};
    for (CommNccl const& one : answer.nccl) {
        if (one.ranks != ranks) { continue; }
        BytesPerSecond const rate =
            bus_bandwidth_factor(*answer.question.collective, Ranks{ranks}) * one.size.size / one.choice.seconds;
        line.x.push_back(view.x(one.ranks, one.size));
        line.y.push_back(view.y(one.choice.seconds, rate));
    }
    if (line.x.size() > 1) { chart.series.push_back(std::move(line)); }
}

Chart chart_of(CommAnswer const& answer, Rows const& rows, View const& view) {
    std::string const who = answer.question.actors ? "actor" : "rank";
    CommRow const& any = *rows.front();
    Chart chart{
        .title = view.rates ? "Bus bandwidth" : "Time",
        .caption = view.rates ? "Higher is faster; comparable with the rate of a link." : "Lower is faster.",
        .x = {view.over_ranks ? who + "s" : "size, bytes", AxisScale::logarithmic},
        .y = {view.rates ? "bus bandwidth, GB/s" : std::string{"time, "} + view.unit.name, AxisScale::logarithmic},
        .series = series_of(rows, view)};
    std::string const of = any.size.size > Bytes{} ? " of " + format(any.size.size) : "";
    chart.title += view.over_ranks
                       ? of + " over " + who + "s"
                       : " over size, at " + std::to_string(any.ranks) + " " + who + (any.ranks == 1 ? "" : "s");
    chart.caption += " Where lines cross, the fastest algorithm changes.";
    return chart;
}

/// Sizes at which the fastest changes, inside what was asked about.
void add_crossovers(Chart& chart, CommAnswer const& answer, int ranks) {
    Bytes const least = sizes_of(answer.question).front().size, most = answer.question.size.size;
    for (CommCrossover const& one : answer.crossovers) {
        if (one.ranks != ranks || one.size.size < least || one.size.size > most) { continue; }
        chart.rules.push_back(
            {true, one.size.size.base(), one.below + " | " + one.above + ": " + format(one.size.size)});
    }
}

void add_size_charts(std::vector<Chart>& charts, CommAnswer const& answer, Rows const& rows, int ranks) {
    bool const have_rates =
        std::ranges::all_of(rows, [](CommRow const* row) { return row->bus_bandwidth.has_value(); });
    for (bool const rates : {true, false}) {
        if (rates && !have_rates) { continue; }
        View const view{.rates = rates, .unit = unit_of(rows)};
        charts.push_back(chart_of(answer, rows, view));
        if (!answer.question.sweep) { charts.back().series = {predicted_series(answer, view, ranks)}; }
        add_measured(charts.back(), answer, view, ranks);
        add_nccl(charts.back(), answer, view, ranks);
        if (rates || !have_rates) { add_crossovers(charts.back(), answer, ranks); }
    }
}

} // namespace

std::vector<Chart> comm_charts(CommAnswer const& answer) {
    std::vector<Chart> charts;
    CommQuestion const& question = answer.question;
    int const ranks = std::ranges::max(question.ranks);
    Rows over_sizes, over_ranks;
    bool rates = true;
    for (CommRow const& row : answer.rows) {
        if (row.ranks == ranks) { over_sizes.push_back(&row); }
        if (row.size.size == question.size.size) {
            over_ranks.push_back(&row);
            rates = rates && row.bus_bandwidth.has_value();
        }
    }
    bool const dots = std::ranges::any_of(answer.measured, [&](CommMeasured const& one) {
        return one.measured.ranks == ranks && one.measured.size.size > Bytes{};
    });
    if (sizes_of(question).size() > 1 || dots) { add_size_charts(charts, answer, over_sizes, ranks); }
    if (question.ranks.size() > 1) {
        charts.push_back(
            chart_of(answer, over_ranks, {.over_ranks = true, .rates = rates, .unit = unit_of(over_ranks)}));
    }
    return charts;
}

namespace {

using Blocks = std::vector<Block>;

void add_note(Blocks& blocks, std::string text, std::string label, Part part = Part::usual) {
    if (!text.empty()) { blocks.emplace_back(Paragraph{std::move(text), std::move(label), false, part}); }
}

void add_nccl(Blocks& blocks, CommReport const& report) {
    if (report.answer.nccl.empty()) { return; }
    if (report.answer.nccl.size() == 1) { return add_note(blocks, nccl_words(report), "NCCL"); }
    blocks.emplace_back(nccl_table(report));
}

void add_levers(Blocks& blocks, CommReport const& report) {
    if (report.answer.levers.empty()) { return; }
    blocks.emplace_back(as(Part::answer, lever_table(report)));
    add_note(blocks, lever_words(report), "levers");
    if (report.answer.compressed.empty()) { return; }
    blocks.emplace_back(compression_table(report));
    add_note(blocks, compression_words(report), "compression");
}

void add_measured(Blocks& blocks, CommReport const& report) {
    if (report.answer.measured.empty()) { return; }
    blocks.emplace_back(as(Part::answer, measured_table(report)));
    add_note(blocks, measured_words(report), "measured");
}

} // namespace

Document document_of(CommReport const& report) {
    Document document{"Communication: " + report.answer.question.movement, {}, report.footer};
    Blocks& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict(report), "", true});
    add_note(blocks, network_words(report.answer.question.network), "network");
    if (report.answer.nccl.size() == 1) { add_nccl(blocks, report); }
    for (Chart& chart : comm_charts(report.answer)) { blocks.emplace_back(std::move(chart)); }
    blocks.emplace_back(as(Part::answer, rows_table(report)));
    add_note(blocks, more_words(report), "rows", Part::detail);
    if (report.answer.nccl.size() > 1) { add_nccl(blocks, report); }
    if (report.answer.question.simulate) { blocks.emplace_back(as(Part::answer, simulated_table(report))); }
    if (report.answer.question.actors) { blocks.emplace_back(as(Part::answer, parts_table(report))); }
    if (!report.answer.crossovers.empty()) { blocks.emplace_back(crossover_table(report)); }
    if (!report.answer.contention.empty()) { blocks.emplace_back(as(Part::answer, contention_table(report))); }
    add_measured(blocks, report);
    add_levers(blocks, report);
    add_note(blocks, size_convention(report.answer.question), "size");
    if (!report.request.schedule_file.empty()) {
        add_note(blocks, printable(report.request.schedule_file), "messages in");
    }
    add_note(blocks, join(assumptions_of(report.answer), "; "), "assumes");
    add_note(blocks, left_out_words(report), "left out", Part::warning);
    return document;
}

} // namespace headroom::cli
