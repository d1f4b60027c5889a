#include "tail/tail_report.hpp"

#include "headroom/document/text.hpp"

namespace headroom::cli {

using namespace headroom::serving;

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

} // namespace headroom::cli
