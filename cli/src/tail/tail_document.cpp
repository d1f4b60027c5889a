#include "tail/tail_report.hpp"

#include "headroom/document/text.hpp"

namespace headroom::cli {
namespace {

std::string title_of(TailAnswer const& answer) {
    std::string const first = printable(answer.set.sources.front().name);
    std::size_t const more = answer.set.sources.size() - 1;
    return "Tail of " + first + (more == 0 ? "" : " and " + std::to_string(more) + " more");
}

std::string data_words(TailAnswer const& answer) {
    TailSource const& source = answer.set.sources.front();
    std::string text = source.format;
    if (!source.column.empty()) { text += ", " + printable(source.column); }
    text += answer.set.times ? " in " + source.unit + " (" + source.unit_from + ")" : ", plain numbers";
    if (source.duration_seconds > 0.0) { text += ", over " + TailUnit{true}.words(source.duration_seconds); }
    if (answer.set.arrivals_per_second) { text += ", " + significant(*answer.set.arrivals_per_second) + " requests/s"; }
    if (answer.set.sources.size() > 1) {
        text += "; " + std::to_string(answer.set.sources.size()) + " files added up exactly";
    }
    if (answer.has_samples()) {
        double const error = LatencyHistogram::relative_error + source.histogram_error;
        text += ". Values are within " + percent(error, 2) + " % of the samples'";
    }
    for (std::string const& one : source.notes) { text += "; " + printable(one); }
    return text;
}

Document document_with(TailAnswer const& answer, io::Catalog const& catalog, bool page) {
    Document document{title_of(answer), {}, footer(catalog, "")};
    auto& blocks = document.blocks;
    auto const append = [&](std::vector<Block> more) {
        for (Block& block : more) { blocks.push_back(std::move(block)); }
    };
    auto const draw = [&](std::vector<Chart> charts) {
        for (Chart& chart : charts) { blocks.emplace_back(std::move(chart)); }
    };
    for (std::string const& one : answer.verdict) { blocks.emplace_back(Paragraph{one, "", blocks.empty()}); }
    append(percentile_blocks(answer));
    if (!answer.warnings.empty()) { blocks.emplace_back(Items{"Careful", answer.warnings, Part::warning}); }
    append(step_blocks(answer));
    append(comparison_blocks(answer));
    draw(sample_charts(answer));
    append(fan_out_blocks(answer));
    if (page) { draw(fan_out_charts(answer)); }
    append(hedging_blocks(answer));
    if (page) { draw(hedging_charts(answer)); }
    append(replica_blocks(answer));
    if (page) { draw(replica_charts(answer)); }
    blocks.emplace_back(Paragraph{data_words(answer), "data"});
    return document;
}

} // namespace

Document document_of(TailAnswer const& answer, io::Catalog const& catalog) {
    return document_with(answer, catalog, false);
}
Document page_of(TailAnswer const& answer, io::Catalog const& catalog) { return document_with(answer, catalog, true); }

std::vector<Metric> metrics_of(TailAnswer const* answer, bool times) {
    Dimension const dimension = times ? Dimension{.seconds = 1} : Dimension{};
    std::vector<Metric> metrics;
    for (double const q : tail_quantiles) {
        Metric metric{percentile_name(q), {}, dimension};
        metric.unknown = "unknown: it takes " + (q < 1.0 ? grouped(samples_for_quantile(q)) : "") + " samples";
        for (TailPercentile const& row : answer ? answer->set.percentiles : TailPercentiles{}) {
            if (row.q == q) { metric.value = row.value; }
        }
        metrics.push_back(std::move(metric));
        if (q >= 1.0) { continue; }
        Metric change{percentile_name(q) + "-change", {}};
        change.unknown = "unknown: it needs --baseline and enough samples of both";
        if (answer && answer->comparison) {
            for (QuantileChange const& one : answer->comparison->runs.quantiles) {
                if (one.q == q) { change.value = one.ratio - 1.0; }
            }
        }
        metrics.push_back(std::move(change));
    }
    PlainNumbers<TailAnswer> const plain{answer};
    FieldTable const& table = times ? field_table_of(answer) : field_table_of(&plain);
    void const* const values = answer == nullptr || times ? static_cast<void const*>(answer) : &plain;
    for (Metric& metric : metrics_of(table, values,
                                     {{"mean", times ? "samples.mean_seconds" : "samples.mean"},
                                      {"slow", "slow.share"},
                                      {"samples", "samples.count"},
                                      {"replicas", "replicas_for_slo.replicas"}})) {
        metrics.push_back(std::move(metric));
    }
    return metrics;
}

} // namespace headroom::cli
