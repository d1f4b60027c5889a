#include "calibrate/calibrate_report.hpp"

#include "document/text.hpp"

namespace headroom::cli {
namespace {

std::string seconds_text(double seconds) { return seconds > 0.0 ? format(Seconds{seconds}) : "0"; }
std::string rate_of(double beta) { return beta > 0.0 ? format(BytesPerSecond{1.0 / beta}) : "no limit"; }

Table evidence_table(CalibrateAnswer const& answer) {
    Table table{.title = "Evidence",
                .columns = {{"what", Align::left}, {"name", Align::left, true}, {"gives", Align::left, true}},
                .rows = {}};
    for (auto const& one : answer.evidence) { table.rows.push_back({one.kind, printable(one.name), one.gives}); }
    return table;
}

Table curves_table(CalibrateAnswer const& answer) {
    Table table{.title = "Collectives, waiting for late ranks apart",
                .columns = {{"collective", Align::left, true},
                            {"ranks"},
                            {"rows"},
                            {"alpha"},
                            {"90 %"},
                            {"bytes at"},
                            {"90 %"},
                            {"off %"}},
                .rows = {}};
    for (fit::CommunicationFit const& one : answer.links.result.fits) {
        auto const& alpha = one.segments.front().alpha_seconds;
        auto const& beta = one.segments.back().beta_seconds_per_byte;
        table.rows.push_back({words_of(one), ranks_words(one.ranks, one.nodes), std::to_string(one.residuals.size()),
                              seconds_text(alpha.value), seconds_text(alpha.low) + " .. " + seconds_text(alpha.high),
                              rate_of(beta.value), rate_of(beta.high) + " .. " + rate_of(beta.low),
                              percent(one.median_relative_error, 2)});
    }
    return table;
}

Table constants_table(CalibrateAnswer const& answer) {
    Table table{.title = "Constants",
                .columns = {{"constant", Align::left}, {"value"}, {"90 %"}, {"from", Align::left, true}},
                .rows = {}};
    for (auto const& [id, one] : answer.constants) {
        table.rows.push_back({std::string(constants()[static_cast<std::size_t>(id)].key), significant(one.value),
                              significant(one.low) + " .. " + significant(one.high), printable(one.source)});
    }
    return table;
}

std::vector<std::string> fact_lines(fit::TraceFacts const& facts) {
    std::vector<std::string> lines;
    if (facts.step_seconds) {
        lines.push_back("a step takes " + format(Seconds{*facts.step_seconds}) + " (median of " +
                        counted(facts.steps, "step") + ", each by its slowest rank)");
    }
    if (facts.hidden) {
        lines.push_back(percent(facts.hidden->value) + " % of communication ran beside computation (" +
                        percent(facts.hidden->low) + " to " + percent(facts.hidden->high) + " %)");
    }
    if (facts.matrix_products) {
        lines.push_back("large matrix products reach " + percent(facts.matrix_products->share.value) +
                        " % of the peak");
    }
    if (facts.step_variation) { lines.push_back("steps vary by " + percent(*facts.step_variation) + " %"); }
    if (facts.rank_variation) {
        lines.push_back("the computation of ranks varies by " + percent(*facts.rank_variation) + " %");
    }
    return lines;
}

} // namespace

Document document_of(CalibrateAnswer const& answer, io::Catalog const& catalog) {
    Document document{.title = "Calibration", .blocks = {}, .footer = footer(catalog, "")};
    auto& blocks = document.blocks;
    blocks.emplace_back(evidence_table(answer));
    if (!answer.links.result.fits.empty()) { blocks.emplace_back(curves_table(answer)); }
    if (!answer.constants.empty()) { blocks.emplace_back(constants_table(answer)); }
    if (answer.facts) {
        if (auto lines = fact_lines(*answer.facts); !lines.empty()) {
            blocks.emplace_back(Items{"What the traces say beside", std::move(lines)});
        }
    }
    if (!answer.notes.empty()) {
        std::vector<std::string> notes;
        for (auto const& one : answer.notes) { notes.push_back(printable(one)); }
        blocks.emplace_back(Items{"Notes", std::move(notes)});
    }
    if (!answer.saved.empty()) {
        blocks.emplace_back(Paragraph{"headroom predict ... --calibration " + printable(answer.saved), "use it"});
    }
    return document;
}

} // namespace headroom::cli
