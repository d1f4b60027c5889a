#include "calibrate/calibrate_report.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace headroom::cli {
namespace {

std::string seconds_text(double seconds) { return seconds > 0.0 ? format(Seconds{seconds}) : "0"; }
std::string rate_of(double beta) { return beta > 0.0 ? format(BytesPerSecond{1.0 / beta}) : "no limit"; }

Table evidence_table(fit::CalibrationAnswer const& answer) {
    return field_rows("Evidence", answer.evidence, {{"kind", "what"}, {"name"}, {"gives"}, {"to", "of"}, {"machine"}});
}

/// An interval by how far its ends lie from the value, in percent: "-5.8 +6.1".
std::string beside(double value, double low, double high) {
    if (!(value > 0.0) || !std::isfinite(value)) { return "-"; }
    auto const end = [&](double at) { return std::isfinite(at) ? percent(std::abs(at / value - 1.0), 2) : "any"; };
    return "-" + end(low) + " +" + end(high);
}

Table curves_table(fit::CalibrationAnswer const& answer) {
    Table table{.title = "Collectives, waiting for late ranks apart",
                .columns = {left("collective"), wrapped("ranks"), "rows", "alpha", "90 %, +-%", "bytes at", "90 %, +-%",
                            "off %"}};
    for (fit::CommunicationFit const& one : answer.links.result.fits) {
        auto const& alpha = one.segments.front().alpha_seconds;
        auto const& beta = one.segments.back().beta_seconds_per_byte;
        table.rows.push_back(
            {fit::words_of(one), fit::ranks_words(one.ranks, one.nodes), std::to_string(one.residuals.size()),
             seconds_text(alpha.value), beside(alpha.value, alpha.low, alpha.high), rate_of(beta.value),
             beside(1.0 / beta.value, 1.0 / beta.high, 1.0 / beta.low), percent(one.median_relative_error, 2)});
    }
    return table;
}

Table constants_table(fit::CalibrationAnswer const& answer) {
    Table table{.title = "Constants", .columns = {left("constant"), "value", "90 %", wrapped("from")}};
    for (auto const& [id, one] : answer.states.constants) {
        table.rows.push_back({std::string(constants()[static_cast<std::size_t>(id)].key), significant(one.value),
                              significant(one.low) + " .. " + significant(one.high), printable(one.source)});
    }
    return table;
}

std::string slowdown_words(fit::TraceSlowdown const& slowdown) {
    fit::Fitted const lost = slowdown.lost_rate();
    return "computation takes x" + significant(slowdown.ratio.value) + " as long while communication runs (" +
           significant(slowdown.ratio.low) + " to " + significant(slowdown.ratio.high) + "; " +
           counted(slowdown.kernels, "kernel") + ", " + std::to_string(slowdown.alone) + " runs alone and " +
           std::to_string(slowdown.beside) + " overlapped): it loses " + percent(lost.value) + " % of its rate";
}

std::vector<std::string> fact_lines(fit::TraceFacts const& facts) {
    std::vector<std::string> lines;
    if (facts.step_seconds) {
        lines.push_back("a step takes " + format(Seconds{*facts.step_seconds}) + " (median of " +
                        counted(facts.steps, "step") + ", each by its slowest rank)");
    }
    if (facts.hidden) {
        lines.push_back(percent(facts.hidden->value) + " % of communication overlapped with computation (" +
                        percent(facts.hidden->low) + " to " + percent(facts.hidden->high) + " %)");
    }
    if (facts.matrix_products) {
        lines.push_back("large matrix products reach " + percent(facts.matrix_products->share.value) +
                        " % of the peak");
    }
    if (facts.slowdown) { lines.push_back(slowdown_words(*facts.slowdown)); }
    if (facts.step_variation) { lines.push_back("steps vary by " + percent(*facts.step_variation) + " %"); }
    if (facts.rank_variation) {
        lines.push_back("the computation of ranks varies by " + percent(*facts.rank_variation) + " %");
    }
    return lines;
}

Table links_table(fit::CalibrationAnswer const& answer) {
    Table table{.title = "Links", .columns = {left("level"), "latency", "90 %", "bytes at", "90 %"}};
    auto const add = [&](char const* level, std::optional<MeasuredLink> const& link) {
        if (!link) { return; }
        auto const& latency = link->latency_seconds;
        auto const rate_text = [](double rate) { return format(BytesPerSecond{rate}); };
        auto const& rate = link->bytes_per_second;
        table.rows.push_back({level, seconds_text(latency.value),
                              seconds_text(latency.low) + " .. " + seconds_text(latency.high),
                              rate ? rate_text(rate->value) : "not seen",
                              rate ? rate_text(rate->low) + " .. " + rate_text(rate->high) : "-"});
    };
    add("inside a node", answer.states.network.scale_up);
    add("between nodes", answer.states.network.scale_out);
    return table;
}

Table steps_table(fit::ScalingSteps const& of) {
    return field_rows(
        printable(of.name) + (of.kept ? ", kept as measured steps" : ", not kept"), of.measured.steps,
        {{"workers"}, {"seconds.value", "seconds"}, {"seconds.low", "90 % from"}, {"seconds.high", "to"}, {"samples"}});
}

void add_items(std::vector<Block>& blocks, std::string title, std::vector<std::string> const& lines) {
    if (lines.empty()) { return; }
    std::vector<std::string> items;
    for (auto const& one : lines) { items.push_back(printable(one)); }
    blocks.emplace_back(Items{std::move(title), std::move(items)});
}

} // namespace

std::string words_of(fit::Disagreement const& one) {
    auto const& pooled = one.pooled;
    auto const value = [&](double number) {
        return one.of == fit::Joined::latency ? format(Seconds{number})
               : one.of == fit::Joined::rate  ? format(BytesPerSecond{number})
                                              : significant(number);
    };
    std::string text = one.what + ": " + join(one.sources, " and ") + " differ by x" + significant(pooled.ratio, 4);
    if (pooled.between > 0.0) {
        text += ", more than their intervals explain (" + percent(pooled.heterogeneity, 2) + " % of their scatter; " +
                percent(pooled.between, 2) + " % between sources)";
    } else {
        text += ", no more than their intervals explain";
    }
    return text + "; joined to " + value(pooled.value.value) + " (" + value(pooled.value.low) + " to " +
           value(pooled.value.high) + ")";
}

Document document_of(fit::CalibrationAnswer const& answer, io::Catalog const& catalog) {
    Document document{.title = "Calibration", .blocks = {}, .footer = footer(catalog, "")};
    auto& blocks = document.blocks;
    blocks.emplace_back(evidence_table(answer));
    if (!answer.links.result.fits.empty()) { blocks.emplace_back(curves_table(answer)); }
    if (!answer.link_sources.empty() && !answer.effective) { blocks.emplace_back(links_table(answer)); }
    if (!answer.states.constants.empty() && !answer.effective) { blocks.emplace_back(constants_table(answer)); }
    for (fit::ScalingSteps const& one : answer.scaling) { blocks.emplace_back(steps_table(one)); }
    if (answer.facts) {
        if (auto lines = fact_lines(*answer.facts); !lines.empty()) {
            blocks.emplace_back(Items{"Further facts of the traces", std::move(lines)});
        }
    }
    if (answer.effective) { std::ranges::move(explained_blocks(answer), std::back_inserter(blocks)); }
    std::vector<std::string> differences;
    for (fit::Disagreement const& one : answer.disagreements) { differences.push_back(words_of(one)); }
    add_items(blocks, "Sources that were joined", differences);
    add_items(blocks, "Not used, and missing evidence", words_of(answer.missing));
    add_items(blocks, "Notes", words_of(answer.notes));
    if (!answer.saved.empty()) {
        blocks.emplace_back(Paragraph{"headroom predict ... --calibration " + printable(answer.saved), "use it"});
    }
    if (!answer.saved_machine.empty()) {
        blocks.emplace_back(Paragraph{"headroom roofline --machine " + printable(answer.saved_machine), "use it"});
    }
    return document;
}

} // namespace headroom::cli
